"""Which topics count in a consumer group, and what is known of them.

What exists is told to the shard from outside (`ShardState.topics`). The group writes down what it goes by, so that a
load goes on from there. If a topic that somebody subscribes to appears, vanishes, has another id or another number of
partitions, the group epoch moves. A topic that nobody subscribes to any more stays known while somebody has to let go
of its partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from kcoord.group.consumer.reasons import Reason
from kcoord.group.modern.epochs import bump_epoch
from kcoord.group.state.groups.consumer_group import ConsumerGroup, Topic
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition

NO_ID = bytes(16)
"""The id of a topic that is named otherwise."""


class NamedById(Protocol):
    """A topic in a request, in versions that name it by its id alone."""

    name: str
    topic_id: bytes


def give_names(state: ShardState, topics: Iterable[NamedById]) -> None:
    """Write the names of `topics` into them; "" where the id is not known here."""
    for topic in topics:
        topic.name = state.topic_names.get(topic.topic_id, "")


def learn_topics(transition: Transition, group: ConsumerGroup) -> None:
    """Take in what is known now of the topics that the group's members subscribe to."""
    known = transition.state.topics
    if known is None or (group.learned_from is known and group.learned_at == group.version):
        return
    _learn(transition, group, known)
    group.learned_from, group.learned_at = known, group.version


def _learn(transition: Transition, group: ConsumerGroup, known: Mapping[str, Topic]) -> None:
    names = group.all_names()
    seen = {name: known[name] for name in sorted(names) if name in known}
    before = {name: topic for name, topic in group.topics.items() if name in names}
    kept = {name: topic for name, topic in group.topics.items() if name not in names}
    if kept:
        in_use = {topic_id for topic_id, _ in group.owners}
        kept = {name: topic for name, topic in kept.items() if topic.id in in_use}
    if {**seen, **kept} != group.topics:
        transition.write(records.topics(group.group_id, [*seen.values(), *kept.values()]))
    if seen != before and group.members and group.epoch == group.assignment_epoch:
        changed = sorted(name for name in {**seen, **before} if seen.get(name) != before.get(name))
        bump_epoch(transition, group, Reason.TOPICS_CHANGED, changed)
