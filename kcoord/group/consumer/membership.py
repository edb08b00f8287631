"""Membership of a consumer group: who joins, returns, says something new, and goes.

Every function here changes the group through records. The caller has checked that the change is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from kcoord.group.consumer.next_assignment import wished_assignor
from kcoord.group.consumer.reasons import OF_DEPARTURES, Reason
from kcoord.group.modern.departure import write_gone
from kcoord.group.modern.epochs import bump_epoch
from kcoord.group.modern.grants_and_releases import forget_answers
from kcoord.group.modern.held_replies import refuse_all
from kcoord.group.state.groups.consumer_group import NO_NOTE, NOTHING, ConsumerGroup, ConsumerMember, Metadata, Stage
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH, NO_EPOCH
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def join(transition: Transition, group: ConsumerGroup, member_id: str, metadata: Metadata) -> ConsumerGroup:
    """Take in a member that the group does not know. Return the group: the first member's record makes it."""
    transition.write(records.member_metadata(group.group_id, member_id, metadata))
    group = transition.state.consumer[group.group_id]
    if _subscribes(metadata):
        bump_epoch(transition, group, Reason.JOINED, [member_id])
    elif not group.recorded:
        transition.write(records.group_epoch(group, group.epoch, Reason.JOINED, transition.wall_ms))
    transition.state.consumer_counters.members["joined"] += 1
    return group


def _subscribes(metadata: Metadata) -> bool:
    """Whether the member subscribes to anything."""
    return bool(metadata.subscribed_topic_names or metadata.subscribed_topic_regex)


def succeed(
    transition: Transition, group: ConsumerGroup, predecessor: ConsumerMember, member_id: str, metadata: Metadata
) -> None:
    """Give a static member's place, its target and what it is assigned, to the consumer that returns under another id
    (or its own). The group epoch moves only for what assignments depend on.
    """
    group_id, former, was_away = group.group_id, predecessor.metadata, predecessor.away
    target, assigned = group.targets.get(predecessor.member_id), predecessor.assigned
    if member_id != predecessor.member_id:
        write_gone(transition, group, predecessor)
        transition.write(records.member_target(group_id, predecessor.member_id, None))
    transition.write(records.member_metadata(group_id, member_id, metadata))
    member = group.members[member_id]
    if target is not None and member_id != predecessor.member_id:
        transition.write(records.member_target(group_id, member_id, target))
    transition.write(records.told(group, member, assigned, NOTHING, Stage.STABLE, JOINING_EPOCH, JOINING_EPOCH, {}))
    _forget_answers(member)
    transition.state.consumer_counters.members["replaced"] += 1
    _bump_if_it_matters(transition, group, member_id, former, metadata)
    if not was_away:
        _fence(transition, group)
    _call_who_waited(group)


def _forget_answers(member: ConsumerMember) -> None:
    """Forget what the member was told: nobody knows any of it any more."""
    forget_answers(member)
    member.told_epoch, member.told_interval_ms, member.told_note = JOINING_EPOCH, 0, NO_NOTE


def update(transition: Transition, group: ConsumerGroup, member: ConsumerMember, metadata: Metadata) -> None:
    """Take in what a member says of itself now. The group epoch moves only for what assignments depend on."""
    former = member.metadata
    if metadata == former:
        return
    transition.write(records.member_metadata(group.group_id, member.member_id, metadata))
    _bump_if_it_matters(transition, group, member.member_id, former, metadata)


def _bump_if_it_matters(
    transition: Transition, group: ConsumerGroup, member_id: str, former: Metadata, metadata: Metadata
) -> None:
    """Move the group epoch if the member subscribes to something else, if it is elsewhere and its group's assignor
    reads racks, or if it says something else for client-side assignors.
    """
    if _subscription(former) != _subscription(metadata):
        bump_epoch(transition, group, Reason.SUBSCRIPTION_CHANGED, [member_id])
    elif former.rack_id != metadata.rack_id and wished_assignor(transition, group).reads_racks:
        bump_epoch(transition, group, Reason.RACK_CHANGED, [member_id])
    elif former.client_assignors != metadata.client_assignors and _subscribes(metadata):
        bump_epoch(transition, group, Reason.ASSIGNORS_CHANGED, [member_id])


def _subscription(metadata: Metadata) -> tuple[frozenset[str], str]:
    return frozenset(metadata.subscribed_topic_names), metadata.subscribed_topic_regex or ""


def go_away(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Let a static member leave for a while. What it is assigned stays reserved until its session ends; what it had to
    let go of is free.
    """
    transition.write(
        records.told(group, member, member.assigned, NOTHING, Stage.STABLE, AWAY_EPOCH, NO_EPOCH, member.epochs)
    )
    _forget_answers(member)
    refuse_all(transition, group, member, ErrorCode.UNKNOWN_MEMBER_ID)
    transition.state.consumer_counters.members["away"] += 1


def remove(transition: Transition, group: ConsumerGroup, members: Sequence[ConsumerMember], reason: Reason) -> None:
    """Remove members that have gone. All that they had is free at once."""
    loses = any(member.current for member in members)
    for member in members:
        write_gone(transition, group, member)
        transition.write(records.member_target(group.group_id, member.member_id, None))
    how = "left" if reason in (Reason.LEFT, Reason.REMOVED) else "expired"
    transition.state.consumer_counters.members[how] += len(members)
    bump_epoch(transition, group, reason, [member.member_id for member in members])
    if loses and reason in OF_DEPARTURES:
        _fence(transition, group)
    _call_who_waited(group)


def _call_who_waited(group: ConsumerGroup) -> None:
    """See to those who may have waited to be called together with somebody that has gone (KG-26)."""
    group.touched |= group.unconverged


def _fence(transition: Transition, group: ConsumerGroup) -> None:
    """Note that somebody has lost partitions without having let go of them. Each time the number is another."""
    fence_epoch = max(group.epoch, group.fence_epoch + 1)
    transition.write(
        records.group_epoch(group, group.epoch, group.reason, group.reason_wall_ms, fence_epoch=fence_epoch)
    )


def merged(former: Metadata, said: Mapping[str, Any]) -> Metadata:
    """What a member says of itself, where it says nothing new as before. The same object if nothing is new."""
    new = {name: value for name, value in said.items() if value is not None and value != getattr(former, name)}
    return attrs.evolve(former, **new) if new else former
