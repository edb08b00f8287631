"""Answers to heartbeats: what a member is told, and what is written before it hears of it."""

from __future__ import annotations

from kcoord.group.consumer.answer_delay import told_interval
from kcoord.group.consumer.reconciliation import Goal, Position, next_position
from kcoord.group.modern.client_assignors import watch_computation
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import (
    NOTHING,
    ConsumerGroup,
    ConsumerMember,
    Partition,
    Partitions,
    Stage,
    by_topic,
)
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.step import CachedReply, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_response import Assignment, TopicPartitions
from kcoord.protocol.messages import ConsumerGroupHeartbeatResponse


def refuse_heartbeat(transition: Transition, token: Token, error: ErrorCode, message: str | None = None) -> None:
    """Answer a heartbeat with an error. Nothing else changes."""
    transition.state.consumer_counters.refused[error.name] += 1
    transition.answer(
        token, ConsumerGroupHeartbeatResponse(error_code=error, error_message=message and bounded_text(message))
    )


def advance(
    transition: Transition,
    group: ConsumerGroup,
    member: ConsumerMember,
    owned: Partitions | None,
    *,
    is_told: bool = True,
) -> bool:
    """Move the member as far towards its target as it can go now; what it is told is written first. Returns whether it
    is told to consume something else than before. `is_told`: it hears of the new epoch. Else the written one stays, so
    that the one that it knows is valid after a load, too (KG-3).
    """
    assigned = member.assigned
    now = _position(member)
    after = next_position(now, _goal(group, member), owned)
    if after == now:
        return False
    if (after.stage, after.assigned, after.pending) == (now.stage, now.assigned, now.pending):
        member.move(after.epoch)  # an epoch that moves alone needs no record
        return False
    _write(transition, group, member, after, after.epoch if is_told else member.recorded_epoch)
    member.move(after.epoch)
    if granted := after.assigned - assigned:
        member.unconfirmed |= granted
        member.said_on_arrival = False  # its next list is to say what becomes of that
    if after.stage is Stage.UNREVOKED:
        member.releasing = after.pending
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)
    else:
        member.releasing, member.release_due_ms = NOTHING, NEVER_MS
    return after.assigned != assigned


def has_news(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the member would be told now to consume something else, or to let go of something. A new epoch alone does
    not count.
    """
    after = next_of(group, member)
    is_to_change = (after.assigned, after.pending) != (member.assigned, member.pending)
    return is_to_change or has_other_note(group, member) or is_asked(group, member)


def has_other_note(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the assignor that computed tells the member something else than before (KG-27)."""
    return group.note_for(member) != member.told_note


def is_asked(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the member is to compute, and no answer has said so (KG-27)."""
    return group.chosen() == member.member_id and not member.told_to_compute


def next_of(group: ConsumerGroup, member: ConsumerMember) -> Position:
    """Where the member would be after a heartbeat that does not say what it consumes."""
    return next_position(_position(member), _goal(group, member), None)


def is_to_change(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the member is to have something else in the end than it is assigned now."""
    return _goal(group, member).target != member.assigned


def _position(member: ConsumerMember) -> Position:
    return Position(member.stage, member.epoch, member.assigned, member.pending)


def _goal(group: ConsumerGroup, member: ConsumerMember) -> Goal:
    subscribed = group.subscribed_ids(member)
    target = group.target_of(member) or NOTHING
    if any(topic_id not in subscribed for topic_id, _ in target):
        target = frozenset(each for each in target if each[0] in subscribed)

    def is_free(partition: Partition) -> bool:
        return group.owners.get(partition, member.member_id) == member.member_id

    return Goal(group.assignment_epoch, target, subscribed, is_free)


def _write(transition: Transition, group: ConsumerGroup, member: ConsumerMember, after: Position, epoch: int) -> None:
    has = after.assigned | after.pending
    epochs = {each: member.epochs[each] for each in has & member.epochs.keys()}
    epochs |= dict.fromkeys(has - member.current, after.epoch)
    transition.write(
        records.told(
            group, member, after.assigned, after.pending, after.stage, epoch, max(member.known_epoch, 0), epochs
        )
    )


def answer(
    transition: Transition,
    group: ConsumerGroup,
    member: ConsumerMember,
    token: Token,
    *,
    with_assignment: bool,
    may_repeat: bool = False,
) -> None:
    """Answer the heartbeat. `may_repeat`: the hot path may give the same answer to the same heartbeat (KG-15)."""
    member.tell_epoch()
    member.answered_ms = transition.now_ms
    member.told_interval_ms = told_interval(transition, group.group_id, member)
    member.told_to_compute = group.chosen() == member.member_id
    if member.told_to_compute:
        watch_computation(transition, group, member)
    if with_assignment:
        member.told_note = group.note_for(member)
    transition.answer(
        token,
        ConsumerGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=member.told_interval_ms,
            assignment=_assignment(member) if with_assignment else None,
            should_compute_assignment=member.told_to_compute,
        ),
        CachedReply(member, member.version, member) if may_repeat else None,
    )


def _assignment(member: ConsumerMember) -> Assignment:
    """What the member is to consume, and what the assignor that computed tells it."""
    told = [TopicPartitions(topic, numbers) for topic, numbers in by_topic(member.assigned).items()]
    return Assignment(told, *member.told_note)
