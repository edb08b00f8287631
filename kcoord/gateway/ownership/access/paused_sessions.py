"""Paused sessions: the sessions of members that lost their way to kcoord without their own fault (GW-10).

A pause lasts `gateway.outage.ms` at most. A member that gives a sign of life has a fresh session at once. kcoord pauses
or refreshes no session for a connection whose client upstream may no longer know, or in a group that the client may not
read: such a group is not among the members of the client session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.interfaces import GroupService

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["PausedSessions"]

REMEMBERED_BYTES = 8 << 20
"""Size limit, in bytes, of the memory of paused sessions."""


class PausedSessions:
    """The sessions that one gateway has paused."""

    def __init__(self, groups: GroupService, outage_ms: int) -> None:
        """`outage_ms`: how long, in ms, a session may stand still."""
        self._groups = groups
        self._outage_ms = outage_ms
        self._until_ms: BoundedCache[tuple[str, str], int] = BoundedCache(REMEMBERED_BYTES)
        """When each pause ends, in ms, by group and member id; the oldest pause comes first."""

    def __len__(self) -> int:
        """How many paused sessions are remembered."""
        return len(self._until_ms)

    def pause(self, group_id: str, member_ids: list[str], now_ms: int) -> None:
        """Pause the sessions of these members until their next sign of life, for `outage_ms` at most."""
        for member_id in member_ids:
            self._groups.pause_session(group_id, member_id, now_ms + self._outage_ms)
            self._until_ms[group_id, member_id] = now_ms + self._outage_ms

    @contextlib.contextmanager
    def waiting(self, group_id: str, member_id: str, now_ms: int) -> Iterator[None]:
        """A member waits for an answer meanwhile, so it cannot send heartbeats: its session stands still."""
        self.pause(group_id, [member_id], now_ms)
        try:
            yield
        finally:
            self.returned(group_id, member_id)

    def pause_all_of(self, session: ClientSession, now_ms: int) -> None:
        """Pause the sessions of a connection's members."""
        for group_id, member_id in session.members.items() if session.members and session.is_known else ():
            if member_id:
                self.pause(group_id, [member_id], now_ms)

    def returned(self, group_id: str, member_id: str) -> None:
        """A member gives a sign of life: start a fresh session if its session is paused."""
        if self._until_ms and self._until_ms.pop((group_id, member_id)) is not None:
            self._groups.resume_session(group_id, member_id)

    def sign_of_life(self, session: ClientSession) -> None:
        """Refresh the sessions of a connection's members, although kcoord could not answer a request on it.

        A member that tries to rejoin in an outage sends no heartbeats.
        """
        for group_id, member_id in session.members.items() if session.members and session.is_known else ():
            self._groups.resume_session(group_id, member_id)

    def forget_over(self, now_ms: int) -> None:
        """Forget the pauses that are over by `now_ms`: these sessions run again by themselves."""
        while self._until_ms:
            first, until_ms = self._until_ms.oldest()
            if until_ms > now_ms:
                return
            self._until_ms.pop(first)
