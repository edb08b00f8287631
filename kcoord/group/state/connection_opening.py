"""The opening of a client's connection: when it was made, and which of two connections is newer (CG-4).

A request can be delayed for a long time: in the socket of an instance that is frozen, between two instances, in a
network. What it says was true at the time when its sender made the connection, or later. So the newest connection is
the one that was made last, not the one that was heard of last. The connections of one member may end at several
instances, whose clocks differ. So:

1. If one listener of one process has accepted both connections, their numbers say which is newer.
2. Otherwise each connection has an interval on the coordinator's clock in which it was made. The later one is newer if
   the intervals do not overlap. If they do, nobody can say: the request changes nothing, and its sender must connect
   again, which makes a connection that is surely newer.
"""

from __future__ import annotations

from enum import Enum

from kcoord.protocol.frozen_class import frozen

__all__ = ["Opening", "Order"]


class Order(Enum):
    """How a connection compares with the newest one that a member used."""

    OLDER = "older"
    SAME = "the same"
    NEWER = "newer"
    UNSURE = "nobody can say"


@frozen(slots=True)
class Opening:
    """The opening of one connection."""

    process: str
    """The random name of the process that accepted it; empty: this process."""
    listener: int
    """The port of that process."""
    number: int
    """The connection's serial number in that process."""
    since_ms: int
    """The earliest time at which it may have been made, on the clock of the steps' `now_ms`."""
    by_ms: int
    """The latest time at which it may have been made."""

    def order(self, other: Opening) -> Order:
        """How this connection compares with `other`."""
        if (self.process, self.listener) == (other.process, other.listener):
            return _by_number(self.number, other.number)
        if self.since_ms > other.by_ms:
            return Order.NEWER
        return Order.OLDER if self.by_ms < other.since_ms else Order.UNSURE


def _by_number(number: int, other: int) -> Order:
    if number == other:
        return Order.SAME
    return Order.NEWER if number > other else Order.OLDER


def order(number: int, opened: Opening | None, other: int, other_opened: Opening | None) -> Order:
    """How one connection compares with another, each by its number here and by its opening, if that is known."""
    if number == other or opened is None or other_opened is None:
        return _by_number(number, other)
    return opened.order(other_opened)
