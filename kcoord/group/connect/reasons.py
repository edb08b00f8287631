"""Reasons why a connect group's epoch moves: the whole list of CG-13, in words for people.

A text begins with one of these and names the members: `worker joined: worker-1`. The epoch does not move for an
install, a static member's return with the same metadata, changed timeouts, or a heartbeat that repeats what is known.
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
    """The rules have changed, or they need more moves after the last ones are done."""
    LEADER_JOINED = "leader joined anew"
    """The classic leader joins: this always starts a computation (CM-3)."""
    RETRY = "assignment tried again"
    MIGRATED = "migrated"
