"""What exists in a group, and what of it waits for a departed worker.

What exists is the configured set; if no worker ever reported it, it is everything that a target names (CG-21). What
waits, and for how long, is CG-22: a departure starts a delay if none is running; a running delay is neither prolonged
nor started again; when it is over, nothing waits.
"""

from __future__ import annotations

from kcoord.assign.model import NO_DELAY, Group
from kcoord.resource import Resource

_NOTHING: frozenset[Resource] = frozenset()


def existing(group: Group) -> frozenset[Resource]:
    """All resources that exist."""
    if group.configured is not None:
        return group.configured
    held = [member.target for member in group.members]
    return _NOTHING.union(*held, *(worker.target for worker in group.departed))


def delay_ms(group: Group) -> int:
    """How long resources of departed workers wait from now; 0: not at all."""
    return group.rebalance_delay_ms if group.remaining_delay_ms == NO_DELAY else group.remaining_delay_ms


def lost(group: Group, existing: frozenset[Resource]) -> frozenset[Resource]:
    """The resources that only departed workers' targets name."""
    theirs = _NOTHING.union(*(worker.target for worker in group.departed)) & existing
    return theirs.difference(*(member.target for member in group.members)) if theirs else theirs
