"""The opening of a client's connection: when it was made, and which of two was made later (CG-4).

A request may lie for long: in the socket of an instance that stands still, between two instances, in a network. What it
says was true when its sender made the connection that it came by, or later; so the newest connection is the one that
was made last, not the one that was heard of last. Connections of one member may end at several instances, whose clocks
differ. So:

1. Two connections that one listener of one process has accepted are told apart by their numbers.
2. Of all others an interval is known on the coordinator's clock in which each was made. The later one is newer if the
   intervals do not touch. If they do, nobody can say: such a request changes nothing, and its sender is told to connect
   once more, which makes a connection that is surely newer.
"""

from __future__ import annotations

from enum import Enum

from kcoord.protocol.frozen import frozen

__all__ = ["Opening", "Order"]


class Order(Enum):
    """How a connection stands to the one that a member came by last."""

    OLDER = "older"
    SAME = "the same"
    NEWER = "newer"
    UNSURE = "nobody can say"


@frozen(slots=True)
class Opening:
    """One connection's."""

    process: str
    """The process that accepted it, by a name made at random; empty: this one."""
    listener: int
    """Which of that process's ports."""
    number: int
    """By which that process counts its connections."""
    since_ms: int
    """It was not made before, on the clock of the steps' `now_ms`."""
    by_ms: int
    """It was made by then."""

    def order(self, other: Opening) -> Order:
        """How this connection stands to `other`."""
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
    """How one connection stands to another, each by its number here and its opening, where that is known."""
    if number == other or opened is None or other_opened is None:
        return _by_number(number, other)
    return opened.order(other_opened)
