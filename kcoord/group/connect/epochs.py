"""How is the group epoch bumped? The one way, with its reason and its time (CG-13)."""

from __future__ import annotations

from collections.abc import Sequence

from kcoord.group.bounded_text import bounded_name
from kcoord.group.connect import history, records
from kcoord.group.connect.group import ConnectGroup
from kcoord.group.connect.reasons import Reason
from kcoord.group.turn import Turn

REPEATABLE = (
    Reason.ASSIGNOR_REASON,
    Reason.DELAY_OVER,
    Reason.LEADER_JOINED,
    Reason.RETRY,
)
"""What bumps the group epoch though nobody has come or gone, and nothing else is configured or offered."""
NAMED = 3
"""So many members are named in a reason; the others are counted."""


def bump(turn: Turn, group: ConnectGroup, reason: Reason, who: Sequence[str] = ()) -> None:
    """The group has changed: a new assignment is needed."""
    turn.contents.counters.rebalances[reason] += 1
    why = tell(reason, who) + (group.repetition.tell() if reason in REPEATABLE else "")
    turn.write(records.group_epoch(group.group_id, group.epoch + 1, why, turn.wall_ms))
    history.began(turn, group)


def tell(reason: Reason, who: Sequence[str]) -> str:
    """`worker joined: a, b, c and 2 more`"""
    if not who:
        return str(reason)
    more = f" and {len(who) - NAMED} more" if len(who) > NAMED else ""
    return f"{reason}: {', '.join(map(bounded_name, who[:NAMED]))}{more}"
