"""Why is a connect group's epoch bumped? The whole list (CG-13), in words for people.

A text begins with one of these and names who: `worker joined: worker-1`. Nothing is bumped by an install, a static
member's return with the same metadata, changed timeouts, or a heartbeat that repeats what is known.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """What bumps the group epoch."""

    JOINED = "worker joined"
    LEFT = "worker left"
    SESSION_EXPIRED = "session expired"
    REBALANCE_TIMEOUT = "rebalance timeout"
    STATIC_REPLACED = "static worker replaced"
    ASSIGNORS_CHANGED = "assignors changed"
    ASSIGNOR_REASON = "assignor asked"
    RESOURCES_CHANGED = "connectors or tasks changed"
    DELAY_OVER = "rebalance delay over"
    PLACEMENT = "placement rules"
    """They have changed, or ask for more moves once the last ones have come about."""
    LEADER_JOINED = "leader joined anew"
    """A legacy worker that leads joins: always a computation (CM-3)."""
    RETRY = "assignment tried again"
    MIGRATED = "migrated"
