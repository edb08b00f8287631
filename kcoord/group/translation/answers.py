"""Answers to classic workers, and to their requests that wait.

Every request that waits is answered once: when what it waits for is there, when its time is over, when the same worker
sends another request, or when the worker goes. A held heartbeat is never answered ILLEGAL_GENERATION, which would reset
the client.
"""

from __future__ import annotations

from kcoord.group.modern.held_replies import take_held
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT, version
from kcoord.group.state.classic_workers.phases import HEARTBEAT, Phase
from kcoord.group.state.classic_workers.session import ClassicSession
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import NO_OFFSET, PROTOCOL_TYPE, ConnectGroup, ConnectMember, Resources
from kcoord.group.state.step import CachedReply, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.embedded import WorkerAssignment, encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.protocol.messages import HeartbeatResponse, JoinGroupResponse, SyncGroupResponse

NOTHING: Resources = frozenset()


def session_of(member: ConnectMember) -> ClassicSession:
    """The session of a member that is a classic worker."""
    assert member.classic is not None, f"{member.member_id} speaks the new protocol"
    return member.classic


def see(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """The worker gets the answer that it has waited for. Its session stood still, and runs from now on."""
    member.last_seen_ms = transition.now_ms
    transition.wake(group, transition.now_ms + member.session_timeout_ms)


# -- JoinGroup --------------------------------------------------------------------------------------------------------


def answer_join(
    transition: Transition,
    group: ConnectGroup,
    member: ConnectMember,
    token: Token,
    members: list[JoinGroupResponseMember],
    leader: str,
) -> None:
    """Tell a worker its generation; the leader also gets the list of `members`."""
    transition.answer(
        token,
        JoinGroupResponse(
            generation_id=session_of(member).generation,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=session_of(member).protocol,
            leader=leader,
            member_id=member.member_id,
            members=members,
        ),
    )


def take_join(group: ConnectGroup, member: ConnectMember) -> Token | None:
    """The token of a parked JoinGroup, which is to be answered now."""
    session = session_of(member)
    token, session.parked_join, session.parked_until_ms = session.parked_join, None, NEVER_MS
    group.classic.joining.pop(member.member_id, None)
    return token


def refuse_join(transition: Transition, token: Token, error: ErrorCode, member_id: str) -> None:
    """Answer a JoinGroup with an error that changes nothing."""
    transition.answer(token, JoinGroupResponse(error_code=error, member_id=member_id))


# -- SyncGroup --------------------------------------------------------------------------------------------------------


def answer_sync(transition: Transition, member: ConnectMember, token: Token, assignment: WorkerAssignment) -> None:
    """Give a worker its increment."""
    transition.answer(
        token,
        SyncGroupResponse(
            protocol_type=PROTOCOL_TYPE,
            protocol_name=session_of(member).protocol,
            assignment=encode_assignment(assignment),
        ),
    )


def assignment_of(
    group: ConnectGroup,
    member: ConnectMember,
    assigned: Resources = NOTHING,
    revoked: Resources = NOTHING,
) -> WorkerAssignment:
    """An assignment that names the present leader. No worker is told of a delay: the coordinator itself knows when it
    is over (CM-9, CM-45). (Under `default` the revoked part is not written.)
    """
    classic = member.metadata.classic
    assert classic is not None
    known = NO_OFFSET if group.configured is None else group.configured.topic_offset
    return WorkerAssignment(
        version(session_of(member).protocol),
        0,
        group.computed_by or "",
        group.computed_by_url or "",
        max(classic.config_offset, group.computed_offset, known, _common_offset(group)),  # a lower one: CM-7
        assigned,
        revoked,
    )


def _common_offset(group: ConnectGroup) -> int:
    """Under `default` all workers start together, as of one configuration: the newest that any of them has read. A
    worker that has not read that far reads on before it starts. If it did so later, it would have to stop everything
    again, while others run something newer.
    """
    if group.classic.protocol != DEFAULT:
        return -1
    classic = [
        group.members[each].metadata.classic for each in group.classic.members if not group.members[each].evicted
    ]
    return max([each.config_offset for each in classic if each is not None], default=-1)


def low_assignment(member: ConnectMember) -> WorkerAssignment:
    """What the leader is told after a look that is not the last one. An offset below its own makes it join again before
    it starts anything (CM-38, CM-53). A process that has just started is at -1 in its herder, whatever its JoinGroup
    says: told -1, it would wait for its next heartbeat; told 0, it reads on and joins again.
    """
    classic = member.metadata.classic
    assert classic is not None
    number = version(session_of(member).protocol)
    offset = -1 if classic.config_offset == 0 else 0
    return WorkerAssignment(number, 0, member.member_id, member.metadata.url or "", config_offset=offset)


def failed_assignment(member: ConnectMember, error: int) -> WorkerAssignment:
    """What a leader is told when it has reported `error` itself: being the leader, it reads on and joins again."""
    classic = member.metadata.classic
    assert classic is not None
    number = version(session_of(member).protocol)
    return WorkerAssignment(number, error, member.member_id, member.metadata.url or "", classic.config_offset)


def take_sync(member: ConnectMember) -> Token | None:
    """The token of a parked SyncGroup, which is to be answered now."""
    session = session_of(member)
    token, session.parked_sync, session.parked_until_ms = session.parked_sync, None, NEVER_MS
    return token


def refuse_sync(transition: Transition, token: Token, error: ErrorCode) -> None:
    """Answer a SyncGroup with an error that changes nothing."""
    transition.answer(token, SyncGroupResponse(error_code=error))


# -- Heartbeat --------------------------------------------------------------------------------------------------------


def answer_heartbeat(
    transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token, cached: bool = False
) -> None:
    """Tell a worker whether it must join again. The hot path may repeat a 0 while nothing concerns the worker."""
    session = session_of(member)
    phase = session.phase
    session.was_called |= phase is Phase.PREPARING
    kept = CachedReply(member, member.version, member) if cached and phase is Phase.STABLE else None
    transition.answer(token, HeartbeatResponse(error_code=HEARTBEAT[phase]), kept)


def flush_held_heartbeat(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Give the held answer to a heartbeat, as it is now."""
    token = take_held(transition.state, member)
    if token is not None:
        answer_heartbeat(transition, group, member, token)


# -- the call ---------------------------------------------------------------------------------------------------------


def ask_to_rejoin(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Call the worker: it must join within its rebalance timeout."""
    session = session_of(member)
    session.move(Phase.PREPARING)
    session.computes, session.part_since_ms = False, NEVER_MS
    session.due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
    transition.wake(group, session.due_ms)
    group.forget(member)
    sync = take_sync(member)
    if sync is not None:
        session.was_called = True
        see(transition, group, member)
        refuse_sync(transition, sync, ErrorCode.REBALANCE_IN_PROGRESS)
    flush_held_heartbeat(transition, group, member)


# -- all of them ------------------------------------------------------------------------------------------------------


def refuse_waiting(transition: Transition, group: ConnectGroup, member: ConnectMember, error: ErrorCode) -> None:
    """Answer all waiting requests of a worker with an error: it is gone, or comes by another connection."""
    join, sync, heartbeat = take_join(group, member), take_sync(member), take_held(transition.state, member)
    if join is not None:
        refuse_join(transition, join, error, member.member_id)
    if sync is not None:
        refuse_sync(transition, sync, error)
    if heartbeat is not None:
        transition.answer(heartbeat, HeartbeatResponse(error_code=error))
