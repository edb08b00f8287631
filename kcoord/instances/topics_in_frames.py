"""How frames between instances tell of topics: what the cluster has shown of them, and what a commit names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kcoord.group.consumer.offset_checks import Named
from kcoord.group.state.seen_topics import SeenTopics
from kcoord.group.state.topic import Topic
from kcoord.protocol.generated.instance_check_commit_request import CommittedTopic
from kcoord.protocol.generated.instance_relay_request import SeenTopic

__all__ = ["read_committed", "read_seen", "write_committed", "write_seen"]


def write_seen(seen: SeenTopics) -> list[SeenTopic]:
    """What was seen, as it stands in a frame."""
    there = [SeenTopic(name, topic.id, topic.partitions, False) for name, topic in seen.there.items()]
    return there + [
        SeenTopic(name, certain=True) if topic is None else SeenTopic(name, topic.id, topic.partitions, True)
        for name, topic in seen.certain.items()
    ]


def read_seen(said: Sequence[SeenTopic], agreed_ms: int) -> SeenTopics:
    """What a frame says that was seen."""
    topics = {each.name: Topic(each.name, each.topic_id, each.partitions) if each.partitions else None for each in said}
    certain = {each.name for each in said if each.certain}
    return SeenTopics(
        there={name: topic for name, topic in topics.items() if topic is not None and name not in certain},
        certain={name: topics[name] for name in certain},
        agreed_ms=agreed_ms,
    )


def write_committed(partitions: Iterable[Named]) -> list[CommittedTopic]:
    """What a commit names, as it stands in a frame."""
    by_topic: dict[str | bytes, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    return [
        CommittedTopic(name=topic, partitions=numbers)
        if isinstance(topic, str)
        else CommittedTopic(topic_id=topic, partitions=numbers)
        for topic, numbers in by_topic.items()
    ]


def read_committed(said: Sequence[CommittedTopic]) -> list[Named]:
    """What a frame says that a commit names."""
    return [(each.name or each.topic_id, number) for each in said for number in each.partitions]
