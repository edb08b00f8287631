"""The context of a run with consumer groups: as in any run, plus the topics that exist."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import attrs

from kcoord.group.state.groups.consumer_group import Partition
from kcoord.group.state.topic import Topic
from kcoord.sim.basis.trace import Sink
from kcoord.sim.context import RunContext
from kcoord.sim.plans.consumer import Consumers
from kcoord.sim.plans.plan import Plan


def topic_id(name: str, incarnation: int) -> bytes:
    """The id of a topic. A topic that is made again has another one."""
    return bytes(14) + bytes([incarnation % 256]) + name.encode()


class ConsumerContext(RunContext):
    """What the parts of such a run share."""

    def __init__(self, seed: int, random: Random, plan: Plan, consumers: Consumers, sink: Sink | None = None) -> None:
        super().__init__(seed, random, plan, sink)
        self.consumers = consumers
        self.names = [chr(ord("A") + at) for at in range(consumers.topics)]
        self._made = dict.fromkeys(self.names, 0)
        """By name, how many topics of that name there have been."""
        self.topics: Mapping[str, Topic] = {}
        """The topics that exist. A change replaces the mapping."""
        for name in self.names:
            if name == self.names[0] or random.random() < 0.8:
                self.make_topic(name, random.randint(1, consumers.partitions))

    def was_made(self, name: str) -> bool:
        """Whether there has been a topic of that name."""
        return self._made[name] > 0

    def make_topic(self, name: str, partitions: int) -> None:
        """A topic is made, in place of the one of that name if there is one."""
        self._made[name] += 1
        self._set(name, Topic(name, topic_id(name, self._made[name]), partitions))

    def grow_topic(self, name: str, partitions: int) -> None:
        """A topic has more partitions from now on."""
        topic = self.topics[name]
        self._set(name, attrs.evolve(topic, partitions=topic.partitions + partitions))

    def delete_topic(self, name: str) -> None:
        """A topic is deleted."""
        self.topics = {each: topic for each, topic in self.topics.items() if each != name}
        self.note("cluster", f"topic {name} is deleted")

    def has(self, partition: Partition) -> bool:
        """Whether the partition exists."""
        topic_id, number = partition
        return any(each.id == topic_id and number < each.partitions for each in self.topics.values())

    def _set(self, name: str, topic: Topic) -> None:
        self.topics = {**self.topics, name: topic}
        self.note("cluster", f"topic {name} #{topic.id[14]} has {topic.partitions} partitions")

    def group_of(self, at: int) -> str:
        """The group of the place of that number."""
        return f"g{at % self.consumers.groups}"

    def metadata_ms(self) -> int:
        """How long it takes until a consumer knows a topic that it was assigned."""
        chance = self.random.random
        return int(chance() * 3_000) if self.faulty and chance() < self.consumers.slow_metadata else 0
