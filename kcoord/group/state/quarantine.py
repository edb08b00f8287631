"""The quarantine of a group: a pause after a fault in something that fell due, so that it is not tried without end.

If something falls due in a group and cannot be done (a fault in kcoord), the group is restored and goes on answering
its members. But nothing falls due in it until the quarantine ends: no session ends and no rebalance is completed. Each
further failure in a row doubles the time, up to `LONGEST_MS`. If the group cannot even be opened again, it is closed:
it is not served at all until then. The first success ends the quarantine.
"""

from __future__ import annotations

import attrs

SHORTEST_MS = 1_000
LONGEST_MS = 60_000


@attrs.frozen(slots=True)
class Quarantine:
    """The quarantine of one group."""

    until_ms: int
    """When the shard tries again what is due, on the steps' clock."""
    length_ms: int
    failures: int
    """Failures in a row."""
    during: str
    """What was being done when it failed last."""
    error: str
    closed: bool
    """Whether the group is not served at all."""

    def text(self) -> str:
        """The quarantine in words, for the description of the group."""
        state = "not served" if self.closed else "in quarantine: no session ends and no rebalance is completed in it"
        return f"{state}, after {self.failures} failures in a row in {self.during}: {self.error}"


def quarantined(before: Quarantine | None, now_ms: int, during: str, error: str, closed: bool) -> Quarantine:
    """The quarantine after a failure. `before`: the quarantine that the group was in; None: it was in none."""
    failures = 1 if before is None else before.failures + 1
    length_ms = min(LONGEST_MS, SHORTEST_MS << min(failures - 1, 16))
    return Quarantine(now_ms + length_ms, length_ms, failures, during, error, closed)
