"""Answers to JoinGroup and SyncGroup of classic groups, and to requests that are parked.

Every parked request is answered exactly once: when its phase ends, when its member goes, or when the same member sends
another one. (Apache Kafka forgets the first of two requests of one member. Here the first one gets
REBALANCE_IN_PROGRESS, so that no connection waits for ever.)
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import ClassicMember, ParkedJoin
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.consumer_embedded import as_of
from kcoord.protocol.embedded import EmbeddedError
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.protocol.messages import JoinGroupResponse, SyncGroupResponse

NO_MEMBER_ID = ""


def join_error(transition: Transition, token: Token, error: ErrorCode, member_id: str) -> None:
    """Refuse a JoinGroup."""
    transition.answer(token, JoinGroupResponse(error_code=error, member_id=member_id))


def join_answer(group: ClassicGroup, member: ClassicMember) -> JoinGroupResponse:
    """Tell a member the current generation; the leader also gets the list of members, with their metadata."""
    protocol = group.protocol_name or ""
    members = []
    if group.leader_id == member.member_id:
        members = [
            JoinGroupResponseMember(each.member_id, each.instance_id, _told(group, each.metadata(protocol)))
            for each in group.members.values()
        ]
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=protocol,
        leader=group.leader_id or "",
        member_id=member.member_id,
        members=members,
    )


def _told(group: ClassicGroup, metadata: bytes) -> bytes:
    """A member's metadata as the leader is told it. In a consumer group each member had a generation of its own. Some
    leaders would take that for members that have missed a rebalance, and give away what they have (KG-24).
    """
    lowest = group.record.lowest_generation
    if lowest < 0:
        return metadata
    last = group.generation - 1
    try:
        return as_of(metadata, group.protocol_name or "", range(lowest, last), last)
    except EmbeddedError:
        return metadata


def sync_error(transition: Transition, token: Token, error: ErrorCode) -> None:
    """Refuse a SyncGroup."""
    transition.answer(token, SyncGroupResponse(error_code=error))


def sync_answer(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    """Give a member its assignment."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
    )


def park_join(
    transition: Transition, group: ClassicGroup, member: ClassicMember, token: Token, api_version: int
) -> None:
    """Let a member's JoinGroup wait for the end of the join phase."""
    if member.parked_join is None:
        group.parked_joins += 1
    else:
        join_error(transition, member.parked_join.token, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
    member.parked_join = ParkedJoin(token, api_version)


def park_sync(transition: Transition, member: ClassicMember, token: Token) -> None:
    """Let a member's SyncGroup wait for the leader's."""
    if member.parked_sync is not None:
        sync_error(transition, member.parked_sync, ErrorCode.REBALANCE_IN_PROGRESS)
    member.parked_sync = token


def release_join(
    transition: Transition, group: ClassicGroup, member: ClassicMember, error: ErrorCode, member_id: str
) -> None:
    """Refuse a member's parked JoinGroup, if it has one."""
    if member.parked_join is not None:
        join_error(transition, member.parked_join.token, error, member_id)
        member.parked_join = None
        group.parked_joins -= 1


def release_sync(transition: Transition, member: ClassicMember, error: ErrorCode) -> None:
    """Refuse a member's parked SyncGroup, if it has one."""
    if member.parked_sync is not None:
        sync_error(transition, member.parked_sync, error)
        member.parked_sync = None


def refresh(transition: Transition, group: ClassicGroup, member: ClassicMember) -> None:
    """Restart the session of a member that has just been answered after waiting."""
    member.last_seen_ms = transition.now_ms
    transition.wake(group, transition.now_ms + member.session_timeout_ms)
