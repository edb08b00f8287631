"""Sessions that stand still: of members that lost their way to kcoord without being to blame (GW-10)

Bounded by `gateway.outage.ms`. A member that gives a sign of life has a fresh session at once. No session is paused, or
refreshed, for a connection whose client upstream may not know any more, nor for a group that it may not read: such a
group is not among the client session's members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.ports import GroupService

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["PausedSessions"]

REMEMBERED_BYTES = 8 << 20
"""Members of whom it is remembered that their sessions stand still."""


class PausedSessions:
    """The sessions that one gateway has paused."""

    def __init__(self, groups: GroupService, outage_ms: int) -> None:
        """`outage_ms`: how long a session may stand still."""
        self._groups = groups
        self._outage_ms = outage_ms
        self._until_ms: BoundedCache[tuple[str, str], int] = BoundedCache(REMEMBERED_BYTES)
        """By group and member id; the longest paused first."""

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._until_ms)

    def pause(self, group_id: str, member_ids: list[str], now_ms: int) -> None:
        """Let the sessions of these members stand still until they give a sign of life, bounded."""
        for member_id in member_ids:
            self._groups.pause_session(group_id, member_id, now_ms + self._outage_ms)
            self._until_ms[group_id, member_id] = now_ms + self._outage_ms

    def pause_all_of(self, session: ClientSession, now_ms: int) -> None:
        """Let the sessions of a connection's members stand still."""
        for group_id, member_id in session.members.items() if session.members and session.is_known else ():
            if member_id:
                self.pause(group_id, [member_id], now_ms)

    def returned(self, group_id: str, member_id: str) -> None:
        """A member gives a sign of life: its session begins afresh if it was paused."""
        if self._until_ms and self._until_ms.pop((group_id, member_id)) is not None:
            self._groups.resume_session(group_id, member_id)

    def sign_of_life(self, session: ClientSession) -> None:
        """Who asks in vain lives all the same: a member that tries to rejoin in an outage sends no heartbeats."""
        for group_id, member_id in session.members.items() if session.members and session.is_known else ():
            self._groups.resume_session(group_id, member_id)

    def forget_over(self, now_ms: int) -> None:
        """Sessions that run again by themselves need nobody to resume them; who never came back is forgotten."""
        while self._until_ms:
            first, until_ms = self._until_ms.oldest()
            if until_ms > now_ms:
                return
            self._until_ms.pop(first)
