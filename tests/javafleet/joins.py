"""Which JoinGroups did a worker make, and which changed nothing for it? As its log tells.

A worker logs each join that it has come out of with what it runs from then on, and what it must stop.
"""

from __future__ import annotations

import re
from pathlib import Path

import attrs

STARTED = "---- worker started ----"
"""The fleet writes this line before a worker's own: it holds nothing yet."""

_JOINED = re.compile(
    r"Joined group at generation (?P<generation>\d+) with protocol version (?P<protocol>\d+) and got assignment: "
    r".*?leader='(?P<leader>[^']*)', leaderUrl='(?P<url>[^']*)', offset=(?P<offset>-?\d+), "
    r"connectorIds=\[(?P<connectors>[^]]*)\], taskIds=\[(?P<tasks>[^]]*)\]"
    r"(?:, revokedConnectorIds=\[(?P<gone>[^]]*)\], revokedTaskIds=\[(?P<stopped>[^]]*)\], delay=(?P<delay>\d+))?"
)

_JOINING = re.compile(r"^(\d\d):(\d\d):([\d.]+) .*\(Re-\)joining group", re.MULTILINE)
DAY_MS = 24 * 3_600_000


@attrs.frozen
class Join:
    """One join of a worker."""

    generation: int
    protocol: int
    """0: eager, 1: compatible, 2: sessioned."""
    leader_url: str
    holds: frozenset[str]
    revoked: frozenset[str]
    delay_ms: int
    """How long the worker was told to wait before it joins again by itself."""
    changed: bool
    """Whether the worker runs something else than before."""


def joins_of(log: Path) -> list[Join]:
    """All joins of a worker's log."""
    found: list[Join] = []
    held: frozenset[str] = frozenset()
    for line in log.read_text(errors="replace").splitlines():
        if line == STARTED:
            held = frozenset()
        elif told := _JOINED.search(line):
            revoked = _names(told["gone"]) | _names(told["stopped"])
            holds = (_names(told["connectors"]) | _names(told["tasks"])) - revoked
            changed = bool(revoked) or holds != held
            generation, version, delay_ms = (int(told[each] or 0) for each in ("generation", "protocol", "delay"))
            found.append(Join(generation, version, told["url"], holds, revoked, delay_ms, changed))
            held = holds
    return found


def _names(text: str | None) -> frozenset[str]:
    return frozenset(text.split(", ")) if text else frozenset()


def joining_since(log: Path, since_ms: int) -> int:
    """When the worker that was started last first asked to be a member, in ms of the clock of `since_ms`, after which
    it was started. Raises AssertionError where it did not.
    """
    last_life = log.read_text(errors="replace").rpartition(STARTED)[2]
    found = _JOINING.search(last_life)
    assert found is not None, f"the worker of {log.name} asks nobody to be a member"
    hours, minutes, seconds = found.groups()
    of_day = round(((int(hours) * 60 + int(minutes)) * 60 + float(seconds)) * 1000)
    return since_ms + (of_day - since_ms) % DAY_MS
