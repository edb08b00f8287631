"""Notification: held answers are sent or refused now, for members of the new protocol and classic members."""

from __future__ import annotations

from kcoord.group.connect import answers
from kcoord.group.connect.held_replies import take_held
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def flush_held_reply(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Send the member's held answer as it is now."""
    if member.classic is None:
        answers.flush_held_heartbeat(transition, group, member)
    else:
        transition.classic.flush_held_reply(transition, group, member)


def refuse_all(transition: Transition, group: ConnectGroup, member: ConnectMember, error: ErrorCode) -> None:
    """Answer everything that is held for the member with an error: the member is gone or excluded, or has come by
    another connection.
    """
    if member.classic is not None:
        transition.classic.refuse_all(transition, group, member, error)
        return
    token = take_held(transition.state, member)
    if token is not None:
        answers.refuse_heartbeat(transition, token, error)


def notify_touched(transition: Transition, group: ConnectGroup) -> None:
    """Send the held answers of members for which this step has news."""
    while group.touched:
        touched = sorted(group.touched)
        group.touched.clear()
        for member_id in touched:
            member = group.members.get(member_id)
            if member is None:
                continue
            if member.classic is not None:
                transition.classic.tell(transition, group, member)
            elif member.held is not None and answers.has_news(group, member):
                answers.flush_held_heartbeat(transition, group, member)
