"""`kcoord groups adopt` and `release`: what they say (AD-19), wait for and refuse, with members that live meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from confluent_kafka import Consumer

from kcoord.group.translation.leave_group import STOPPED
from kcoord.protocol.embedded import NAMES, WorkerAssignment, WorkerState, encode_assignment, encode_state
from kcoord.protocol.errors import ErrorCode
from tests.cli.run_cli import Outcome, kcoord
from tests.connectgroups.through import member as joined
from tests.connectgroups.worker import Worker, resources
from tests.gateway.live_member import LiveMember
from tests.gateway.scripted import ScriptedMember, close_all, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord

TOPIC = "handover"

T = TypeVar("T")


@pytest.fixture(scope="module")
def front(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A kcoord that adopts nothing by itself."""
    kafka.create_topic(TOPIC)
    settings = {
        "group.initial.rebalance.delay.ms": 0,
        "gateway.sentinel.grace.ms": 200,
        "gateway.adopt": "manual",
    }
    process = Kcoord(tmp_path_factory.mktemp("front"), kafka.bootstrap, ("hand-.*",), settings).start()
    yield process
    process.remove()


@pytest.fixture(autouse=True)
async def connections() -> AsyncIterator[None]:
    """Every connection of a test ends with it."""
    yield
    await close_all()


async def run(bootstrap: str, *arguments: object) -> Outcome:
    return await asyncio.to_thread(kcoord, "groups", *arguments, "--bootstrap-server", bootstrap)


@pytest.fixture
async def members() -> AsyncIterator[list[LiveMember]]:
    """Those that the test starts; they leave at its end."""
    found: list[LiveMember] = []
    yield found
    await asyncio.gather(*(each.stop() for each in found))


async def live(members: list[LiveMember], group: str, *bootstraps: str) -> None:
    """Members of a stable group, which begin at these addresses, one after the other."""
    for bootstrap in bootstraps:
        members.append(LiveMember(group, lambda at=bootstrap: at, TOPIC))  # type: ignore[misc]
        members[-1].start()

        async def are_stable() -> bool:
            return all(each.is_stable and each.committed for each in members)

        await until(are_stable, "the members are stable")


async def test_a_group_is_adopted_and_released(front: Kcoord, kafka: KafkaCluster, members: list[LiveMember]) -> None:
    group, at = "hand-whole", front.bootstrap
    assert (await run(at, "release", group)).code == 1, "there is no such group yet"
    await configure(front, group, "gateway.owner=cluster")
    kafka_first = await run(at, "release", group)
    assert (kafka_first.code, kafka_first.out) == (
        *(0, f"{group}: there is no such group now; the cluster has it as soon as it begins\n"),
    )
    await live(members, group, at, at)
    joins = [each.joins for each in members]
    assert "2 of 2 members come through kcoord" in (await run(at, "adopt", group, "--dry-run")).out

    done = await run(at, "adopt", group)
    assert (done.code, done.out.splitlines()[-1]) == (0, f"{group}: kcoord")
    assert [each.joins for each in members] == joins
    assert (await run(at, "adopt", group, "--dry-run")).out == f"{group}: nothing to do, coordinated by kcoord\n"

    planned = await run(at, "release", "--all", "--dry-run")
    assert planned.out.startswith(f"{group}: 2 members would join once more, at the cluster. Consumers keep their ")
    done = await run(at, "release", "--all")
    assert (done.code, done.out.splitlines()[-1]) == (0, f"{group}: the cluster, 2 of 2 members come through kcoord")
    assert (await run(at, "release", "--all")).out == "kcoord has no groups.\n"

    async def once_more() -> bool:
        return all(each.joins == before + 1 and each.is_stable for each, before in zip(members, joins, strict=True))

    await until(once_more, "each has joined once more")
    assert [each.answers["UNKNOWN_MEMBER_ID"] for each in members] == [0, 0]


async def test_who_is_missing_is_told(front: Kcoord, kafka: KafkaCluster, members: list[LiveMember]) -> None:
    await live(members, "hand-half", kafka.bootstrap, front.bootstrap)
    done = await run(front.bootstrap, "adopt", "hand-half", "--wait", "1")
    assert done.code == 1
    assert "1 of 2 members comes through kcoord, 1 directly. Point those at kcoord" in done.out
    assert (await run(front.bootstrap, "adopt", "hand-half", "--wait", "0")).code == 0, "kcoord does it when it can"


async def test_groups_without_members_are_released_and_adopted(front: Kcoord, members: list[LiveMember]) -> None:
    """Nobody coordinates them, so there is nothing to wait for; the next member goes where it is to go."""
    group, at = "hand-empty", front.bootstrap
    await configure(front, group, "gateway.owner=kcoord")
    done = await run(at, "adopt", group)
    assert done.out == f"{group}: there is no such group now; kcoord has it as soon as it begins\n"
    await live(members, group, at)
    await members.pop().stop()
    assert f"{group}: it has no members" in (await run(at, "release", group, "--dry-run")).out
    done = await run(at, "release", "--all")
    assert (done.code, done.out) == (0, f"{group}: it has no members; the cluster has it as soon as one joins\n")
    assert (await run(at, "release", "--all")).out == "kcoord has no groups.\n"
    await live(members, group, at)
    assert "the cluster, 1 of 1 members comes through kcoord" in (await run(at, "list")).out


async def test_a_connect_group_without_members_is_released(front: Kcoord) -> None:
    group, at = "hand-empty-connect", front.bootstrap
    worker = await joined(front, group)
    assert await worker.leave() == ErrorCode.NONE
    done = await run(at, "release", group)
    assert (done.code, done.out) == (0, f"{group}: it has no members; the cluster has it as soon as one joins\n")


EAGER = "Its workers speak the eager protocol: each stops all its tasks for the rebalance, and starts them again"
INCREMENTAL = "Its workers go on running what they run"


@pytest.mark.parametrize(
    ("protocol", "mode", "kind", "cost"),
    [
        ("default", "barrier", "classic", EAGER),
        ("default", "individual", "classic", EAGER),
        ("compatible", "barrier", "classic", INCREMENTAL),
        ("compatible", "individual", "connect", INCREMENTAL),
        ("sessioned", "barrier", "classic", INCREMENTAL),
        ("sessioned", "individual", "connect", INCREMENTAL),
    ],
)
async def test_a_release_says_what_it_costs_connect_workers(
    front: Kcoord, protocol: str, mode: str, kind: str, cost: str
) -> None:
    """AD-19"""
    group = f"hand-{protocol}-{mode}"
    await configure(front, group, f"connect.classic.mode={mode}")
    worker = await connect_worker(front, group, protocol)
    assert await kind_of(front, group) == kind
    planned = await run(front.bootstrap, "release", group, "--dry-run")
    assert (planned.code, planned.out) == (0, f"{group}: 1 member would join once more, at the cluster. {cost}\n")
    assert await worker.leave(STOPPED) == ErrorCode.NONE


async def test_a_release_says_what_it_costs_eager_workers_that_a_connect_group_keeps(front: Kcoord) -> None:
    """AD-19: the worker of the new protocol has gone, and the group may not become a classic one again."""
    group = "hand-kept-eager"
    await configure(front, group, "connect.migration.policy=upgrade")
    worker = await connect_worker(front, group, "default")
    native = await joined(front, group)
    assert await native.leave() == ErrorCode.NONE
    assert await kind_of(front, group) == "connect"
    planned = await run(front.bootstrap, "release", group, "--dry-run")
    assert (planned.code, planned.out) == (0, f"{group}: 1 member would join once more, at the cluster. {EAGER}\n")
    assert await worker.leave(STOPPED) == ErrorCode.NONE


async def test_a_release_says_for_whom_it_waits(front: Kcoord) -> None:
    """A worker that leaves without having said that it has stopped may still run its work: kcoord keeps it a while."""
    group = "hand-gone-without-a-word"
    await configure(front, group, "connect.migration.policy=upgrade")
    await configure(
        front, group, "connect.rebalance.delay.ms=3600000"
    )  # the while is a share of it: no command is late
    worker = await connect_worker(front, group, "default")
    native = await joined(front, group)
    assert await native.leave() == ErrorCode.NONE
    assert await worker.leave() == ErrorCode.NONE
    waits = f"{group}: it waits for workers that have left, and did not say that they have stopped their work: "
    planned = await run(front.bootstrap, "release", group, "--dry-run")
    assert (planned.code, planned.out.startswith(waits)) == (0, True), planned
    done = await run(front.bootstrap, "release", group, "--wait", "0")
    assert waits in done.out, done
    assert (await run(front.bootstrap, "adopt", group, "--wait", "0")).code == 0
    await worker.client.close()
    again = await connect_worker(front, group, "default")
    assert await again.leave(STOPPED) == ErrorCode.NONE


async def configure(front: Kcoord, group: str, setting: str) -> None:
    """`kcoord config set` succeeds."""
    done = await asyncio.to_thread(kcoord, "config", "set", group, setting, "--bootstrap-server", front.bootstrap)
    assert done.code == 0, done


async def connect_worker(front: Kcoord, group: str, protocol: str) -> ScriptedMember:
    """A Connect worker of this embedded protocol, in a stable group. Nobody sends its heartbeats while commands run."""
    version, url = NAMES.index(protocol), "http://w:8083"
    metadata = encode_state(WorkerState(version, url, 7))
    options = {"protocol_type": "connect", "protocol": protocol, "metadata": metadata, "session_ms": 600_000}
    worker = await ScriptedMember.at(front.bootstrap, group, **options)

    async def is_stable() -> bool:
        await worker.join()
        share = WorkerAssignment(version, 0, worker.member_id, url, 7, resources("a", "a-0"))
        error = (await worker.sync({worker.member_id: encode_assignment(share)})).error_code
        assert error in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS), error
        return not error

    await until(is_stable, f"{group} stable")
    return worker


async def kind_of(front: Kcoord, group: str) -> str:
    """Whether kcoord has it as a classic or as a connect group."""
    [found] = json.loads((await run(front.bootstrap, "describe", group, "--json")).out)
    return str(found["type"])


async def beside(worker: Worker, command: Coroutine[Any, Any, T]) -> T:
    """What a command comes to while the worker goes on with its heartbeats: on a busy machine that may take long."""
    running = asyncio.ensure_future(command)
    while not running.done():
        await asyncio.wait({running}, timeout=1)
        assert await worker.heartbeat() == ErrorCode.NONE
    return running.result()


async def test_workers_of_the_new_protocol_cannot_go_to_the_cluster(front: Kcoord) -> None:
    """AD-15.6: the command says so and changes nothing; `gateway.owner` set in another way changes nothing for them."""
    group, at = "hand-native", front.bootstrap
    worker = await joined(front, group)
    told = f"{group}: it cannot be released, because the cluster does not know the new protocol. Restart these workers "
    for arguments in (("release", group, "--dry-run"), ("release", group), ("release", "--all")):
        done = await beside(worker, run(at, *arguments))
        assert (done.code, told in done.out) == (0 if "--dry-run" in arguments else 1, True), done
    describe = asyncio.to_thread(kcoord, "config", "describe", group, "--bootstrap-server", at)
    settings = await beside(worker, describe)
    [owner] = [line.split() for line in settings.out.splitlines() if line.startswith("gateway.owner")]
    assert owner[1] == "auto"
    give = asyncio.to_thread(kcoord, "config", "set", group, "gateway.owner=cluster", "--bootstrap-server", at)
    assert (await beside(worker, give)).code == 0
    line = f"group {group} cannot be released: it has workers of the new protocol"

    async def said() -> bool:
        assert await worker.heartbeat() == ErrorCode.NONE
        return line in front.log.read_text()

    await until(said, line)
    assert await worker.heartbeat() == ErrorCode.NONE
    assert await worker.leave() == ErrorCode.NONE


@pytest.mark.parametrize("command", [("adopt",), ("adopt", "--dry-run")], ids=["adopt", "dry run"])
async def test_what_can_never_be_kcoords_is_refused_at_once(
    front: Kcoord, kafka: KafkaCluster, command: tuple[str, ...]
) -> None:
    group = "hand-kip-848"
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": group, "group.protocol": "consumer"})
    consumer.subscribe([TOPIC])
    try:
        while not consumer.assignment():
            await asyncio.to_thread(consumer.poll, 0.1)
        done = await run(front.bootstrap, *command, group)
        released = await run(front.bootstrap, "release", *command[1:], group)
    finally:
        consumer.close()
    already = f"{group}: nothing to do: it is a consumer group of the cluster already, and its consumers speak the new "
    assert (released.code, released.out.startswith(already)) == (0, True), released
    told = f"{group}: it is a consumer group of the cluster, and kcoord coordinates classic and connect groups only\n"
    assert (done.code, done.out.lower()) == (0 if "--dry-run" in command else 1, told.lower())
    done = await run(front.bootstrap, *command, "not-matched")
    told = "not-matched: this group is not among those that kcoord coordinates (its setting groups): the cluster "
    assert (done.code, told in done.out) == (0 if "--dry-run" in command else 1, True), done


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("release",), 2, "name groups, or give --all"),
        (("release", "g", "--all"), 2, "name groups, or give --all"),
        (("adopt",), 2, "Missing argument"),
        (("adopt", "g", "--wait", "-1"), 2, "--wait"),
    ],
)
async def test_a_wrong_command_line(front: Kcoord, arguments: tuple[str, ...], code: int, told: str) -> None:
    done = await run(front.bootstrap, *arguments)
    assert done.code == code
    assert told in done.err


async def test_a_broker_is_asked_and_knows_nothing_of_it(kafka: KafkaCluster, tmp_path: Path) -> None:
    done = await run(kafka.bootstrap, "release", "hand-broker")
    assert done.code == 1
    assert "is not a kcoord in front of a cluster" in done.err
