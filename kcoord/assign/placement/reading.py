"""What rules say about the connectors and the workers of one group, read once for thousands of tasks.

Connectors about which rules say the same share their `Terms`. Workers about which rules say the same are in one `Cell`;
what a worker runs counts for that too, as far as separations ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from kcoord.assign.model import Member
from kcoord.assign.placement.rules import Domain, Rules, find_meant, fits

UNLIMITED = 1 << 62
"""The capacity of a worker without one."""
FEW_DOMAINS = 16
"""With more domains their workers are not kept apart in cells: there would be too many."""

Patterns = tuple[tuple[str, ...], ...]


@attrs.frozen(slots=True, eq=False)
class Terms:
    """What rules say about a connector, and about others like it."""

    weight: int
    allowed: frozenset[int]
    """The workers that may run it, by number."""
    preferred: frozenset[int]
    """The ones that soft affinities want."""
    over: Domain | None
    """What its tasks are to be spread over."""
    sides: tuple[int, ...]
    """The sides of separations that it is on, as bits: two for each separation."""
    hard_apart: int
    """It must not be beside anything on one of these sides."""
    soft_apart: tuple[int, ...]
    """It rather is not: the sides that each soft separation keeps it from."""
    first: int
    """The number of the first worker that may run it; -1: there is none."""
    is_choosy: bool
    """Soft affinities or separations make places differ."""


@attrs.frozen(slots=True, eq=False)
class Cell:
    """Workers between which rules make no difference."""

    number: int
    capacity: int
    example: int
    """The number of one of them."""
    sides: int
    """The sides of separations that something is on which they run, as bits."""
    domains: dict[Domain, str]
    """The domains of all of them, where there are few of such."""


@attrs.frozen(slots=True, eq=False)
class Reading:
    """The rules of one group, read for these workers and connectors."""

    terms: dict[str, Terms]
    capacities: list[int]
    domains: dict[Domain, list[str]]
    """Each worker's domain, for what tasks are spread over."""
    workers_in: dict[Domain, dict[str, list[int]]]
    kinds: list[tuple[object, ...]]
    """Each worker's capacity, domains, and what affinities say about it: workers of one kind are alike."""


def read(rules: Rules, members: Sequence[Member], connectors: Iterable[str]) -> Reading:
    """Read the rules for these workers and connectors."""
    reader = _Reader(rules, members)
    terms = {name: reader.read(name) for name in connectors}
    domains = {
        over: [rules.domain_of(member, over) for member in members] for over in {each.over for each in rules.spreads}
    }
    limits = [UNLIMITED] * len(members)
    for capacity in reversed(rules.capacities):  # the first that fits counts
        for at in find_meant(members, capacity.workers):
            limits[at] = capacity.weight
    workers_in: dict[Domain, dict[str, list[int]]] = {over: {} for over in domains}
    for over, theirs in domains.items():
        for at, domain in enumerate(theirs):
            workers_in[over].setdefault(domain, []).append(at)
    few = [theirs for over, theirs in sorted(domains.items()) if len(workers_in[over]) <= FEW_DOMAINS]
    sets = reader.sets()
    kinds = [
        (limits[at], *[theirs[at] for theirs in few], *[at in each for each in sets]) for at in range(len(members))
    ]
    return Reading(terms, limits, domains, workers_in, kinds)


class _Reader:
    """Reads one connector after the other."""

    def __init__(self, rules: Rules, members: Sequence[Member]) -> None:
        self._rules = rules
        self._members = members
        self._everybody = frozenset(range(len(members)))
        self._sets: dict[Patterns, frozenset[int]] = {(): self._everybody}
        self._known: dict[tuple[object, ...], Terms] = {}

    def read(self, name: str) -> Terms:
        """What the rules say about this connector."""
        rules, spread = self._rules, self._rules.spread_of(name)
        hard, soft = rules.affinity_of(name, is_hard=True), rules.affinity_of(name, is_hard=False)
        apart = tuple(self._separations(name))
        weight, over = rules.weight_of(name), None if spread is None else spread.over
        key = (weight, over, hard, soft, apart)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._terms(weight, over, hard, soft, apart)
        return known

    def sets(self) -> list[frozenset[int]]:
        """The workers that some affinities mean, where these are not all."""
        return [each for each in self._sets.values() if each is not self._everybody]

    def _terms(
        self,
        weight: int,
        over: Domain | None,
        hard: Patterns,
        soft: Patterns,
        apart: tuple[tuple[int, int, bool], ...],
    ) -> Terms:
        allowed, preferred = self._workers(hard), self._workers(soft)
        sides = hard_apart = 0
        for on, keeps_from, is_hard in apart:
            sides |= on
            hard_apart |= keeps_from * is_hard
        soft_apart = tuple([keeps_from for _, keeps_from, is_hard in apart if not is_hard])
        return Terms(
            weight,
            allowed,
            preferred,
            over,
            tuple([1 << bit for bit in range(sides.bit_length()) if sides >> bit & 1]),
            hard_apart,
            soft_apart,
            min(allowed, default=-1),
            len(preferred) < len(self._members) or bool(soft_apart),
        )

    def _workers(self, patterns: Patterns) -> frozenset[int]:
        """Those that each of these lists of patterns means."""
        found = self._sets.get(patterns)
        if found is None:
            meant = [set().union(*[find_meant(self._members, each) for each in several]) for several in patterns]
            found = self._sets[patterns] = self._everybody.intersection(*meant)
        return found

    def _separations(self, name: str) -> Iterator[tuple[int, int, bool]]:
        """Of each separation that means it: the sides it is on, those it is kept from, whether it is hard."""
        for number, each in enumerate(self._rules.separations):
            one, other = int(fits(name, each.connectors)), int(fits(name, each.others))
            if one or other:
                yield (one | other << 1) << 2 * number, (other | one << 1) << 2 * number, each.is_hard
