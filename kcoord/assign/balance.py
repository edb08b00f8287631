"""How are resources spread evenly with the fewest moves?

- Connectors and tasks are balanced each for itself, as in Connect: any two members have as many, or one more.
- A move is a resource that its member has to give up. The members that have most are the ones that may have one more,
  so nobody gives up what the balance does not ask for: no balanced assignment needs fewer moves.
- What a member gives up is taken evenly from all that it has, and what is free is dealt out one by one, so that the
  tasks of one connector lie on many members.
- Sets that need no change come back as the objects that they were. With tens of thousands of resources that is where
  the time is: what is sorted or built anew is what moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from kcoord.assign.resource import CONNECTOR, Resource

Resources: TypeAlias = frozenset[Resource]

_NOTHING: Resources = frozenset()


def balance(targets: Sequence[Resources], existing: Resources) -> list[Resources]:
    """New targets, one for each of `targets`, in which each of `existing` is once and nothing else is.

    Where two targets have a resource, the first keeps it. The order of `targets` decides who has the one more where
    nothing else does.
    """
    if not targets:
        return []
    targets, free = settle(targets, existing)
    connectors = frozenset([resource for resource in existing if resource[1] == CONNECTOR])
    have_connectors = [len(target & connectors) for target in targets]
    have_tasks = [len(target) - count for target, count in zip(targets, have_connectors, strict=True)]
    may_have_connectors = _quotas(have_connectors, len(free & connectors), have_tasks)
    may_have_tasks = _quotas(have_tasks, len(free - connectors), may_have_connectors)
    targets = _spread(targets, have_connectors, may_have_connectors, free, lambda each: each & connectors)
    return _spread(targets, have_tasks, may_have_tasks, free, lambda each: each - connectors)


def settle(targets: Sequence[Resources], existing: Resources) -> tuple[Sequence[Resources], Resources]:
    """Targets without what no longer exists or an earlier one has, and what nobody has."""
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
    """How many each shall have. One more than others goes to those who have too many anyway, then to the least
    burdened.
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
    """Take from those above their quota, and give that and what is free to those below it."""
    spread = list(targets)
    pool = list(of_kind(free))
    givers = [at for at, quota in enumerate(quotas) if have[at] > quota]
    for turn, at in enumerate(givers):
        given = _evenly(sorted(of_kind(targets[at])), have[at] - quotas[at], turn)
        spread[at] = targets[at].difference(given)
        pool += given
    pool.sort()
    for at, gained in _deal(pool, [max(quota - had, 0) for had, quota in zip(have, quotas, strict=True)]).items():
        spread[at] = targets[at].union(gained)
    return spread


def _evenly(ordered: Sequence[Resource], count: int, turn: int) -> list[Resource]:
    """`count` of them at even distances, the last among them; another `turn`, others."""
    size = len(ordered)
    return [ordered[((step + 1) * size // count - 1 - turn) % size] for step in range(count)]


def _deal(pool: Sequence[Resource], wants: Sequence[int]) -> dict[int, list[Resource]]:
    """One to each that wants more, round after round; `wants` add up to the pool."""
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
