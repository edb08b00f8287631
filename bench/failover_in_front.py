"""How long are 1,000 live groups in front of a cluster without a coordinator when the instance that has them is killed?

Two instances stand before three brokers. Each group has one member, on a connection of its own. One instance is killed
with -9; each of its members connects to the other at once, asks for the coordinator and sends its heartbeat. The other
must read what the killed one has left, and ask the cluster about each client's right to its group and whether kcoord's
own member is there. Then the killed one is started again, and the next round is the other's turn.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import attrs
import uvloop

from bench.fleet import CONNECTING_AT_ONCE, connect
from bench.members import FIND_VERSION, HEARTBEAT_VERSION, NOT_YET, Member
from bench.results import Claim, Table
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse, HeartbeatResponse
from tests.gateway.fleet import Fleet, started
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port

GROUPS = 1_000
INSTANCES, BROKERS = 2, 3
ROUNDS = 4
MOST_S = 2.0
BACKOFF_S = 0.05
SETTLE_S, DEADLINE_S = 300.0, 120.0


@attrs.frozen
class Taken:
    """One instance was killed: when its members were answered, in s from the signal."""

    times: Sequence[float]
    lost: int
    """Members that were told that they are none."""


@attrs.frozen
class Measured:
    """What `bench.failover` shows of it."""

    figures: Table
    claims: Sequence[Claim]
    how: str


def run(folder: Path) -> Measured:
    """Measure it."""
    cluster = KafkaCluster.start(folder / "before-brokers", BROKERS, heap_mb=512)
    try:
        with started(cluster, instances(cluster, folder)) as fleet:
            return told(uvloop.run(rounds(fleet)))
    finally:
        cluster.remove()


def instances(cluster: KafkaCluster, folder: Path) -> list[Kcoord]:
    """Instances that share all groups, with the settings that they have by themselves."""
    made = []
    for number in range(INSTANCES):
        own = folder / f"in-front-{number}"
        own.mkdir(parents=True)
        settings = {
            "log": "kafka",
            "instance.id": number,
            "internal.listen": f"127.0.0.1:{free_port()}",
            "internal.secret": "a secret of the bench",
            "group.initial.rebalance.delay.ms": 0,
        }
        made.append(Kcoord(own, cluster.bootstrap, (r"(?!kcoord).*",), settings))
    return made


@attrs.define
class Client:
    """A member, and the port at which it has found its coordinator."""

    member: Member
    port: int


async def rounds(fleet: Fleet) -> list[Taken]:
    """Kill the instances in turn, with the same members."""
    await fleet.settled(*range(INSTANCES))
    found = []
    turn = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def joined() -> Client:
        async with turn, asyncio.timeout(SETTLE_S):
            return await new_client(fleet)

    clients = await asyncio.gather(*(joined() for _ in range(GROUPS)))
    for number in range(ROUNDS):
        victim = number % INSTANCES
        found.append(await killed(fleet, victim, clients))
        await asyncio.to_thread(fleet.instances[victim].start)
        await fleet.settled(*range(INSTANCES))
        async with asyncio.timeout(SETTLE_S):  # clients whose brokers are the other's again go there
            await asyncio.gather(*(comes(each, fleet.instances[victim].port) for each in clients))
    return found


async def new_client(fleet: Fleet) -> Client:
    """The only member of a new group, on a connection to the group's coordinator."""
    group = f"failover-{uuid.uuid4()}"  # numbers would fall into neighbouring partitions
    while True:
        port = await coordinator(fleet.instances[0].port, group)
        if port is not None:
            (line,) = await connect("127.0.0.1", port, 1)
            member = Member(line, group)
            if await member.sync(await member.join()):
                return Client(member, port)
            line.close()
        await asyncio.sleep(BACKOFF_S)


async def killed(fleet: Fleet, victim: int, clients: Sequence[Client]) -> Taken:
    """Kill this instance; its clients come to the other."""
    instance, other = fleet.instances[victim], fleet.other(victim)
    theirs = [each for each in clients if fleet.at(each.port)[0] == victim]
    assert len(theirs) > GROUPS / INSTANCES / 4, "the instance that ends has hardly any group"
    instance.kill()
    began = time.monotonic()
    async with asyncio.timeout(DEADLINE_S):
        answered = await asyncio.gather(*(comes(each, other.port) for each in theirs))
    return Taken(sorted(at - began for at, _ in answered), sum(lost for _, lost in answered))


async def comes(client: Client, bootstrap: int) -> tuple[float, bool]:
    """When its heartbeat was answered where this instance sends it, and whether it was told that it is no member."""
    member = client.member
    while True:
        member.line.close()
        await asyncio.sleep(random.uniform(0, BACKOFF_S))
        try:
            port = await coordinator(bootstrap, member.group_id)
            if port is None:
                continue
            (member.line,) = await connect("127.0.0.1", port, 1)
            beat = await member.line.ask(member.heartbeat_request(), HEARTBEAT_VERSION, HeartbeatResponse)
            if beat.error_code not in NOT_YET:
                client.port = port
                return time.monotonic(), beat.error_code != ErrorCode.NONE
        except OSError:  # nobody there any more, or it has closed the connection: once more
            continue


async def coordinator(bootstrap: int, group: str) -> int | None:
    """The port of the group's coordinator; None if nobody is it now."""
    (line,) = await connect("127.0.0.1", bootstrap, 1)
    try:
        request = FindCoordinatorRequest(coordinator_keys=[group])
        (found,) = (await line.ask(request, FIND_VERSION, FindCoordinatorResponse)).coordinators
        return None if found.error_code else found.port
    finally:
        line.close()


def told(found: Sequence[Taken]) -> Measured:
    """Its figures: the worst round counts."""
    what: Mapping[str, Sequence[float]] = {
        "first": [each.times[0] for each in found],
        "half": [median(each.times) for each in found],
        "all": [each.times[-1] for each in found],
    }
    groups = ", ".join(str(len(each.times)) for each in found)
    figures = Table(
        ["in front of Kafka, kill -9 of one of two instances", "median", "worst", "all rounds"],
        [
            [
                f"{name} answered after",
                f"{median(times):.2f} s",
                f"{max(times):.2f} s",
                ", ".join(f"{each:.2f} s" for each in times),
            ]
            for name, times in what.items()
        ],
    )
    lost, worst = sum(each.lost for each in found), max(what["all"])
    claims = [
        Claim(
            f"failover in front of Kafka, kill -9 with {GROUPS:,} live groups: all groups of the killed instance "
            "answered by the other",
            f"≤ {MOST_S:.0f} s",
            f"median {median(what['all']):.2f} s, worst {worst:.2f} s",
            worst <= MOST_S,
        ),
        Claim(
            f"failover in front of Kafka, kill -9 with {GROUPS:,} live groups: members that lost their membership",
            "0",
            str(lost),
            lost == 0,
        ),
    ]
    how = (
        f"In front of Kafka: {INSTANCES} instances before {BROKERS} brokers, {GROUPS:,} groups of one member, each on "
        f"a connection of its own; {ROUNDS} kills, instances in turn, of {groups} groups. All members of the killed "
        f"one connect to the other within {BACKOFF_S * 1000:.0f} ms, ask for the coordinator and send a heartbeat."
    )
    return Measured(figures, claims, how)
