"""What can a shard answer, and what makes that change?"""

from __future__ import annotations

from enum import Enum

from kcoord.protocol.errors import ErrorCode


class ShardState(Enum):
    """Where a partition of the log stands with this instance."""

    ELSEWHERE = "elsewhere"
    """It is not this instance's."""
    LOADING = "loading"
    """It is, and is being read."""
    ACTIVE = "active"
    """It is served."""
    IN_DOUBT = "in doubt"
    """Whether it still is, is being asked, or its log cannot be reached."""
    BROKEN = "broken"
    """It cannot be read until somebody mends it."""


class Event(Enum):
    """What happens to a partition."""

    GAINED = "gained"
    LOADED = "loaded"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """A commit failed, a step broke off, or the log cannot be reached: what is in memory is worth nothing."""
    CONFIRMED = "confirmed"
    """It is this instance's still."""
    LOST = "lost"


MOVES: dict[tuple[ShardState, Event], ShardState] = {
    (ShardState.ELSEWHERE, Event.GAINED): ShardState.LOADING,
    (ShardState.BROKEN, Event.GAINED): ShardState.LOADING,
    (ShardState.LOADING, Event.LOADED): ShardState.ACTIVE,
    (ShardState.LOADING, Event.UNREADABLE): ShardState.BROKEN,
    (ShardState.LOADING, Event.FAILED): ShardState.IN_DOUBT,
    (ShardState.ACTIVE, Event.FAILED): ShardState.IN_DOUBT,
    (ShardState.IN_DOUBT, Event.CONFIRMED): ShardState.LOADING,
    (ShardState.LOADING, Event.LOST): ShardState.ELSEWHERE,
    (ShardState.ACTIVE, Event.LOST): ShardState.ELSEWHERE,
    (ShardState.IN_DOUBT, Event.LOST): ShardState.ELSEWHERE,
    (ShardState.BROKEN, Event.LOST): ShardState.ELSEWHERE,
}
"""Where each event leads; what is not here cannot happen."""

REFUSALS = {
    ShardState.ELSEWHERE: ErrorCode.NOT_COORDINATOR,
    ShardState.LOADING: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ShardState.IN_DOUBT: ErrorCode.NOT_COORDINATOR,
    ShardState.BROKEN: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}
"""What requests are answered where the shard is not served."""
