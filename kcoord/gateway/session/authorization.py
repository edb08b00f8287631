"""A client's authorization for one group, from upstream's last answer; `ownership/access/rights.py` asks for it."""

from __future__ import annotations

import attrs


@attrs.frozen(slots=True)
class Authorization:
    """The operations on one group that upstream allows one client."""

    operations: int
    """One bit for each allowed operation."""
    asked_ms: int
    """When kcoord asked. The age of the answer counts from here, because it may have been out of date on arrival."""

    def allows(self, operation: int) -> bool:
        return bool(self.operations >> operation & 1)
