"""Which members compete for which topics: the parts of a group that share no topic, each with its classes.

A class is all members that subscribe to the same existing topics. Members are numbered in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from kcoord.assign.consumer.model import Subscriber


class SubscriptionClass:
    """The members that subscribe to the same topics."""

    def __init__(self, topics: frozenset[bytes]) -> None:
        self.topics = topics
        self.members: list[int] = []


def classes_of(members: Sequence[Subscriber], topics: Mapping[bytes, int]) -> list[SubscriptionClass]:
    """The classes, in the order of their first members. A topic that does not exist makes no difference."""
    by_subscription: dict[AbstractSet[bytes], SubscriptionClass] = {}
    by_topics: dict[frozenset[bytes], SubscriptionClass] = {}
    last, subscribed = SubscriptionClass(frozenset()), None
    for at, member in enumerate(members):
        if member.subscribed_topics is not subscribed:
            subscribed = frozenset(member.subscribed_topics)
            found = by_subscription.get(subscribed)
            if found is None:
                existing = frozenset([topic for topic in subscribed if topic in topics])
                found = by_subscription[subscribed] = by_topics.setdefault(existing, SubscriptionClass(existing))
            last = found
        last.members.append(at)
    return list(by_topics.values())


def parts_of(classes: Sequence[SubscriptionClass]) -> list[list[SubscriptionClass]]:
    """The parts: classes that share a topic are in one, also over others. Those without any topic are in none."""
    parts: list[list[SubscriptionClass]] = []
    topics_of: list[set[bytes]] = []
    for each in classes:
        if not each.topics:
            continue
        part, topics = [each], set(each.topics)
        apart, topics_apart = [], []
        for other, others in zip(parts, topics_of, strict=True):
            if others.isdisjoint(each.topics):
                apart.append(other)
                topics_apart.append(others)
            else:
                part = other + part
                topics |= others
        parts, topics_of = [*apart, part], [*topics_apart, topics]
    return parts
