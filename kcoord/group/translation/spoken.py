"""Which embedded protocol do a group's legacy workers speak? One that all of them know (CM-16).

Each votes for the first of its own that all know; most votes win, between equals the newer protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kcoord.protocol.embedded import NAMES

DEFAULT = NAMES[0]


def elect(offers: Mapping[tuple[str, ...], int]) -> str | None:
    """The protocol; `offers` counts who offers what. None where they have none in common, or nobody is there."""
    if not offers:
        return None
    common = set(NAMES).intersection(*offers)
    if not common:
        return None
    votes: Counter[str] = Counter()
    for protocols, count in offers.items():
        votes[next(name for name in protocols if name in common)] += count
    return max(common, key=lambda name: (votes[name], NAMES.index(name)))


def version(protocol: str | None) -> int:
    """The number of an embedded protocol; the newest where there is none yet."""
    return len(NAMES) - 1 if protocol is None else NAMES.index(protocol)
