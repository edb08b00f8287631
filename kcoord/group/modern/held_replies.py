"""Held answers: requests whose answers wait, and when these are sent or refused after all (CG-26).

What an answer says, and whether there is news for a member, is known to the member's dialect.
"""

from __future__ import annotations

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.groups.modern_member import AnyMember, Held
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def hold(
    transition: Transition, group: AnyGroup, member: AnyMember, connection: int, token: Token, wait_ms: int
) -> None:
    """Hold the answer to a heartbeat for `wait_ms` at most."""
    member.held = Held(token, connection)
    transition.state.held.setdefault(connection, {})[member.member_id] = (group, member)
    transition.state.holds.want(member, transition.now_ms + wait_ms)


def take_held(state: ShardState, member: AnyMember) -> Token | None:
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


def flush_held_reply(transition: Transition, group: AnyGroup, member: AnyMember) -> None:
    """Send the member's held answer as it is now."""
    transition.kind(group).dialect(member).flush_held_reply(transition, group, member)


def refuse_all(transition: Transition, group: AnyGroup, member: AnyMember, error: ErrorCode) -> None:
    """Answer everything that waits for the member with an error: the member is gone or excluded, or has come by another
    connection.
    """
    transition.kind(group).dialect(member).refuse_all(transition, group, member, error)


def notify_touched(transition: Transition, group: AnyGroup) -> None:
    """Send the held answers of members for which this step has news."""
    kind = transition.kind(group)
    while group.touched:
        touched = sorted(group.touched)
        group.touched.clear()
        for member_id in touched:
            member = group.members.get(member_id)
            if member is not None:
                kind.dialect(member).notify(transition, group, member)


def hold_is_over(transition: Transition, member: AnyMember) -> None:
    """Send a held answer whose time is over."""
    if member.held is not None:
        group, _ = transition.state.held[member.held.connection][member.member_id]
        flush_held_reply(transition, group, member)
        transition.kind(group).settle(transition, group)


def hold_is_over_unwritten(transition: Transition, member: AnyMember) -> None:
    """End a held answer whose time is over, while nothing can be written. If the answer could need a record, the member
    gets COORDINATOR_NOT_AVAILABLE and asks again.
    """
    if member.held is None:
        return
    group, _ = transition.state.held[member.held.connection][member.member_id]
    if transition.kind(group).dialect(member).needs_no_record(transition, group, member):
        flush_held_reply(transition, group, member)
    else:
        refuse_all(transition, group, member, ErrorCode.COORDINATOR_NOT_AVAILABLE)
