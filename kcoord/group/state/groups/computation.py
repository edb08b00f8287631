"""The computation of a group's next assignment by one of its members. It is lost with the shard."""

from __future__ import annotations

from typing import Generic, TypeVar

import attrs

from kcoord.group.state.deadlines import NEVER_MS

F = TypeVar("F")
"""The frozen input of an assignor."""


@attrs.define(slots=True, eq=False)
class Computation(Generic[F]):
    """The computation of the next assignment by a chosen member."""

    epoch: int
    """The group epoch when the choice was made or last confirmed."""
    assignor: str
    chosen: str
    excluded: set[str] = attrs.Factory(set)
    """The members that have failed at this input (CG-20)."""
    due_ms: int = NEVER_MS
    """When the member has failed if it has installed nothing (CG-20). NEVER_MS until an answer asks it to compute."""
    frozen: F | None = None
