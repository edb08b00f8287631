"""Is the connection that a member came by still there?

Whoever carries the shard tells of connections that close. What must be remembered of that is bounded by who can ask:
only connections that brought a request here count, and of those that have closed only the ones that some member came
by last. After a load nothing counts as closed: a member whose connection is not known may be there.

Why anybody asks: a worker that starts on the url of a member whose connection is closed is that member's successor,
one that starts beside an open one is not (CM-19, CM-20), and a leader that cannot be reached leads nobody
(CM-23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

PRUNED_FROM = 64
"""So many closed connections are remembered before it is looked who of them matters still."""


class Connections:
    """Connections of one shard's members, by number; `in_use` gives those that members came by last."""

    def __init__(self, in_use: Callable[[], Iterable[int]]) -> None:
        self._in_use = in_use
        self._used: set[int] = set()
        self._closed: set[int] = set()
        self._prune_at = PRUNED_FROM

    def use(self, connection: int) -> None:
        """It brought a request."""
        self._used.add(connection)

    def close(self, connection: int) -> bool:
        """It is there no more; False where it never brought anything here."""
        if connection not in self._used:
            return False
        self._used.discard(connection)
        self._closed.add(connection)
        if len(self._closed) >= self._prune_at:
            self._closed.intersection_update(self._in_use())
            self._prune_at = max(PRUNED_FROM, 2 * len(self._closed))
        return True

    def knows(self, connection: int) -> bool:
        """Whether it brought a request, and has not closed."""
        return connection in self._used

    def is_closed(self, connection: int) -> bool:
        """Whether a member that came by it last cannot be reached any more."""
        return connection in self._closed
