"""How are connectors and tasks dealt out to workers, and taken back for balance?

- Connectors and tasks each for themselves. To deal is to give one by one to all who have fewest, by member id.
- Nobody keeps more than an even share, or one more for as many workers as it takes. Who comes first in Java's order of
  the group keeps the one more, if it has that many. What a worker reports first goes first (KIP-415; KAFKA-12495 took
  the sharing of what is still to come into the count: the even share is of all that is configured).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

import attrs

from kcoord.assign.incremental.hashing import sort_key
from kcoord.assign.incremental.model import Row
from kcoord.assign.resource import CONNECTOR, Resource

Pile: TypeAlias = dict[Resource, None]
"""A set that keeps the order in which things came."""


@attrs.define
class Load:
    """What a worker is to have after the round, as far as the round has come."""

    connectors: Pile = attrs.Factory(dict)
    tasks: Pile = attrs.Factory(dict)

    @classmethod
    def of(cls, held: Iterable[Resource]) -> Load:
        """A load of these."""
        load = cls()
        load.give(held)
        return load

    def give(self, resources: Iterable[Resource]) -> None:
        """Add these at the end."""
        for resource in resources:
            (self.connectors if resource[1] == CONNECTOR else self.tasks)[resource] = None

    def take(self, resources: Iterable[Resource]) -> None:
        """Take these out, where they are in."""
        for resource in resources:
            (self.connectors if resource[1] == CONNECTOR else self.tasks).pop(resource, None)

    def all(self) -> Row:
        """Connectors, then tasks."""
        return (*self.connectors, *self.tasks)

    def __bool__(self) -> bool:
        return bool(self.connectors or self.tasks)


Loads: TypeAlias = dict[str, Load]
"""By member id, in Java's order of the group."""


def in_order(resources: Iterable[Resource]) -> list[Resource]:
    """As Java sorts them."""
    return sorted(resources, key=lambda resource: (sort_key(resource[0]), resource[1]))


def deal(loads: Loads, resources: Sequence[Resource]) -> None:
    """Deal these out, in this order, none of which anybody has: connectors, then tasks."""
    piles = {member: load.connectors for member, load in loads.items()}
    _deal_one_kind(piles, [each for each in resources if each[1] == CONNECTOR])
    piles = {member: load.tasks for member, load in loads.items()}
    _deal_one_kind(piles, [each for each in resources if each[1] != CONNECTOR])


def _deal_one_kind(piles: Mapping[str, Pile], resources: Sequence[Resource]) -> None:
    if not resources:
        return
    players = [pile for _, pile in sorted(piles.items(), key=lambda each: (len(each[1]), sort_key(each[0])))]
    upcoming = iter(resources)
    left, playing = len(resources), 0
    while left:
        fewest = len(players[0])
        while playing < len(players) and len(players[playing]) <= fewest:
            playing += 1
        for pile, resource in zip(players[:playing], islice(upcoming, playing), strict=False):
            pile[resource] = None
        left -= min(left, playing)


def for_balance(loads: Loads, configured: frozenset[Resource]) -> dict[str, list[Resource]]:
    """What has to be taken away, by member; members of which nothing is taken are left out."""
    if not configured or not any(loads.values()):
        return {}
    connectors = sum(1 for resource in configured if resource[1] == CONNECTOR)
    taken: dict[str, list[Resource]] = {}
    _take_one_kind({member: load.connectors for member, load in loads.items()}, connectors, taken)
    _take_one_kind({member: load.tasks for member, load in loads.items()}, len(configured) - connectors, taken)
    return taken


def _take_one_kind(piles: Mapping[str, Pile], configured: int, taken: dict[str, list[Resource]]) -> None:
    even, one_more = divmod(configured, len(piles))
    for member, pile in piles.items():
        if len(pile) <= even:
            continue
        keeps = even
        if one_more:
            one_more -= 1
            keeps += 1
        if len(pile) > keeps:
            taken.setdefault(member, []).extend(islice(pile, len(pile) - keeps))
