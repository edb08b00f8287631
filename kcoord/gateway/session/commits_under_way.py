"""The commits of members that are under way: which connection brought the newest one of each member.

A commit may wait here while its client ends the connection, comes by another one, and commits more. Both would go
upstream over connections of their own, where nobody knows which is the newer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Commits", "CommitsUnderWay"]


class _Client(Protocol):
    has_hung_up: bool


class Commits(Protocol):
    """A client's connection, as far as its commits go."""

    @property
    def client(self) -> _Client: ...


class CommitsUnderWay:
    """The newest commit of each member that has some under way."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, str], Commits] = {}
        """By group and member id, the connection of the newest one."""
        self._count: dict[tuple[str, str], int] = {}
        """How many are under way."""

    @contextmanager
    def one(self, group_id: str, member_id: str, session: Commits) -> Iterator[None]:
        """A commit of that member has come by that connection, and is under way."""
        key = group_id, member_id
        self._newest[key], self._count[key] = session, self._count.get(key, 0) + 1
        try:
            yield
        finally:
            self._count[key] -= 1
            if not self._count[key]:
                del self._count[key], self._newest[key]

    def is_overtaken(self, group_id: str, member_id: str, session: Commits) -> bool:
        """Whether the client has ended that connection, and the member has committed by another one since."""
        newest = self._newest.get((group_id, member_id))
        return newest is not None and newest is not session and session.client.has_hung_up
