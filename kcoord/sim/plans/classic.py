"""The plan of a run of a classic group: a mixed run's plan, without what needs kcoord."""

from __future__ import annotations

from random import Random

import attrs

from kcoord.group.state.connect_settings import ClassicMode
from kcoord.sim.plans.mixed import Mix, draw_mix_without_placement
from kcoord.sim.plans.plan import Plan

NOT_OF_KAFKA = ("settings", "metadata", "burst", "delete")
"""Faults that do not exist for a group of Kafka's own coordinator."""
NOT_OF_CLASSIC_GROUPS = ("mode", "policy", "other_version")
"""The same for faults of a mixed run."""

HANGS = (0, 1, 1, 2, 4)
"""How many revocations hang once nothing else goes wrong any more (`Mix.hangs`)."""


def draw(random: Random) -> tuple[Plan, Mix]:
    """A run of Java's and kcoord's workers in a classic group."""
    plan, mix = draw_mix_without_placement(random)
    share = random.choice((0.0, 0.3, 0.5, 0.5, 0.7))
    plan = attrs.evolve(
        plan,
        workers=max(2, plan.workers),
        weights={**plan.weights, **dict.fromkeys(NOT_OF_KAFKA, 0)},
        hot_path=False,
        wire=random.random() < 0.1,
        flawed=0.0,
        aim="",
    )
    mix = attrs.evolve(
        mix,
        classic=tuple(random.random() < share for _ in range(plan.workers)),
        versions=(random.choice(mix.versions),),
        mode=ClassicMode.BARRIER,
        weights={**mix.weights, **dict.fromkeys(NOT_OF_CLASSIC_GROUPS, 0)},
        wait_ms=0,
        hangs=random.choice(HANGS),
    )
    return plan, mix
