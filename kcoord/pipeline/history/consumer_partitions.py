"""The partitions of a consumer group as resources: what its members hold and are to have, and what they subscribe to.

Records name a topic by its id, the tables by its name. The group's topics record says which is which, possibly later
than the records that need it, so names are looked up at the end of a step. A topic that is deleted and made again has
another id: from then on nobody holds anything of the former topic. A partition whose topic the log does not name (any
more) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from kcoord.protocol.generated.consumer_group_topics_value import SeenTopic
from kcoord.resource import Resource

Partitions = frozenset[tuple[bytes, int]]
"""Ids of topics, and numbers from 0."""
MOST_PARTITIONS = 200_000
"""A topic that is said to have more is not believed: its record is damaged, and would fill the memory."""


@attrs.define(slots=True, eq=False)
class ConsumerPartitions:
    """Topics, subscriptions, and partitions by member."""

    held: dict[str, Partitions] = attrs.Factory(dict)
    """All that each member may be consuming: what it is told to, and what it must let go of."""
    targets: dict[str, Partitions] = attrs.Factory(dict)
    touched: set[str] = attrs.Factory(set)
    """The members whose partitions must be looked up again."""
    _names: dict[bytes, str] = attrs.Factory(dict)
    """The name of each topic, of topics of the same name only the latest."""
    _ids: dict[str, bytes] = attrs.Factory(dict)
    _counts: dict[str, int] | None = None
    """How many partitions each topic has that exists. None: the log has not said yet which exist."""
    _subscriptions: dict[str, tuple[frozenset[str], str]] = attrs.Factory(dict)
    """By member, the topics that it names and its regular expression."""
    _matches: dict[str, frozenset[str]] = attrs.Factory(dict)
    """By regular expression, the topics that match it."""

    def hold(self, member_id: str, partitions: Partitions | None) -> None:
        """The member may be consuming these from now on. None: it is gone."""
        self._set(self.held, member_id, partitions)

    def aim(self, member_id: str, partitions: Partitions | None) -> None:
        """These are the member's target from now on. None: it has none."""
        self._set(self.targets, member_id, partitions)

    def _set(self, by_member: dict[str, Partitions], member_id: str, partitions: Partitions | None) -> None:
        self.touched.add(member_id)
        if partitions is None:
            by_member.pop(member_id, None)
        else:
            by_member[member_id] = partitions

    def subscribe(self, member_id: str, names: Iterable[str] | None, pattern: str | None = None) -> None:
        """The member subscribes to these topics and this regular expression. `names` None: it is gone."""
        if names is None:
            self._subscriptions.pop(member_id, None)
        else:
            self._subscriptions[member_id] = frozenset(names), pattern or ""

    def match(self, pattern: str, names: Iterable[str] | None) -> None:
        """These topics match a regular expression. None: nobody subscribes to it."""
        if names is None:
            self._matches.pop(pattern, None)
        else:
            self._matches[pattern] = frozenset(names)

    def learn(self, topics: Iterable[SeenTopic]) -> None:
        """These topics exist."""
        self._counts = {}
        for each in topics:
            self._counts[each.name] = each.partitions
            former = self._ids.get(each.name)
            if former == each.topic_id:
                continue
            if former is not None:
                self._names.pop(former, None)
            self._ids[each.name], self._names[each.topic_id] = each.topic_id, each.name
            self.touched |= self.held.keys() | self.targets.keys()

    def named(self, partitions: Partitions) -> frozenset[Resource]:
        """These partitions by the names of their topics."""
        names = self._names
        return frozenset(Resource(names[topic], number) for topic, number in partitions if topic in names)

    @property
    def sizes(self) -> dict[bytes, int]:
        """How many partitions each topic has, by id."""
        counts = self._counts or {}
        return {self._ids[name]: count for name, count in counts.items() if count <= MOST_PARTITIONS}

    def subscribed_ids(self, member_id: str) -> frozenset[bytes]:
        """The ids of the topics that the member subscribes to and that exist."""
        names, pattern = self._subscriptions.get(member_id, (frozenset[str](), ""))
        names |= self._matches.get(pattern, frozenset())
        return frozenset(self._ids[name] for name in names if name in (self._counts or ()))

    def configured(self) -> frozenset[Resource] | None:
        """All partitions of the topics that exist and that somebody subscribes to. None: the log does not say it, or
        there is nobody.
        """
        if self._counts is None or not self._subscriptions:
            return None
        wanted = set[str]()
        for names, pattern in set(self._subscriptions.values()):
            wanted |= names | self._matches.get(pattern, frozenset())
        counts = {name: self._counts[name] for name in wanted & self._counts.keys()}
        believed = ((name, count) for name, count in counts.items() if count <= MOST_PARTITIONS)
        return frozenset(Resource(name, at) for name, count in believed for at in range(count))
