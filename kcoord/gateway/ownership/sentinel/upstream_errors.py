"""Upstream's errors: which of them say something about a group, and which about a member of it."""

from __future__ import annotations

from kcoord.protocol.errors import ErrorCode

__all__ = ["LOST", "PASSING", "STRANGER", "is_refusal"]

PASSING = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)
"""Errors that say nothing about the group."""
LOST = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.ILLEGAL_GENERATION})
"""Errors for a client that is not a member, or not in this generation. A sentinel that gets one must join again."""
STRANGER = LOST - {ErrorCode.ILLEGAL_GENERATION}
"""Errors for a client that is not a member."""


def is_refusal(error: ErrorCode) -> bool:
    """Whether this error of upstream's means that kcoord cannot take the group."""
    return error != ErrorCode.NONE and error not in PASSING
