"""The fleet of consumers: places in groups. Each life of a dynamic consumer has a member id of its own, as in Java."""

from __future__ import annotations

import attrs

from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor
from kcoord.sim.consumer.any_consumer import AnyConsumer
from kcoord.sim.consumer.classic.process import ClassicConsumerProcess
from kcoord.sim.consumer.classic.setup import ConsumerSetup
from kcoord.sim.consumer.computing import listed
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.membership import ConsumerMembership
from kcoord.sim.consumer.process import ConsumerProcess
from kcoord.sim.places import Places, ProcessPlace

READS_MORE = 0.3
"""The share of consumers with an assignor of their own that read more versions than others: only they may compute."""


@attrs.define(eq=False)
class ConsumerPlace(ProcessPlace):
    """A place where one consumer at a time runs."""

    group_id: str
    instance_id: str | None
    subscribed: frozenset[str]
    """What the next consumer subscribes to."""
    rebalance_timeout_ms: int
    patience_ms: int
    """How long it waits for the answer to a heartbeat; 0: one interval."""


class ConsumerFleet(Places[ConsumerPlace]):
    """All places of a run."""

    _context: ConsumerContext

    def _place(self, at: int) -> ConsumerPlace:
        context, random = self._context, self._random
        plan, consumers = context.plan, context.consumers
        is_twin = at >= consumers.groups and random.random() < consumers.twins
        named = at - consumers.groups if is_twin else at
        instance_id = f"i{named}" if random.random() < plan.static else None
        # a classic group does not hear of another subscription from a static member that comes back, as at Kafka
        subscribes_to_all = instance_id is not None and consumers.classic > 0
        return ConsumerPlace(
            f"c{at}",
            context.group_of(at),
            instance_id,
            frozenset(context.names) if subscribes_to_all else self.some_topics(),
            random.choice((2_000, 4_000, 10_000)),
            0 if random.random() < consumers.hasty else random.choice((3_000, 8_000)) + 3 * plan.latency_ms,
        )

    def some_topics(self) -> frozenset[str]:
        """A subscription: mostly to all topics, seldom to none."""
        names, random = self._context.names, self._random
        share = random.choice((1.0, 1.0, 0.6, 0.0) if random.random() < 0.3 else (1.0, 0.7))
        return frozenset(each for each in names if random.random() < share)

    def consumers(self) -> list[ConsumerProcess]:
        """All consumers of the new protocol that live."""
        return [each for each in self.processes() if isinstance(each, ConsumerProcess)]

    def _process(self, place: ConsumerPlace) -> AnyConsumer:
        classic = self._context.consumers.classic
        return self._classic(place) if classic and self._random.random() < classic else self._new(place)

    def _classic(self, place: ConsumerPlace) -> ClassicConsumerProcess:
        context = self._context
        setup = ConsumerSetup(
            place.group_id,
            place.instance_id,
            context.consumers.cooperative,
            context.plan.session_ms,
            place.rebalance_timeout_ms,
            context.plan.interval_ms,
        )
        context.note(place.name, f"starts as a classic consumer in {place.group_id}")
        return ClassicConsumerProcess(
            context, self.judge, place.name, setup, place.subscribed, lambda error: self._ended(place, error)
        )

    def _new(self, place: ConsumerPlace) -> ConsumerProcess:
        context = self._context
        computes = context.consumers.computes
        wish = self._random.choice(context.consumers.wishes)
        own: tuple[Assignor, ...] = ()
        if computes and self._random.random() < computes:
            wish, own = None, listed(reads_more=self._random.random() < READS_MORE)
        membership = ConsumerMembership(
            place.group_id,
            f"{place.name}.{place.lives}",
            place.instance_id,
            place.subscribed,
            wish,
            place.rebalance_timeout_ms,
            context.plan.interval_ms,
            listed=own,
        )
        context.note(place.name, f"starts as {membership.member_id} in {place.group_id}")
        return ConsumerProcess(
            context, self.judge, place.name, membership, place.patience_ms, lambda error: self._ended(place, error)
        )
