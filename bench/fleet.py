"""What load can be put on a server, inside the process of the load generator?

A `Fleet` is many connections to one server: settled members whose heartbeats are repeated as fast as they are answered
or at a pace, or bare connections to the echo server. `join_groups` is the load of clients that each join new groups.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count

import attrs

from bench.consumers import settle_consumers
from bench.lines import Asking, Repeating, Tally, request_frame
from bench.members import HEARTBEAT_VERSION, Member, settle
from bench.workers import settle_workers

Settle = Callable[[Sequence[Asking], str], Awaitable[list[bytes]]]
"""Brings members into a stable group of that name, one on each line; the steady heartbeat of each as a frame."""

CONNECTING_AT_ONCE = 100
TICK_S = 0.01
DRAIN_DEADLINE_S = 30.0


class LoadFailed(Exception):
    """The server under load gave a wrong answer, or none."""


async def connect(host: str, port: int, connections: int) -> list[Asking]:
    """`connections` open connections."""
    loop = asyncio.get_running_loop()
    turn = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def one() -> Asking:
        async with turn:
            return (await loop.create_connection(Asking, host, port))[1]

    return list(await asyncio.gather(*(one() for _ in range(connections))))


@attrs.define(eq=False)
class Fleet:
    """Connections that repeat their frames."""

    lines: list[Repeating]
    frame_bytes: int
    answer_bytes: int
    tally: Tally
    _pace: asyncio.Task[None] | None = None

    @classmethod
    async def of_members(cls, host: str, port: int, groups: int, size: int, ring: int) -> Fleet:
        """`groups` settled groups of `size` members each, one connection a member."""
        lines = await connect(host, port, groups * size)
        run = os.urandom(3).hex()
        fleets = [
            [Member(line, f"bench-{run}-{number:04}") for line in lines[number * size : (number + 1) * size]]
            for number in range(groups)
        ]
        await asyncio.gather(*(settle(members) for members in fleets))
        tally = Tally()
        repeating: list[Repeating] = []
        frame = answer = b""
        for member in (member for members in fleets for member in members):
            frame = request_frame(member.heartbeat_request(), HEARTBEAT_VERSION)
            if not await member.is_undisturbed():
                raise LoadFailed(f"group {member.group_id} did not stay settled")
            answer = await member.line.ask_frame(frame)
            repeating.append(_turn(member.line, tally, frame, answer, ring))
        return cls(repeating, len(frame), len(answer), tally)

    @classmethod
    async def of_workers(cls, host: str, port: int, groups: int, size: int, ring: int) -> Fleet:
        """`groups` stable connect groups of `size` workers each, one connection a worker."""
        return await cls._of_groups(await connect(host, port, groups * size), size, ring, settle_workers)

    @classmethod
    async def of_consumers(cls, host: str, port: int, groups: int, size: int, topic: str, ring: int) -> Fleet:
        """`groups` stable groups of `size` new consumers of `topic` each, one connection a consumer."""
        settle = partial(settle_consumers, topic=topic)
        return await cls._of_groups(await connect(host, port, groups * size), size, ring, settle)

    @classmethod
    async def _of_groups(cls, lines: Sequence[Asking], size: int, ring: int, settle: Settle) -> Fleet:
        """Groups of `size` members, one on each line, that `settle` brings into being."""
        run = os.urandom(3).hex()
        tally = Tally()
        repeating: list[Repeating] = []
        frame = answer = b""
        groups = [lines[begin : begin + size] for begin in range(0, len(lines), size)]
        settled = await asyncio.gather(*(settle(theirs, f"bench-{run}-{at:04}") for at, theirs in enumerate(groups)))
        for theirs, frames in zip(groups, settled, strict=True):
            for line, frame in zip(theirs, frames, strict=True):
                await line.ask_frame(frame)  # still tells the assignment that a steady answer leaves out
                answer = await line.ask_frame(frame)
                repeating.append(_turn(line, tally, frame, answer, ring))
        return cls(repeating, len(frame), len(answer), tally)

    @classmethod
    async def of_echoes(cls, host: str, port: int, connections: int, frame_bytes: int, ring: int) -> Fleet:
        """Connections whose server sends back what it gets, frames of `frame_bytes` bytes."""
        tally = Tally()
        frame = (frame_bytes - 4).to_bytes(4, "big") + bytes(frame_bytes - 4)
        lines = [_turn(line, tally, frame, frame, ring) for line in await connect(host, port, connections)]
        return cls(lines, frame_bytes, frame_bytes, tally)

    def beat(self, in_flight: int) -> None:
        """Repeat as fast as answers come, `in_flight` requests on each connection."""
        self.tally.running = True
        for line in self.lines:
            line.begin(in_flight)
        self._stay_awake()

    def _stay_awake(self) -> None:
        """Poll without sleeping under load: to wake a sleeping generator would be work of the server's CPU seconds."""
        if self.tally.running:
            asyncio.get_running_loop().call_soon(self._stay_awake)

    def pace(self, every_s: float) -> None:
        """Send one frame on each connection every `every_s` seconds, evenly spread."""
        self._pace = asyncio.create_task(self._paced(every_s))

    async def _paced(self, every_s: float) -> None:
        began = time.monotonic()
        sent = 0
        while True:
            due = int((time.monotonic() - began) / every_s * len(self.lines))
            for number in range(sent, due):
                self.lines[number % len(self.lines)].begin(1)
            sent = due
            await asyncio.sleep(TICK_S)

    async def rest(self) -> None:
        """Send nothing more, and wait for what is on its way. Raises LoadFailed."""
        self.tally.running = False
        if self._pace is not None:
            self._pace.cancel()
            self._pace = None
        end = time.monotonic() + DRAIN_DEADLINE_S
        while self.tally.in_flight and not self.tally.failure:
            if time.monotonic() > end:
                raise LoadFailed(f"{self.tally.in_flight} requests were not answered")
            await asyncio.sleep(TICK_S)
        if self.tally.failure:
            raise LoadFailed(self.tally.failure)

    def close(self) -> None:
        """Close all connections."""
        for line in self.lines:
            line.close()


def _turn(line: Asking, tally: Tally, frame: bytes, answer: bytes, ring: int) -> Repeating:
    assert line.transport is not None
    repeating = Repeating(line.transport, tally, frame, answer, ring)
    line.transport.set_protocol(repeating)
    return repeating


@attrs.frozen
class Joins:
    """What joining clients got: how many joins, in which time, and how long each took, in ms."""

    joins: int
    seconds: float
    latencies_ms: list[float]


async def join_groups(host: str, port: int, clients: int, seconds: float, sync: bool) -> Joins:
    """`clients` clients join new groups of their own, one after another; with `sync` each becomes stable too."""
    lines = await connect(host, port, clients)
    numbers = count()
    run = os.urandom(3).hex()
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def client(line: Asking) -> None:
        while (began := time.perf_counter()) < end:
            member = Member(line, f"join-{run}-{next(numbers):08}")
            joined = await member.join()
            if sync and not await member.sync(joined):
                raise LoadFailed(f"group {member.group_id} of one member rebalances")
            done = time.perf_counter()
            if done < end:
                latencies.append((done - began) * 1000)

    try:
        async with asyncio.timeout(seconds + DRAIN_DEADLINE_S):
            await asyncio.gather(*(client(line) for line in lines))
    except TimeoutError:
        raise LoadFailed(f"after {len(latencies)} joins some are not answered") from None
    finally:
        for line in lines:
            line.close()
    return Joins(len(latencies), seconds, latencies)
