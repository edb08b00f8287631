"""Held heartbeat answers: the tokens of members of any protocol whose answers wait (CG-26)."""

from __future__ import annotations

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_member import Held
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition


def hold(
    transition: Transition, group: ConnectGroup, member: ConnectMember, connection: int, token: Token, wait_ms: int
) -> None:
    """Hold the answer for `wait_ms` at most."""
    member.held = Held(token, connection)
    transition.state.held.setdefault(connection, {})[member.member_id] = (group, member)
    transition.state.holds.want(member, transition.now_ms + wait_ms)


def take_held(state: ShardState, member: ConnectMember) -> Token | None:
    """Take the token of the member's held answer, which the caller must answer now; None: no answer is held."""
    held = member.held
    if held is None:
        return None
    member.held, member.wake_ms = None, NEVER_MS
    waiting = state.held[held.connection]
    del waiting[member.member_id]
    if not waiting:
        del state.held[held.connection]
    return held.token
