"""The reasons to call a classic worker, that is, to ask it to join again.

A worker is called only for one of these reasons (CM-30):

| why | rule |
| --- | --- |
| it is to compute; or it led, and another worker is to compute | CM-3, CM-14 |
| its target lacks something that it holds, it was not told so, and the next owner can be told | CM-4, CM-26 |
| what its target has and it lacks is free, or a part has been for long enough, and may be given | CM-4, CM-23, CM-27 |
| the leader that it knows was replaced, and the new one is ready | CM-11 |
| it leads, and was not told so before the coordinator was restarted | CM-23 |
| the group speaks another embedded protocol than the worker was told | CM-16 |

A worker that was told to stop something joins by itself when it has stopped. A worker that waits for an assignment gets
an answer instead of a call.
"""

from __future__ import annotations

from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import ask_to_rejoin, session_of
from kcoord.group.translation.delivery.assignment_delta import increment, to_give
from kcoord.group.translation.delivery.handover import is_time_to_stop
from kcoord.group.translation.delivery.sync_answers import answer_if_time, has_to_read_on, has_waited_for_rest
from kcoord.group.translation.rounds.leader import is_ready, leader_known_as


def notify_classic(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Call the worker, or answer its parked SyncGroup, if this step has changed something for it."""
    session = session_of(member)
    if member.evicted or session.parked_join is not None:
        return
    if not is_ready(transition.state, group):
        group.classic.looked_at_unready = True
    at_rest = session.phase is Phase.STABLE and must_rejoin(transition, group, member)
    in_between = session.phase is Phase.COMPLETING and not _has_computed(group, member)
    if at_rest or (in_between and _is_called(group, member)):
        ask_to_rejoin(transition, group, member)
    if session.parked_sync is not None:
        answer_if_time(transition, group, member)


def _has_computed(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether it waits for its part of what it has computed itself. If its SyncGroup were refused, its assignor would
    miss a generation and forget what it remembers (CM-3, CM-8).
    """
    return session_of(member).parked_sync is not None and member.member_id == group.computed_by


def must_rejoin(transition: Transition, group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether one of the reasons above holds."""
    return (
        _is_called(group, member)
        or _knows_less(transition.state, group, member)
        or _has_to_move(transition, group, member)
    )


def _is_called(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether it is to compute and was not shown the group yet, or must stop leading."""
    computation, look = group.computation, group.classic.look
    chosen = computation is not None and computation.chosen == member.member_id
    asked = look is not None and look.leader == member.member_id
    if (chosen or asked) and not session_of(member).computes:
        return True
    return group.classic.retiring == member.member_id


def _knows_less(state: ShardState, group: ConnectGroup, member: ConnectMember) -> bool:
    classic = member.metadata.classic
    assert classic is not None
    if classic.known_protocol is not None and classic.known_protocol != group.classic.protocol:
        return True
    leader = leader_known_as(group)
    if not leader or classic.known_leader == leader:
        return False
    return member.member_id == group.computed_by or is_ready(state, group)


def _has_to_move(transition: Transition, group: ConnectGroup, member: ConnectMember) -> bool:
    if member.member_id not in group.unconverged:
        session_of(member).handover_due_ms = NEVER_MS
        return False
    if has_to_read_on(group, member):
        return False  # it joins by itself when it has stopped what is reconfigured; if called, it might join too early
    now = increment(group, member)
    untold = now.revoked - member.releasing
    if untold and is_time_to_stop(transition, group, member, untold):
        return True
    if now.revoked != untold:
        return False
    gives = to_give(transition.state, group, member, now)
    return has_waited_for_rest(transition, group, member, gives, now.awaited) if now.awaited else bool(gives)
