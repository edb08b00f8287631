"""What a group knows of topics: nothing is taken from it that the cluster has had all the time (KG-17).

A broker that has just started shows less than there is. No group loses a topic, or a part of it, for such a look.
"""

from __future__ import annotations

from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.topic import Topic
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.context import ConsumerContext


class TopicsJudge:
    """What each group knew of topics that exist, when it was looked at last."""

    def __init__(self, context: ConsumerContext) -> None:
        self._context = context
        self._known: dict[str, dict[str, Topic]] = {}

    def loaded(self) -> None:
        """The log has been replayed: an append that was lost may have told of a topic."""
        self._known.clear()

    def forget(self, group_id: str) -> None:
        """The group has gone."""
        self._known.pop(group_id, None)

    def look(self, group: ConsumerGroup) -> None:
        """See that what the group knew, and what exists still, is there."""
        names = group.all_names()
        for name, before in self._known.get(group.group_id, {}).items():
            exists, known = self._context.topics.get(name), group.topics.get(name)
            if exists is None or exists.id != before.id or name not in names:
                continue
            if known is None or (known.id == exists.id and known.partitions < before.partitions):
                raise Violation("topics", f"{group.group_id} has lost {name}, or a part of it, which exists")
        existing = self._context.topics
        self._known[group.group_id] = {
            name: topic
            for name, topic in group.topics.items()
            if name in names and name in existing and existing[name].id == topic.id
        }
