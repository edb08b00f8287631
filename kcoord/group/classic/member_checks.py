"""The check whether the sender of a request is a member of the classic group, under the id that the group knows."""

from __future__ import annotations

from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.protocol.errors import ErrorCode


def check_member(group: ClassicGroup, member_id: str, instance_id: str | None) -> ErrorCode:
    """NONE for a member; FENCED_INSTANCE_ID for a static member that another one has replaced (KIP-345); else
    UNKNOWN_MEMBER_ID.
    """
    if instance_id is not None:
        holder = group.static_ids.get(instance_id)
        if holder is not None and holder != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
        if holder is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID
