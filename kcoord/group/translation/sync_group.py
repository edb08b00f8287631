"""SyncGroup (14) of a worker in a connect group: the leader brings its assignment, every worker fetches its own part.

Each worker has its own generation. A worker that has to join again first is told so; the leader's assignment counts all
the same (CM-8).
"""

from __future__ import annotations

from kcoord.group.connect.computing import ask_what_exists, ensure_computing
from kcoord.group.connect.install import NotValid
from kcoord.group.connect.settle import settle
from kcoord.group.state.classic_workers.look_verdicts import Verdict
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.classic_workers.session import ClassicSession
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup, ConnectMember
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import (
    answer_sync,
    ask_to_rejoin,
    failed_assignment,
    flush_held_heartbeat,
    refuse_sync,
    session_of,
    take_sync,
)
from kcoord.group.translation.delivery.sync_answers import park_sync
from kcoord.group.translation.member_checks import (
    check_classic_member,
    check_newest_connection,
    knows,
    note_generation,
)
from kcoord.group.translation.rounds.computing_round import close_round
from kcoord.group.translation.rounds.config_round import keep_change_together
from kcoord.group.translation.rounds.existence_looks import ask_again, close_look
from kcoord.group.translation.rounds.look_policy import asks_leader
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import SyncGroupRequest

NAMES_PROTOCOL_VERSION = 5


def sync_translated(
    transition: Transition, group: ConnectGroup, request: SyncGroupRequest, context: RequestContext, token: Token
) -> None:
    """Handle a SyncGroup; it may stay parked."""
    error = _check(group, request, context)
    if error:
        refuse_sync(transition, token, error)
        return
    member = group.members[request.member_id]
    session = session_of(member)
    note_generation(transition, group, member, context, request.generation_id)
    member.use(context)
    member.last_seen_ms = transition.now_ms
    predecessor = take_sync(member)
    if predecessor is not None:
        refuse_sync(transition, predecessor, ErrorCode.REBALANCE_IN_PROGRESS)
    flush_held_heartbeat(transition, group, member)
    if session.computes and _is_shown(group, member):
        _take_look(transition, group, member, request, token)
    elif session.computes and _is_asked(group, member):
        _take_assignment(transition, group, member, request, token)
    elif request.assignments or _has_to_join(session, member) or _leads_blindly(group, member):
        # It was shown the group before a load, or is called for another reason: what it brings is of no use.
        refuse_sync(transition, token, ErrorCode.REBALANCE_IN_PROGRESS)
    else:
        park_sync(transition, group, member, token)
    session.was_called |= session.phase is Phase.PREPARING  # answered, and told to start nothing
    settle(transition, group)


def _is_shown(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the leader was shown a picture, and is still asked for what exists."""
    look = group.classic.look
    is_its = look is not None and look.leader == member.member_id and look.picture is not None
    return is_its and asks_leader(group)


def _has_to_join(session: ClassicSession, member: ConnectMember) -> bool:
    """Whether the worker has to join before it can be given anything: it was asked to, or a load has lost that it was.

    The latter is a worker that came from a classic group in the middle of a rebalance, and has neither joined nor
    synced since. It may never have been told to start what the classic leader gave it (CM-28).
    """
    has_only_been_converted = session.phase is Phase.STABLE and not session.has_synced and bool(member.current)
    return session.phase is Phase.PREPARING or has_only_been_converted


def _leads_blindly(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the leader was answered as a follower (CM-3). That happens when it had to stop everything under
    `default`, and the group has left `default` since.
    """
    return member.member_id == group.computed_by and asks_leader(group)


def _is_asked(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether this leader is still the one that computes, on the input that it was shown. Since then another worker may
    have been chosen, or the computation may have started again.
    """
    computation = group.computation
    is_its = computation is not None and computation.frozen is not None and group.chosen() == member.member_id
    if not is_its:
        session_of(member).computes = False
    return is_its


def _check(group: ConnectGroup, request: SyncGroupRequest, context: RequestContext) -> ErrorCode:
    named = (request.protocol_type, request.protocol_name)
    if context.api_version >= NAMES_PROTOCOL_VERSION and None in named:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    error = check_classic_member(group, request.member_id)
    if error:
        return error
    member = group.members[request.member_id]
    error = check_newest_connection(member, context)
    if error:
        return error
    if not knows(group, member, request.generation_id):
        return ErrorCode.ILLEGAL_GENERATION
    if request.generation_id != session_of(member).generation and not session_of(member).generation_unsure:
        return ErrorCode.REBALANCE_IN_PROGRESS
    ours = (PROTOCOL_TYPE, session_of(member).protocol)
    if request.protocol_name is not None and named != ours:
        return ErrorCode.REBALANCE_IN_PROGRESS  # after a load: the protocol of its answer is not known any more
    return ErrorCode.NONE


def _take_assignment(
    transition: Transition, group: ConnectGroup, member: ConnectMember, request: SyncGroupRequest, token: Token
) -> None:
    """Install the leader's assignment, then give the leader its own part."""
    try:
        error = close_round(
            transition, group, member, {each.member_id: each.assignment for each in request.assignments}
        )
    except NotValid:
        refuse_sync(transition, token, ErrorCode.REBALANCE_IN_PROGRESS)
        return
    if error:
        answer_sync(transition, member, token, failed_assignment(member, error))
        ask_to_rejoin(transition, group, member)
        return
    park_sync(transition, group, member, token)


def _take_look(
    transition: Transition, group: ConnectGroup, member: ConnectMember, request: SyncGroupRequest, token: Token
) -> None:
    """Take in the leader's answer to a picture. After the last look the leader gets its own part like every worker."""
    known = group.configured
    try:
        verdict, error = close_look(
            transition, group, member, {each.member_id: each.assignment for each in request.assignments}
        )
    except NotValid:
        verdict, error = Verdict.VOID, 0
    match verdict:
        case Verdict.KNOWN:
            keep_change_together(transition, group, known)
            ask_what_exists(transition, group)
            ensure_computing(transition, group)
            park_sync(transition, group, member, token)
        case Verdict.AGAIN:
            ask_again(transition, member, token)
            ask_to_rejoin(transition, group, member)
        case Verdict.VOID:
            refuse_sync(transition, token, ErrorCode.REBALANCE_IN_PROGRESS)
            ask_to_rejoin(transition, group, member)
        case Verdict.FAILED:
            answer_sync(transition, member, token, failed_assignment(member, error))
            ask_to_rejoin(transition, group, member)
