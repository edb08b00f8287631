"""The states of a shard's host: a table of states and events, and the error that each state answers with."""

from __future__ import annotations

from enum import Enum

from kcoord.protocol.errors import ErrorCode


class ShardState(Enum):
    """The state of a partition of the log at this instance."""

    ELSEWHERE = "elsewhere"
    """It does not belong to this instance."""
    LOADING = "loading"
    """It belongs to this instance, which is loading it."""
    ACTIVE = "active"
    """This instance serves it."""
    IN_DOUBT = "in doubt"
    """This instance is asking whether the partition still belongs to it, or cannot reach the log."""
    BROKEN = "broken"
    """It cannot be read until somebody repairs it, or this instance gains it again."""


class Event(Enum):
    """What happens to a partition."""

    GAINED = "gained"
    LOADED = "loaded"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """A commit failed, a step failed, or the log cannot be reached: the state in memory cannot be trusted."""
    CONFIRMED = "confirmed"
    """The partition still belongs to this instance."""
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
"""The next state for each state and event. A pair that is not listed cannot happen."""

REFUSALS = {
    ShardState.ELSEWHERE: ErrorCode.NOT_COORDINATOR,
    ShardState.LOADING: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ShardState.IN_DOUBT: ErrorCode.NOT_COORDINATOR,
    ShardState.BROKEN: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}
"""The error that requests get in each state in which the shard is not served."""
