"""Whose request is it, and which generation may it name?"""

from __future__ import annotations

from kcoord.group.classic_consumers.member_metadata import protocols_of
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.connection_opening import Order
from kcoord.group.state.groups.consumer_group import PROTOCOL_TYPE, ConsumerGroup, ConsumerMember
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def member_of(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    """The classic member that a request comes from. Raises Refused."""
    if instance_id is not None:
        holder = group.static_ids.get(instance_id)
        if holder is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"nobody in the group is {instance_id}")
        if holder != member_id:
            raise Refused(ErrorCode.FENCED_INSTANCE_ID, f"member {holder} is {instance_id} now")
    member = group.members.get(member_id)
    if member is None or not member.is_classic:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"the group has no member {member_id} of the classic protocol")
    return member


def check_generation(group: ConsumerGroup, member: ConsumerMember, generation: int) -> None:
    """Raise Refused unless it is the generation that the member was told last. After a load it may be any from the
    written epoch to the assignment epoch (KG-3).
    """
    if member.epoch_unsure:
        is_known = member.recorded_epoch <= generation <= group.assignment_epoch
    else:
        is_known = generation == member.generation
    if not is_known:
        raise Refused(ErrorCode.ILLEGAL_GENERATION, f"the member's generation is not {generation}")


def note_alive(
    transition: Transition, group: ConsumerGroup, member: ConsumerMember, generation: int, context: RequestContext
) -> None:
    """Note that a member with that generation lives. Raises Refused if it has come by a newer connection since. After a
    load it may go on by the one that it has: only a JoinGroup says what it has let go of. But by such a connection a
    request may be late, and then its generation is not the one that the member knows now.
    """
    order = member.order_of(context)
    if order is Order.OLDER:
        raise Refused(ErrorCode.REBALANCE_IN_PROGRESS, "the member has come by a newer connection since")
    if member.epoch_unsure:
        member.epoch_unsure = order is Order.UNSURE or transition.state.is_of_before_load(group, context)
        member.generation = max(generation, member.generation) if member.epoch_unsure else generation
        member.move(max(member.epoch, generation))
        group.forget(member)
    if order is not Order.UNSURE:
        member.use(context)
    member.last_seen_ms = transition.now_ms


def check_protocol(member: ConsumerMember, protocol_type: str | None, protocol: str | None) -> None:
    """Raise Refused if a SyncGroup names another protocol than the answer to the member's JoinGroup did."""
    if protocol_type not in (None, PROTOCOL_TYPE) or protocol not in (None, first_protocol(member)):
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"the member speaks {first_protocol(member)}")


def first_protocol(member: ConsumerMember) -> str:
    """The assignor that a classic member is told: the first of its own."""
    return protocols_of(member)[0][0]
