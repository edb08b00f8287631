"""The plans of runs with several instances: how they differ, and what is drawn for the instances."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import attrs

from kcoord.sim.plans.plan import Plan
from kcoord.sim.plans.plan import draw as draw_plan


@attrs.frozen
class Instances:
    """What is decided about the instances before a run begins."""

    number: int
    """How many instances there are."""
    weights: Mapping[str, int]
    """The weights of their faults (`instances.faults.WEIGHTS`)."""


def draw(seed: int, random: Random) -> Plan:
    """The plan of a seed. `random` has the run's own random numbers. In every second run work moves while it is slow to
    stop: then others wait for what a request would free that is held up somewhere.
    """
    plan, choices = draw_plan(random), Random(f"plan of instances {seed}")
    return _overlapping(choices, plan) if choices.random() < 0.5 else plan


def _overlapping(choices: Random, plan: Plan) -> Plan:
    """The same run, except that work moves all the time and is slow to stop."""
    return attrs.evolve(
        plan,
        workers=choices.choice((2, 3, 4)),
        connectors=2,
        tasks=3,
        gap_ms=choices.choice((150, 400, 1_000)),
        weights={**plan.weights, "burst": 20, "configure": 20},
        session_ms=20_000,
        computing=choices.choice(("uniform", "eager", "client")),
        tells=True,
        flawed=0.0,
        held=choices.choice((0.0, 0.5)),
        slow=0.4,
    )
