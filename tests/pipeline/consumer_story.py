"""What happens to consumers in one group, step by step, what was true then, and what does the log say of it? By a real
shard on a driven clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.step import Step
from kcoord.pipeline.history.entry import Row
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.records import decode_record, encode_record
from kcoord.resource import Resource
from tests.group.consumer.classic_world import Classic
from tests.group.consumer.world import GROUP, REBALANCE_MS, World, two
from tests.pipeline.story import STEP_MS, Written
from tests.pipeline.watched import Shares, at_moment, shares

ALL = "A0 A1 A2 A3"


@attrs.frozen
class Truth:
    """A consumer group after a step."""

    epoch: int
    owned: Shares
    """What each member could be consuming."""
    unowned: frozenset[Resource]
    """What somebody subscribes to, and nobody could be consuming."""


class ConsumerRecorder(World):
    """A shard whose steps are kept with their times, and with what was true behind them."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.written: Written = []
        self.truths: dict[int, Truth | None] = {}
        """By unix ms. None: there is no consumer group with members."""
        self._names: dict[bytes, str] = {}
        super().__init__(*arguments, **named)

    def _keep(self, step: Step) -> None:
        super()._keep(step)
        if step.records:
            self.written.append((self.wall_ms, [decode_record(*encode_record(each)) for each in step.records]))
            self.truths[self.wall_ms] = self._truth()
            self.now_ms += STEP_MS

    def _truth(self) -> Truth | None:
        group = self.shard.state.consumer.get(GROUP)
        if group is None or not group.members:
            return None
        named = {topic.name: topic.id for topic in group.topics.values()}
        self._names = {**{each: name for each, name in self._names.items() if name not in named},
                       **{topic_id: name for name, topic_id in named.items()}}  # fmt: skip
        owned = {
            each.member_id: frozenset() if each.away else self._resources(each.current)
            for each in group.members.values()
        }
        return Truth(group.epoch, owned, _subscribed(group) - frozenset().union(*owned.values()))

    def _resources(self, partitions: Iterable[tuple[bytes, int]]) -> frozenset[Resource]:
        """By name; without those of topics that were deleted, also if a new one has the name."""
        return frozenset(Resource(self._names[topic], at) for topic, at in partitions if topic in self._names)

    def compare(self, found: Mapping[str, list[Row]]) -> int:
        """The tables say the same, at each moment. How many moments there were."""
        ownership, sessions, gaps = (found.get(each, []) for each in ("ownership", "sessions", "gaps"))
        moments = [(at_ms, truth) for at_ms, truth in self.truths.items() if truth is not None]
        for at_ms, truth in moments:
            has = {member: owned for member, owned in truth.owned.items() if owned}
            assert shares(at_moment(ownership, at_ms), "member_id") == has, at_ms
            assert {row["member_id"] for row in at_moment(sessions, at_ms)} == set(truth.owned), at_ms
            nobody = {Resource(row["connector"], row["task"]) for row in at_moment(gaps, at_ms)}
            assert nobody == truth.unowned, at_ms
            begun = [row["epoch"] for row in found["epochs"] if row["kind"] == "consumer" and row["at"] <= at_ms]
            assert begun[-1] == truth.epoch, at_ms
        return len(moments)


def _subscribed(group: ConsumerGroup) -> frozenset[Resource]:
    there = [group.topics[name] for name in group.all_names() if name in group.topics]
    return frozenset(Resource(topic.name, at) for topic in there for at in range(topic.partitions))


def consumers() -> ConsumerRecorder:
    """a comes and consumes all four partitions; b comes and gets two of them; b dies, and a gets them back.

    Epochs 2 and 3, which `two` plays, and 4. Nothing is wrong.
    """
    world = ConsumerRecorder()
    two(world)
    epoch = 3
    while "b" in world.group.members:
        world.pass_ms(5_000)
        epoch = world.beat("a", epoch).epoch
    assert world.beat("a", 4, ALL).brief == (4, None)
    assert world.row() == (4, {"a": f"4 STABLE {ALL}"})
    return world


def there_and_back() -> tuple[ConsumerRecorder, Classic]:
    """A classic consumer has all; one of the new protocol joins and gets half; when it leaves, the group is classic
    again, and then the first consumer has all once more.
    """
    world = ConsumerRecorder()
    classic = Classic(world)
    token = classic.send_join()
    world.pass_ms(4_000)  # a new classic group waits for others
    classic.joined(token)
    classic.sync({classic.member_id: ALL})
    world.pass_ms(1_000)
    said: dict[str, Any] = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": ["A"]}
    world.send_beat("n", 0, "", connection=2, **said)
    assert classic.come() == "A0 A1"
    classic.come()  # with this it says that it has let go of the rest
    world.beat("n", world.member("n").epoch, connection=2)
    assert [len(each.current) for each in world.group.members.values()] == [2, 2]
    world.leave("n", connection=2)
    assert GROUP not in world.shard.state.consumer
    world.pass_ms(1_000)
    assert classic.join() is ErrorCode.NONE
    classic.sync({classic.member_id: ALL})
    return world, classic
