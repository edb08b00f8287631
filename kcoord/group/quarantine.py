"""The quarantine of a group: what keeps a group whose own time cannot go on from being tried again and again.

A group in which something fell due and could not be done (a fault of kcoord's own) is restored and goes on answering
its members, but nothing falls due in it until the quarantine ends: nobody's session ends, no rebalance is completed.
Each failure in a row doubles the time. If the group cannot even be opened again, it is closed: not served at all until
then. When it goes well once, the quarantine is over.
"""

from __future__ import annotations

import attrs

SHORTEST_MS = 1_000
LONGEST_MS = 60_000


@attrs.frozen(slots=True)
class Quarantine:
    """One group's."""

    until_ms: int
    """On the steps' clock: then what is due is tried again."""
    length_ms: int
    failures: int
    """Failures in a row."""
    during: str
    """What was being done."""
    error: str
    closed: bool
    """Not served at all."""

    def text(self) -> str:
        """For people who describe the group."""
        state = "not served" if self.closed else "in quarantine: no session ends and no rebalance is completed in it"
        return f"{state}, after {self.failures} failures in a row in {self.during}: {self.error}"


def quarantined(before: Quarantine | None, now_ms: int, during: str, error: str, closed: bool) -> Quarantine:
    """The quarantine of a group that has failed again, `before` being the one that it is in."""
    failures = 1 if before is None else before.failures + 1
    length_ms = min(LONGEST_MS, SHORTEST_MS << min(failures - 1, 16))
    return Quarantine(now_ms + length_ms, length_ms, failures, during, error, closed)
