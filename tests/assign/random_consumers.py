"""What may happen to consumer groups? Random ones, each of a seed, and what became of their partitions.

Consumers join, leave and change their subscription; topics appear, grow, shrink, are deleted, and are made anew under
another id. Topics are numbers here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

import attrs

from kcoord.assign.consumer import ConsumerTargets, SubscribedGroup, Subscriber

LETTERS = ("a", "B", "7", "-", "ü", "\N{GRINNING FACE}", "\uff5e")
"""The last but one comes after the last only in Unicode."""


def topic_id(topic: int) -> bytes:
    """The id of a topic, as the Java side makes it."""
    return (1).to_bytes(8, "big") + topic.to_bytes(8, "big")


def topic_of(topic_id: bytes) -> int:
    """The topic of an id."""
    return int.from_bytes(topic_id[8:], "big")


@attrs.define
class RandomConsumers:
    """A consumer group under way."""

    random: Random
    mixed: bool
    topics: dict[int, int] = attrs.Factory(dict)
    members: dict[str, Subscriber] = attrs.Factory(dict)
    made: int = 0
    """How many members and topics there have been."""

    @classmethod
    def of(cls, seed: int, mixed: bool) -> RandomConsumers:
        random = Random(seed)
        group = cls(random, mixed)
        for _ in range(random.choice((1, 1, 2, 3, 5, 8))):
            group.appear()
        for _ in range(random.choice((1, 2, 3, 5, 8, 13))):
            group.join()
        return group

    def step(self) -> SubscribedGroup:
        """The group after some events, without targets."""
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            event = self.random.choices(list(EVENTS), list(EVENTS.values()))[0]
            event(self)
        return SubscribedGroup(
            tuple(self.members.values()), {topic_id(topic): count for topic, count in self.topics.items()}
        )

    def join(self) -> None:
        self.made += 1
        name = self.random.choice(LETTERS) + self.random.choice(LETTERS) + str(self.made)
        instance = f"{self.random.choice(LETTERS)}{self.made}" if self.random.random() < 0.3 else None
        self.members[name] = Subscriber(name, instance, subscribed_topics=self.subscription())

    def leave(self) -> None:
        if len(self.members) > 1:
            del self.members[self.random.choice(list(self.members))]

    def subscribe(self) -> None:
        changed = self.random.choice(list(self.members)) if self.mixed else None
        subscription = self.subscription(anew=True)
        for name, member in self.members.items():
            if changed in (None, name):
                self.members[name] = attrs.evolve(member, subscribed_topics=subscription)

    def subscription(self, anew: bool = False) -> frozenset[bytes]:
        """Some topics in a mixed group, else those of the others; never none that ever was."""
        if not self.mixed and self.members and not anew:
            return frozenset(next(iter(self.members.values())).subscribed_topics)
        whole = not self.mixed and self.random.random() < 0.5
        number = len(self.topics) if whole else self.random.randrange(len(self.topics) + 1)
        return frozenset(topic_id(each) for each in self.random.sample(sorted(self.topics), number))

    def appear(self) -> None:
        self.made += 1
        self.topics[self.made] = self.random.choice((1, 2, 3, 6, 6, 12, 13, 40))
        for name, member in self.members.items():
            if not self.mixed or self.random.random() < 0.5:
                subscribed = frozenset(member.subscribed_topics | {topic_id(self.made)})
                self.members[name] = attrs.evolve(member, subscribed_topics=subscribed)

    def vanish(self) -> None:
        if len(self.topics) > 1:
            del self.topics[self.random.choice(list(self.topics))]

    def grow(self) -> None:
        self.topics[self.random.choice(list(self.topics))] += self.random.choice((1, 3, 10))

    def shrink(self) -> None:
        topic = self.random.choice(list(self.topics))
        self.topics[topic] = max(self.topics[topic] - self.random.choice((1, 4)), 1)


EVENTS = {
    RandomConsumers.join: 4,
    RandomConsumers.leave: 3,
    RandomConsumers.subscribe: 1.5,
    RandomConsumers.appear: 1,
    RandomConsumers.vanish: 0.7,
    RandomConsumers.grow: 1,
    RandomConsumers.shrink: 0.3,
}


def with_targets(group: SubscribedGroup, targets: ConsumerTargets) -> SubscribedGroup:
    """The group when these are its targets."""
    members = [attrs.evolve(each, target=targets.get(each.member_id, {})) for each in group.members]
    return attrs.evolve(group, members=tuple(members))


def moved(group: SubscribedGroup, targets: ConsumerTargets) -> int:
    """How many partitions members lose although they could keep them."""
    lost = 0
    for member in group.members:
        for topic in member.subscribed_topics & group.topics.keys():
            had = {each for each in member.target.get(topic, ()) if each < group.topics[topic]}
            lost += len(had - set(targets.get(member.member_id, {}).get(topic, ())))
    return lost


def sizes(group: SubscribedGroup, targets: ConsumerTargets) -> list[int]:
    """How many partitions each member has."""
    return [sum(map(len, targets.get(each.member_id, {}).values())) for each in group.members]


def widest_gap(group: SubscribedGroup, targets: ConsumerTargets) -> int:
    """The greatest difference between two members that subscribe to the same topics that exist."""
    by_subscription: dict[frozenset[bytes], list[int]] = {}
    for member, size in zip(group.members, sizes(group, targets), strict=True):
        subscribed = frozenset(member.subscribed_topics & group.topics.keys())
        by_subscription.setdefault(subscribed, []).append(size)
    return max((max(each) - min(each) for each in by_subscription.values()), default=0)


def unevenness(numbers: Iterable[int]) -> int:
    """The sum of squares: the more even, the smaller."""
    return sum(each * each for each in numbers)


def plain(targets: ConsumerTargets) -> Mapping[str, Mapping[int, list[int]]]:
    """Targets to be compared and sent: without empty sets, with topics as numbers."""
    return {
        member: {topic_of(topic): sorted(partitions) for topic, partitions in sorted(target.items()) if partitions}
        for member, target in sorted(targets.items())
    }
