"""Notification: held answers are sent or refused now, for members of the new protocol and classic members."""

from __future__ import annotations

from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def flush_held_reply(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Send the member's held answer as it is now."""
    transition.dialect(member).flush_held_reply(transition, group, member)


def refuse_all(transition: Transition, group: ConnectGroup, member: ConnectMember, error: ErrorCode) -> None:
    """Answer everything that is held for the member with an error: the member is gone or excluded, or has come by
    another connection.
    """
    transition.dialect(member).refuse_all(transition, group, member, error)


def notify_touched(transition: Transition, group: ConnectGroup) -> None:
    """Send the held answers of members for which this step has news."""
    while group.touched:
        touched = sorted(group.touched)
        group.touched.clear()
        for member_id in touched:
            member = group.members.get(member_id)
            if member is not None:
                transition.dialect(member).notify(transition, group, member)
