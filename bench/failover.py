"""How long is a group without a coordinator when the instance that had it is stopped, or killed?

Three instances over one topic, and groups of one member each, some of them on every instance. One instance ends; from
that moment each of its groups is asked for, of the two that are left, until a heartbeat of its member is answered with
NONE by another instance than the one that ended. Then it is started again, and the next round is another's turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import attrs

from bench.fleet import connect
from bench.lines import Asking
from bench.members import FIND_VERSION, HEARTBEAT_VERSION, Member
from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from kcoord.group.partition import partition_of
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse, HeartbeatResponse
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port

INSTANCES, GROUPS, PARTITIONS = 3, 30, 50
PROBES = 2_000
"""So many names that some of them fall into each partition."""
ROUNDS = 5
SESSION_S, STOPPED_MOST_S = 10.0, 1.0
KILLED_MOST_S = SESSION_S + 1
ASK_EVERY_S = 0.02
DEADLINE_S = 120.0
STOP, KILL = "planned stop", "kill -9"


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
    """Stop and kill the instances in turn."""
    found: dict[str, list[Failover]] = {STOP: [], KILL: []}
    with kafka(folder) as broker, instances(folder, broker.cluster.bootstrap) as running:
        for number in range(ROUNDS):
            for what, failovers in found.items():
                failovers.append(asyncio.run(failover(running, running[number % INSTANCES], what)))
    return outcome(found)


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
                "instances.session.timeout.ms": int(SESSION_S * 1000),
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


async def failover(running: Sequence[Kcoord], victim: Kcoord, what: str) -> Failover:
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
    ending = loop.run_in_executor(None, victim.kill if what is KILL else victim.stop)
    async with asyncio.timeout(DEADLINE_S):
        seconds = await asyncio.gather(*(served_again(each, others, began) for each in theirs))
    await ending
    await loop.run_in_executor(None, victim.start)
    return Failover(sorted(seconds))


async def shared(running: Sequence[Kcoord]) -> None:
    """Return once each instance has its share of all partitions, and all say the same of it."""
    names = {partition_of(f"probe-{number}", PARTITIONS): f"probe-{number}" for number in range(PROBES)}
    assert len(names) == PARTITIONS, "some partition has no probe"
    while True:
        told = [await owners(each.port, list(names.values())) for each in running]
        has = Counter(told[0].values())
        if told[0] == told[1] == told[2] and all(has[each.port] >= PARTITIONS // INSTANCES for each in running):
            return
        await asyncio.sleep(ASK_EVERY_S * 10)


async def joined(running: Sequence[Kcoord], turn: str) -> list[Member]:
    """Members of groups of their own, joined at whoever coordinates them."""
    names = [f"failover-{turn}-{number}" for number in range(GROUPS)]
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


def outcome(found: Mapping[str, Sequence[Failover]]) -> Outcome:
    """What was reached: the worst round counts."""
    figures = Table(
        ["the instance's end", "groups", "first answered, median", "worst", "all answered, median", "worst"],
        [
            [
                what,
                ", ".join(str(len(each.seconds)) for each in failovers),
                f"{median(each.first_s for each in failovers):.2f} s",
                f"{max(each.first_s for each in failovers):.2f} s",
                f"{median(each.last_s for each in failovers):.2f} s",
                f"{max(each.last_s for each in failovers):.2f} s",
            ]
            for what, failovers in found.items()
        ],
    )
    claims = [
        Claim(
            f"failover, {what}: first heartbeat answered by the new owner",
            target,
            f"median {median(each.first_s for each in found[what]):.2f} s, worst "
            f"{max(each.first_s for each in found[what]):.2f} s",
            max(each.first_s for each in found[what]) <= most_s,
        )
        for what, target, most_s in (
            (KILL, f"≤ {KILLED_MOST_S:.0f} s (session timeout {SESSION_S:.0f} s + 1 s)", KILLED_MOST_S),
            (STOP, f"≤ {STOPPED_MOST_S:.0f} s", STOPPED_MOST_S),
        )
    ]
    how = (
        f"{INSTANCES} instances over one topic of {PARTITIONS} partitions, one broker beside them; {GROUPS} groups of "
        f"one member; {ROUNDS} rounds of each, instances in turn. From the signal until a heartbeat is answered with "
        f"NONE by another instance, asked every {ASK_EVERY_S * 1000:.0f} ms as FindCoordinator says, for each of its "
        "groups: the first, and the last."
    )
    return Outcome("Failover", how, claims, [figures])
