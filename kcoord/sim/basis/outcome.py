"""The outcome of a run: what was violated, how long it took, and what it has met."""

from __future__ import annotations

import attrs

from kcoord.sim.basis.violation import Violation


@attrs.frozen
class Outcome:
    """The outcome of one seed."""

    seed: int
    steps: int
    """Calls of the shard: requests, timers, loads."""
    hot_answers: int
    loads: int
    virtual_ms: int
    healed_ms: int
    """How long it took from the last fault until all was well."""
    violation: Violation | None = None
    met: frozenset[str] = frozenset()
    """The sometimes-conditions that the run has met."""
    fingerprint: int = 0
    """The checksum of what the coordinator wrote and answered; in adoption, of what members heard."""
