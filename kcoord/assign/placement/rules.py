"""Placement rules: what a user can ask for about where connectors and tasks run.

| rule | what it asks for | if it cannot be met |
| --- | --- | --- |
| cordon | nothing new goes to these workers | new work that has no other place is not placed |
| drain | what runs there moves away too, a few at a time | what has no other place stays |
| weight | the weight of these connectors, and of each of their tasks | |
| affinity | these connectors run only on these workers, or preferably there | only: new work is not placed; preferably: it runs elsewhere |
| separation | these connectors and those are not on one worker, or preferably not | as with affinity |
| spread | the tasks of each of these connectors are on as many hosts, or zones, as there are | it is as even as possible |
| capacity | these workers run no more than this weight | new work is not placed |

Patterns (`fnmatch`) name connectors and workers: a connector by its name; a worker by its member id, instance id or
url. Rules never stop what runs. But a drained worker's work moves to a place that is allowed, and work that breaks an
`only` rule or a capacity moves if there is a place where it does not. Only with `stop` is such work stopped if there is
no place for it.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache
from operator import methodcaller
from urllib.parse import urlsplit

import attrs

from kcoord.assign.model import Member

LIGHT = 1
"""The weight of a connector that no rule names, and of each of its tasks."""
MAX_MOVES = 5


class Domain(StrEnum):
    """What tasks are spread over."""

    HOST = "host"
    ZONE = "zone"


@attrs.frozen
class Cordon:
    """Nothing new goes to a worker; with `drains`, what runs there also moves away."""

    worker: str
    drains: bool = False


@attrs.frozen
class Weight:
    """The weight of each of these connectors, and of each of their tasks: a whole number from 1."""

    connectors: str
    weight: int


@attrs.frozen
class Affinity:
    """These connectors run on these workers: only there if `is_hard`, else preferably there."""

    connectors: str
    workers: tuple[str, ...]
    is_hard: bool = True


@attrs.frozen
class Separation:
    """No worker runs parts of one of these connectors together with parts of one of those."""

    connectors: str
    others: str
    is_hard: bool = True


@attrs.frozen
class Spread:
    """The tasks of each of these connectors are spread over as many domains as there are."""

    connectors: str
    over: Domain = Domain.HOST


@attrs.frozen
class Capacity:
    """Each of these workers runs no more than this weight."""

    workers: str
    weight: int


@attrs.frozen
class Zone:
    """Workers with such a url are in this zone."""

    urls: str
    name: str


@attrs.frozen
class Rules:
    """All rules of a user for one group. If several rules of one kind fit, the first counts; but of separations and
    affinities, all count.
    """

    cordons: tuple[Cordon, ...] = ()
    weights: tuple[Weight, ...] = ()
    affinities: tuple[Affinity, ...] = ()
    separations: tuple[Separation, ...] = ()
    spreads: tuple[Spread, ...] = ()
    capacities: tuple[Capacity, ...] = ()
    zones: tuple[Zone, ...] = ()
    max_moves: int = MAX_MOVES
    """At most this many connectors and tasks move at a time, not counting those that fill a worker that had nothing."""
    stops: bool = False
    """What breaks a hard rule, and has no other place, is stopped."""

    def __bool__(self) -> bool:
        """Whether there are any rules."""
        return bool(self.cordons) or self.are_shaping

    @property
    def are_shaping(self) -> bool:
        """Whether there are rules other than cordons."""
        return bool(self.weights or self.affinities or self.separations or self.spreads or self.capacities)

    def cordon_of(self, worker: Member) -> Cordon | None:
        """The worker's cordon, if it has one; a cordon that drains comes before one that does not."""
        found = [each for each in self.cordons if is_meant(worker, each.worker)]
        return next((each for each in found if each.drains), found[0] if found else None)

    def find_cordoned(self, workers: Sequence[Member]) -> list[Member]:
        """The workers that have a cordon."""
        found = set[int]().union(*[find_meant(workers, each.worker) for each in self.cordons])
        return [workers[at] for at in sorted(found)]

    def retires(self, worker: Member) -> bool:
        """Whether the worker is drained, and not only until it is restarted: its next process would have another id."""
        cordon = self.cordon_of(worker)
        return cordon is not None and cordon.drains and cordon.worker != worker.member_id

    def weight_of(self, connector: str) -> int:
        """The weight of the connector, and of each of its tasks."""
        return next((each.weight for each in self.weights if fits(connector, each.connectors)), LIGHT)

    def capacity_of(self, worker: Member) -> int | None:
        """How much the worker may run; None: any weight."""
        return next((each.weight for each in self.capacities if is_meant(worker, each.workers)), None)

    def allows(self, connector: str, worker: Member) -> bool:
        """Whether hard affinities allow the connector there."""
        patterns = self.affinity_of(connector, is_hard=True)
        return all(any(is_meant(worker, pattern) for pattern in several) for several in patterns)

    def affinity_of(self, connector: str, *, is_hard: bool) -> tuple[tuple[str, ...], ...]:
        """Lists of patterns of workers: in each list one pattern must fit, or should fit if not `is_hard`."""
        fitting = (each for each in self.affinities if fits(connector, each.connectors))
        return tuple([each.workers for each in fitting if each.is_hard == is_hard])

    def spread_of(self, connector: str) -> Spread | None:
        """What the connector's tasks are spread over."""
        return next((each for each in self.spreads if fits(connector, each.connectors)), None)

    def domain_of(self, worker: Member, over: Domain) -> str:
        """The worker's host, or its zone. A worker without a url, or with one in no zone, has its own domain."""
        if worker.url is None:
            return worker.member_id
        if over is Domain.HOST:
            return _host(worker.url)
        return next((each.name for each in self.zones if fits(worker.url, each.urls)), worker.url)


NO_RULES = Rules()
_SPECIAL = re.compile(r"[*?\[]")


def is_meant(worker: Member, pattern: str) -> bool:
    """Whether a pattern of workers fits this one."""
    return bool(find_meant([worker], pattern))


def find_meant(workers: Sequence[Member], pattern: str) -> list[int]:
    """The numbers of the workers that the pattern fits."""
    fitting = _matcher(pattern)
    return [
        at for at, each in enumerate(workers)
        if fitting(each.member_id)
        or (each.url is not None and fitting(each.url))
        or (each.instance_id is not None and fitting(each.instance_id))
    ]  # fmt: skip


def fits(name: str, pattern: str) -> bool:
    """Whether the pattern fits the name, as with `fnmatchcase`."""
    return bool(_matcher(pattern)(name))


@lru_cache(maxsize=16_384)
def _host(url: str) -> str:
    return urlsplit(url).hostname or url


@lru_cache(maxsize=4_096)
def _matcher(pattern: str) -> Callable[[str], object]:
    """A function that tells whether a name fits this pattern. It is called for a thousand workers, so the usual
    patterns need no regular expression.
    """
    start, rest = pattern[:-1], pattern[-1:]
    if not _SPECIAL.search(start):
        if rest == "*":
            return methodcaller("startswith", start)
        if not _SPECIAL.search(rest):
            return pattern.__eq__
    return re.compile(translate(pattern)).match
