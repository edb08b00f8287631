"""How long is a group without a coordinator when the instance that had it is stopped, killed, or says nothing more?

Three instances over one topic, or three brokers of Kafka, and groups of one member each, some of them on every one. One
ends; from that moment each of its groups is asked for, of the two that are left, until a heartbeat of its member is
answered with NONE by another than the one that ended. Then it is started again, and the next round is another's turn.
A process that stands still (SIGSTOP) is what a host looks like that is gone without a word.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Protocol

import attrs

from bench import failover_in_front
from bench.fleet import connect
from bench.lines import Asking
from bench.members import FIND_VERSION, HEARTBEAT_VERSION, Member
from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from kcoord.group.partition_of_group import partition_of
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse, HeartbeatResponse
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port

INSTANCES, GROUPS, PARTITIONS = 3, 30, 50
PROBES = 2_000
"""So many names that some of them fall into each partition."""
ROUNDS = 5
KAFKA_ROUNDS = 2
STOPPED_MOST_S, KILLED_MOST_S, SILENT_MOST_S = 1.0, 2.0, 7.0
ASK_EVERY_S = 0.02
DEADLINE_S = 120.0
STOP, KILL, SILENCE = "planned stop", "kill -9", "silence (SIGSTOP)"
TARGETS = {KILL: KILLED_MOST_S, STOP: STOPPED_MOST_S, SILENCE: SILENT_MOST_S}
REPLICATED = {
    "offsets.topic.num.partitions": PARTITIONS,
    "group.initial.rebalance.delay.ms": 0,
    "min.insync.replicas": 1,
    "broker.heartbeat.interval.ms": 2_000,
    "broker.session.timeout.ms": 9_000,
}
"""Kafka's brokers: its own defaults where the tests' brokers are in more of a hurry."""


@attrs.frozen
class Failover:
    """One instance ended: how long its groups were without a coordinator, in seconds, the shortest first."""

    seconds: Sequence[float]

    @property
    def first_s(self) -> float:
        """The first heartbeat that was answered."""
        return self.seconds[0]

    @property
    def last_s(self) -> float:
        """When all were."""
        return self.seconds[-1]


def run(folder: Path) -> Outcome:
    """End the instances in turn, and Kafka's brokers."""
    found: dict[str, list[Failover]] = {STOP: [], KILL: [], SILENCE: []}
    with kafka(folder) as broker, instances(folder, broker.cluster.bootstrap) as running:
        for number in range(ROUNDS):
            for what, failovers in found.items():
                failovers.append(asyncio.run(failover(running, running[number % INSTANCES], what)))
    in_front = failover_in_front.run(folder / "in-front-of-kafka")
    return outcome(found, kafkas_failovers(folder / "brokers"), in_front)


@attrs.frozen
class Broker:
    """One of Kafka's brokers, as one of those that can be ended."""

    cluster: KafkaCluster
    number: int

    @property
    def port(self) -> int:
        """Where clients reach it."""
        return self.cluster.ports[self.number]

    def kill(self) -> None:
        """`kill -9`."""
        self.cluster.kill_broker(self.number)

    def start(self) -> None:
        """Start it again, and wait until it serves."""
        self.cluster.start_brokers(self.number)


def kafkas_failovers(folder: Path) -> list[Failover]:
    """The same of three brokers of Kafka, killed in turn."""
    cluster = KafkaCluster.start(folder, INSTANCES, overrides=REPLICATED, heap_mb=512)
    try:
        brokers = [Broker(cluster, number) for number in cluster.ports]
        return [asyncio.run(failover(brokers, brokers[number % INSTANCES], KILL)) for number in range(KAFKA_ROUNDS)]
    finally:
        cluster.remove()


@contextmanager
def instances(folder: Path, bootstrap: str) -> Iterator[list[Kcoord]]:
    """Running instances that share the groups."""
    running = [
        Kcoord(
            folder / f"kcoord-{number}",
            settings={
                "log": "kafka",
                "log.bootstrap": bootstrap,
                "instance.id": number,
                "internal.listen": f"127.0.0.1:{free_port()}",
                "internal.secret": "a secret of the bench",
                "offsets.topic.num.partitions": PARTITIONS,
                "group.initial.rebalance.delay.ms": 0,
            },
        )
        for number in range(INSTANCES)
    ]
    try:
        for each in running:
            each.start()
        yield running
    finally:
        for each in running:
            each.remove()


# -- one round ---------------------------------------------------------------------------------------------------------


class Ends(Protocol):
    """Something that coordinates groups and can be ended."""

    @property
    def port(self) -> int: ...
    def kill(self) -> None: ...
    def start(self) -> object: ...


async def failover(running: Sequence[Ends], victim: Ends, what: str) -> Failover:
    """End `victim` and see when its groups are served again; it is back when this returns."""
    async with asyncio.timeout(DEADLINE_S):
        await shared(running)
        members = await joined(running, f"{time.time_ns()}")
        ports = await owners(running[0].port, [each.group_id for each in members])
    theirs = [each for each in members if ports[each.group_id] == victim.port]
    others = [each.port for each in running if each is not victim]
    assert theirs, f"no group of {GROUPS} is on the instance that ends"
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    ending = loop.run_in_executor(None, partial(end, victim, what))
    async with asyncio.timeout(DEADLINE_S):
        seconds = await asyncio.gather(*(served_again(each, others, began) for each in theirs))
    await ending
    if what is SILENCE:
        await loop.run_in_executor(None, victim.kill)
    await loop.run_in_executor(None, victim.start)
    return Failover(sorted(seconds))


def end(victim: Ends, what: str) -> None:
    """Let it end so."""
    if what is KILL:
        victim.kill()
        return
    assert isinstance(victim, Kcoord)
    if what is STOP:
        victim.stop()
    else:
        victim.process.freeze()


async def shared(running: Sequence[Ends]) -> None:
    """Return once all say the same of who has which partition, and each instance of kcoord has its share. (A broker
    that comes back has none for minutes.)
    """
    names = {partition_of(f"probe-{number}", PARTITIONS): f"probe-{number}" for number in range(PROBES)}
    assert len(names) == PARTITIONS, "some partition has no probe"
    least = PARTITIONS // len(running) if isinstance(running[0], Kcoord) else 0
    while True:
        told = [await owners(each.port, list(names.values())) for each in running]
        has = Counter(told[0].values())
        if all(each == told[0] for each in told) and 0 not in has and all(has[each.port] >= least for each in running):
            return
        await asyncio.sleep(ASK_EVERY_S * 10)


async def joined(running: Sequence[Ends], turn: str) -> list[Member]:
    """Members of groups of their own, joined at whoever coordinates them."""
    names = [
        f"failover-{turn}-{uuid.uuid4()}" for _ in range(GROUPS)
    ]  # numbers would fall into neighbouring partitions
    ports = await owners(running[0].port, names)
    members = []
    for name in names:
        (line,) = await connect("127.0.0.1", ports[name], 1)
        member = Member(line, name)
        assert await member.sync(await member.join()), f"group {name} of one member rebalances"
        line.close()
        members.append(member)
    return members


async def owners(port: int, names: Sequence[str]) -> Mapping[str, int]:
    """The port of each group's coordinator, as the instance at `port` says; 0 for none."""
    answer = await asked(port, names)
    return {each.key: each.port if not each.error_code else 0 for each in answer.coordinators}


async def asked(port: int, names: Sequence[str]) -> FindCoordinatorResponse:
    """FindCoordinator."""
    (line,) = await connect("127.0.0.1", port, 1)
    try:
        request = FindCoordinatorRequest(coordinator_keys=list(names))
        return await line.ask(request, FIND_VERSION, FindCoordinatorResponse)
    finally:
        line.close()


async def served_again(member: Member, ports: Sequence[int], began: float) -> float:
    """When a heartbeat of `member` was answered with NONE by one of the instances at `ports`, in s after `began`."""
    lines: dict[int, Asking] = {port: (await connect("127.0.0.1", port, 1))[0] for port in ports}
    try:
        while True:
            request = FindCoordinatorRequest(coordinator_keys=[member.group_id])
            found = await lines[ports[0]].ask(request, FIND_VERSION, FindCoordinatorResponse)
            (owner,) = found.coordinators
            if not owner.error_code and owner.port in lines and await heartbeats(member, lines[owner.port]):
                return time.monotonic() - began
            await asyncio.sleep(ASK_EVERY_S)
    finally:
        for line in lines.values():
            line.close()


async def heartbeats(member: Member, line: Asking) -> bool:
    """Whether a heartbeat is answered with NONE."""
    answer = await line.ask(member.heartbeat_request(), HEARTBEAT_VERSION, HeartbeatResponse)
    return not answer.error_code


# -- the figures -------------------------------------------------------------------------------------------------------


def outcome(
    found: Mapping[str, Sequence[Failover]], kafkas: Sequence[Failover], in_front: failover_in_front.Measured
) -> Outcome:
    """What was reached: the worst round counts."""
    rows = [("kcoord", what, failovers) for what, failovers in found.items()] + [("Kafka", KILL, kafkas)]
    figures = Table(
        ["coordinator", "its end", "groups", "first answered, median", "worst", "all answered, median", "worst"],
        [
            [
                side,
                what,
                ", ".join(str(len(each.seconds)) for each in failovers),
                f"{median(each.first_s for each in failovers):.2f} s",
                f"{max(each.first_s for each in failovers):.2f} s",
                f"{median(each.last_s for each in failovers):.2f} s",
                f"{max(each.last_s for each in failovers):.2f} s",
            ]
            for side, what, failovers in rows
        ],
    )
    theirs = f"; Kafka median {median(each.last_s for each in kafkas):.2f} s"
    claims = [
        Claim(
            f"failover, {what}: all its groups answered by others",
            f"≤ {TARGETS[what]:.0f} s",
            f"median {median(each.last_s for each in found[what]):.2f} s, worst "
            f"{max(each.last_s for each in found[what]):.2f} s{theirs if what is KILL else ''}",
            max(each.last_s for each in found[what]) <= TARGETS[what],
        )
        for what in (KILL, STOP, SILENCE)
    ]
    how = (
        f"{INSTANCES} instances over one topic of {PARTITIONS} partitions, one broker beside them; {GROUPS} groups of "
        f"one member; {ROUNDS} rounds of each, instances in turn. From the signal until a heartbeat is answered with "
        f"NONE by another instance, asked every {ASK_EVERY_S * 1000:.0f} ms as FindCoordinator says, for each of its "
        f"groups: the first, and the last. Kafka: {INSTANCES} brokers that are controllers too, with the same groups "
        f"and the defaults of its timeouts, {KAFKA_ROUNDS} rounds. {in_front.how}"
    )
    return Outcome("Failover", how, [*claims, *in_front.claims], [figures, in_front.figures])
