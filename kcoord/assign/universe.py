"""What is there to assign, and what of it waits for a worker that is gone?

What exists is the configured set; where no worker ever told it, all that anybody's target names
(CG-21). What waits, for how long, is CG-22: a departure with no delay running starts one; a running one is neither
prolonged nor started anew; when it is over, nothing waits.
"""

from __future__ import annotations

from kcoord.assign.model import NO_DELAY, Group
from kcoord.assign.resource import Resource

_NOTHING: frozenset[Resource] = frozenset()


def existing(group: Group) -> frozenset[Resource]:
    """All resources that there are."""
    if group.configured is not None:
        return group.configured
    held = [member.target for member in group.members]
    return _NOTHING.union(*held, *(worker.target for worker in group.departed))


def delay_ms(group: Group) -> int:
    """How long resources of departed workers shall wait from now; 0: not at all."""
    return group.rebalance_delay_ms if group.remaining_delay_ms == NO_DELAY else group.remaining_delay_ms


def lost(group: Group, existing: frozenset[Resource]) -> frozenset[Resource]:
    """What only departed workers' targets name."""
    theirs = _NOTHING.union(*(worker.target for worker in group.departed)) & existing
    return theirs.difference(*(member.target for member in group.members)) if theirs else theirs
