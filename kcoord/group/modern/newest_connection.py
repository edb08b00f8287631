"""A member's newest connection: older ones are refused, and the member moves to a newer one (CG-4)."""

from __future__ import annotations

from kcoord.group.modern.held_replies import refuse_all
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.connection_opening import Order
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.groups.modern_member import NO_CONNECTION, AnyMember
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode

BEFORE_LOAD = "the group was loaded again since this connection was made"


def check_newer(transition: Transition, group: AnyGroup | None, context: RequestContext) -> None:
    """Raise Refused if the connection was made before the load, or before the group was restored: its sender must make
    a new connection (CG-4). `group`: None if no group has that name.
    """
    restored_at = NO_CONNECTION if group is None else group.restored_at_connection
    if context.connection <= max(transition.state.predecessor_connection, restored_at):
        raise Refused(ErrorCode.NOT_COORDINATOR, BEFORE_LOAD)


def check_newest(transition: Transition, group: AnyGroup, member: AnyMember, context: RequestContext) -> None:
    """Raise Refused if the member has used a newer connection (CG-4). If the member has not come since the load, or
    since its group was restored, nobody knows its newest connection: it must use one that was made since then.
    """
    if member.connection == NO_CONNECTION and transition.state.is_of_before_load(group, context):
        raise Refused(ErrorCode.NOT_COORDINATOR, BEFORE_LOAD)
    order = member.order_of(context)
    if order is Order.OLDER:
        raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, "the member has come by a newer connection since")
    if order is Order.UNSURE:
        raise Refused(ErrorCode.NOT_COORDINATOR, "nobody can say which of the member's connections is newer")


def take_in(
    transition: Transition, group: AnyGroup, member: AnyMember, context: RequestContext, epoch: int | None
) -> bool:
    """Accept the request: its connection is now the member's, and the session continues. `epoch`: the epoch in the
    request, if the member is at it. True if nothing has been answered on that connection yet.
    """
    # a held answer can only be on an older connection: this connection's own was sent when the request arrived
    refuse_all(transition, group, member, ErrorCode.FENCED_MEMBER_EPOCH)
    first = member.use(context)
    if first:
        group.forget(member)  # the hot path remembers an answer on the older connection
    if member.epoch_unsure:
        member.move(member.epoch if epoch is None else epoch)
        member.epoch_unsure = False
    member.last_seen_ms = transition.now_ms
    return first
