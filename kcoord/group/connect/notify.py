"""Notification: held answers are sent or refused now, for members of the new protocol and classic members."""

from __future__ import annotations

from kcoord.group.connect import answers
from kcoord.group.connect.held_replies import take_held
from kcoord.group.state.groups.connect_group import ConnectGroup, Member
from kcoord.group.state.transition import Turn
from kcoord.protocol.errors import ErrorCode


def let_go(turn: Turn, group: ConnectGroup, member: Member) -> None:
    """Send the member's held answer as it is now."""
    if member.legacy is None:
        answers.let_go_heartbeat(turn, group, member)
    else:
        turn.classic.let_go(turn, group, member)


def refuse_all(turn: Turn, group: ConnectGroup, member: Member, error: ErrorCode) -> None:
    """Answer everything that is held for the member with an error: the member is gone or excluded, or has come by
    another connection.
    """
    if member.legacy is not None:
        turn.classic.refuse_all(turn, group, member, error)
        return
    token = take_held(turn.contents, member)
    if token is not None:
        answers.refuse_heartbeat(turn, token, error)


def tell_touched(turn: Turn, group: ConnectGroup) -> None:
    """Send the held answers of members for which this step has news."""
    while group.touched:
        touched = sorted(group.touched)
        group.touched.clear()
        for member_id in touched:
            member = group.members.get(member_id)
            if member is None:
                continue
            if member.legacy is not None:
                turn.classic.tell(turn, group, member)
            elif member.held is not None and answers.has_news(group, member):
                answers.let_go_heartbeat(turn, group, member)
