"""Working targets: which partitions each member has while targets are computed, and which nobody has.

Partitions that a member gives up are its highest ones, and free ones are given out in runs: a target then names few
topics. Sets and targets that do not change stay the same objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from kcoord.assign.consumer.model import ConsumerTarget, Subscriber


class WorkingTargets:
    """The partitions of members, who are numbered from 0."""

    def __init__(
        self,
        members: Sequence[Subscriber],
        subscribed: Sequence[AbstractSet[bytes]],
        topics: dict[bytes, int],
    ) -> None:
        """Members keep what exists, what they subscribe to, and what no member before them has."""
        self._all = {count: frozenset(range(count)) for count in set(topics.values())}
        self._topics = topics
        self.free: dict[bytes, set[int]] = {topic: set(self._all[count]) for topic, count in topics.items()}
        """What nobody has, by topic, in the order of topic ids."""
        self.held: list[dict[bytes, AbstractSet[int]]] = []
        """What each member has, by topic; never an empty set."""
        self._doubtful: set[bytes] = set()
        for member, wanted in zip(members, subscribed, strict=True):
            self.held.append(self._wanted(member, wanted))
        for topic in self._doubtful:
            self._settle(topic)

    def _wanted(self, member: Subscriber, wanted: AbstractSet[bytes]) -> dict[bytes, AbstractSet[int]]:
        """The member's target of topics that it subscribes to. Notes topics of which some was not free."""
        held = dict(member.target)
        for topic, partitions in member.target.items():
            if topic not in wanted or not partitions:
                del held[topic]
                continue
            free = self.free[topic]
            left = len(free) - len(partitions)
            free.difference_update(partitions)
            if len(free) != left:
                self._doubtful.add(topic)
        return held

    def _settle(self, topic: bytes) -> None:
        """The partitions of a topic of which some do not exist, or are in two targets: one member after the other."""
        free = self.free[topic] = set(self._all[self._topics[topic]])
        for held in self.held:
            if topic not in held:
                continue
            partitions = held[topic]
            kept = partitions if free.issuperset(partitions) else frozenset(free.intersection(partitions))
            free.difference_update(kept)
            if kept:
                held[topic] = kept
            else:
                del held[topic]

    def size(self, at: int) -> int:
        """How many partitions this member has."""
        return sum(map(len, self.held[at].values()))

    def give_up(self, at: int, topic: bytes, count: int) -> None:
        """Free `count` partitions of the topic: the highest that the member has."""
        partitions = sorted(self.held[at][topic])
        stay = len(partitions) - count
        if stay:
            self.held[at][topic] = frozenset(partitions[:stay])
        else:
            del self.held[at][topic]
        self.free[topic].update(partitions[stay:])

    def give_up_any(self, at: int, count: int) -> None:
        """Free `count` partitions of the member, beginning with its last topic."""
        for topic in sorted(self.held[at], reverse=True):
            given = min(count, len(self.held[at][topic]))
            self.give_up(at, topic, given)
            count -= given
            if not count:
                return

    def drained(self, topic: bytes) -> list[int]:
        """All that is free of the topic, in order, to be given out by `take`."""
        partitions = sorted(self.free[topic])
        self.free[topic].clear()
        return partitions

    def take(self, at: int, topic: bytes, partitions: Sequence[int]) -> None:
        """The member has these, too, which nobody else has."""
        has = self.held[at].get(topic)
        self.held[at][topic] = frozenset(partitions) if has is None else frozenset(has).union(partitions)

    def target(self, at: int, before: ConsumerTarget) -> ConsumerTarget:
        """What the member has, as its new target; `before` itself, or sets of it, where nothing has changed."""
        held = self.held[at]
        if held == before:
            return before
        for topic, partitions in held.items():
            had = before.get(topic)
            if had is not None and had == partitions:
                held[topic] = had
        return held
