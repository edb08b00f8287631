"""Balance: resources spread evenly over members with the fewest moves.

- Connectors and tasks are balanced separately, as in Connect: any two members have the same number, or one has one
  more.
- A move is a resource that its member has to give up. The members that have most are the ones that may have one more.
  So no member gives up anything that the balance does not need: no balanced assignment needs fewer moves.
- What a member gives up is taken evenly from all that it has, and what is free is dealt out one by one, so that the
  tasks of one connector are spread over many members.
- Sets that need no change come back as the same objects. With tens of thousands of resources that saves most of the
  time: only what moves is sorted or built again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from kcoord.resource import Resource, connectors_among, ordered

Resources: TypeAlias = frozenset[Resource]

_NOTHING: Resources = frozenset()


def balance(targets: Sequence[Resources], existing: Resources) -> list[Resources]:
    """New targets, one for each of `targets`, that have each of `existing` exactly once and nothing else.

    If two targets have a resource, the first one keeps it. The order of `targets` decides who has one more, if nothing
    else does.
    """
    if not targets:
        return []
    targets, free = settle(targets, existing)
    connectors = frozenset(connectors_among(existing))
    have_connectors = [len(target & connectors) for target in targets]
    have_tasks = [len(target) - count for target, count in zip(targets, have_connectors, strict=True)]
    may_have_connectors = _quotas(have_connectors, len(free & connectors), have_tasks)
    may_have_tasks = _quotas(have_tasks, len(free - connectors), may_have_connectors)
    targets = _spread(targets, have_connectors, may_have_connectors, free, lambda each: each & connectors)
    return _spread(targets, have_tasks, may_have_tasks, free, lambda each: each - connectors)


def settle(targets: Sequence[Resources], existing: Resources) -> tuple[Sequence[Resources], Resources]:
    """The targets without what does not exist any more or an earlier target has, and the resources that nobody has."""
    taken = _NOTHING.union(*targets)
    free = existing - taken
    existing_and_once = len(existing) - len(free) == sum(map(len, targets))
    return (targets if existing_and_once else _cut(targets, existing)), free


def _cut(targets: Sequence[Resources], existing: Resources) -> list[Resources]:
    left = set(existing)
    cut = []
    for target in targets:
        kept = target if target <= left else target & left
        cut.append(kept)
        left -= kept
    return cut


def _quotas(have: Sequence[int], free: int, burden: Sequence[int]) -> list[int]:
    """How many resources each member is to have. Members that have too many anyway get one more first, then those with
    the smallest burden.
    """
    even, left_over = divmod(sum(have) + free, len(have))
    quotas = [even] * len(have)
    for at in sorted(range(len(have)), key=lambda at: (have[at] <= even, burden[at], at))[:left_over]:
        quotas[at] += 1
    return quotas


def _spread(
    targets: Sequence[Resources],
    have: Sequence[int],
    quotas: Sequence[int],
    free: Resources,
    of_kind: Callable[[Resources], Resources],
) -> list[Resources]:
    """Take resources from members above their quota, and give them and the free ones to members below it."""
    spread = list(targets)
    pool = list(of_kind(free))
    givers = [at for at, quota in enumerate(quotas) if have[at] > quota]
    for turn, at in enumerate(givers):
        given = _evenly(sorted(of_kind(targets[at])), have[at] - quotas[at], turn)
        spread[at] = targets[at].difference(given)
        pool += given
    wants = [max(quota - had, 0) for had, quota in zip(have, quotas, strict=True)]
    for at, gained in _deal(ordered(pool), wants).items():
        spread[at] = targets[at].union(gained)
    return spread


def _evenly(ordered: Sequence[Resource], count: int, turn: int) -> list[Resource]:
    """`count` of the resources at even distances, the last one among them; another `turn` takes others."""
    size = len(ordered)
    return [ordered[((step + 1) * size // count - 1 - turn) % size] for step in range(count)]


def _deal(pool: Sequence[Resource], wants: Sequence[int]) -> dict[int, list[Resource]]:
    """Deal one resource to each member that wants more, round after round; `wants` add up to the pool."""
    hands: dict[int, list[Resource]] = {at: [] for at, want in enumerate(wants) if want}
    dealt, rounds, players = 0, 0, list(hands)
    while players:
        fewest = min(wants[at] for at in players)
        stop = dealt + (fewest - rounds) * len(players)
        for seat, at in enumerate(players):
            hands[at] += pool[dealt + seat : stop : len(players)]
        dealt, rounds = stop, fewest
        players = [at for at in players if wants[at] > rounds]
    return hands
