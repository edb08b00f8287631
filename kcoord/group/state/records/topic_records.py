"""The record of a declared topic: key 28.

All declared topics are in one partition of the log: that to which a group called `TOPICS` belongs.
"""

from __future__ import annotations

from kcoord.group.state.topic import Topic
from kcoord.protocol.records import DeclaredTopicKey, DeclaredTopicValue, Record

TOPICS = "__kcoord_topics"
"""The name that says which partition has the declared topics, as a group's name does."""


def declared_topic(topic: Topic) -> Record:
    """28: a topic, its id, and how many partitions it has."""
    return Record(DeclaredTopicKey(TOPICS, topic.name), DeclaredTopicValue(topic.id, topic.partitions))


def no_topic(name: str) -> Record:
    """28: the topic is not declared any more."""
    return Record(DeclaredTopicKey(TOPICS, name), None)
