"""Heartbeat (12) of a worker in a connect group: it is alive, and learns whether it must join again.

With `connect.classic.heartbeat.wait.ms` the answer is held for that long, and given at once when there is something to
say. Then nobody waits for the next heartbeat (CM-26). Without it, the hot path repeats the answer while nothing
concerns the worker.
"""

from __future__ import annotations

from kcoord.group.modern.held_replies import hold, take_held
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.connection_opening import Order
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import answer_heartbeat, session_of
from kcoord.group.translation.delivery.handover import wake_givers
from kcoord.group.translation.member_checks import check_classic_member, knows, note_generation
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse


def heartbeat_translated(
    transition: Transition, group: ConnectGroup, request: HeartbeatRequest, context: RequestContext, token: Token
) -> None:
    """Handle a Heartbeat; its answer may be held."""
    error = check_classic_member(group, request.member_id)
    if not error and not knows(group, group.members[request.member_id], request.generation_id):
        error = ErrorCode.ILLEGAL_GENERATION
    if error:
        transition.answer(token, HeartbeatResponse(error_code=error))
        return
    member = group.members[request.member_id]
    order = member.order_of(context)
    if order is Order.UNSURE:
        transition.answer(token, HeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR))
        return
    is_old = order is Order.OLDER  # nobody reads there any more
    if not is_old:
        _live(transition, group, member, request.generation_id, context)
    wait_ms = min(transition.state.effective(group.group_id).classic_wait_ms, member.session_timeout_ms // 3)
    if wait_ms > 0 and session_of(member).phase is Phase.STABLE and not is_old:
        predecessor = take_held(transition.state, member)
        if predecessor is not None:
            answer_heartbeat(transition, group, member, predecessor)
        hold(transition, group, member, context.connection, token, wait_ms)
    else:
        answer_heartbeat(transition, group, member, token, cached=context.connection == member.connection)


def _live(
    transition: Transition, group: ConnectGroup, member: ConnectMember, generation: int, context: RequestContext
) -> None:
    session = session_of(member)
    if session.generation_unsure:
        note_generation(transition, group, member, context, generation)
    is_other_connection = member.use(context)
    if is_other_connection:
        group.forget(member)
        if member.member_id == group.computed_by:  # others may be told now what they wait for (CM-23)
            transition.wake(group, transition.now_ms + 1)
    has_answer = session.phase is Phase.STABLE and generation == session.generation and not is_other_connection
    if has_answer and member.member_id == group.classic.remembered_by:
        group.classic.remembers = True  # Connect sends heartbeats while it waits for the answer to its SyncGroup, too
    member.last_seen_ms = transition.now_ms
    if session.phase is Phase.STABLE and not session.is_heard:
        session.is_heard = True
        wake_givers(transition, group, member)
