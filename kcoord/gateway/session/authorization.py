"""A client's authorization for one group, as upstream said last; `ownership/rights.py` asks for it."""

from __future__ import annotations

import attrs


@attrs.frozen(slots=True)
class Authorization:
    """What upstream said of one client and one group."""

    operations: int
    """A bit for each operation that is allowed."""
    asked_ms: int
    """When it was asked: what upstream said may have been so no longer than that."""

    def allows(self, operation: int) -> bool:
        return bool(self.operations >> operation & 1)
