"""Consumers of the new protocol (KIP-848) in one process, and who of them has which partition when.

Each consumer is the consumer library's own membership (`kcoord.consumer`), on a connection of its own. It takes what it
is granted, and lets go of what is revoked, in no time; it reads nothing. So what is measured is the coordinator, beside
the protocol's own round trips.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable

import attrs

from bench.lines import Asking
from bench.member_connection import MemberConnection, now_ms
from bench.workers import WorkersFailed
from kcoord.consumer.actions import Action, Gone, Grant, Lose, Partition, Revoke, Seek, Send
from kcoord.consumer.membership import Membership
from kcoord.consumer.setup import Setup
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    RESPONSES,
    ConsumerGroupHeartbeatRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    Request,
)

FIND_VERSION = 4
STEADY_SHARE = 0.7
"""A heartbeat that comes after less than this share of the interval is an extra one. Held answers come after 0.9 or
later.
"""
POLL_S = 0.02
NOT_YET = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)


@attrs.define(eq=False)
class Book:
    """Who has what, and for how long each partition was nobody's. Times are in s."""

    owners: dict[Partition, str] = attrs.Factory(dict)
    free_since: dict[Partition, float] = attrs.Factory(dict)
    gap_s: float = 0.0
    """The sum over all partitions of the time in which nobody had them."""
    longest_s: float = 0.0
    changed_s: float = 0.0
    """When a partition was taken, or let go of, last."""
    disturbed: set[str] = attrs.Factory(set)
    """Who has got or lost something."""

    def takes(self, who: str, partitions: Iterable[Partition]) -> None:
        """It has these from now on. Raises WorkersFailed if somebody else has one."""
        now_s = time.monotonic()
        for each in partitions:
            if self.owners.setdefault(each, who) != who:
                raise WorkersFailed(f"{who} and {self.owners[each]} have {each[1]}")
            since_s = self.free_since.pop(each, None)
            if since_s is not None:
                self.gap_s += now_s - since_s
                self.longest_s = max(self.longest_s, now_s - since_s)
            self._changed(who, now_s)

    def loses(self, who: str, partitions: Iterable[Partition]) -> None:
        """It has these no more."""
        now_s = time.monotonic()
        for each in partitions:
            if self.owners.get(each) == who:
                del self.owners[each]
                self.free_since[each] = now_s
                self._changed(who, now_s)

    def _changed(self, who: str, now_s: float) -> None:
        self.changed_s = now_s
        self.disturbed.add(who)

    def begin(self) -> None:
        """What is counted begins here."""
        self.gap_s = self.longest_s = 0.0
        self.disturbed.clear()
        self.changed_s = time.monotonic()


class Consumer(MemberConnection[Action]):
    """One membership and its connection."""

    VERSION = 1

    def __init__(self, setup: Setup, book: Book, sent: Counter[str], interval_s: float) -> None:
        self.name = setup.instance_id or setup.member_id
        self.membership = Membership(setup)
        super().__init__(self.membership)
        self._book, self._sent, self._steady_s = book, sent, STEADY_SHARE * interval_s
        self._last_beat_s = 0.0

    def start(self) -> None:
        """Join, and poll for ever."""
        self.do(self.membership.start(now_ms()))
        self.do(self.membership.application_polled(now_ms(), waits=True))

    def leave(self) -> None:
        """Let go of everything, and leave; a static one for a while."""
        self.do(self.membership.leave(now_ms()))

    def kill(self) -> None:
        """Be gone, without a word."""
        self._book.loses(self.name, self.membership.owned)
        self.close()

    def _act(self, action: Action) -> list[Action]:
        match action:
            case Seek():
                return self.membership.connected(now_ms())
            case Send(number, request):
                self._send(number, request)
            case Grant(partitions):
                self._book.takes(self.name, partitions)
            case Revoke(number, partitions):
                self._book.loses(self.name, partitions)
                return self.membership.released(now_ms(), number)
            case Lose(number, partitions, why):
                self._book.loses(self.name, partitions)
                self.failure = why
                return self.membership.lost(now_ms(), number)
            case Gone(error, message):
                self.is_gone = True
                if error:
                    self.failure = f"error {error}: {message}"
        return []

    def _send(self, number: int, request: Request) -> None:
        now_s = time.monotonic()
        is_steady = now_s - self._last_beat_s >= self._steady_s
        self._sent["steady" if is_steady and self._last_beat_s else "extra"] += 1
        self._last_beat_s = now_s
        self._write(number, request)


@attrs.define(eq=False)
class Fleet:
    """The consumers of one group that share one topic."""

    address: tuple[str, int]
    group_id: str
    topic: str
    partitions: int
    interval_s: float
    static: bool = False
    book: Book = attrs.Factory(Book)
    sent: Counter[str] = attrs.Factory(Counter)
    consumers: list[Consumer] = attrs.Factory(list)
    _lives: int = 0

    async def add(self, place: int) -> Consumer:
        """One consumer more. It joins."""
        self._lives += 1
        instance_id = f"i{place}" if self.static else None
        setup = Setup(self.group_id, f"{self.group_id}-{self._lives}", (self.topic,), instance_id=instance_id)
        loop = asyncio.get_running_loop()
        _, consumer = await loop.create_connection(
            lambda: Consumer(setup, self.book, self.sent, self.interval_s), *self.address
        )
        self.consumers.append(consumer)
        consumer.say_name()
        consumer.start()
        return consumer

    async def found(self, count: int, deadline_s: float = 120.0) -> None:
        """Bring `count` consumers together. Raises WorkersFailed."""
        await coordinator_is_there(self.address, self.group_id)
        for place in range(count):
            await self.add(place)
        await self.rest(deadline_s)

    async def rest(self, deadline_s: float = 120.0) -> None:
        """Wait until all has been shared out, evenly, and nothing has moved for an interval. Raises WorkersFailed."""
        quiet_s = self.interval_s + 1.5

        def rests() -> bool:
            return self._is_shared_out() and time.monotonic() - self.book.changed_s >= quiet_s

        await self.until(rests, "shared out", deadline_s)

    def _is_shared_out(self) -> bool:
        shares = [len(each.membership.owned) for each in self.living]
        return len(self.book.owners) == self.partitions and max(shares) - min(shares) <= 1

    @property
    def living(self) -> list[Consumer]:
        return [each for each in self.consumers if not each.is_gone]

    async def until(self, is_so: Callable[[], bool], what: str, deadline_s: float = 120.0) -> None:
        """Wait for that. Raises WorkersFailed if it takes too long, or a consumer has lost its partitions."""
        end_s = time.monotonic() + deadline_s
        while not is_so():
            failed = next((each for each in self.consumers if each.failure), None)
            if failed is not None:
                raise WorkersFailed(f"{failed.name}: {failed.failure}")
            if time.monotonic() > end_s:
                raise WorkersFailed(f"not {what} after {deadline_s:.0f} s")
            await asyncio.sleep(POLL_S)

    def close(self) -> None:
        """End all connections."""
        for each in self.consumers:
            each.close()


async def coordinator_is_there(address: tuple[str, int], group_id: str) -> None:
    """Ask for the group's coordinator until it is known, and has read its log: a broker makes its topic first."""
    _, line = await asyncio.get_running_loop().create_connection(Asking, *address)
    try:
        while True:
            found = await line.ask(
                FindCoordinatorRequest(coordinator_keys=[group_id]), FIND_VERSION, FindCoordinatorResponse
            )
            probe = ConsumerGroupHeartbeatRequest(group_id, "nobody", -1)
            kind = RESPONSES[probe.API_KEY]
            if found.coordinators[0].error_code not in NOT_YET:
                answer = await line.ask(probe, Consumer.VERSION, kind)
                if getattr(answer, "error_code", 0) not in NOT_YET:
                    return
            await asyncio.sleep(0.1)
    finally:
        line.close()
