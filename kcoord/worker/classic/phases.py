"""The phases of a classic worker, the meaning of errors, and the times that it chooses itself."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import attrs

from kcoord.protocol.embedded import SESSIONED
from kcoord.protocol.errors import ErrorCode


class Phase(Enum):
    """The phases of a worker."""

    IDLE = "not started"
    WANTS_ROUND = "to send JoinGroup as soon as nothing is being revoked"
    JOINING = "JoinGroup is under way"
    COMPUTING = "leads the round; the assignor runs"
    SYNCING = "SyncGroup is under way"
    STABLE = "heartbeats"
    ABANDONING = "stops all at once"
    LEAVING = "lets go of all, because it wants to leave"
    PARTING = "owns nothing, says that it leaves"
    GONE = "not a member, and will not be one"


class Kind(Enum):
    """The meaning of an error, for whatever request."""

    OK = "no error"
    ROUND = "a round begins: join"
    LATER = "again after a back-off"
    ELSEWHERE = "find the coordinator anew"
    NAMED = "a member id was given: join with it"
    LOST = "not a member any more"
    FATAL = "cannot be a member"


_KINDS: Mapping[int, Kind] = {
    ErrorCode.NONE: Kind.OK,
    ErrorCode.REBALANCE_IN_PROGRESS: Kind.ROUND,
    ErrorCode.NOT_COORDINATOR: Kind.ELSEWHERE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Kind.ELSEWHERE,
    ErrorCode.MEMBER_ID_REQUIRED: Kind.NAMED,
    ErrorCode.UNKNOWN_MEMBER_ID: Kind.LOST,
    ErrorCode.ILLEGAL_GENERATION: Kind.LOST,
}

MEMBER = (Phase.WANTS_ROUND, Phase.JOINING, Phase.COMPUTING, Phase.SYNCING, Phase.STABLE, Phase.LEAVING)


@attrs.frozen
class Timing:
    """What a classic member chooses itself; the defaults are Connect's. In ms."""

    session_ms: int = 10_000
    interval_ms: int = 3_000
    delay_ms: int = 300_000
    """How long the work of a worker that has gone waits for it, if this worker leads."""
    version: int = SESSIONED
    """The newest embedded protocol that it offers; it also offers those below."""
    assignor: str = "cooperative"
    """The assignor that it uses when it leads; under `default` it is always `eager`."""
    defers: bool = False
    """That assignor's policy lets lost work wait, even if a leader remembers nothing (`round`)."""


def kind_of(code: int) -> Kind:
    """What an error code means."""
    if code in _KINDS:
        return _KINDS[code]
    try:
        return Kind.LATER if ErrorCode(code).retriable else Kind.FATAL
    except ValueError:
        return Kind.FATAL
