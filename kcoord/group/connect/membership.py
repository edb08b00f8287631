"""Membership of a connect group: join, rejoin, static return, leave, removal, exclusion (CG-5 to CG-9, CG-22, CG-28).

Every function here changes the group through records. The caller has checked that the change is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kcoord.group.connect.computing import unchoose
from kcoord.group.connect.departed_workers import departed_like, take_over_target
from kcoord.group.connect.reasons import Reason, bump
from kcoord.group.modern.departure import write_gone
from kcoord.group.modern.grants_and_releases import forget_answers
from kcoord.group.modern.held_replies import refuse_all
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import (
    NO_DEADLINE,
    NO_OFFSET,
    UNKNOWN_DELAY,
    ConnectGroup,
    ConnectMember,
    Metadata,
    Resources,
    Target,
)
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH, NO_EPOCH
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode

NOTHING: Resources = frozenset()


def join(transition: Transition, group: ConnectGroup, member_id: str, metadata: Metadata) -> ConnectGroup:
    """Take in a worker that the group does not know. If a departed member's target waits for it, it gets that target
    at once (CG-22). Return the group: the first member's record creates it.
    """
    returned = departed_like(transition, group, member_id, metadata)
    if metadata.instance_id is not None and group.fenced.get(metadata.instance_id) == member_id:
        del group.fenced[metadata.instance_id]
    transition.write(
        records.member_metadata(group.group_id, member_id, attrs.evolve(metadata, group_epoch=group.epoch + 1))
    )
    group = transition.state.connect[group.group_id]
    group.failures = 0
    if returned is not None:
        take_over_target(transition, group, returned, member_id, metadata)
    bump(transition, group, Reason.JOINED, [member_id])
    transition.state.counters.members["joined"] += 1
    return group


def succeed(
    transition: Transition, group: ConnectGroup, predecessor: ConnectMember, member_id: str, metadata: Metadata
) -> None:
    """Give a static member's place to the worker that returns under another member id, in one step (CG-28). The group
    epoch moves only if the worker says something else than before, or if the member was excluded (CG-7): then it takes
    part again.
    """
    instance_id = metadata.instance_id
    assert instance_id is not None
    changed = differs(predecessor.metadata, metadata)
    target = group.targets.get(predecessor.member_id)
    _write_departed(transition, group, predecessor, predecessor.doubtful)
    epoch = predecessor.metadata.group_epoch if changed is None else group.epoch + 1
    transition.write(records.member_metadata(group.group_id, member_id, attrs.evolve(metadata, group_epoch=epoch)))
    if target is not None:
        transition.write(records.member_target(group.group_id, predecessor.member_id, None))
        transition.write(records.member_target(group.group_id, member_id, _of(target, metadata)))
    if group.computed_by == predecessor.member_id:
        transition.write(records.computed_by_successor(group, member_id))
    group.fenced[instance_id] = predecessor.member_id
    transition.state.counters.members["replaced"] += 1
    if changed is not None:
        bump(transition, group, Reason.STATIC_REPLACED, [member_id])
    elif predecessor.evicted:
        bump(transition, group, Reason.JOINED, [member_id])


def _of(target: Target, metadata: Metadata) -> Target:
    return attrs.evolve(target, instance_id=metadata.instance_id, url=metadata.url)


def rejoin(transition: Transition, group: ConnectGroup, member: ConnectMember, metadata: Metadata) -> None:
    """Let a known member join again. It owns nothing: its current is free, and its target stays (CG-6)."""
    was_evicted = member.evicted
    transition.state.counters.members["rejoined"] += 1
    if member.current or member.evicted or member.recorded_epoch != JOINING_EPOCH:
        transition.write(records.current_assignment(group, member, NOTHING, JOINING_EPOCH, NO_EPOCH))
    _forget_session(member)
    group.forget(member)
    if was_evicted:
        update(transition, group, member, metadata, quietly=True)
        bump(transition, group, Reason.JOINED, [member.member_id])
    else:
        update(transition, group, member, metadata)


def _forget_session(member: ConnectMember) -> None:
    """Reset the member's epochs, and forget what it was answered."""
    member.epoch, member.previous_epoch = JOINING_EPOCH, NO_EPOCH
    forget_answers(member)


def update(
    transition: Transition, group: ConnectGroup, member: ConnectMember, metadata: Metadata, quietly: bool = False
) -> None:
    """Take in what a member says about itself now. The group epoch moves only for a reason of CG-13, and not at all if
    `quietly`.
    """
    predecessor = member.metadata
    metadata = records.with_session_timeout(metadata, predecessor.session_timeout_ms)
    if metadata == attrs.evolve(predecessor, group_epoch=metadata.group_epoch):
        return
    reason = differs(predecessor, metadata)
    if reason is not None:
        metadata = attrs.evolve(metadata, group_epoch=group.epoch + 1)
    transition.write(records.member_metadata(group.group_id, member.member_id, metadata))
    if reason is not None and not quietly:
        bump(transition, group, reason, [member.member_id])


def differs(predecessor: Metadata, metadata: Metadata) -> Reason | None:
    """The reason of CG-13 why the member's new metadata needs a new assignment; None: it needs none."""
    if metadata.server_assignor != predecessor.server_assignor or _ranges(metadata) != _ranges(predecessor):
        return Reason.ASSIGNORS_CHANGED
    for before, now in zip(predecessor.assignors, metadata.assignors, strict=True):
        if now.reason != before.reason and now.reason != 0:
            return Reason.ASSIGNOR_REASON
        if (now.version, now.metadata) != (before.version, before.metadata):
            return Reason.ASSIGNORS_CHANGED
    return None


def _ranges(metadata: Metadata) -> list[tuple[str, int, int]]:
    return [(each.name, each.minimum_version, each.maximum_version) for each in metadata.assignors]


def go_away(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Let a static member leave for a while: its current is free at once, its target stays, and the group epoch does
    not move (CG-28).
    """
    transition.write(records.current_assignment(group, member, NOTHING, AWAY_EPOCH, NO_EPOCH, member.evicted))
    forget_answers(member)
    unchoose(group, member.member_id)
    refuse_all(transition, group, member, ErrorCode.UNKNOWN_MEMBER_ID)
    transition.state.counters.members["away"] += 1


def remove(transition: Transition, group: ConnectGroup, members: Sequence[ConnectMember], reason: Reason) -> None:
    """Remove members that have gone and run nothing any more (CG-8, CG-9). Their targets wait for their return, unless
    the group is now empty.
    """
    for member in members:
        _write_departed(transition, group, member, member.doubtful)
    transition.state.counters.members["left" if reason is Reason.LEFT else "expired"] += len(members)
    bump(transition, group, reason, [member.member_id for member in members])
    if not group.members:
        _forget_all(transition, group)


def drop_dead(transition: Transition, group: ConnectGroup, member: ConnectMember, runs: Resources) -> None:
    """Remove a member whose place another one takes in the same step. The target waits for that other one, which
    reports that it `runs` these resources.
    """
    _write_departed(transition, group, member, member.doubtful & runs)
    transition.state.counters.members["replaced"] += 1


def _write_departed(transition: Transition, group: ConnectGroup, member: ConnectMember, doubtful: Resources) -> None:
    """Write that a member is gone. Its target waits, except for the `doubtful` resources: the member was to stop these
    before it could be given them.
    """
    unchoose(group, member.member_id)
    write_gone(transition, group, member)
    target = group.targets.get(member.member_id)
    if target is not None and doubtful:
        kept = attrs.evolve(target, resources=target.resources - doubtful)
        transition.write(records.member_target(group.group_id, member.member_id, kept))


def _forget_all(transition: Transition, group: ConnectGroup) -> None:
    """Forget targets, configured set and delay of a group without members: the next worker that joins gets everything
    (CG-21).
    """
    for member_id in list(group.targets):
        transition.write(records.member_target(group.group_id, member_id, None))
    if group.configured is not None:
        transition.write(records.no_configured_set(group.group_id))
    transition.write(
        records.target_assignment(group, None, "", NO_DEADLINE, config_round=NO_OFFSET, workers_delay_ms=UNKNOWN_DELAY)
    )
    group.delay_due_ms = group.retry_due_ms = NEVER_MS
    group.failures = 0


def evict(
    transition: Transition,
    group: ConnectGroup,
    members: Sequence[ConnectMember],
    reason: Reason = Reason.REBALANCE_TIMEOUT,
) -> None:
    """Exclude members that did not release in time, or that left without having stopped (CG-7). Their targets wait as
    those of departed members do. What they may be running stays reserved until they join again or their session ends.
    """
    for member in members:
        transition.write(
            records.current_assignment(
                group, member, member.current, member.recorded_epoch, member.recorded_previous, evicted=True
            )
        )
        member.releasing, member.release_due_ms = NOTHING, NEVER_MS
        unchoose(group, member.member_id)
        refuse_all(transition, group, member, transition.connect.dialect(member).evicted_error)
    transition.state.counters.members["put out"] += len(members)
    bump(transition, group, reason, [member.member_id for member in members])
