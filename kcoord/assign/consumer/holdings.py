"""Holdings: which partitions each member has while targets are computed, and which nobody has.

Partitions that a member gives up are its highest ones, and free ones are given out in runs: a target then names few
topics. Sets and targets that do not change stay the same objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from kcoord.assign.consumer.model import ConsumerMember, ConsumerTarget


class Holdings:
    """The partitions of members, who are numbered in the order in which they are added."""

    def __init__(self, topics: dict[bytes, int]) -> None:
        self.free: dict[bytes, set[int]] = {topic: set(range(count)) for topic, count in topics.items()}
        """What nobody has, by topic, in the order of topic ids."""
        self.held: list[dict[bytes, AbstractSet[int]]] = []
        """What each member has, by topic; never an empty set."""

    def add(self, member: ConsumerMember, subscribed: AbstractSet[bytes]) -> None:
        """One more member. It keeps what exists, what it subscribes to, and what no member before it has."""
        held: dict[bytes, AbstractSet[int]] = {}
        for topic, partitions in member.target.items():
            if topic in subscribed:
                free = self.free[topic]
                kept = partitions if free.issuperset(partitions) else frozenset(free.intersection(partitions))
                if kept:
                    free.difference_update(kept)
                    held[topic] = kept
        self.held.append(held)

    def size(self, at: int) -> int:
        """How many partitions this member has."""
        size = 0
        for partitions in self.held[at].values():
            size += len(partitions)
        return size

    def give_up(self, at: int, topic: bytes, count: int) -> None:
        """So many of the topic become free: the highest that the member has."""
        partitions = sorted(self.held[at][topic])
        stay = len(partitions) - count
        if stay:
            self.held[at][topic] = frozenset(partitions[:stay])
        else:
            del self.held[at][topic]
        self.free[topic].update(partitions[stay:])

    def give_up_any(self, at: int, count: int) -> None:
        """So many become free, of the last topics that the member has."""
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
        """What the member has, as its new target; `before` itself if that is the same."""
        held = self.held[at]
        if len(held) != len(before):
            return held
        for topic, partitions in held.items():
            if before.get(topic) is not partitions:
                return held if held != before else before
        return before
