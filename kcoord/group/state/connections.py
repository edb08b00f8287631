"""Open and closed client connections: whether the newest connection of a member is closed.

The shell reports connections that close. The memory for that is bounded: only connections that brought a request here
count, and of the closed ones only those that are some member's newest. After a load no connection counts as closed: a
member whose connection is not known may still be alive.

What it is for: a worker that joins with the url of a member whose connection is closed takes that member's place; if
the connection is open, it does not (CM-19, CM-20). A leader that cannot be reached is not ready (CM-23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

PRUNED_FROM = 64
"""Closed connections that are remembered before the ones that no member uses are dropped."""


class Connections:
    """Connections of one shard's members, by number. `in_use` gives the newest connections of all members."""

    def __init__(self, in_use: Callable[[], Iterable[int]]) -> None:
        self._in_use = in_use
        self._used: set[int] = set()
        self._closed: set[int] = set()
        self._prune_at = PRUNED_FROM

    def use(self, connection: int) -> None:
        """Note that the connection brought a request."""
        self._used.add(connection)

    def close(self, connection: int) -> bool:
        """Note that the connection is closed. False if it never brought a request here."""
        if connection not in self._used:
            return False
        self._used.discard(connection)
        self._closed.add(connection)
        if len(self._closed) >= self._prune_at:
            self._closed.intersection_update(self._in_use())
            self._prune_at = max(PRUNED_FROM, 2 * len(self._closed))
        return True

    def knows(self, connection: int) -> bool:
        """Whether the connection brought a request and is not closed."""
        return connection in self._used

    def is_closed(self, connection: int) -> bool:
        """Whether the connection is closed, so that a member cannot be reached by it."""
        return connection in self._closed
