"""One instance: its clock, its ports, what waits in its sockets while it stands still, and how it relays.

This module covers only connections. There is one shard at a time, the owner's (`coordinator.py`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count
from random import Random

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state.connection_opening import Opening
from kcoord.instances.peer_clock import PeerClock
from kcoord.sim.network import Client, Frame, Link

TICKS_MS = 150
"""How long an accepted connection may have waited if the instance has not stood still (as in
`kcoord/server/connections/accept_clock.py`).
"""
PORTS = 2
MEASURED_FOR_MS = 10_000
NUMBERS = 1_000
"""How far apart the numbers of two instances' connections begin, so that a trace tells them apart."""


class FrontLink(Link):
    """A client's connection, and what the instance at its end knows of it."""

    __slots__ = ("by_ms", "front_call", "front_queue", "instance", "made", "number", "port", "since_ms")

    def __init__(self, made: int, client: Client, instance: Instance, port: int) -> None:
        super().__init__(made, client)
        self.made = made
        """Numbers connections in the order in which they were made, which nobody in the run knows. `serial` is its
        number at the owner that it was relayed to last.
        """
        self.instance = instance
        self.port = port
        self.number = 0
        """Its number at that instance, once it is accepted."""
        self.since_ms = self.by_ms = 0
        """When it was made, by that instance's clock."""
        self.front_call: Frame | None = None
        self.front_queue: deque[Frame] = deque()


@attrs.define(eq=False)
class Unread:
    """Something in a socket of an instance that stands still."""

    source: object
    read: Callable[[], None]


@attrs.define(eq=False)
class Line:
    """The line from one instance to another. What is sent on it keeps its order, until it is made again."""

    made: int = 0
    """How many times the line was made."""
    read: int = 0
    """The newest line that the other instance has read from."""
    out_ms: int = 0


class Instance:
    """One process, in all its lives."""

    def __init__(self, number: int, random: Random) -> None:
        self.number = number
        self.name = f"instance {number}"
        self.up = True
        self.life = 0
        self.clock_ms = random.randrange(1 << 40)
        """How far its monotonic clock is ahead of virtual time."""
        self.wall_ms = random.choice((0, 0, 90_000, -90_000, 86_400_000, -86_400_000))
        """How far its time of day is ahead of the right one."""
        self.frozen_until_ms = 0
        self.frozen_since_ms = 0
        self.backlog: list[FrontLink] = []
        self.unread: list[Unread] = []
        self._random = random
        self.begin()

    def begin(self) -> None:
        """Begin the next life: another process."""
        self.life += 1
        self.numbers = count(NUMBERS * (self.number + 1) + 1)
        self.relayed: dict[tuple[int, int, int], int] = {}
        """The number here of another instance's connection, by that instance, its life, and the number there."""
        self.known: dict[int, FrontLink] = {}
        """Connections by their number here."""
        self.lines: dict[int, Line] = {}
        self.clocks: dict[tuple[int, int], PeerClock] = {}
        self.shard: Shard | None = None
        """The shard that it had last."""
        self.backlog.clear()
        self.unread.clear()

    def stands_still(self, now_ms: int) -> bool:
        """Whether it reads nothing now."""
        return self.frozen_until_ms > now_ms

    def freeze(self, now_ms: int, ms: int) -> None:
        """Stand still."""
        if not self.stands_still(now_ms):
            self.frozen_since_ms = now_ms
        self.frozen_until_ms = max(self.frozen_until_ms, now_ms + ms)

    def accept(self, link: FrontLink, now_ms: int) -> None:
        """Accept a connection. If it was made while the instance stood still, it has waited since then."""
        link.number = next(self.numbers)
        awake_since_ms = self.frozen_until_ms
        since_ms = now_ms if now_ms - awake_since_ms >= TICKS_MS else min(now_ms, self.frozen_since_ms)
        link.since_ms, link.by_ms = self.clock_ms + since_ms - TICKS_MS, self.clock_ms + now_ms

    def wake(self, now_ms: int) -> None:
        """Read what has come: each source in its order, the sources in any order."""
        backlog, self.backlog = self.backlog, []
        ports = [[link for link in backlog if link.port == port] for port in range(PORTS)]
        self._random.shuffle(ports)
        for link in [link for port in ports for link in port]:
            self.accept(link, now_ms)
        unread, self.unread = self.unread, []
        sources: dict[object, deque[Unread]] = {}
        for each in unread:
            sources.setdefault(each.source, deque()).append(each)
        queues = list(sources.values())
        while queues:
            queue = self._random.choice(queues)
            queue.popleft().read()
            if not queue:
                queues.remove(queue)

    def number_of(self, link: FrontLink) -> int:
        """The number here of a connection of any instance. The first time it gets a new one."""
        if link.instance is self:
            found = link.number
        else:
            key = (link.instance.number, link.instance.life, link.number)
            found = self.relayed.get(key, 0) or next(self.numbers)
            self.relayed[key] = found
        self.known[found] = link
        return found

    def line_to(self, other: Instance) -> Line:
        """The line to another instance."""
        return self.lines.setdefault(other.number, Line())

    def opening_for(self, link: FrontLink, owner: Instance, now_ms: int) -> Opening | None:
        """When a connection that ends here was made, on the clock of the owner's steps (virtual time)."""
        if owner is self:
            return Opening("", link.port, link.number, link.since_ms - self.clock_ms, link.by_ms - self.clock_ms)
        made = self._clock_of(owner, now_ms).theirs(link.since_ms, link.by_ms)
        if made is None:
            return None
        since_ms, by_ms = made
        return Opening(self.name_of_life, link.port, link.number, since_ms - owner.clock_ms, by_ms - owner.clock_ms)

    @property
    def name_of_life(self) -> str:
        """The name of this life of the process."""
        return f"{self.number}.{self.life}"

    def _clock_of(self, owner: Instance, now_ms: int) -> PeerClock:
        clock = self.clocks.setdefault((owner.number, owner.life), PeerClock())
        here_ms = self.clock_ms + now_ms
        if clock.measured_ms is None or here_ms - clock.measured_ms >= MEASURED_FOR_MS:
            out_ms, back_ms = self._random.randrange(20), self._random.randrange(20)
            clock.note(here_ms - out_ms - back_ms, owner.clock_ms + now_ms - back_ms, here_ms)
        return clock
