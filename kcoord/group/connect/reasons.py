"""Reasons why a connect group's epoch moves: the whole list of CG-13, in words for people; and the bump with one.

A text begins with one of these and names the members: `worker joined: worker-1`. The epoch does not move for an
install, a static member's return with the same metadata, changed timeouts, or a heartbeat that repeats what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from kcoord.group.modern.epochs import bump_epoch
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.transition import Transition


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


REPEATABLE = (
    Reason.ASSIGNOR_REASON,
    Reason.DELAY_OVER,
    Reason.LEADER_JOINED,
    Reason.RETRY,
)
"""Reasons that move the group epoch although members, their metadata and the configured set are the same."""


def bump(transition: Transition, group: ConnectGroup, reason: Reason, who: Sequence[str] = ()) -> None:
    """Move the group epoch by one: the group has changed and needs a new assignment."""
    bump_epoch(transition, group, reason, who, group.repetition.tell() if reason in REPEATABLE else "")
