"""SyncGroup answers to classic workers: what each is given, and how long its answer waits (CM-25, CM-27).

| its SyncGroup waits while | until |
| --- | --- |
| a config round is open, and it has read that far | the round ends: all have stopped what is reconfigured |
| a config round is open, and others have read even less than it | they have come, or the round ends |
| it runs nothing, and others hold what it is to get, or that is being computed | that is done, 4 s at most; see below |
| the group speaks `default`: a worker must be given everything at once | the same; half its rebalance timeout at most |

If only a part is free, the worker waits for the rest: half a second, or three seconds if the rest is being stopped just
now. Once it has received the part, it cannot be told of the rest before its next heartbeat.

A worker that has work already waits for nothing but a config round (CM-24). What it is told to start is written into
its current before it is told (CG-1).
"""

from __future__ import annotations

import attrs

from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.group.state.groups.modern_member import NO_EPOCH
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import answer_sync, assignment_of, see, session_of, take_sync
from kcoord.group.translation.delivery.assignment_delta import AssignmentDelta, disarms, increment, to_give
from kcoord.group.translation.delivery.handover import PART_MS, STOPPING_MS, is_being_stopped, to_stop, wake_givers
from kcoord.group.translation.rounds.leader import leader_known_as
from kcoord.group.translation.rounds.look_policy import is_awaited

NOTHING: Resources = frozenset()
PARK_MS = 4_000
"""The longest wait of a SyncGroup: it blocks the worker's herder thread, and with it the worker's REST interface."""


def park_sync(transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token) -> None:
    """Take in a SyncGroup: it is answered now, or parked."""
    session = session_of(member)
    limit_ms = member.metadata.rebalance_timeout_ms // 2 if group.classic.protocol == DEFAULT else PARK_MS
    session.parked_sync = token
    session.move(Phase.COMPLETING)  # after a load the coordinator does not know that it has joined
    session.parked_until_ms = transition.now_ms + limit_ms
    transition.wake(group, session.parked_until_ms)
    answer_if_time(transition, group, member)
    if session.parked_sync is not None:
        wake_givers(transition, group, member)


def answer_if_time(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Answer the parked SyncGroup, unless it has to wait."""
    now = increment(group, member)
    if not _waits(transition, group, member, now):
        token = take_sync(member)
        assert token is not None
        give(transition, group, member, token, now)


def _waits(transition: Transition, group: ConnectGroup, member: ConnectMember, now: AssignmentDelta) -> bool:
    session = session_of(member)
    if disarms(group, member):
        return False
    config_round = group.classic.round
    if config_round is not None:
        if not has_to_read_on(group, member):
            return True
        return transition.now_ms < config_round.until_ms and lowest_offset(group) < _offset(member)
    if transition.now_ms >= session.parked_until_ms or not session.may_park:
        return False
    gives = to_give(transition.state, group, member, now)
    if gives != now.assigned:
        return True
    if now.awaited and (
        group.classic.protocol == DEFAULT or not has_waited_for_rest(transition, group, member, gives, now.awaited)
    ):
        return True
    computing = is_being_computed(group)
    if computing and group.classic.protocol == DEFAULT:
        return True  # what it had before would be taken away again with the next barrier
    return computing and not now.assigned and not member.current


def has_waited_for_rest(
    transition: Transition, group: ConnectGroup, member: ConnectMember, gives: Resources, awaited: Resources
) -> bool:
    """Whether what the worker may be given has been free for long enough. Other members still hold `awaited`. If that
    is being stopped, the worker waits as long as it would have to wait for it after being given something now.
    """
    session = session_of(member)
    if not gives:
        session.part_since_ms = NEVER_MS
        return False
    if session.part_since_ms == NEVER_MS:
        session.part_since_ms = transition.now_ms
    due_ms = session.part_since_ms + PART_MS
    if transition.now_ms >= due_ms and is_being_stopped(group, awaited):
        due_ms = session.part_since_ms + STOPPING_MS
    if transition.now_ms < due_ms:
        transition.wake(group, due_ms)
    return transition.now_ms >= due_ms


def is_being_computed(group: ConnectGroup) -> bool:
    """Whether the installed assignment is about to be replaced."""
    return group.epoch > group.assignment_epoch or is_awaited(group)


def has_to_read_on(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether a config round is open whose offset the worker has not read. Such a worker is given nothing to start, but
    it does not wait for the round: it joins again when it has read on, and its herder thread must be free for that.
    """
    config_round, classic = group.classic.round, member.metadata.classic
    return config_round is not None and classic is not None and classic.config_offset < config_round.offset


def answer_below(transition: Transition, group: ConnectGroup) -> bool:
    """In a config round, answer the workers that have to read on and waited for others that had read even less. True if
    there was one.
    """
    if group.classic.round is None:
        return False
    members = [group.members[member_id] for member_id in group.classic.members]
    waiting = [each for each in members if session_of(each).parked_sync is not None and has_to_read_on(group, each)]
    lowest = lowest_offset(group) if waiting else 0
    ready = [each for each in waiting if _offset(each) <= lowest]
    for member in ready:
        answer_if_time(transition, group, member)
    return bool(ready)


def lowest_offset(group: ConnectGroup) -> int:
    """The lowest config offset of the workers that hold something, as their JoinGroups said."""
    holders = [group.members[member_id] for member_id in group.classic.members]
    return min([_offset(each) for each in holders if each.current and not each.evicted], default=NEVER_MS)


def _offset(member: ConnectMember) -> int:
    assert member.metadata.classic is not None
    return member.metadata.classic.config_offset


def give(
    transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token, now: AssignmentDelta
) -> None:
    """Tell the worker what to start and what to stop. After that it has its assignment."""
    session = session_of(member)
    reads_on = has_to_read_on(group, member)
    assigned = NOTHING if reads_on else to_give(transition.state, group, member, now)
    if assigned:
        current = member.current | assigned
        transition.write(records.current_assignment(group, member, current, session.generation, NO_EPOCH))
    _note_told(transition, group, member)
    session.move(Phase.STABLE)
    session.due_ms, session.computes, session.has_synced, session.was_called = NEVER_MS, False, True, False
    session.part_since_ms, session.is_heard = NEVER_MS, False
    see(transition, group, member)
    group.forget(member)
    stops = to_stop(transition, group, member, now.revoked)
    _watch_release(transition, group, member, stops)
    if member.member_id == group.computed_by:
        group.classic.ready_leader = member.member_id
    group.touched.add(member.member_id)  # it may have to be called for what has happened while it waited
    revoked = stops | (session.listed - member.current)  # stopped under `default`, which the group no longer speaks
    session.listed = NOTHING
    told = assignment_of(group, member, assigned=assigned, revoked=revoked)
    if reads_on:  # told a higher offset, it would read on, and start what it has stopped as of that offset
        told = attrs.evolve(told, config_offset=_offset(member))
    answer_sync(transition, member, token, told)


def _note_told(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Record that the worker now knows who leads and which protocol the group speaks."""
    classic = member.metadata.classic
    assert classic is not None
    leader, protocol = leader_known_as(group), session_of(member).protocol
    if (classic.known_leader, classic.known_protocol) != (leader, protocol):
        classic = attrs.evolve(classic, known_leader=leader, known_protocol=protocol)
        metadata = attrs.evolve(member.metadata, classic=classic)
        transition.write(records.member_metadata(group.group_id, member.member_id, metadata))


def _watch_release(transition: Transition, group: ConnectGroup, member: ConnectMember, stops: Resources) -> None:
    """The worker must stop what it was told to within its rebalance timeout; then it joins by itself."""
    member.releasing, member.release_due_ms = stops, NEVER_MS
    if stops:
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)
