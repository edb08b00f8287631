"""The states of a shard's host: a table of states and events, and the error that each state answers with."""

from __future__ import annotations

from enum import Enum

from kcoord.protocol.errors import ErrorCode


class ShardPhase(Enum):
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


MOVES: dict[tuple[ShardPhase, Event], ShardPhase] = {
    (ShardPhase.ELSEWHERE, Event.GAINED): ShardPhase.LOADING,
    (ShardPhase.BROKEN, Event.GAINED): ShardPhase.LOADING,
    (ShardPhase.LOADING, Event.LOADED): ShardPhase.ACTIVE,
    (ShardPhase.LOADING, Event.UNREADABLE): ShardPhase.BROKEN,
    (ShardPhase.LOADING, Event.FAILED): ShardPhase.IN_DOUBT,
    (ShardPhase.ACTIVE, Event.FAILED): ShardPhase.IN_DOUBT,
    (ShardPhase.IN_DOUBT, Event.CONFIRMED): ShardPhase.LOADING,
    (ShardPhase.LOADING, Event.LOST): ShardPhase.ELSEWHERE,
    (ShardPhase.ACTIVE, Event.LOST): ShardPhase.ELSEWHERE,
    (ShardPhase.IN_DOUBT, Event.LOST): ShardPhase.ELSEWHERE,
    (ShardPhase.BROKEN, Event.LOST): ShardPhase.ELSEWHERE,
}
"""The next state for each state and event. A pair that is not listed cannot happen."""

REFUSALS = {
    ShardPhase.ELSEWHERE: ErrorCode.NOT_COORDINATOR,
    ShardPhase.LOADING: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ShardPhase.IN_DOUBT: ErrorCode.NOT_COORDINATOR,
    ShardPhase.BROKEN: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}
"""The error that requests get in each state in which the shard is not served."""
