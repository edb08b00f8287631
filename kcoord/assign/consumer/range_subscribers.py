"""Who subscribes to what when topics are cut into ranges, and how much of the present targets an order would keep."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from kcoord.assign.consumer.model import Subscriber
from kcoord.assign.incremental.hashing import sort_key


def kafkas_order(member: Subscriber) -> tuple[bool, bytes]:
    """Static members first, by instance id, then the others by member id, as Java sorts strings."""
    if member.instance_id is not None:
        return False, sort_key(member.instance_id)
    return True, sort_key(member.member_id)


def _topics_of(members: Sequence[Subscriber], index: dict[bytes, int]) -> list[list[int]]:
    """The topics of each member that exist, in order."""
    known: dict[frozenset[bytes], list[int]] = {}
    topics_of: list[list[int]] = []
    for member in members:
        subscribed = frozenset(member.subscribed_topics)
        topics = known.get(subscribed)
        if topics is None:
            topics = known[subscribed] = sorted([index[topic] for topic in subscribed if topic in index])
        topics_of.append(topics)
    return topics_of


class RangeSubscribers:
    """Topics and members are numbered from 0: topics by id, members in Kafka's order."""

    def __init__(self, members: Sequence[Subscriber], topics: Mapping[bytes, int]) -> None:
        self.members = members
        existing = sorted(topics.keys() & frozenset().union(*[each.subscribed_topics for each in members]))
        self.topic_ids = existing
        self.counts = [topics[topic] for topic in existing]
        """The partitions of each topic."""
        self.topics_of = _topics_of(members, {topic: at for at, topic in enumerate(existing)})
        """The topics of each member."""
        self.sizes = [0] * len(existing)
        """The subscribers of each topic."""
        for each in self.topics_of:
            for topic in each:
                self.sizes[topic] += 1
        self.shares = [divmod(count, size) for count, size in zip(self.counts, self.sizes, strict=True)]
        """How many partitions of each topic a subscriber gets, and how many subscribers get one more."""
        self.present = [self._present(at) for at in range(len(members))]
        """The partitions that each member has now, by topic, in order: those that exist and that it subscribes to."""
        self.assigned = sum([len(partitions) for each in self.present for partitions in each.values()])
        """How many partitions that is."""

    def _present(self, at: int) -> dict[int, list[int]]:
        target = self.members[at].target
        present: dict[int, list[int]] = {}
        for topic in self.topics_of[at] if target else ():
            partitions = sorted(target.get(self.topic_ids[topic], ()))
            if partitions and partitions[-1] >= self.counts[topic]:
                del partitions[bisect_left(partitions, self.counts[topic]) :]
            if partitions:
                present[topic] = partitions
        return present

    def cut(self, topic: int, place: int) -> tuple[int, int]:
        """The range that the subscriber at this place gets: its first partition, and the one behind its last."""
        size, longer = self.shares[topic]
        first = place * size + min(place, longer)
        return first, first + size + (place < longer)

    def kept_at(self, at: int, topic: int, place: int) -> int:
        """How many partitions of the topic the member would keep at this place."""
        partitions = self.present[at].get(topic)
        if partitions is None:
            return 0
        first, end = self.cut(topic, place)
        return bisect_left(partitions, end) - bisect_left(partitions, first)

    def kept(self, order: Sequence[int]) -> int:
        """How many partitions would stay where they are."""
        places = [0] * len(self.counts)
        kept = 0
        for at in order:
            present = self.present[at]
            for topic in self.topics_of[at]:
                if topic in present:
                    kept += self.kept_at(at, topic, places[topic])
                places[topic] += 1
        return kept
