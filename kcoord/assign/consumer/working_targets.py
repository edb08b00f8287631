"""Working targets: which partitions each member has while targets are computed, and which nobody has.

Partitions that a member gives up are its highest ones, and free ones are given out in runs: a target then names few
topics. Sets and targets that do not change stay the same objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        self._all = {count: set(range(count)) for count in set(topics.values())}
        self._topics = topics
        self._members = members
        self.held: list[Mapping[bytes, AbstractSet[int]]] = [member.target for member in members]
        """What each member has, by topic; never an empty set. Only `_mine` changes it."""
        self.sizes = [0] * len(members)
        """How many partitions each member has."""
        self._copies: dict[int, dict[bytes, AbstractSet[int]]] = {}
        """The mappings that are copies of targets, and may be changed, by member."""
        claims: dict[bytes, list[AbstractSet[int]]] = {topic: [] for topic in topics}
        for at, wanted in enumerate(subscribed):
            size = 0
            for topic, partitions in members[at].target.items():
                if partitions and topic in wanted:
                    claims[topic].append(partitions)
                    size += len(partitions)
                else:
                    del self._mine(at)[topic]
            self.sizes[at] = size
        self.free: dict[bytes, set[int]] = {}
        """What nobody has, by topic, in the order of topic ids."""
        for topic, claimed in claims.items():
            self._set_free(topic, claimed)

    def _set_free(self, topic: bytes, claimed: list[AbstractSet[int]]) -> None:
        """Take what is claimed out of what there is. In a large group half of the time is spent here, in the one look
        at each partition. An empty set takes the place of one that was emptied, which would keep its memory.
        """
        everything = self._all[self._topics[topic]]
        free = self.free[topic] = everything.difference(*claimed) or set()
        if len(free) + sum(map(len, claimed)) != len(everything):
            self._settle(topic)

    def _mine(self, at: int) -> dict[bytes, AbstractSet[int]]:
        """What a member has, to be changed. Its target stays as it is."""
        held = self._copies.get(at)
        if held is None:
            held = self._copies[at] = self.held[at] = dict(self.held[at])
        return held

    def _settle(self, topic: bytes) -> None:
        """The partitions of a topic of which some do not exist, or are in two targets: one member after the other."""
        free = self.free[topic] = set(self._all[self._topics[topic]])
        for at, held in enumerate(self.held):
            if topic not in held:
                continue
            partitions = held[topic]
            kept = partitions if free.issuperset(partitions) else frozenset(free.intersection(partitions))
            free.difference_update(kept)
            self.sizes[at] -= len(partitions) - len(kept)
            if kept:
                self._mine(at)[topic] = kept
            else:
                del self._mine(at)[topic]

    def give_up(self, at: int, topic: bytes, count: int) -> None:
        """Free `count` partitions of the topic: the highest that the member has."""
        held = self._mine(at)
        partitions = held[topic]
        given = sorted(partitions)[-count:]
        if len(given) == len(partitions):
            del held[topic]
        else:
            held[topic] = frozenset(partitions).difference(given)
        self.free[topic].update(given)
        self.sizes[at] -= count

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
        free = self.free[topic]
        if not free:
            return []
        self.free[topic] = set()
        return sorted(free)

    def take(self, at: int, topic: bytes, partitions: Sequence[int]) -> None:
        """The member has these, too, which nobody else has."""
        held = self._mine(at)
        has = held.get(topic)
        held[topic] = frozenset(partitions) if has is None else frozenset(has).union(partitions)
        self.sizes[at] += len(partitions)

    def targets(self) -> dict[str, ConsumerTarget]:
        """What each member has, as its new target: its former one, or sets of it, where nothing has changed."""
        targets = {member.member_id: member.target for member in self._members}
        for at, held in self._copies.items():
            member = self._members[at]
            targets[member.member_id] = _compared(held, member.target)
        return targets


def _compared(held: dict[bytes, AbstractSet[int]], before: ConsumerTarget) -> ConsumerTarget:
    """The same target; `before` itself, or sets of it, where they are equal."""
    if held == before:
        return before
    for topic, partitions in held.items():
        had = before.get(topic)
        if had is not None and had == partitions:
            held[topic] = had
    return held
