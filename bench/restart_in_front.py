"""How long is a restarted kcoord away that stands in front of a cluster, with 9,000 live groups?

Each group has one member, on a connection of its own, and kcoord's own member in the cluster. kcoord is killed with -9
and started again with its sockets kept. All members connect again at once, ask for the coordinator and send their
heartbeat. kcoord must then ask the cluster about each client's right to its group, and whether its own member is there.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import attrs
import uvloop

from bench.first_join import coordinator
from bench.fleet import CONNECTING_AT_ONCE, connect
from bench.lines import Asking
from bench.members import FIND_VERSION, HEARTBEAT_VERSION, NOT_YET, Member, settle
from bench.probe import Process
from bench.results import Claim, Table
from bench.sides import kafka
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatResponse,
)
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.kept_sockets import Keeper, kept

GROUPS = 9_000
"""Two connections each in kcoord: what the limit of 20,000 open files allows."""
BROKER = 1
ROUNDS = 3
MOST_S = 1.5
BACKOFF_S = 0.05
QUICK = {"group.initial.rebalance.delay.ms": 0}


@attrs.frozen
class Back:
    """One restart, in s from the start of the process."""

    first: float
    """Until the first member had its heartbeat answered."""
    half: float
    every: float
    """Until all had."""
    cpu: float
    """CPU of kcoord until then."""
    lost: int
    """Members that were told that they are none."""


@attrs.frozen
class Measured:
    """What `bench.restart` shows of it."""

    figures: Table
    claims: Sequence[Claim]
    how: str


def run(folder: Path) -> Measured:
    """Measure it."""
    restarts = list(measured(folder))
    figures = Table(
        ["kcoord in front of Kafka", "median", "all rounds"],
        [
            [what, f"{median(all_s):.1f} s", ", ".join(f"{each:.1f} s" for each in all_s)]
            for what, all_s in (
                ("the first member is answered after", [each.first for each in restarts]),
                ("half of them", [each.half for each in restarts]),
                ("all", [each.every for each in restarts]),
                ("kcoord's CPU until then", [each.cpu for each in restarts]),
            )
        ],
    )
    lost = sum(each.lost for each in restarts)
    first, half = median(each.first for each in restarts), median(each.half for each in restarts)
    every = median(each.every for each in restarts)
    claims = [
        Claim(
            f"restart in front of Kafka, {GROUPS:,} live groups: members that lost their membership",
            "0",
            str(lost),
            lost == 0,
        ),
        Claim(
            f"restart in front of Kafka, {GROUPS:,} live groups that come back at once",
            f"≤ {MOST_S:g} s until all are answered",
            f"{every:.1f} s; the first after {first:.1f} s, half of them after {half:.1f} s",
            every <= MOST_S,
        ),
    ]
    how = (
        f"In front of Kafka: {GROUPS:,} groups of one member each, on a connection of its own (as many as 20,000 open "
        f"files allow), killed and started again {ROUNDS} times. All members connect again within "
        f"{BACKOFF_S * 1000:.0f} ms, ask for the coordinator and send a heartbeat; they, kcoord and the broker share "
        "the cores."
    )
    return Measured(figures, claims, how)


def measured(folder: Path) -> Iterator[Back]:
    """The restarts, one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    with kafka(folder) as broker:
        kcoord = Kcoord(folder / "in-front", broker.cluster.bootstrap, (".*",), QUICK)
        port = kcoord.port + 1 + BROKER
        with kept(kcoord, [kcoord.port, port]) as keeper:
            keeper.start()
            coordinator(("127.0.0.1", kcoord.port), "any")  # the answer names the broker, so kcoord opens its port
            yield from uvloop.run(restarts(keeper, port))


async def restarts(keeper: Keeper, port: int) -> list[Back]:
    """All rounds, with the same members."""
    members = [
        Member(line, f"restart-{number:05}") for number, line in enumerate(await connect("127.0.0.1", port, GROUPS))
    ]
    turn = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def settled(member: Member) -> None:
        async with turn:
            await settle([member])

    await asyncio.gather(*map(settled, members))
    return [await restart(keeper, port, members) for _ in range(ROUNDS)]


async def restart(keeper: Keeper, port: int, members: Sequence[Member]) -> Back:
    """Kill kcoord, start it, and wait until all is as it was."""
    keeper.kcoord.kill()
    began = time.monotonic()
    await asyncio.to_thread(keeper.start, wait=False)
    process = Process(keeper.kcoord.process.popen.pid)
    coming = [asyncio.create_task(comes_back(each, port)) for each in members]
    answered = [await each for each in coming]
    times = sorted(at - began for at, _ in answered)
    cpu = process.cpu_s()
    return Back(times[0], median(times), times[-1], cpu, sum(lost for _, lost in answered))


async def comes_back(member: Member, port: int) -> tuple[float, bool]:
    """When the member's heartbeat was answered, and whether it was told that it is none."""
    loop = asyncio.get_running_loop()
    while True:
        member.line.close()
        await asyncio.sleep(random.uniform(0, BACKOFF_S))
        try:
            _, member.line = await loop.create_connection(Asking, "127.0.0.1", port)
            found = await member.line.ask(
                FindCoordinatorRequest(coordinator_keys=[member.group_id]), FIND_VERSION, FindCoordinatorResponse
            )
            if found.coordinators[0].error_code:
                continue
            while True:
                beat = await member.line.ask(member.heartbeat_request(), HEARTBEAT_VERSION, HeartbeatResponse)
                if beat.error_code not in NOT_YET:
                    return time.monotonic(), beat.error_code != ErrorCode.NONE
                await asyncio.sleep(2 * BACKOFF_S)
        except OSError:  # kcoord has closed the connection: once more
            continue
