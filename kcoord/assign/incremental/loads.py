"""Dealing connectors and tasks out to workers, and taking them back for balance, as Connect does.

- Connectors and tasks are handled separately. To deal is to give one by one to all members that have fewest, by member
  id.
- No member keeps more than an even share, or one more for as many members as needed. The members that come first in
  Java's order of the group keep one more, if they have that many. What a worker reports first is taken first. (KIP-415;
  KAFKA-12495 changed the count: the even share is of all that is configured, also of what is still to be dealt out.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

import attrs

from kcoord.assign.incremental.hashing import sort_key
from kcoord.assign.incremental.model import Row
from kcoord.resource import Resource, connectors_among, tasks_among

Pile: TypeAlias = dict[Resource, None]
"""A set that keeps the order in which things came."""


@attrs.define
class Load:
    """What a worker is to have after the round, as far as the round has been computed."""

    row: Row
    """What it had at the beginning."""
    connectors: Pile
    tasks: Pile
    given: list[Resource] = attrs.Factory(list)
    taken: bool = False

    @classmethod
    def of(cls, row: Row) -> Load:
        """A load that consists of these resources."""
        tasks = dict.fromkeys(row)
        connectors = dict.fromkeys(connectors_among(row))
        for each in connectors:
            del tasks[each]
        return cls(row, connectors, tasks)

    def give(self, resources: Iterable[Resource]) -> None:
        """Add these at the end; it has none of them."""
        for resource in resources:
            self._pile(resource)[resource] = None
            self.given.append(resource)

    def take(self, resources: Iterable[Resource]) -> None:
        """Take these out; it has all of them."""
        for resource in resources:
            del self._pile(resource)[resource]
        self.taken = True

    def new(self) -> Row:
        """What it has been given and still has, connectors first."""
        if not self.given:
            return ()
        left = [each for each in self.given if each in self._pile(each)]
        return tuple(sorted(left, key=lambda each: not each.is_connector))

    def all(self) -> Row:
        """All that it has."""
        return (*self.connectors, *self.tasks) if self.given or self.taken else self.row

    def size(self, connectors: bool) -> int:
        """How many connectors it has, or tasks."""
        return len(self.connectors if connectors else self.tasks)

    def __bool__(self) -> bool:
        return bool(self.connectors or self.tasks)

    def _pile(self, resource: Resource) -> Pile:
        return self.connectors if resource.is_connector else self.tasks


Loads: TypeAlias = dict[str, Load]
"""By member id, in Java's order of the group."""


def in_order(resources: Iterable[Resource]) -> list[Resource]:
    """The resources as Java sorts them."""
    return sorted(resources, key=lambda resource: (sort_key(resource.connector), resource.task_id))


def deal(loads: Loads, resources: Sequence[Resource]) -> None:
    """Deal these out in this order: connectors, then tasks. Nobody has any of them."""
    for connectors in (True, False):
        of_kind = connectors_among(resources) if connectors else tasks_among(resources)
        if of_kind:
            _deal_one_kind({member: load.size(connectors) for member, load in loads.items()}, loads, of_kind)


def _deal_one_kind(sizes: Mapping[str, int], loads: Loads, resources: Sequence[Resource]) -> None:
    players = sorted(sizes, key=lambda member: (sizes[member], sort_key(member)))
    fewest, playing, dealt = sizes[players[0]], 0, 0
    while dealt < len(resources):
        while playing < len(players) and sizes[players[playing]] <= fewest:
            playing += 1
        for member, resource in zip(players[:playing], resources[dealt : dealt + playing], strict=False):
            loads[member].give((resource,))
        dealt, fewest = dealt + playing, fewest + 1


def for_balance(loads: Loads, configured: frozenset[Resource]) -> dict[str, list[Resource]]:
    """What has to be taken away, by member; members that lose nothing are left out."""
    if not configured:
        return {}
    connectors = len(connectors_among(configured))
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
