"""The rules of one group, read once for thousands of tasks.

Connectors about which the rules say the same share their `Terms`. Workers about which the rules say the same are in one
`Cell`; what a worker runs counts for that too, if separations depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from kcoord.assign.model import Member
from kcoord.assign.placement.rules import Domain, Rules, find_meant, fits

UNLIMITED = 1 << 62
"""The capacity of a worker without one."""
FEW_DOMAINS = 16
"""With more domains than this, their workers are not separated into cells: there would be too many."""

Patterns = tuple[tuple[str, ...], ...]


@attrs.frozen(slots=True, eq=False)
class Terms:
    """What the rules say about a connector, and about others like it."""

    weight: int
    allowed: frozenset[int]
    """The workers that may run it, by number."""
    preferred: frozenset[int]
    """The workers that soft affinities want."""
    over: Domain | None
    """The domains over which its tasks are to be spread."""
    sides: tuple[int, ...]
    """The sides of separations that it is on, as bits: two for each separation."""
    hard_apart: int
    """The sides that it must not be beside."""
    soft_apart: tuple[int, ...]
    """The sides that it should not be beside, for each soft separation."""
    first: int
    """The number of the first worker that may run it; -1: no worker may."""
    is_choosy: bool
    """Its places differ because of soft affinities or separations."""


@attrs.frozen(slots=True, eq=False)
class Cell:
    """Workers that the rules treat alike."""

    number: int
    capacity: int
    example: int
    """The number of one of them."""
    sides: int
    """The sides of separations on which these workers run something, as bits."""
    domains: dict[Domain, str]
    """The domains of all of them, for each kind of domain of which there are few."""


@attrs.frozen(slots=True, eq=False)
class Reading:
    """The rules of one group, read for these workers and connectors."""

    terms: dict[str, Terms]
    capacities: list[int]
    domains: dict[Domain, list[str]]
    """Each worker's domain, for each kind of domain that tasks are spread over."""
    workers_in: dict[Domain, dict[str, list[int]]]
    kinds: list[tuple[object, ...]]
    """Each worker's capacity, domains, and what affinities say about it: workers with the same values are alike."""


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
    """Reads the rules for one connector after the other."""

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
        """The sets of workers that affinities name, except the set of all workers."""
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
        """The workers that every one of these lists of patterns fits."""
        found = self._sets.get(patterns)
        if found is None:
            meant = [set().union(*[find_meant(self._members, each) for each in several]) for several in patterns]
            found = self._sets[patterns] = self._everybody.intersection(*meant)
        return found

    def _separations(self, name: str) -> Iterator[tuple[int, int, bool]]:
        """For each separation that concerns the connector: the sides it is on, the sides it is kept from, and whether
        it is hard.
        """
        for number, each in enumerate(self._rules.separations):
            one, other = int(fits(name, each.connectors)), int(fits(name, each.others))
            if one or other:
                yield (one | other << 1) << 2 * number, (other | one << 1) << 2 * number, each.is_hard
