"""Which topics count in a consumer group, and what is known of them.

What exists is told to the shard from outside: without a cluster the whole of it (`ShardState.topics`), and which names
match each regular expression (`ShardState.resolutions`); in front of a cluster, with each heartbeat that has something
new, what was seen of its sender's topics (`RequestContext.seen`). The group writes down what it goes by, so that a load
goes on from there. If a topic that somebody subscribes to appears, vanishes, has another id or another number of
partitions, or if other names match an expression, the group epoch moves. A topic that nobody subscribes to any more
stays known while somebody has to let go of its partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import is_
from typing import Protocol

from kcoord.group.consumer.reasons import Reason
from kcoord.group.modern.epochs import bump_epoch
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext
from kcoord.group.state.topic import Topic
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
    known, resolutions = transition.state.topics, transition.state.resolutions
    facts = known, resolutions
    if known is None or (group.learned_at == group.version and all(map(is_, facts, group.learned_from))):
        return
    _learn(transition, group, known, resolved_anew=_resolve(transition, group, resolutions))
    group.learned_from, group.learned_at = facts, group.version


def learn_seen(transition: Transition, group: ConsumerGroup, member: ConsumerMember, context: RequestContext) -> None:
    """Take in what the cluster has shown of the topics that a member subscribes to. A single look never takes anything
    away: a broker that has just started knows less than there is. Nor do looks that agree, if the first of them was
    before the group heard of what they lack.
    """
    seen, pattern = context.seen, member.metadata.subscribed_topic_regex
    if seen is None:
        return
    resolutions = {pattern: context.resolved} if pattern and context.resolved is not None else {}
    resolved_anew = _resolve(transition, group, resolutions)
    known = dict(group.topics)
    for name, topic in seen.there.items():
        before = known.get(name)
        if topic.id == group.former_ids.get(name):
            continue  # a broker that lags behind
        if before is None or before.id != topic.id or before.partitions < topic.partitions:
            known[name] = topic
    agreed_since_ms = transition.now_ms - seen.agreed_ms
    loaded_ms = max(transition.state.loaded_ms, group.restored_at_ms)  # when it heard of each is not written down
    for name, certain in seen.certain.items():
        before = known.get(name)
        if _is_loss(before, certain) and agreed_since_ms <= group.learned_ms.get(name, loaded_ms):
            continue
        if certain is None:
            known.pop(name, None)
        else:
            known[name] = certain
    for name, topic in known.items():
        former = group.topics.get(name)
        if former != topic:
            group.learned_ms[name] = transition.now_ms
        if former is not None and former.id != topic.id:
            group.former_ids[name] = former.id
    for name in group.learned_ms.keys() - known.keys():
        del group.learned_ms[name]
        group.former_ids.pop(name, None)
    _learn(transition, group, known, resolved_anew=resolved_anew)


def _is_loss(before: Topic | None, now: Topic | None) -> bool:
    """Whether that is less than before, or nothing."""
    if before is None or now is None:
        return before is not None
    return before.id == now.id and now.partitions < before.partitions


def _resolve(transition: Transition, group: ConsumerGroup, resolutions: Mapping[str, frozenset[str]]) -> bool:
    """Write down which names match the members' regular expressions. Whether others match than before."""
    in_use = {pattern for member in group.members.values() if (pattern := member.metadata.subscribed_topic_regex)}
    changed = {
        pattern: names
        for pattern in in_use
        if (names := resolutions.get(pattern)) is not None and group.resolved.get(pattern) != names
    }
    for pattern, names in changed.items():
        transition.write(records.resolution(group.group_id, pattern, names, transition.wall_ms))
    for pattern in group.resolved.keys() - in_use:
        transition.write(records.resolution(group.group_id, pattern, None, transition.wall_ms))
    return bool(changed)


def _learn(transition: Transition, group: ConsumerGroup, known: Mapping[str, Topic], *, resolved_anew: bool) -> None:
    names = group.all_names()
    seen = {name: known[name] for name in sorted(names) if name in known}
    before = {name: topic for name, topic in group.topics.items() if name in names}
    kept = {name: topic for name, topic in group.topics.items() if name not in names}
    if kept:
        in_use = {topic_id for topic_id, _ in group.owners}
        kept = {name: topic for name, topic in kept.items() if topic.id in in_use}
    if {**seen, **kept} != group.topics:
        transition.write(records.topics(group.group_id, [*seen.values(), *kept.values()]))
    if (seen != before or resolved_anew) and group.members and group.is_input_taken:
        changed = sorted(name for name in {**seen, **before} if seen.get(name) != before.get(name))
        bump_epoch(transition, group, Reason.TOPICS_CHANGED, changed)
