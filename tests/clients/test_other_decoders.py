"""What do other people's admin clients read at the brokers of a group that kcoord has? AD-1 to AD-4.

Lag exporters and web interfaces are made of these libraries. kcoord's own member shows them a subscription that is cut
off, and an assignment with user data. They look at the group while its topics are not known yet, with a member, when
it is empty, and after kcoord was killed with a member in it. One of the member's topics is unknown to the cluster.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs
import kafka as kafka_python
import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocol

from kcoord.gateway.ownership.sentinel.appearance import Appearance
from kcoord.protocol.errors import ErrorCode
from tests.gateway.scripted import ScriptedMember, close_all, connect, coordinator_port, subscription, until
from tests.gateway.test_sentinel_appearance import until_it_looks
from tests.gateway.test_taking import is_empty
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.libs import CACHE
from tests.kafka.topics import write_topic

PROGRAM = Path(__file__).with_name("decoders")
GO = "these tests build a program of Go, and there is no go on the PATH: install Go 1.26 or later"
DEADLINE_S = 300.0
UNKNOWN = "nowhere"
"""A topic that the cluster does not have."""
COUNT = 10
"""Of records in the known topic; one of them is committed."""


@attrs.frozen
class Reading:
    """What a library reads of a group with kcoord's own member alone, or of an empty one."""

    state: str
    subscribed: Sequence[str] | None = None
    """The member's topics; None: the library cannot decode them, or shows none."""
    assigned: Sequence[tuple[str, int]] | None = None
    committed: Mapping[tuple[str, int], int] = attrs.Factory(dict)
    lag: int | None = None
    """Of all partitions, where the library computes it."""


Reader = Callable[[KafkaCluster, str], Reading]


# -- the libraries -----------------------------------------------------------------------------------------------------


def by_librdkafka(kafka: KafkaCluster, group: str) -> Reading:
    """It shows no subscriptions."""
    admin = kafka.admin()  # its futures end with it
    [described] = admin.describe_consumer_groups([group]).values()
    seen = described.result(120)
    listed = {each.group_id for each in admin.list_consumer_groups().result(120).valid}
    assert group in listed
    assert not seen.is_simple_consumer_group
    members = [None if each.assignment is None else each.assignment.topic_partitions for each in seen.members]
    [assigned] = members or [None]
    pairs = None if assigned is None else sorted((at.topic, at.partition) for at in assigned)
    return Reading(seen.state.name.capitalize(), None, pairs, kafka.committed(group))


def by_kafka_python(kafka: KafkaCluster, group: str) -> Reading:
    """It shows bytes that it cannot decode as text, and logs a warning."""
    admin = kafka_python.KafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    try:
        seen = admin.describe_groups([group])[group]
        offsets = admin.list_group_offsets({group: None})[group]
        [listed] = [each for each in admin.list_groups() if each["group_id"] == group]
    finally:
        admin.close()
    assert (listed["protocol_type"], seen["protocol_type"]) == ("consumer", "consumer")
    committed = {(at.topic, at.partition): each.offset for at, each in offsets.items()}
    if not seen["members"]:
        return Reading(seen["group_state"], committed=committed)
    [member] = seen["members"]
    metadata, assignment = member["member_metadata"], member["member_assignment"]
    topics = sorted(metadata["topics"]) if isinstance(metadata, Mapping) else None
    pairs = sorted((at["topic"], number) for at in assignment["assigned_partitions"] for number in at["partitions"])
    return Reading(seen["group_state"], topics, pairs, committed)


def by_aiokafka(kafka: KafkaCluster, group: str) -> Reading:
    """Its admin client gives bytes, which its consumer's classes decode."""
    return asyncio.run(_by_aiokafka(kafka, group))


async def _by_aiokafka(kafka: KafkaCluster, group: str) -> Reading:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    await admin.start()
    try:
        [described] = await admin.describe_consumer_groups([group])
        offsets = await admin.list_consumer_group_offsets(group)
        assert (group, "consumer") in await admin.list_consumer_groups()
    finally:
        await admin.close()
    [(_, _, state, protocol_type, _, members, *_)] = described.groups
    assert protocol_type == "consumer"
    committed = {(at.topic, at.partition): each.offset for at, each in offsets.items()}
    if not members:
        return Reading(state, committed=committed)
    [(_, _, _, metadata, assignment)] = members
    try:
        topics = sorted(ConsumerProtocol.METADATA.decode(metadata).subscription)
    except ValueError:
        topics = None
    pairs = [(at.topic, at.partition) for at in ConsumerProtocol.ASSIGNMENT.decode(assignment).partitions()]
    return Reading(state, topics, sorted(pairs), committed)


def go_program() -> Path:
    """The program in `decoders`, built where that was not done yet; its libraries come from Go's proxy, once."""
    sources = sorted(PROGRAM.iterdir())
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:12]
    built = CACHE / "programs" / f"decoders-{digest}"
    if not built.exists():
        go = shutil.which("go")
        if go is None:
            pytest.skip(GO)
        built.parent.mkdir(parents=True, exist_ok=True)
        part = built.with_suffix(".part")
        command = [go, "build", "-o", str(part), "."]
        done = subprocess.run(command, cwd=PROGRAM, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        if done.returncode:
            pytest.fail(f"`go build` in {PROGRAM} failed:\n{done.stdout}{done.stderr}", pytrace=False)
        part.rename(built)
    return built


def by_go(library: str) -> Reader:
    """What the program prints of one of its libraries, which must not report an error of the group."""

    def read(kafka: KafkaCluster, group: str) -> Reading:
        command = [str(go_program()), kafka.bootstrap, group]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)[library]
        assert seen["errors"] == []
        assert (seen["listed"], seen["protocol_type"]) == ("consumer", "consumer")
        committed = {_pair(at): offset for at, offset in seen["committed"].items()}
        lag = sum(seen["lag"].values()) if library == "kadm" else None
        if not seen["members"]:
            return Reading(seen["state"], None, None, committed, lag)
        [member] = seen["members"]
        topics = None if member["topics_error"] else member["topics"]
        assert not member["assigned_error"]
        return Reading(seen["state"], topics, sorted(map(_pair, member["assigned"])), committed, lag)

    return read


def _pair(partition: str) -> tuple[str, int]:
    topic, _, number = partition.rpartition(":")
    return topic, int(number)


LIBRARIES: dict[str, Reader] = {
    "librdkafka": by_librdkafka,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
    "kadm": by_go("kadm"),
    "sarama": by_go("sarama"),
}
WITHOUT_SUBSCRIPTION = ("librdkafka", "kafka-python")
"""The one shows none, the other decodes all of the bytes or nothing."""
COMPUTES_LAG = ("kadm",)


# -- what they read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "library", [pytest.param(each, marks=pytest.mark.proof if each in ("kadm", "sarama") else ()) for each in LIBRARIES]
)
def test_what_a_library_reads_of_a_group_that_kcoord_has(
    kafka: KafkaCluster, tmp_path: Path, name: str, library: str
) -> None:
    """Everything that Kafka's own tools show; but not each library shows the topics themselves."""
    topic = kafka.create_topic(f"topic-{name}", partitions=2)
    write_topic(kafka, topic, map(str, range(COUNT)))
    read = LIBRARIES[library]
    seen = asyncio.run(look(kafka, tmp_path / "kcoord", name, topic, lambda: read(kafka, name)))

    joining = seen.pop("its topics are not known")
    assert (joining.state, joining.assigned, joining.committed) == ("Stable", [], {})
    if library == "kadm":
        assert joining.subscribed is not None
        assert [each[:6] for each in joining.subscribed] == ["kcoord"], "it shows what stands in a topic's place"
    else:
        assert joining.subscribed is None

    committed, lag = {(topic, 0): 1}, COUNT - 1 if library in COMPUTES_LAG else None
    topics = None if library in WITHOUT_SUBSCRIPTION else sorted([topic, UNKNOWN])
    with_a_member = Reading("Stable", topics, [(topic, 0), (topic, 1)], committed, lag)
    assert seen == {
        "it has a member": with_a_member,
        "it is empty": Reading("Empty", committed=committed, lag=lag),
        "kcoord was killed": with_a_member,
    }


async def look(
    kafka: KafkaCluster, folder: Path, group: str, topic: str, read: Callable[[], Reading]
) -> dict[str, Reading]:
    """What is read in each of the states that a group goes through."""
    kcoord = await asyncio.to_thread(kcoord_of, kafka, folder)
    seen: dict[str, Reading] = {}

    async def note(state: str) -> None:
        seen[state] = await asyncio.to_thread(read)

    try:
        direct = await connect(await coordinator_port(kafka.bootstrap, group))
        member = await member_of(kcoord.bootstrap, group, topic)
        await note("its topics are not known")
        await works(member, topic)
        await until_it_looks(direct, group, Appearance("consumer", {topic: 2, UNKNOWN: 0}))
        await note("it has a member")
        await member.leave()
        await until(lambda: is_empty(direct, group), "the group is given back")
        await note("it is empty")
        await works(await member_of(kcoord.bootstrap, group, topic), topic)
        await until_it_looks(direct, group, Appearance("consumer", {topic: 2, UNKNOWN: 0}))
        kcoord.kill()
        await note("kcoord was killed")
        return seen
    finally:
        await close_all()
        await asyncio.to_thread(kcoord.remove)


async def member_of(bootstrap: str, group: str, topic: str) -> ScriptedMember:
    """It has joined, and not synced: the group's topics are not known before that."""
    member = await ScriptedMember.at(bootstrap, group, metadata=subscription(topic, UNKNOWN))
    await member.join()
    return member


async def works(member: ScriptedMember, topic: str) -> None:
    assert (await member.sync()).error_code == ErrorCode.NONE
    assert await member.commit(topic, 1) == ErrorCode.NONE
