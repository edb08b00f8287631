"""What does a group of kcoord's look like to those who ask the brokers? AD-1 to AD-5.

The numbers in test names are those of AD rules.
"""

import asyncio
import struct
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from kcoord.gateway.ownership.maintenance.group_appearances import GroupAppearances
from kcoord.gateway.ownership.sentinel import joins
from kcoord.gateway.ownership.sentinel.appearance import OF_0_1_0, Appearance, SeenAppearance, read_appearance
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, MetadataRequest
from tests.gateway.entries import entries
from tests.gateway.scripted import (
    ScriptedMember,
    ask,
    connect,
    coordinator_port,
    describe,
    forgetting,
    subscription,
    until,
)
from tests.gateway.test_taking import is_empty, upstream_state
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.tools import CONSUMER_GROUPS, GROUPS, rows
from tests.kafka.topics import write_topic
from tests.server.harness import Client

VALUES = [f"v{n}" for n in range(10)]
OLD_MARK = 8


async def shown(direct: Client, group: str) -> SeenAppearance | None:
    """What can be read of the sentinel upstream; None without one."""
    seen = await describe(direct, group)
    if [each.group_instance_id for each in seen.members] != ["kcoord"]:
        return None
    [sentinel] = seen.members
    return read_appearance(seen.protocol_type, sentinel.member_metadata, sentinel.member_assignment)


async def until_it_looks(direct: Client, group: str, appearance: Appearance) -> SeenAppearance:
    async def fits() -> SeenAppearance | None:
        seen = await shown(direct, group)
        return seen if seen is not None and seen.appearance == appearance else None

    found: SeenAppearance = await until(fits, f"the sentinel looks as {appearance}")
    return found


def old_sentinel(direct: Client, group: str, mark: int = 1) -> ScriptedMember:
    """The sentinel as release 0.1.0 makes it, not joined yet."""
    metadata = mark.to_bytes(OLD_MARK, "big", signed=True)
    return ScriptedMember(direct, group, "kcoord", "kcoord", metadata, instance="kcoord")


async def join_as_0_1_0(sentinel: ScriptedMember) -> None:
    await sentinel.join()
    await sentinel.sync({sentinel.member_id: sentinel.generation.to_bytes(4, "big")})


# -- bytes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "appearance",
    [
        OF_0_1_0,
        Appearance("connect"),
        Appearance("consumer"),
        Appearance("consumer", {}),
        Appearance("consumer", {"one": 3}),
        Appearance("consumer", {"a": 1, "nowhere": 0, "Ünï": 50}),
    ],
)
@pytest.mark.parametrize("mark", [0, 5, 2**17 - 1, 2**40])
def test_what_is_put_on_can_be_read(appearance: Appearance, mark: int) -> None:
    told = read_appearance(appearance.protocol_type, appearance.metadata(mark), appearance.assignment(7))
    assert told == SeenAppearance(appearance, mark, 7)


def test_what_0_1_0_puts_on_can_be_read() -> None:
    """AD-5."""
    told = read_appearance("kcoord", (3).to_bytes(8, "big", signed=True), (9).to_bytes(4, "big"))
    assert told == SeenAppearance(OF_0_1_0, 3, 9)


@pytest.mark.parametrize("protocol_type", ["consumer", "connect", "kcoord"])
@pytest.mark.parametrize("data", [b"", b"\0", bytes(12), b"\xff" * 40, subscription("a-topic")])
def test_what_is_no_sentinels_is_not_read(protocol_type: str, data: bytes) -> None:
    assert read_appearance(protocol_type, data, data) is None


def test_rule_2_the_subscription_is_cut_off_behind_the_user_data() -> None:
    """AD-2: version 1 goes on with the owned partitions, which are missing."""
    metadata = Appearance("consumer", {"t": 2}).metadata(5)
    assert metadata == struct.pack(">hih1si6sq", 1, 1, 1, b"t", 14, b"kcoord", 5)


# -- while kcoord has a group -----------------------------------------------------------------------------------------


async def test_rule_1_and_2_kafkas_tools_at_the_brokers(
    java: Java, kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], direct: Client, name: str
) -> None:
    """AD-1, AD-2: a group is listed, described and reset at the brokers while kcoord has it, when it is empty,
    and after kcoord has gone with members in it."""
    kcoord = start_kcoord(kafka)
    topic = kafka.create_topic(f"topic-{name}", partitions=2)
    await asyncio.to_thread(write_topic, kafka, topic, VALUES)
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join_and_sync()
    assert await member.commit(topic, 1) == ErrorCode.NONE
    await until_it_looks(direct, name, Appearance("consumer", {topic: 2}))
    at = ["--bootstrap-server", kafka.bootstrap]
    of_group = [*at, "--group", name]

    async def tool(main: str, *arguments: str) -> str:
        return await asyncio.to_thread(java.tool, main, *arguments)

    async def check_live() -> None:
        offsets = rows(await tool(CONSUMER_GROUPS, *of_group, "--describe"), name)
        assert {(row["TOPIC"], row["PARTITION"], row["CURRENT-OFFSET"]) for row in offsets} == {
            (topic, "0", "1"),
            (topic, "1", "-"),
        }
        [lag] = [row["LAG"] for row in offsets if row["PARTITION"] == "0"]
        [end] = [row["LOG-END-OFFSET"] for row in offsets if row["PARTITION"] == "0"]
        assert int(lag) == int(end) - 1
        [state] = rows(await tool(CONSUMER_GROUPS, *of_group, "--describe", "--state"), name)
        assert (state["ASSIGNMENT-STRATEGY"], state["STATE"], state["#MEMBERS"]) == ("kcoord", "Stable", "1")
        [shown] = rows(await tool(CONSUMER_GROUPS, *of_group, "--describe", "--members", "--verbose"), name)
        assert shown["CURRENT-ASSIGNMENT"] == f"{topic}:0,1"
        reset = [*of_group, "--reset-offsets", "--topic", topic, "--to-earliest", "--execute"]
        assert "the current state is Stable" in await tool(CONSUMER_GROUPS, *reset)

    await check_live()
    [listed] = rows(await tool(GROUPS, *at, "--list"), name)
    assert listed == {"GROUP": name, "TYPE": "Classic", "PROTOCOL": "consumer"}
    assert name in await tool(CONSUMER_GROUPS, *at, "--list")

    await member.leave()
    await until(lambda: is_empty(direct, name), "the group is given back")
    reset = [*of_group, "--reset-offsets", "--topic", f"{topic}:0", "--execute", "--to-offset"]
    await tool(CONSUMER_GROUPS, *reset, "2")
    assert kafka.committed(name) == {(topic, 0): 2}
    offsets = rows(await tool(CONSUMER_GROUPS, *of_group, "--describe"), name)
    assert [(row["PARTITION"], row["CURRENT-OFFSET"]) for row in offsets] == [("0", "2")]

    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join_and_sync()
    assert await member.commit(topic, 1) == ErrorCode.NONE
    await until_it_looks(direct, name, Appearance("consumer", {topic: 2}))
    kcoord.kill()
    await check_live()


async def test_rule_1_nobody_joins_past_a_sentinel_of_the_groups_type(
    kcoord: Kcoord, kafka: KafkaCluster, direct: Client, name: str, topic: str
) -> None:
    """AD-1, AD-3: classic members are refused (23), and a member of KIP-848 (69) does not convert the group,
    neither while its topics are not known nor afterwards."""
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join()
    await check_nobody_gets_in(direct, name, topic)
    await member.sync()
    await until_it_looks(direct, name, Appearance("consumer", {topic: 1}))
    await check_nobody_gets_in(direct, name, topic)
    assert await member.commit(topic, 4) == ErrorCode.NONE
    await until(lambda: has_sentinel(direct, name, "consumer"), "the sentinel has the group")
    assert kafka.committed(name) == {(topic, 0): 4}

    worker = await ScriptedMember.at(kcoord.bootstrap, f"{name}-connect", protocol_type="connect")
    await worker.join_and_sync()
    past = ScriptedMember(direct, f"{name}-connect", protocol_type="connect", protocol="sessioned")
    assert ErrorCode((await past.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    await until(lambda: has_sentinel(direct, f"{name}-connect", "connect"), "the sentinel has the group")


CONVERTS = {
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.consumer.migration.policy": "bidirectional",
}
"""Where 3.9 is set so, a member of KIP-848 turns a classic group into one of its own kind."""


@pytest.mark.proof
async def test_rule_1_nobody_joins_past_it_at_brokers_that_are_told_to_convert_groups(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """AD-1, AD-3: the same in front of 3.9."""
    cluster = await asyncio.to_thread(start_kafka, version="3.9.1", overrides=CONVERTS)
    kcoord = await asyncio.to_thread(start_kcoord, cluster)
    topic = await asyncio.to_thread(cluster.create_topic, f"topic-{name}")
    direct = await connect(cluster.bootstrap)
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join_and_sync()
    await until_it_looks(direct, name, Appearance("consumer", {topic: 1}))
    await check_nobody_gets_in(direct, name, topic)
    assert await member.heartbeat() == ErrorCode.NONE
    assert await member.commit(topic, 4) == ErrorCode.NONE
    await until(lambda: has_sentinel(direct, name, "consumer"), "the sentinel has the group")


async def has_sentinel(direct: Client, group: str, protocol_type: str) -> bool:
    """Whether the group is stable upstream, of that type, with the sentinel alone. It may just be joining again."""
    return await upstream_state(direct, group) == ("Stable", protocol_type, ["kcoord"])


async def check_nobody_gets_in(direct: Client, group: str, topic: str) -> None:
    past = ScriptedMember(direct, group, metadata=subscription(topic))
    assert ErrorCode((await past.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    newer = ConsumerGroupHeartbeatRequest(
        group_id=group, member_epoch=0, rebalance_timeout_ms=30_000,
        subscribed_topic_names=[topic], topic_partitions=[],
    )  # fmt: skip
    assert ErrorCode((await ask(direct, newer, 0)).error_code) == ErrorCode.GROUP_ID_NOT_FOUND


async def test_rule_4_the_topics_follow_every_generation(
    kcoord: Kcoord, kafka: KafkaCluster, direct: Client, name: str
) -> None:
    """AD-2, AD-4: and offsets of what nobody subscribes to any more can be deleted at the brokers."""
    first, second = [kafka.create_topic(f"{name}-{each}", partitions=each) for each in (1, 3)]
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(first))
    await member.join_and_sync()
    assert await member.commit(first, 1) == ErrorCode.NONE
    before = await until_it_looks(direct, name, Appearance("consumer", {first: 1}))
    assert before.mark == member.generation
    assert await delete_at_broker(direct, name, first) == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC

    member.metadata = subscription(second, "nowhere")
    await member.join_and_sync()
    after = await until_it_looks(direct, name, Appearance("consumer", {second: 3, "nowhere": 0}))
    assert after.mark == member.generation == before.mark + 1
    assert await delete_at_broker(direct, name, first) == ErrorCode.NONE
    assert await member.commit(second, 2) == ErrorCode.NONE
    assert kafka.committed(name) == {(second, 0): 2}


async def test_rule_2_what_cannot_be_decoded_stops_all_ageing(
    kcoord: Kcoord, kafka: KafkaCluster, direct: Client, name: str, topic: str
) -> None:
    """AD-2: while not all members are known, every offset counts as subscribed to at the brokers."""
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join()
    seen = await shown(direct, name)
    assert seen is not None
    assert seen.appearance == Appearance("consumer")
    assert (
        await delete_at_broker(direct, name, kafka.create_topic(f"{name}-other")) == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    )


async def delete_at_broker(direct: Client, group: str, topic: str) -> ErrorCode:
    return ErrorCode((await ask(direct, forgetting(group, topic))).topics[0].partitions[0].error_code)


async def test_a_group_may_become_one_of_another_type(
    start_kcoord: Callable[..., Kcoord], kafka: KafkaCluster, direct: Client, name: str
) -> None:
    """AD-5: the sentinel is still there when the first member of another type comes."""
    kcoord = start_kcoord(kafka, gateway_sentinel_grace_ms=600_000)
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    await member.leave()
    await until(lambda: has_sentinel(direct, name, "consumer"), "the sentinel has the group")
    worker = await ScriptedMember.at(kcoord.bootstrap, name, protocol_type="connect")
    await worker.join_and_sync()
    await until(lambda: has_sentinel(direct, name, "connect"), "the sentinel has the group")


@pytest.mark.parametrize("does", ["leaves", "stays"])
async def test_a_sentinel_is_not_lost_with_the_answer_to_its_join(
    kafka: KafkaCluster,
    direct: Client,
    name: str,
    topic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    does: str,
) -> None:
    """AD-4: the sentinel joins again with the topics of its group, and nobody hears the answer, since the
    connection ends that carried the join. It is in the group upstream all the same. If the group's last member leaves,
    the sentinel says farewell; while there are members, it comes back by itself: heartbeats that are answered from
    memory bring nothing about.
    """
    async with entries(kafka, tmp_path, {}, count=1, shared=False) as [entry]:
        member = await ScriptedMember.at(entry.bootstrap, name, metadata=subscription(topic))
        sentinel = entry.sentinel(name)

        async def lose(*_: object) -> ErrorCode:
            raise UpstreamLost("the member's connection has ended")

        async def is_lost() -> bool:
            return not sentinel.is_joined

        async def is_back() -> bool:
            return sentinel.is_joined

        await member.join_and_sync()
        with monkeypatch.context() as broken:
            broken.setattr(joins, "attempt", lose)
            await until(is_lost, "the join is lost")
            if does == "leaves":
                await member.leave()
        if does == "leaves":
            await until(lambda: is_empty(direct, name), "the group is given back")
        else:
            await until(is_back, "the sentinel has joined again")


async def test_a_sentinel_that_is_lost_between_two_types_comes_back(
    kafka: KafkaCluster, direct: Client, name: str, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-5: the last instance of 0.1.0 has gone, the sentinel has left and cannot join with the group's own
    type yet. The group has members, whose heartbeats may be answered from memory: the sentinel joins by itself.
    """
    async with entries(kafka, tmp_path, {}, count=1, shared=False) as [entry]:
        with monkeypatch.context() as among_0_1_0:
            among_0_1_0.setattr(GroupAppearances, "is_of_0_1_0", True)
            member = await ScriptedMember.at(entry.bootstrap, name, metadata=subscription(topic), session_ms=300_000)
            await member.join_and_sync()
            sentinel = entry.sentinel(name)
            await until(lambda: has_said(sentinel), "the sentinel has given a sign of life")
        with monkeypatch.context() as broken:

            async def lose(*_: object) -> ErrorCode:
                raise UpstreamLost("the member's connection has ended")

            broken.setattr(joins, "attempt", lose)
            await until(lambda: is_empty(direct, name), "the sentinel of the former type has left")
        await until_it_looks(direct, name, Appearance("consumer", {topic: 1}))


async def has_said(sentinel: Sentinel) -> bool:
    """Whether the sentinel has given a sign of life, so that the next one is due much later."""
    return sentinel.beat_due_ms > 0


# -- sentinels and groups that older kcoords left ---------------------------------------------------------------------


@pytest.mark.parametrize("delay_ms", [0, 3_000])
async def test_rule_5_a_sentinel_of_0_1_0_is_put_out_and_no_commit_is_lost(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str, delay_ms: int
) -> None:
    """AD-5: kcoord starts on its log, finds what its predecessor of 0.1.0 left upstream, and goes on, also
    where upstream lets an empty group wait for more members."""
    kafka = start_kafka(overrides={"group.initial.rebalance.delay.ms": delay_ms})
    topic = kafka.create_topic(f"topic-{name}")
    kcoord = start_kcoord(kafka)
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join_and_sync()
    assert await member.commit(topic, 1) == ErrorCode.NONE
    kcoord.kill()
    direct = await connect(await coordinator_port(kafka.bootstrap, name))
    await ScriptedMember(direct, name, instance="kcoord").leave()
    predecessor = old_sentinel(direct, name, member.generation)
    await join_as_0_1_0(predecessor)
    kcoord.start()
    again = attrs.evolve(member, client=(await ScriptedMember.at(kcoord.bootstrap, name)).client)
    assert await again.heartbeat() == ErrorCode.NONE
    assert await again.heartbeat() == ErrorCode.NONE
    assert await again.commit(topic, 2) == ErrorCode.NONE
    assert kafka.committed(name) == {(topic, 0): 2}
    assert (await until_it_looks(direct, name, Appearance("consumer", {topic: 1}))).mark == member.generation
    assert await predecessor.commit(topic, 99) in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)
    assert await again.commit(topic, 3) == ErrorCode.NONE


async def test_rule_5_kcoord_heals_what_0_1_0_left_behind_by_itself(
    java: Java, start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """AD-5: nobody joins these groups any more, and kcoord's tools read them once a new kcoord has started. A group
    that kcoord may not take stays as it is.
    """
    kafka = start_kafka()
    topic = kafka.create_topic(f"topic-{name}")
    left = [f"{name}-{at}" for at in range(3)]
    for group in (*left, f"other-{name}"):
        direct = await connect(await coordinator_port(kafka.bootstrap, group))
        predecessor = old_sentinel(direct, group)
        await join_as_0_1_0(predecessor)
        assert await predecessor.commit(topic, 1) == ErrorCode.NONE
        await predecessor.leave()
    kcoord = start_kcoord(kafka, f"{name}.*")
    await ask(await connect(kcoord.bootstrap), MetadataRequest(topics=[]))  # so it knows the brokers
    for group in left:

        async def is_healed(group: str = group) -> bool:
            return await upstream_state(direct, group) == ("Empty", "consumer", [])

        await until(is_healed, f"{group} is a consumer group again")
        assert kafka.committed(group) == {(topic, 0): 1}
        described = await asyncio.to_thread(
            java.tool, CONSUMER_GROUPS, "--bootstrap-server", kafka.bootstrap, "--group", group, "--describe"
        )
        assert [(row["TOPIC"], row["CURRENT-OFFSET"]) for row in rows(described, group)] == [(topic, "1")]
    assert await upstream_state(direct, f"other-{name}") == ("Empty", "kcoord", [])


async def test_rule_5_a_group_that_0_1_0_left_behind_is_healed(
    java: Java, kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str, topic: str
) -> None:
    """AD-5: kcoord takes it again and gives it back, then Kafka's tools can read it."""
    await coordinator_port(kafka.bootstrap, name)
    predecessor = old_sentinel(direct, name)
    await join_as_0_1_0(predecessor)
    assert await predecessor.commit(topic, 1) == ErrorCode.NONE
    await predecessor.leave()
    assert await upstream_state(direct, name) == ("Empty", "kcoord", [])
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join_and_sync()
    await member.leave()
    await until(lambda: is_empty(direct, name), "the group is given back")
    assert await upstream_state(direct, name) == ("Empty", "consumer", [])
    described = await asyncio.to_thread(
        java.tool, CONSUMER_GROUPS, "--bootstrap-server", kafka.bootstrap, "--group", name, "--describe"
    )
    assert [(row["TOPIC"], row["CURRENT-OFFSET"]) for row in rows(described, name)] == [(topic, "1")]
