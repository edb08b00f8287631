"""Newcomers: member ids that were given to workers which have not yet joined with them (KIP-394).

An id lapses with the session that the newcomer asked for. This is session state: after a load newcomers ask again.
"""

from __future__ import annotations

MOST = 16_384
"""Newcomers of one group that are remembered. Beyond that number the oldest is forgotten, and must ask for another
id.
"""


class Newcomers:
    """Member ids by group, and when each lapses (ms on the steps' clock)."""

    def __init__(self) -> None:
        self._lapse: dict[str, dict[str, int]] = {}

    def expect(self, group_id: str, member_id: str, now_ms: int, lapses_ms: int) -> None:
        """Note that a newcomer was given this id."""
        known = self._lapse.setdefault(group_id, {})
        for lapsed in [each for each, at_ms in known.items() if at_ms <= now_ms]:
            del known[lapsed]
        while len(known) >= MOST:
            del known[next(iter(known))]
        known[member_id] = lapses_ms

    def has(self, group_id: str, member_id: str, now_ms: int) -> bool:
        """Whether this id was given to a newcomer, and has not lapsed."""
        return self._lapse.get(group_id, {}).get(member_id, now_ms) > now_ms

    def forget(self, group_id: str, member_id: str) -> None:
        """Forget this id: its worker has joined, or leaves."""
        known = self._lapse.get(group_id)
        if known is not None:
            known.pop(member_id, None)
            if not known:
                del self._lapse[group_id]

    def sweep(self, now_ms: int) -> None:
        """Forget all ids that have lapsed."""
        for group_id, known in list(self._lapse.items()):
            left = {each: at_ms for each, at_ms in known.items() if at_ms > now_ms}
            if left:
                self._lapse[group_id] = left
            else:
                del self._lapse[group_id]
