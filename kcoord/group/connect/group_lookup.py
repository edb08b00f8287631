"""The lookup of a request's connect group, and the checks of its connection (CG-4, CG-29)."""

from __future__ import annotations

from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.connection_opening import Order
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_member import NO_CONNECTION
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode

BEFORE_LOAD = "the group was loaded again since this connection was made"


class Refused(Exception):
    """The request is refused and changes nothing. Has the error for the answer, and a text for people."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = bounded_text(message)


def check_newer(transition: Transition, group_id: str, context: RequestContext) -> None:
    """Raise Refused if the connection was made before the load, or before the group was restored: its sender must make
    a new connection (CG-4).
    """
    group = transition.state.connect.get(group_id)
    restored_at = NO_CONNECTION if group is None else group.restored_at_connection
    if context.connection <= max(transition.state.predecessor_connection, restored_at):
        raise Refused(ErrorCode.NOT_COORDINATOR, BEFORE_LOAD)


def check_newest(transition: Transition, group: ConnectGroup, member: ConnectMember, context: RequestContext) -> None:
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


def existing(transition: Transition, group_id: str) -> ConnectGroup | None:
    """The connect group of that name, or None if it does not exist. Raises Refused if a classic group has the name."""
    _not_classic(transition, group_id)
    return transition.state.connect.get(group_id)


def group_to_join(transition: Transition, group_id: str) -> ConnectGroup:
    """The connect group that a worker joins. If it does not exist, a new and empty one that is not in the shard yet.

    A classic group without members and offsets makes room (`replace_classic`). Raises Refused for any other classic
    group.
    """
    classic = transition.state.groups.get(group_id)
    if classic is not None and (classic.members or classic.pending or transition.state.offsets.of_group(group_id)):
        _not_classic(transition, group_id)
    return transition.state.connect.get(group_id) or ConnectGroup(group_id)


def _not_classic(transition: Transition, group_id: str) -> None:
    if group_id in transition.state.groups and group_id not in transition.state.connect:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"{group_id} is a group of the classic protocol")
