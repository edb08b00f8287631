"""Checks of a classic worker's request: the sender is a member, on its newest connection, and knows its generation."""

from __future__ import annotations

from kcoord.group.state.connection_opening import Order
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import session_of
from kcoord.protocol.errors import ErrorCode


def check_classic_member(group: ConnectGroup, member_id: str) -> ErrorCode:
    """NONE for a classic worker that takes part, else UNKNOWN_MEMBER_ID. A worker that was evicted must join as a
    stranger.
    """
    member = group.members.get(member_id)
    if member is None or member.classic is None or member.evicted:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE


def check_newest_connection(member: ConnectMember, context: RequestContext) -> ErrorCode:
    """NONE if this is the worker's newest connection, else REBALANCE_IN_PROGRESS. NOT_COORDINATOR where nobody can say
    which connection is newer: then the worker connects once more (CG-4).
    """
    order = member.order_of(context)
    if order is Order.UNSURE:
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.REBALANCE_IN_PROGRESS if order is Order.OLDER else ErrorCode.NONE


def knows(group: ConnectGroup, member: ConnectMember, generation: int) -> bool:
    """Whether the worker may know that generation: its last one, or the one before, which a request under way may still
    carry. After a load: any from the recorded one up to the group epoch.
    """
    session = session_of(member)
    if session.generation_unsure:
        return max(member.recorded_epoch, 0) <= generation <= group.epoch
    return generation in (session.generation, session.previous_generation)


def note_generation(
    transition: Transition, group: ConnectGroup, member: ConnectMember, context: RequestContext, generation: int
) -> None:
    """Note the generation that the worker names. After a load it remains unsure while the worker comes by a connection
    from before: what it said by an older one may arrive later than what it says now.
    """
    session = session_of(member)
    if session.generation_unsure and transition.state.is_of_before_load(group, context):
        session.generation = max(session.generation, generation)
    else:
        session.generation, session.generation_unsure = generation, False
