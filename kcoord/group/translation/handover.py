"""When is a worker told to stop what another one is to run? When the other one can be told to start it (CM-26).

Connect sends its first heartbeat `heartbeat.interval.ms` after an assignment (3 s), and cannot be told anything before:
what was stopped for it would run nowhere until then. So that runs on where it is, until that heartbeat comes or a
SyncGroup waits here to be given it. Only where heartbeats are kept back at all: else nobody can be told anything soon.
"""

from __future__ import annotations

from kcoord.group.connect.group import ConnectGroup, Member, Resources
from kcoord.group.deadlines import NEVER_MS
from kcoord.group.translation.answers import session_of
from kcoord.group.translation.phases import Phase
from kcoord.group.translation.spoken import DEFAULT
from kcoord.group.turn import Turn
from kcoord.protocol.resources import Resource

NOTHING: Resources = frozenset()

LIMIT_MS = 10_000
"""How long at most: a session of Connect, after which who cannot be told is gone."""

PART_MS = 500
"""How long free work waits for the rest of what a worker is to get. It runs nowhere meanwhile."""

STOPPING_MS = 3_000
"""The same where the rest is being stopped: it would wait as long for the worker's next heartbeat."""


def is_time_to_stop(turn: Turn, group: ConnectGroup, member: Member, revoked: Resources) -> bool:
    """Whether a worker at rest is to be called now, to stop `revoked`: it and all who are to run that can be told, or
    were waited for.
    """
    if not _can_be_told(member) and _waits_at_all(turn, group):
        return _is_overdue(turn, group, member)
    return not _to_keep(turn, group, member, revoked) or _is_overdue(turn, group, member)


def to_stop(turn: Turn, group: ConnectGroup, member: Member, revoked: Resources) -> Resources:
    """What of `revoked` a worker that has joined is told to stop."""
    session = session_of(member)
    kept = NOTHING if turn.now_ms >= session.handover_due_ms else _to_keep(turn, group, member, revoked)
    if not kept:
        session.handover_due_ms = NEVER_MS
    return revoked - kept


def _to_keep(turn: Turn, group: ConnectGroup, member: Member, revoked: Resources) -> Resources:
    """What of `revoked` is to run at workers that cannot be told yet, and runs nowhere but here."""
    if not revoked or not _waits_at_all(turn, group):
        return NOTHING
    return frozenset([each for each in revoked - member.doubtful if _is_deaf(group, member, each)])


def _waits_at_all(turn: Turn, group: ConnectGroup) -> bool:
    return group.legacy.protocol != DEFAULT and turn.contents.effective(group.group_id).legacy_wait_ms > 0


def _is_deaf(group: ConnectGroup, member: Member, resource: Resource) -> bool:
    taker = group.members.get(group.claimants.get(resource, ""))
    if taker is None or taker is member or taker.put_out or resource in group.also_owned:
        return False
    return not _can_be_told(taker)


def _can_be_told(member: Member) -> bool:
    session = member.legacy
    if session is None:
        return True
    waits = session.parked_sync is not None and session.may_park
    return waits or (session.phase is Phase.STABLE and session.is_heard)


def _is_overdue(turn: Turn, group: ConnectGroup, member: Member) -> bool:
    session = session_of(member)
    if session.handover_due_ms == NEVER_MS:
        session.handover_due_ms = turn.now_ms + LIMIT_MS
        turn.wake(group, session.handover_due_ms)
    return turn.now_ms >= session.handover_due_ms


def is_being_stopped(group: ConnectGroup, resources: Resources) -> bool:
    """Whether somebody who runs some of these stops that just now, or has joined to be told to."""
    owners = [(each, group.members[group.owners[each]]) for each in resources if each in group.owners]
    return any(each in owner.releasing or _has_joined(owner) for each, owner in owners)


def _has_joined(member: Member) -> bool:
    return member.legacy is not None and member.legacy.phase is Phase.COMPLETING


def wake_givers(turn: Turn, group: ConnectGroup, member: Member) -> None:
    """The worker can be told from now on: what waited for that may be stopped."""
    if member.member_id in group.unconverged and _is_waited_for(group):
        turn.wake(group, turn.now_ms + 1)


def _is_waited_for(group: ConnectGroup) -> bool:
    members = [group.members[each] for each in group.unconverged]
    return any(each.legacy is not None and each.legacy.handover_due_ms != NEVER_MS for each in members)
