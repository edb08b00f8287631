"""The plan of a mixed run: which classic workers take part, how their group is managed, and what else goes wrong.

Everything is drawn from the seed before the run begins, like the rest of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import attrs

from kcoord.group.state.connect_settings import ClassicMode
from kcoord.protocol.embedded import COMPATIBLE, EAGER, SESSIONED
from kcoord.sim.basis.phases import MIXED_PHASES
from kcoord.sim.plans.plan import FAULTS, Plan, draw_without_placement, swarm, with_placement

MIXED_FAULTS: Mapping[str, int] = {
    "swap": 4,
    "roll": 1,
    "mode": 2,
    "policy": 1,
    "bounce": 6,
    "lose_leader": 4,
    "other_version": 1,
    "session_key": 3,
}
"""The faults that can strike besides those of any run, each with its usual weight."""
UNUSED = ("metadata", "burst")
"""Faults that only new-protocol workers have. They are rare here."""


@attrs.frozen
class Mix:
    """What is drawn for a mixed run."""

    classic: tuple[bool, ...]
    """For each place: whether a classic worker starts there first."""
    versions: tuple[int, ...]
    """The embedded protocols that classic workers may be set to."""
    mode: ClassicMode
    weights: Mapping[str, int]
    max_delay_ms: int
    """`scheduled.rebalance.max.delay.ms`"""
    session_ms: int
    interval_ms: int
    rebalance_ms: int
    wait_ms: int
    """`connect.classic.heartbeat.wait.ms`"""
    gather_ms: int
    """`group.initial.rebalance.delay.ms`"""
    unread: float
    """The probability that reading the config topic to its end takes too long."""
    hangs: int = 0
    """How many revocations hang after the last fault. A listener does that by mistake, and nothing heals it."""


def draw(random: Random) -> tuple[Plan, Mix]:
    """A run with classic workers."""
    plan, mix = draw_mix_without_placement(random)
    plan = with_placement(plan)
    return plan, _managed_one_by_one(plan, mix) if plan.placements else mix


def _managed_one_by_one(plan: Plan, mix: Mix) -> Mix:
    """The same mix, changed so that rules can mostly hold in it."""
    random = Random(f"mix for placement of {plan.fault_seed}")
    return attrs.evolve(
        mix,
        mode=ClassicMode.INDIVIDUAL if random.random() < 0.8 else mix.mode,
        versions=(SESSIONED,) if mix.versions == (EAGER,) and random.random() < 0.7 else mix.versions,
    )


def draw_mix_without_placement(random: Random) -> tuple[Plan, Mix]:
    """A run with classic workers, without placement rules."""
    choice = random.choice
    plan = draw_without_placement(random)
    # workers report the configuration from the config topic here
    computing = choice(("uniform", "cooperative", "client", "client", "mixed"))
    weights = {fault: 0 if fault in UNUSED and choice((1, 1, 1, 0)) else plan.weights[fault] for fault in FAULTS}
    plan = attrs.evolve(
        plan,
        workers=min(plan.workers, 6),
        tells=True,
        weights={**weights, "delete": 0},
        computing=computing,
        static=0.0,
        latency_ms=min(plan.latency_ms, 200),
        gap_ms=max(plan.gap_ms, 1_000),
        faulty_ms=max(plan.faulty_ms, 40_000),
        aim=choice(MIXED_PHASES) if plan.aim else "",
    )
    return plan, _draw_mix(random, plan)


def _draw_mix(random: Random, plan: Plan) -> Mix:
    chance, choice = random.random, random.choice
    share = choice((1.0, 1.0, 0.5, 0.5, 0.0))
    mode = choice((ClassicMode.INDIVIDUAL, ClassicMode.INDIVIDUAL, ClassicMode.BARRIER))
    return Mix(
        classic=tuple(chance() < share for _ in range(plan.workers)),
        versions=choice(((SESSIONED,), (SESSIONED,), (SESSIONED, COMPATIBLE), (COMPATIBLE,), (EAGER,))),
        mode=mode,
        weights=swarm(random, MIXED_FAULTS),
        max_delay_ms=choice((0, 5_000, 20_000, 20_000)),
        session_ms=choice((6_000, 10_000)),
        interval_ms=choice((1_000, 3_000)),
        rebalance_ms=choice((6_000, 20_000, 60_000)),
        wait_ms=choice((-1, -1, 0, 500)),
        gather_ms=choice((0, 500, 3_000)),
        unread=choice((0.0, 0.0, 0.1)),
    )
