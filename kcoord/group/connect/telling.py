"""Who is told now, and in which protocol? Answers that are kept back, for members of either one."""

from __future__ import annotations

from kcoord.group.connect import answers
from kcoord.group.connect.group import ConnectGroup, Member
from kcoord.group.connect.held import take_held
from kcoord.group.translation import answers as legacy
from kcoord.group.translation.asking import tell_legacy
from kcoord.group.turn import Turn
from kcoord.protocol.errors import ErrorCode


def let_go(turn: Turn, group: ConnectGroup, member: Member) -> None:
    """Give the heartbeat's answer that is kept back, as it is now."""
    if member.legacy is None:
        answers.let_go_heartbeat(turn, group, member)
    else:
        legacy.let_go_heartbeat(turn, group, member)


def refuse_all(turn: Turn, group: ConnectGroup, member: Member, error: ErrorCode) -> None:
    """Answer all that is kept back for a member with an error: it is gone, or has come by another connection."""
    if member.legacy is not None:
        legacy.refuse_waiting(turn, group, member, error)
        return
    token = take_held(turn.contents, member)
    if token is not None:
        answers.refuse_heartbeat(turn, token, error)


def tell_touched(turn: Turn, group: ConnectGroup) -> None:
    """Let go what is kept for members to whom this step has something to say."""
    while group.touched:
        touched = sorted(group.touched)
        group.touched.clear()
        for member_id in touched:
            member = group.members.get(member_id)
            if member is None:
                continue
            if member.legacy is not None:
                tell_legacy(turn, group, member)
            elif member.held is not None and answers.has_news(group, member):
                answers.let_go_heartbeat(turn, group, member)
