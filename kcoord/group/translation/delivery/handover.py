"""The hand-over: a worker is told to stop work when its next owner can be told to start it (CM-26).

Connect sends its first heartbeat `heartbeat.interval.ms` (3 s) after an assignment, and cannot be told anything before
that. What another worker stopped for it would run nowhere until then. So the work runs on where it is until that
heartbeat comes, or until a SyncGroup of the next owner waits here. This holds only if heartbeats are held at all:
otherwise no worker can be told anything soon.
"""

from __future__ import annotations

from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import session_of
from kcoord.resource import Resource

NOTHING: Resources = frozenset()

LIMIT_MS = 10_000
"""The longest wait: a session of Connect. A worker that cannot be told by then is gone."""

PART_MS = 500
"""How long free work waits for the rest of what its worker is to get. It runs nowhere meanwhile."""

STOPPING_MS = 3_000
"""The same if the rest is being stopped: otherwise it would wait as long for the worker's next heartbeat."""


def is_time_to_stop(transition: Transition, group: ConnectGroup, member: ConnectMember, revoked: Resources) -> bool:
    """Whether a worker at rest is to be called now, to stop `revoked`: the worker and all next owners can be told, or
    the wait for them is over.
    """
    if not _can_be_told(member) and _waits_at_all(transition, group):
        return _is_overdue(transition, group, member)
    return not _to_keep(transition, group, member, revoked) or _is_overdue(transition, group, member)


def to_stop(transition: Transition, group: ConnectGroup, member: ConnectMember, revoked: Resources) -> Resources:
    """The part of `revoked` that a worker that has joined is told to stop."""
    session = session_of(member)
    kept = NOTHING if transition.now_ms >= session.handover_due_ms else _to_keep(transition, group, member, revoked)
    if not kept:
        session.handover_due_ms = NEVER_MS
    return revoked - kept


def _to_keep(transition: Transition, group: ConnectGroup, member: ConnectMember, revoked: Resources) -> Resources:
    """The part of `revoked` whose next owners cannot be told yet, and which runs nowhere but here."""
    if not revoked or not _waits_at_all(transition, group):
        return NOTHING
    return frozenset([each for each in revoked - member.doubtful if _is_deaf(group, member, each)])


def _waits_at_all(transition: Transition, group: ConnectGroup) -> bool:
    return group.classic.protocol != DEFAULT and transition.state.effective(group.group_id).classic_wait_ms > 0


def _is_deaf(group: ConnectGroup, member: ConnectMember, resource: Resource) -> bool:
    taker = group.members.get(group.claimants.get(resource, ""))
    if taker is None or taker is member or taker.evicted or resource in group.also_owned:
        return False
    return not _can_be_told(taker)


def _can_be_told(member: ConnectMember) -> bool:
    session = member.classic
    if session is None:
        return True
    waits = session.parked_sync is not None and session.may_park
    return waits or (session.phase is Phase.STABLE and session.is_heard)


def _is_overdue(transition: Transition, group: ConnectGroup, member: ConnectMember) -> bool:
    session = session_of(member)
    if session.handover_due_ms == NEVER_MS:
        session.handover_due_ms = transition.now_ms + LIMIT_MS
        transition.wake(group, session.handover_due_ms)
    return transition.now_ms >= session.handover_due_ms


def is_being_stopped(group: ConnectGroup, resources: Resources) -> bool:
    """Whether some owner of these resources is stopping them just now, or has joined and is about to be told to."""
    owners = [(each, group.members[group.owners[each]]) for each in resources if each in group.owners]
    return any(each in owner.releasing or _has_joined(owner) for each, owner in owners)


def _has_joined(member: ConnectMember) -> bool:
    return member.classic is not None and member.classic.phase is Phase.COMPLETING


def wake_givers(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """From now on the worker can be told to start work, so others may be told to stop what waited for that."""
    if member.member_id in group.unconverged and _is_waited_for(group):
        transition.wake(group, transition.now_ms + 1)


def _is_waited_for(group: ConnectGroup) -> bool:
    members = [group.members[each] for each in group.unconverged]
    return any(each.classic is not None and each.classic.handover_due_ms != NEVER_MS for each in members)
