"""The reasons of rebalances in classic groups, as text in each generation's record.

A text begins with one of `Reason`. Then it names the members, and then the reason that the client itself gave
(KIP-800): `member joined: consumer-1-ab12 ("consumer pro-actively leaving")`. If a rebalance has several causes, their
texts follow each other, with "; " between them. Ids and texts that clients choose are cut to a bounded length.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from kcoord.group.state.bounded_text import bounded_name, bounded_text

NAMED = 3
"""How many members are named; the others are counted."""
TOLD = 5
"""How many causes of one rebalance are named; the others are counted."""
CLIENT_REASON_CHARS = 255
"""KIP-800: clients cut their reasons to this length; some do not."""


class Reason(StrEnum):
    """What can cause a rebalance."""

    JOINED = "member joined"
    LEFT = "member left"
    SESSION_EXPIRED = "session expired"
    REBALANCE_TIMEOUT = "rebalance timeout"
    NEVER_SYNCED = "never synced"
    METADATA_CHANGED = "metadata changed"
    STATIC_REPLACED = "static member replaced"
    LEADER_ASKED = "leader asked"
    OVER_MAX_SIZE = "over group.max.size"
    ADOPTED = "adopted from the cluster"


def tell(reason: Reason, who: Sequence[str], client_reason: str | None = None) -> str:
    """One cause of a rebalance as text."""
    names = ", ".join(map(bounded_name, who[:NAMED])) + (f" and {len(who) - NAMED} more" if len(who) > NAMED else "")
    given = f' ("{client_reason[:CLIENT_REASON_CHARS]}")' if client_reason else ""
    return f"{reason}: {names}{given}"


def tell_all(reasons: Sequence[str], more: int = 0) -> str:
    """The causes of one rebalance as one text; `more` is the number of those that were only counted."""
    return bounded_text("; ".join(reasons) + (f"; and {more} more" if more else ""))
