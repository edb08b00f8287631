"""Epochs: the bump of the group epoch, with its reason and time (CG-13), and the check of a member's epoch."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from kcoord.group.modern import history
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.groups.modern_group import AnyGroup, M, ModernGroup
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, AnyMember, R
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode

NAMED = 3
"""Members that a reason names at most. The others are counted."""


def bump_epoch(
    transition: Transition, group: AnyGroup, reason: StrEnum, who: Sequence[str] = (), note: str = ""
) -> None:
    """Move the group epoch by one: the group has changed and needs a new assignment. `reason` is one of the group's
    kind; the `note` is added to its text.
    """
    transition.counters(group).rebalances[reason] += 1
    why = tell(reason, who) + note
    transition.write(transition.kind(group).records.group_epoch(group, group.epoch + 1, why, transition.wall_ms))
    history.began(transition, group)


def tell(reason: StrEnum, who: Sequence[str]) -> str:
    """The reason as text, for example `worker joined: a, b, c and 2 more`."""
    if not who:
        return str(reason)
    more = f" and {len(who) - NAMED} more" if len(who) > NAMED else ""
    return f"{reason}: {', '.join(map(bounded_name, who[:NAMED]))}{more}"


def is_repeated(
    group: ModernGroup[M, R], member: M, epoch: int, owned: frozenset[R] | None, *, has_arrived: bool
) -> bool:
    """Whether the member repeats its heartbeat because it missed the last answer (CG-12). False if it is at the epoch
    that it says. Raises Refused for any other epoch. `has_arrived`: the member is where its kind moves it to the
    assignment epoch.
    """
    if epoch == member.epoch or (member.epoch_unsure and _may_have_been_told(group, member, epoch, has_arrived)):
        return False
    if epoch > JOINING_EPOCH and epoch == member.previous_epoch and owned is not None and owned <= member.current:
        return True
    raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}, not {epoch}")


def _may_have_been_told(group: AnyGroup, member: AnyMember, epoch: int, has_arrived: bool) -> bool:
    """Whether a member may have reached that epoch before the load, possibly without a record (CG-11)."""
    return member.recorded_epoch <= epoch <= (group.assignment_epoch if has_arrived else group.assignment_epoch - 1)
