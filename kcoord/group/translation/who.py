"""Is it a legacy worker of the group that asks, and does it know its generation?"""

from __future__ import annotations

from kcoord.group.connect.group import ConnectGroup, Member
from kcoord.group.opening import Order
from kcoord.group.step import RequestContext
from kcoord.group.translation.answers import session_of
from kcoord.protocol.errors import ErrorCode


def check_legacy(group: ConnectGroup, member_id: str) -> ErrorCode:
    """NONE for a legacy worker that takes part, else UNKNOWN_MEMBER_ID: who was put out must come as a stranger."""
    member = group.members.get(member_id)
    if member is None or member.legacy is None or member.put_out:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE


def check_newest_legacy(member: Member, context: RequestContext) -> ErrorCode:
    """NONE unless the worker has come by a newer connection since; where nobody can say, it is told to connect once
    more (CG-4).
    """
    order = member.order_of(context)
    if order is Order.UNSURE:
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.REBALANCE_IN_PROGRESS if order is Order.OLDER else ErrorCode.NONE


def knows(group: ConnectGroup, member: Member, generation: int) -> bool:
    """Whether the worker may have been told that generation: the last one or the one before, which may be on its way
    yet; after a load any from the recorded one on.
    """
    session = session_of(member)
    if session.generation_unsure:
        return max(member.recorded_epoch, 0) <= generation <= group.epoch
    return generation in (session.generation, session.previous_generation)
