"""The plan of a run with consumer groups: how many groups and topics there are, what consumers are like, and what goes
wrong.

Everything is drawn from the seed before the run begins. Plans of the other kinds draw nothing of it. What was added
later is drawn from a stream of its own, so that the runs of seeds that draw nothing of it stay as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import attrs

from kcoord.sim.basis.phases import CONSUMER_PHASES
from kcoord.sim.plans.plan import AIMED, Plan, swarm

CONSUMER_FAULTS: Mapping[str, int] = {
    "cut": 10,
    "stall": 5,
    "isolate": 4,
    "crash": 3,
    "fail_append": 3,
    "roll_back_append": 2,
    "lose_append": 2,
    "delay_append": 2,
    "tear_append": 2,
    "fence": 2,
    "break_step": 3,
    "freeze_coordinator": 2,
    "freeze": 6,
    "kill": 4,
    "leave": 3,
    "start": 6,
    "stop_polling": 3,
    "subscribe": 5,
    "topics": 6,
    "nonsense": 2,
    "ask": 2,
    "delete": 1,
}
"""The faults that can strike, each with its usual weight."""

CHURNING = 0.15
"""The share of runs in which partitions move faster than messages do."""
CHURN: Mapping[str, int] = {"subscribe": 20, "topics": 10, "start": 4, "leave": 4, "stop_polling": 4, "cut": 2}
"""The faults of such a run."""
UNLIMITED = 1_000
PACED = 0.25
"""The share of runs in which assignments have to wait."""
CLASSIC = 0.3
"""The share of runs in which some consumers speak the classic protocol."""
INDIVIDUAL, CHANGING = 0.5, 0.4
"""Of these, the shares of runs in which classic consumers are led one by one, and in which that changes."""
CHANGE_MODE = "change_mode"
"""The fault that changes it."""
FLAWED = 0.05
"""The share of runs in which an assignor that fails now and then serves groups that wish for none."""
COMPUTING = 0.1
"""The share of runs in which consumers list an assignor of their own."""
IN_FRONT = 0.25
"""The share of runs in which topics are a cluster's."""


@attrs.frozen
class Consumers:
    """What is drawn for a run with consumer groups."""

    groups: int
    topics: int
    """How many names of topics there are. Not all of them exist at any time."""
    partitions: int
    """The most partitions of a topic."""
    wait_ms: int
    """`group.consumer.heartbeat.wait.ms`"""
    max_size: int
    """`group.consumer.max.size`"""
    commits_ms: int
    """How often a consumer commits while it consumes."""
    hasty: float
    """The share of consumers that give a heartbeat up after exactly one interval, as librdkafka does."""
    wishes: tuple[str | None, ...]
    """The assignors that consumers wish for, one of them each."""
    twins: float
    """The probability that two places are given the same instance id."""
    slow_metadata: float
    """The probability that a consumer learns late of a topic that it was assigned."""
    assignment_interval_ms: int = 0
    """`group.consumer.assignment.interval.ms`"""
    assignment_takes_ms: int = 0
    """How long each assignment takes."""
    heartbeats_per_s: int = 20
    """How many heartbeats all consumers send at most, if their intervals allow that."""
    computes: float = 0.0
    """The share of consumers that list an assignor of their own, which all such consumers can run."""
    in_front: bool = False
    """Whether topics are a cluster's: two processes look at them, and tell the groups with heartbeats."""
    classic: float = 0.0
    """The share of consumers that speak the classic protocol. Each life of a consumer draws for itself."""
    cooperative: bool = False
    """Whether these let go only of what they are not to have any more, instead of all before they join."""
    downgrades: bool = True
    """Whether a group is a classic group again when its last consumer of the new protocol has gone
    (`group.consumer.migration.policy`).
    """
    individual: bool = False
    """Whether groups that have only classic consumers are led without a barrier (`group.consumer.classic.mode`); in the
    end, if an administrator changes that now and then.
    """


def draw(random: Random) -> tuple[Plan, Consumers]:
    """A run of any size. Most are small, because small groups meet the same faults sooner."""
    plan, consumers = _draw_plan(random), _draw_consumers(random)
    consumers = _paced(Random(plan.fault_seed), consumers)
    consumers = attrs.evolve(consumers, in_front=Random((plan.fault_seed or 0) + 1).random() < IN_FRONT)
    consumers = _with_classic(Random((plan.fault_seed or 0) + 2), consumers)
    consumers = attrs.evolve(consumers, heartbeats_per_s=Random((plan.fault_seed or 0) + 3).choice((1, 4, 20)))
    plan, consumers = _led(Random((plan.fault_seed or 0) + 4), plan, consumers)
    if Random((plan.fault_seed or 0) + 5).random() < FLAWED:
        plan = attrs.evolve(plan, flawed=0.4)
    stream = Random((plan.fault_seed or 0) + 7)
    if stream.random() < COMPUTING and not consumers.classic:
        consumers = attrs.evolve(consumers, computes=stream.choice((1.0, 1.0, 1.0, 0.8)))
    return (_churning(random, plan), consumers) if random.random() < CHURNING else (plan, consumers)


def _draw_plan(random: Random) -> Plan:
    chance, choice = random.random, random.choice
    return Plan(
        workers=choice((1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8)),
        connectors=0,
        tasks=0,
        faulty_ms=choice((20_000, 40_000, 40_000, 80_000)),
        gap_ms=choice((400, 1_000, 2_000, 4_000, 10_000)),
        weights=swarm(random, CONSUMER_FAULTS),
        session_ms=choice((6_000, 10_000, 10_000, 20_000)),
        interval_ms=choice((1_000, 1_000, 2_000)),
        rebalance_delay_ms=0,
        commit_ms=choice((0, 2, 20, 200)),
        hot_path=False,
        wire=chance() < 0.04,
        computing="",
        tells=False,
        flawed=0.0,
        held=0.0,
        static=choice((0.0, 0.0, 0.5, 1.0)),
        slow=choice((0.0, 0.1, 0.4)),
        latency_ms=choice((2, 20, 200, 800)),
        aim=choice(CONSUMER_PHASES) if chance() < AIMED else "",
        fault_seed=random.getrandbits(32),
    )


def _draw_consumers(random: Random) -> Consumers:
    choice = random.choice
    return Consumers(
        groups=choice((1, 1, 1, 2, 3)),
        topics=choice((1, 2, 2, 3, 4)),
        partitions=choice((1, 2, 3, 4, 6)),
        wait_ms=choice((-1, -1, -1, 0, 300)),
        max_size=choice((UNLIMITED, UNLIMITED, UNLIMITED, 2, 3)),
        commits_ms=choice((300, 1_000, 3_000)),
        hasty=choice((0.0, 0.3, 1.0)),
        wishes=choice(((None,), (None, "uniform", "range"), ("range",), ("uniform", "range", "range"))),
        twins=choice((0.0, 0.0, 0.3)),
        slow_metadata=choice((0.0, 0.0, 0.3)),
    )


def _paced(random: Random, consumers: Consumers) -> Consumers:
    """The same run, in some cases with assignments that have to wait for a while after the last one."""
    if random.random() >= PACED:
        return consumers
    return attrs.evolve(
        consumers,
        assignment_interval_ms=random.choice((0, 300, 1_000, 4_000)),
        assignment_takes_ms=random.choice((0, 0, 30, 300)),
    )


def _with_classic(random: Random, consumers: Consumers) -> Consumers:
    """The same run, in some cases with classic consumers."""
    if random.random() >= CLASSIC:
        return consumers
    return attrs.evolve(
        consumers,
        classic=random.choice((0.3, 0.5, 0.5, 0.8, 1.0)),
        cooperative=random.random() < 0.5,
        downgrades=random.random() < 0.7,
        max_size=UNLIMITED,
    )


def _led(random: Random, plan: Plan, consumers: Consumers) -> tuple[Plan, Consumers]:
    """The same run, in some cases with classic consumers that are led one by one, for ever or for a while."""
    if not consumers.classic:
        return plan, consumers
    consumers = attrs.evolve(consumers, individual=random.random() < INDIVIDUAL)
    changes = random.random() < CHANGING
    return attrs.evolve(plan, weights={**plan.weights, CHANGE_MODE: 4}) if changes else plan, consumers


def _churning(random: Random, plan: Plan) -> Plan:
    """The same run, except that partitions move while answers about them are on their way."""
    return attrs.evolve(
        plan,
        workers=random.choice((2, 3, 4)),
        faulty_ms=20_000,
        gap_ms=random.choice((150, 400)),
        weights={fault: CHURN.get(fault, 0) for fault in CONSUMER_FAULTS},
        session_ms=20_000,
        commit_ms=random.choice((0, 200)),
        latency_ms=random.choice((200, 800)),
        aim="",
    )
