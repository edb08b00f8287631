"""Declared topics: what topics a kcoord without a cluster has, and which changes of them are refused (KG-14).

A declared topic has a name, a random id and a number of partitions, and never any data. Consumers share its partitions
as they share those of any topic. The checks are Kafka's where Kafka has them; what needs data or replicas is refused.
"""

from __future__ import annotations

import hashlib
import re

from kcoord.group.state.records.topic_records import declared_topic, no_topic
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.topic import Topic
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode

__all__ = ["TopicRefused", "check_name", "check_room", "declare", "forget", "found"]

LEGAL_NAME = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
"""Kafka's rule for the names of topics."""


class TopicRefused(Exception):
    """A topic cannot be declared, grown or removed; with Kafka's error for it."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


def check_name(state: ShardState, name: str) -> None:
    """Raise TopicRefused unless a new topic may have this name."""
    if LEGAL_NAME.fullmatch(name) is None:
        raise TopicRefused(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "a topic's name has 1 to 249 letters, digits, dots, underscores and hyphens, and is not '.' or '..'",
        )
    if name in state.declared:
        raise TopicRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {name} exists already")


def check_room(state: ShardState, more: int) -> None:
    """Raise TopicRefused if `more` partitions are too many."""
    if more < 1:
        raise TopicRefused(ErrorCode.INVALID_PARTITIONS, "a topic has at least one partition")
    there, most = sum(each.partitions for each in state.declared.values()), state.settings.limits.offsets
    if there + more > most:
        message = f"all topics together may have {most} partitions (group.max.offsets); they have {there}"
        raise TopicRefused(ErrorCode.INVALID_PARTITIONS, message)


def found(state: ShardState, name: str | None, topic_id: bytes = b"") -> Topic:
    """The topic with this name, or with this id if there is no name. Raises TopicRefused."""
    if name:
        topic = state.declared.get(name)
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        topic = next((each for each in state.declared.values() if each.id == topic_id), None)
        error = ErrorCode.UNKNOWN_TOPIC_ID
    if topic is None:
        raise TopicRefused(error, "there is no such topic")
    return topic


def declare(transition: Transition, name: str, partitions: int, topic_id: bytes | None = None) -> Topic:
    """Write a topic down: a new one, with a random id, or one that has `topic_id` already and more partitions now."""
    if topic_id is None:
        topic_id = hashlib.sha256(transition.state.ids().encode()).digest()[:16]
    topic = Topic(name, topic_id, partitions)
    transition.write(declared_topic(topic))
    return topic


def forget(transition: Transition, topic: Topic) -> None:
    """Write down that a topic is not declared any more."""
    transition.write(no_topic(topic.name))
