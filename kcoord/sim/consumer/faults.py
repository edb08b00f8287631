"""The faults of runs with consumer groups: those of any run, and what happens to topics, subscriptions and groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcoord.group.state.connect_settings import ClassicMode
from kcoord.group.state.consumer_settings import CLASSIC_MODE
from kcoord.protocol.generated.consumer_group_heartbeat_request import TopicPartitions
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from kcoord.sim.common_faults import CommonFaults
from kcoord.sim.consumer.any_consumer import AnyConsumer
from kcoord.sim.consumer.context import ConsumerContext, topic_id
from kcoord.sim.consumer.coordinator import ConsumerCoordinator
from kcoord.sim.consumer.fleet import ConsumerFleet, ConsumerPlace
from kcoord.sim.consumer.process import ConsumerProcess
from kcoord.sim.plans.consumer import CHANGE_MODE


class ConsumerFaults(CommonFaults[ConsumerPlace]):
    """Draws and runs faults until the run has to be quiet."""

    _context: ConsumerContext
    _coordinator: ConsumerCoordinator
    _fleet: ConsumerFleet

    def _weighted(self) -> dict[str, int]:
        weights = self._context.plan.weights
        return {kind: weights[kind] for kind in FAULTS if weights.get(kind)}

    def _call(self, kind: str) -> None:
        FAULTS[kind](self)

    def _group(self) -> str:
        return self._context.group_of(self._random.randrange(self._context.consumers.groups))

    # -- consumers ----------------------------------------------------------------------------------------------------

    def _stop_polling(self) -> None:
        place = self._running()
        if place is not None and isinstance(place.process, AnyConsumer):
            place.process.stop_polling(1 + self._ms(500, 5_000, 20_000))

    def _subscribe(self) -> None:
        """A consumer subscribes to other topics, wishes for another assignor, or says more for its own."""
        place, random = self._running(), self._random
        if place is None or not isinstance(place.process, AnyConsumer):
            return
        if self._context.consumers.computes and isinstance(place.process, ConsumerProcess) and random.random() < 0.3:
            place.process.say_more()
            return
        if random.random() < 0.2:
            place.process.wish(random.choice(self._context.consumers.wishes))
            return
        if self._context.consumers.classic and place.instance_id is not None:
            return
        share = random.choice((0.0, 0.6, 0.6, 0.6, 0.6))
        place.subscribed = frozenset(each for each in self._context.names if random.random() < share)
        self._context.note(place.name, f"subscribes to {' '.join(sorted(place.subscribed)) or 'nothing'}")
        place.process.subscribe(place.subscribed)

    # -- topics and groups --------------------------------------------------------------------------------------------

    def _topics(self) -> None:
        """A topic grows, is made, is deleted, or is deleted and made again. Classic consumers know topics by names, and
        would take one that is made again for the same. So beside them none is.
        """
        context, random = self._context, self._random
        name = random.choice(context.names)
        partitions = random.randint(1, context.consumers.partitions)
        what = random.choice(("grow", "grow", "delete", "make")) if name in context.topics else "make"
        if what == "make" and context.consumers.classic and context.was_made(name):
            return
        if what == "grow":
            context.grow_topic(name, random.randint(1, 2))
        elif what == "delete":
            context.delete_topic(name)
        else:
            context.make_topic(name, partitions)
        self._coordinator.look_for_topics()

    def _change_mode(self) -> None:
        """An administrator says how classic consumers of a group are to be led."""
        mode = self._random.choice(tuple(ClassicMode))
        self._coordinator.alter_config(self._group(), {CLASSIC_MODE: mode})

    def _ask(self) -> None:
        group = self._group()
        self._coordinator.ask(
            self._random.choice(
                (
                    ConsumerGroupDescribeRequest(group_ids=[group]),
                    DescribeGroupsRequest(groups=[group]),
                    ListGroupsRequest(),
                )
            )
        )

    def _delete(self) -> None:
        self._coordinator.ask(DeleteGroupsRequest(groups_names=[self._group()]))

    def _nonsense(self) -> None:
        """A program that is no client of Kafka's sends a heartbeat in the name of a member. It must be refused."""
        place = self._running()
        if place is None or place.process is None:
            return
        group, member = place.group_id, place.process.member_id
        negative = [TopicPartitions(topic_id(self._context.names[0], 1), [-1])]
        wrong = (
            ConsumerGroupHeartbeatRequest(group, member, -3),
            ConsumerGroupHeartbeatRequest(group, "", -1),
            ConsumerGroupHeartbeatRequest(group, member, -2),
            ConsumerGroupHeartbeatRequest(group, member, 0, topic_partitions=[], subscribed_topic_names=["A"]),
            ConsumerGroupHeartbeatRequest(group, member, 0, rebalance_timeout_ms=100, subscribed_topic_names=["A"]),
            ConsumerGroupHeartbeatRequest(group, member, 0, rebalance_timeout_ms=100, topic_partitions=[]),
            ConsumerGroupHeartbeatRequest(group, member, 1, topic_partitions=negative),
            ConsumerGroupHeartbeatRequest(group, member, 1, server_assignor="alphabetical"),
        )
        self._coordinator.ask(self._random.choice(wrong))


FAULTS: Mapping[str, Callable[[ConsumerFaults], None]] = {
    "cut": ConsumerFaults._cut,
    "stall": ConsumerFaults._stall,
    "isolate": ConsumerFaults._isolate,
    "crash": ConsumerFaults._crash,
    "fail_append": ConsumerFaults._fail_append,
    "roll_back_append": ConsumerFaults._roll_back_append,
    "lose_append": ConsumerFaults._lose_append,
    "delay_append": ConsumerFaults._delay_append,
    "tear_append": ConsumerFaults._tear_append,
    "fence": ConsumerFaults._fence,
    "break_step": ConsumerFaults._break_step,
    "freeze_coordinator": ConsumerFaults._freeze_coordinator,
    "freeze": ConsumerFaults._freeze,
    "kill": ConsumerFaults._kill,
    "leave": ConsumerFaults._leave,
    "start": ConsumerFaults._start,
    "stop_polling": ConsumerFaults._stop_polling,
    "subscribe": ConsumerFaults._subscribe,
    "topics": ConsumerFaults._topics,
    CHANGE_MODE: ConsumerFaults._change_mode,
    "nonsense": ConsumerFaults._nonsense,
    "ask": ConsumerFaults._ask,
    "delete": ConsumerFaults._delete,
}
