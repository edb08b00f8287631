"""The election of the embedded protocol of a group's classic workers: one that all of them know (CM-16).

Each worker votes for the first of its own protocols that all know. Most votes win; in a tie the newer protocol wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kcoord.protocol.embedded import NAMES

DEFAULT = NAMES[0]


def elect(offers: Mapping[tuple[str, ...], int]) -> str | None:
    """The elected protocol; `offers` counts how many workers offer the same protocols. None if they have none in
    common, or there are no workers.
    """
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
    """The version number of an embedded protocol; the newest if none is elected yet."""
    return len(NAMES) - 1 if protocol is None else NAMES.index(protocol)
