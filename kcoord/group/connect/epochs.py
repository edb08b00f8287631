"""The bump of the group epoch: the one function that moves it, with the reason and the time (CG-13)."""

from __future__ import annotations

from collections.abc import Sequence

from kcoord.group.connect import history
from kcoord.group.connect.reasons import Reason
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition

REPEATABLE = (
    Reason.ASSIGNOR_REASON,
    Reason.DELAY_OVER,
    Reason.LEADER_JOINED,
    Reason.RETRY,
)
"""Reasons that move the group epoch although members, their metadata and the configured set are the same."""
NAMED = 3
"""Members that a reason names at most. The others are counted."""


def bump(transition: Transition, group: ConnectGroup, reason: Reason, who: Sequence[str] = ()) -> None:
    """Move the group epoch by one: the group has changed and needs a new assignment."""
    transition.state.counters.rebalances[reason] += 1
    why = tell(reason, who) + (group.repetition.tell() if reason in REPEATABLE else "")
    transition.write(records.group_epoch(group.group_id, group.epoch + 1, why, transition.wall_ms))
    history.began(transition, group)


def tell(reason: Reason, who: Sequence[str]) -> str:
    """The reason as text, for example `worker joined: a, b, c and 2 more`."""
    if not who:
        return str(reason)
    more = f" and {len(who) - NAMED} more" if len(who) > NAMED else ""
    return f"{reason}: {', '.join(map(bounded_name, who[:NAMED]))}{more}"
