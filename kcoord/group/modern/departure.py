"""The departure of a member: what is written, and what happens to its requests.

Who may join, what a join changes, and where the target of a departed member goes, differs from kind to kind.
"""

from __future__ import annotations

from kcoord.group.modern.held_replies import refuse_all
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.groups.modern_member import AnyMember
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def write_gone(transition: Transition, group: AnyGroup, member: AnyMember) -> None:
    """Write that a member is gone: what it was running is free, and nothing of it waits for an answer. Its target
    stays.
    """
    refuse_all(transition, group, member, ErrorCode.UNKNOWN_MEMBER_ID)
    records = transition.kind(group).records
    if member.recorded:
        transition.write(records.no_current(group.group_id, member.member_id))
    transition.write(records.member_metadata(group.group_id, member.member_id, None))
