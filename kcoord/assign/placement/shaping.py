"""Shaping: weights, affinity, separation, spread and capacity, with as few moves as they need.

It starts from the targets that the workers have, whatever the assignor's own balance would be, and takes four steps,
once for connectors and once for tasks (Connect balances each for itself):

1. What runs where a hard rule forbids it is taken away if another worker may run it, or if the rules say `stop`.
2. What nobody runs is given out, the heaviest first: to a worker that is allowed and, if there are any, preferred; of
   those to the one in whose domain the fewest tasks of the connector are (if they are to be spread), then to the one
   with the least weight.
3. What runs on a worker that soft rules do not prefer, or beside too many tasks of its connector in one domain, moves.
   This and step 1 take no more moves than drains have left of `max_moves`.
4. From the worker with the most weight something moves to one with less, as long as that makes the difference smaller,
   and no rule is kept less well by it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import attrs

from kcoord.assign.model import Member
from kcoord.assign.placement.rules import Rules, is_meant
from kcoord.assign.resource import CONNECTOR, Resource

Resources = frozenset[Resource]
MAX_ROUNDS = 8
"""One step may make room for another: so many times at most they are taken, and mostly twice."""


@attrs.define
class Shape:
    """Targets, and what the rules have left undone."""

    targets: dict[str, Resources]
    unplaced: dict[Resource, str] = attrs.Factory(dict)
    unmet: dict[Resource, str] = attrs.Factory(dict)
    has_more: bool = False


def shape(members: Sequence[Member], wanted: Mapping[str, Resources], rules: Rules, moves: int) -> Shape:
    """Spread all that is in `wanted` over these members by the rules, with so many moves at most."""
    everything: Resources = frozenset().union(*wanted.values())
    board = _Board(sorted(members, key=lambda each: each.member_id), everything, rules, moves)
    kinds = board.by_kind(everything)
    for _ in range(MAX_ROUNDS):
        before = board.changes
        for resources in kinds:
            board.place_kind(resources)
        if board.changes == before:
            break
    return board.result()


def find_forbidden(member: Member, runs: Resources, stays: Resources, rules: Rules) -> dict[Resource, str]:
    """What hard rules forbid on this worker, the heaviest first, and why: without that, the rest may run there. What
    stays there counts on, forbidden or not.
    """
    board = _Board([attrs.evolve(member, target=runs)], runs, rules, 0)
    return {
        resource: why
        for resources in board.by_kind(runs)
        for resource in resources
        if (why := board.take_forbidden(resource, stays)) is not None
    }


@attrs.frozen(slots=True)
class _Connector:
    """What the rules say about one connector: computed once, since thousands of tasks ask."""

    weight: int
    allowed: frozenset[int]
    """The workers that may run it, by number."""
    preferred: frozenset[int]
    """The ones that soft affinities want."""
    domains: tuple[str, ...] | None
    """Each worker's domain if its tasks are to be spread, else None."""
    domain_count: int
    apart: tuple[tuple[int, bool, bool, bool], ...]
    """Of separations: the number; whether it is on the one side, and on the other; whether the rule is hard."""
    may_be_forbidden: bool
    """Somewhere, by more than a capacity."""
    may_improve: bool
    """Places differ by soft rules."""


class _Ranking:
    """Workers by what they carry, the least first."""

    def __init__(self, count: int) -> None:
        self.loads = [0] * count
        self._order = [(0, at) for at in range(count)]

    def fill(self, loads: list[int]) -> None:
        """All at once."""
        self.loads = loads
        self._order = sorted(zip(loads, range(len(loads)), strict=True))

    def change(self, at: int, by: int) -> None:
        """This worker carries so much more."""
        del self._order[bisect_left(self._order, (self.loads[at], at))]
        self.loads[at] += by
        insort(self._order, (self.loads[at], at))

    def __iter__(self) -> Iterator[int]:
        """A worker's number, the least loaded first. What changes meanwhile is not seen."""
        return iter([at for _, at in self._order])

    @property
    def least(self) -> int:
        """What the least loaded one carries."""
        return self._order[0][0] if self._order else 0

    def lighter_than(self, load: int) -> Iterator[int]:
        """Those that carry less, the least loaded first."""
        for carries, at in self._order[: bisect_left(self._order, (load, -1))]:
            assert carries < load
            yield at

    def heaviest(self) -> list[int]:
        """All, the most loaded first."""
        return [at for _, at in reversed(self._order)]


class _Board:
    """Who runs what while it is being worked out."""

    def __init__(self, members: Sequence[Member], everything: Resources, rules: Rules, moves: int) -> None:
        self.changes = 0
        self._members = members
        self._rules = rules
        self._moves = moves
        self._capacities = [rules.capacity_of(member) for member in members]
        self._runs: list[set[Resource]] = [set() for _ in members]
        self._ranking = _Ranking(len(members))
        self._sides: list[dict[tuple[int, bool], int]] = [defaultdict(int) for _ in members]
        self._in_domain: dict[str, Counter[str]] = defaultdict(Counter)
        spread_over = {each.over for each in rules.spreads}
        self._domains = {over: tuple([rules.domain_of(member, over) for member in members]) for over in spread_over}
        self._sets: dict[tuple[tuple[str, ...], ...], frozenset[int]] = {}
        self.facts = {name: self._read(name) for name in {resource[0] for resource in everything}}
        self._found = Shape({})
        self._owners: dict[Resource, int] = {}
        loads = [0] * len(members)
        for at, member in enumerate(members):
            for resource in member.target & everything:
                if resource not in self._owners:
                    self._owners[resource] = at
                    self._runs[at].add(resource)
                    about = self.facts[resource[0]]
                    loads[at] += about.weight
                    if about.apart or about.domains is not None:
                        self._count(resource, about, at, 1)
        self._ranking.fill(loads)

    def by_kind(self, resources: Resources) -> list[list[Resource]]:
        """Connectors, and tasks; the heaviest are the first."""
        heaviest_first = sorted(sorted(resources), key=lambda each: -self.facts[each[0]].weight)
        return [[each for each in heaviest_first if (each[1] == CONNECTOR) == kind] for kind in (True, False)]

    def take_forbidden(self, resource: Resource, stays: Resources) -> str | None:
        """Take away what a hard rule forbids where it is, unless it stays there; and say why it does."""
        at = self._owners[resource]
        self._remove(resource, at)
        why = self._forbids(resource, at)
        if why is None or resource in stays:
            self._add(resource, at)
        return why

    # The four steps

    def place_kind(self, resources: Sequence[Resource]) -> None:
        """Place connectors, or tasks; the heaviest are the first."""
        facts, owners = self.facts, self._owners
        for resource in resources:
            at = owners.get(resource)
            if at is not None and (facts[resource[0]].may_be_forbidden or self._capacities[at] is not None):
                self._leave_forbidden(resource, at)
        for resource in resources:
            if resource not in owners:
                self._give(resource)
        for resource in resources:
            if facts[resource[0]].may_improve and resource in owners:
                self._improve(resource, owners[resource])
        self._balance(resources)

    def result(self) -> Shape:
        """What has been worked out."""
        self._found.targets = {
            member.member_id: member.target if member.target == runs else frozenset(runs)
            for member, runs in zip(self._members, self._runs, strict=True)
        }
        return self._found

    def _leave_forbidden(self, resource: Resource, at: int) -> None:
        self._found.unmet.pop(resource, None)
        about, capacity = self.facts[resource[0]], self._capacities[at]
        has_room = capacity is None or self._ranking.loads[at] <= capacity
        if has_room and at in about.allowed and not about.apart:
            return
        self._remove(resource, at)
        why = self._forbids(resource, at)
        place = None if why is None else self._best(resource)
        if why is not None and place is None:
            if self._rules.stops:
                self.changes += 1
                return  # `_give` says why it runs nowhere
            self._found.unmet[resource] = f"{why}, and there is no other place"
        self._move(resource, at, place)

    def _give(self, resource: Resource) -> None:
        place = self._best(resource)
        self._found.unplaced.pop(resource, None)
        if place is None:
            self._found.unplaced[resource] = self._why_nowhere(resource)
        else:
            self.changes += 1
            self._add(resource, place)

    def _improve(self, resource: Resource, at: int) -> None:
        soft, others = self._cost(resource, at)
        if not soft and (others <= 1 or others - 1 <= self._lowest_cost(resource)[1]):
            return
        self._remove(resource, at)
        place = self._best(resource)
        is_better = place is not None and self._cost(resource, place) < self._cost(resource, at)
        self._move(resource, at, place if is_better else None)

    def _move(self, resource: Resource, at: int, place: int | None) -> None:
        """Put what was taken from worker `at` to this place, as long as moves last; None: back."""
        if place is None or place == at:
            self._add(resource, at)
        elif self._moves:
            self._moves -= 1
            self.changes += 1
            self._add(resource, place)
        else:
            self._add(resource, at)
            self._found.has_more = True

    def _balance(self, resources: Sequence[Resource]) -> None:
        facts, owners = self.facts, self._owners
        theirs: list[list[Resource]] = [[] for _ in self._members]
        loads = [0] * len(self._members)
        for resource in resources:
            at = owners.get(resource)
            if at is not None:
                loads[at] += facts[resource[0]].weight
                theirs[at].append(resource)
        ranking = _Ranking(len(self._members))
        ranking.fill(loads)
        while any(self._give_away(giver, theirs, ranking) for giver in ranking.heaviest()):
            self.changes += 1

    def _give_away(self, giver: int, theirs: list[list[Resource]], ranking: _Ranking) -> bool:
        """Move one thing from this worker to another if that makes their loads more equal."""
        load, tried = ranking.loads[giver], set[str]()
        if load - ranking.least < 2:
            return False
        for resource in theirs[giver]:
            about = self.facts[resource[0]]
            if resource[0] in tried:
                continue
            tried.add(resource[0])
            for taker in ranking.lighter_than(load - about.weight):
                if taker in about.allowed and self._goes_as_well(resource, giver, taker):
                    ranking.change(giver, -about.weight)
                    ranking.change(taker, about.weight)
                    theirs[giver].remove(resource)
                    theirs[taker].append(resource)
                    return True
        return False

    def _goes_as_well(self, resource: Resource, giver: int, taker: int) -> bool:
        """Move it if no rule is kept less well there."""
        self._remove(resource, giver)
        fits = self._forbids(resource, taker) is None and self._cost(resource, taker) <= self._cost(resource, giver)
        self._add(resource, taker if fits else giver)
        return fits

    # What rules say of a place

    def _best(self, resource: Resource) -> int | None:
        """The place that soft rules want most; of those the one with the least weight. None: there is none."""
        about, lowest = self.facts[resource[0]], self._lowest_cost(resource)
        best, best_cost = None, (0, 0)
        for at in self._ranking:
            if at not in about.allowed or self._forbids(resource, at) is not None:
                continue
            cost = self._cost(resource, at)
            if best is None or cost < best_cost:
                best, best_cost = at, cost
            if cost <= lowest:
                return at
        return best

    def _lowest_cost(self, resource: Resource) -> tuple[int, int]:
        """No place costs less."""
        about = self.facts[resource[0]]
        if about.domains is None or resource[1] == CONNECTOR:
            return (0, 0)
        counts = self._in_domain[resource[0]]
        taken = [count for count in counts.values() if count]
        return (0, min(taken) if len(taken) == about.domain_count else 0)

    def _forbids(self, resource: Resource, at: int) -> str | None:
        """Why a hard rule forbids it there; None: none does. It is not counted there itself."""
        about = self.facts[resource[0]]
        if at not in about.allowed:
            return f"it may not run on {self._members[at].member_id}"
        capacity = self._capacities[at]
        if capacity is not None and self._ranking.loads[at] + about.weight > capacity:
            return f"{self._members[at].member_id} has a capacity of {capacity}"
        if any(is_hard and self._meets(at, number, one, other) for number, one, other, is_hard in about.apart):
            return f"{self._members[at].member_id} runs what it is to be separate from"
        return None

    def _meets(self, at: int, number: int, one: bool, other: bool) -> bool:
        sides = self._sides[at]
        return (one and sides[number, False] > 0) or (other and sides[number, True] > 0)

    def _cost(self, resource: Resource, at: int) -> tuple[int, int]:
        """How little soft rules want it there; how many tasks of its connector are in that domain."""
        about = self.facts[resource[0]]
        soft = int(at not in about.preferred)
        for number, one, other, is_hard in about.apart:
            soft += not is_hard and self._meets(at, number, one, other)
        if about.domains is None or resource[1] == CONNECTOR:
            return soft, 0
        return soft, self._in_domain[resource[0]][about.domains[at]]

    def _why_nowhere(self, resource: Resource) -> str:
        allowed = self.facts[resource[0]].allowed
        if not allowed:
            return "no worker is allowed to run it"
        return f"of {len(allowed)} workers that may run it none can: {self._forbids(resource, min(allowed))}"

    def _read(self, name: str) -> _Connector:
        rules, spread = self._rules, self._rules.spread_of(name)
        allowed = self._workers(rules.affinity_of(name, is_hard=True))
        preferred = self._workers(rules.affinity_of(name, is_hard=False))
        apart = tuple(self._separations(name))
        return _Connector(
            rules.weight_of(name),
            allowed,
            preferred,
            None if spread is None else self._domains[spread.over],
            0 if spread is None else len(set(self._domains[spread.over])),
            apart,
            len(allowed) < len(self._members) or any(is_hard for *_, is_hard in apart),
            len(preferred) < len(self._members) or spread is not None or not all(is_hard for *_, is_hard in apart),
        )

    def _workers(self, patterns: tuple[tuple[str, ...], ...]) -> frozenset[int]:
        """Those that each of these lists of patterns means."""
        found = self._sets.get(patterns)
        if found is None:
            numbered = list(enumerate(self._members))
            for several in patterns:
                numbered = [each for each in numbered if any(is_meant(each[1], pattern) for pattern in several)]
            found = self._sets[patterns] = frozenset([at for at, _ in numbered])
        return found

    def _separations(self, name: str) -> Iterator[tuple[int, bool, bool, bool]]:
        for number, each in enumerate(self._rules.separations):
            one, other = fnmatchcase(name, each.connectors), fnmatchcase(name, each.others)
            if one or other:
                yield number, one, other, each.is_hard

    # Who runs what

    def _add(self, resource: Resource, at: int) -> None:
        self._owners[resource] = at
        self._runs[at].add(resource)
        about = self.facts[resource[0]]
        self._ranking.change(at, about.weight)
        self._count(resource, about, at, 1)

    def _remove(self, resource: Resource, at: int) -> None:
        del self._owners[resource]
        self._runs[at].discard(resource)
        about = self.facts[resource[0]]
        self._ranking.change(at, -about.weight)
        self._count(resource, about, at, -1)

    def _count(self, resource: Resource, about: _Connector, at: int, by: int) -> None:
        for number, one, other, _ in about.apart:
            self._sides[at][number, True] += by * one
            self._sides[at][number, False] += by * other
        if about.domains is not None and resource[1] != CONNECTOR:
            self._in_domain[resource[0]][about.domains[at]] += by
