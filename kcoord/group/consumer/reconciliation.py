"""Reconciliation: how one member moves towards its target. Pure: it knows no groups, records or requests.

1. A member is due when its epoch is not the assignment epoch, when it waits for what others have (UNRELEASED), and when
   it has let go of everything that it had to (UNREVOKED). Of a topic that it subscribes to no longer it loses all at
   once, due or not.
2. It keeps what it is assigned and its target names. If it must let go of the rest, it stays at its epoch (UNREVOKED).
3. Otherwise it moves to the assignment epoch at once, with what it keeps and what of its target no other member has.
   While something is missing, it is UNRELEASED. (A worker of a connect group moves with its whole target only.)

This is what Kafka 4.3 does with the members of consumer groups.
"""

from __future__ import annotations

from collections.abc import Callable

from kcoord.group.state.groups.consumer_group import NOTHING, Partition, Partitions, Stage
from kcoord.protocol.frozen_class import frozen


@frozen(slots=True)
class Position:
    """Where a member is on its way."""

    stage: Stage
    epoch: int
    assigned: Partitions = NOTHING
    """What it is told to consume."""
    pending: Partitions = NOTHING
    """What it must let go of."""


@frozen(slots=True)
class Goal:
    """Where a member is to come to."""

    epoch: int
    """The assignment epoch."""
    target: Partitions
    """What it is to consume in the end, of topics that it subscribes to."""
    subscribed: frozenset[bytes]
    """The ids of these topics."""
    is_free: Callable[[Partition], bool]
    """Whether no other member may be consuming a partition."""


def next_position(now: Position, goal: Goal, owned: Partitions | None) -> Position:
    """Where the member is after a heartbeat that says that it consumes `owned`; None: it does not say."""
    if now.stage is Stage.UNREVOKED:
        if _has_any(now.pending, owned):
            return _without_dropped(now, goal, owned)
        return _towards(now, goal, owned)
    if now.epoch != goal.epoch or now.stage is Stage.UNRELEASED:
        return _towards(now, goal, owned)
    return _without_dropped(now, goal, owned)


def _has_any(partitions: Partitions, owned: Partitions | None) -> bool:
    """Whether a member may still be consuming some of these. One that does not say what it consumes may be."""
    return bool(partitions) if owned is None else not partitions.isdisjoint(owned)


def _towards(now: Position, goal: Goal, owned: Partitions | None) -> Position:
    kept = now.assigned & goal.target
    to_release = now.assigned - kept
    if to_release and _has_any(to_release, owned):
        return Position(Stage.UNREVOKED, now.epoch, kept, to_release)
    missing = goal.target - kept
    granted = frozenset(filter(goal.is_free, missing))
    stage = Stage.STABLE if len(granted) == len(missing) else Stage.UNRELEASED
    return Position(stage, goal.epoch, kept | granted if granted else kept)


def _without_dropped(now: Position, goal: Goal, owned: Partitions | None) -> Position:
    """The same position without the topics that the member subscribes to no longer."""
    dropped = frozenset(each for each in now.assigned if each[0] not in goal.subscribed)
    if not dropped:
        return now
    pending = now.pending | dropped
    if _has_any(pending, owned):
        return Position(Stage.UNREVOKED, now.epoch, now.assigned - dropped, pending)
    return Position(now.stage, now.epoch, now.assigned - dropped)
