"""Why did a group rebalance? The words that each generation's record carries (design section 1, "Every change says
why").

A text begins with one of `Reason`, then says who, then what the client itself gave as its reason (KIP-800): `member
joined: consumer-1-ab12 ("consumer pro-actively leaving")`. A rebalance that several things caused has their texts
one after the other, "; " between. Ids and texts that clients choose are cut to a bounded length.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from kcoord.group.bounded_text import bounded_name, bounded_text

NAMED = 3
"""So many members are named; the others are counted."""
TOLD = 5
"""So many causes of one rebalance are told; the others are counted."""
CLIENT_REASON_CHARS = 255
"""KIP-800: clients cut their reasons to this; some do not."""


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
    """One cause as text."""
    names = ", ".join(map(bounded_name, who[:NAMED])) + (f" and {len(who) - NAMED} more" if len(who) > NAMED else "")
    given = f' ("{client_reason[:CLIENT_REASON_CHARS]}")' if client_reason else ""
    return f"{reason}: {names}{given}"


def tell_all(reasons: Sequence[str], more: int = 0) -> str:
    """The causes of one rebalance as one text; `more` are those that were only counted."""
    return bounded_text("; ".join(reasons) + (f"; and {more} more" if more else ""))
