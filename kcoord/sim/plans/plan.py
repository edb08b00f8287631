"""The plan of a run: how large the run is, and what goes wrong how often. It is drawn from the seed before the run
begins.

Times are in ms of virtual time. `gap_ms` is the mean time between two faults; the weights say which fault it is. Each
run has only some kinds of faults switched on (a swarm). In a run with few kinds each strikes often, and no other one
hides its effect. Which faults strike when, and what each of them draws, is settled before the run begins (`schedule`).

Placement rules have random numbers of their own. So a run without rules is the same as if no run had any.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from random import Random

import attrs

from kcoord.resource import Resource, connector, task
from kcoord.sim.basis.phases import MOVING_PHASE, PHASES
from kcoord.sim.plans.placement_documents import draw_documents

FAULTS: Mapping[str, int] = {
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
    "configure": 5,
    "settings": 4,
    "metadata": 4,
    "burst": 4,
    "ask": 2,
    "delete": 1,
}
"""The faults that can strike, each with its usual weight."""

SHARES = (0.15, 0.3, 0.6, 0.9)
"""The share of the kinds of faults that are on in a run."""
AIMED = 0.3
"""The share of runs in which faults wait for a phase of the group."""

PLACEMENT = "placement"
"""The fault that changes the group's placement rules, in runs that have some."""
PLACEMENT_WEIGHT = 6
PLACED = 0.25
"""The share of runs in which the group has placement rules."""
AIMED_AT_MOVES = 0.3
"""The share of those runs in which faults wait until rules move work."""

CHURNING = 0.1
"""The share of runs that are `churn` runs."""
CHURN: Mapping[str, int] = {"burst": 20, "configure": 10, "metadata": 4, "cut": 1, "stall": 1}
"""The faults of a run in which work moves faster than messages."""


@attrs.frozen
class Fault:
    """One fault that is to strike."""

    at_ms: int
    kind: str
    seed: int
    """The seed for what the fault draws when it strikes: whom it hits, and for how long."""


@attrs.frozen
class Plan:
    """One run."""

    workers: int
    connectors: int
    tasks: int
    """The most tasks of each connector."""
    faulty_ms: int
    """How long things go wrong."""
    gap_ms: int
    weights: Mapping[str, int]
    """Weight by fault. 0: never."""

    # the coordinator
    session_ms: int
    interval_ms: int
    rebalance_delay_ms: int
    commit_ms: int
    """The longest time that an append takes."""
    hot_path: bool
    wire: bool
    """Whether messages and records go through their codecs. That is slower, so not in every run."""
    computing: str
    """Who assigns: uniform, cooperative (server-side), client, eager, mixed."""
    tells: bool
    """Whether workers report what is configured. If not, the first assignment defines it (CG-21)."""
    flawed: float
    """The probability that an assignor fails or returns nonsense."""

    # workers
    held: float
    """The share of workers that let their responses be held."""
    static: float
    """The share of workers that are static members."""
    slow: float
    """The probability that a revocation takes long."""
    latency_ms: int
    """The longest time that a message takes while nothing is wrong."""

    # fields that later versions of the drawing added
    fault_seed: int | None = None
    """The seed of the schedule of faults. None: faults are drawn from the run's own random numbers."""
    aim: str = ""
    """The phase (`phases.py`) that each scheduled fault waits for, for a short while. Empty: none."""
    placements: tuple[str, ...] = ()
    """The values of `connect.placement` that the fault of that name sets, one of them each time."""


def draw(random: Random) -> Plan:
    """Draw a run of any size. Most are small, because small groups meet the same faults sooner."""
    return with_placement(draw_without_placement(random))


def draw_without_placement(random: Random) -> Plan:
    """The same, without placement rules."""
    plan = _draw(random)
    return churn(random, plan) if random.random() < CHURNING else plan


def with_placement(plan: Plan) -> Plan:
    """The plan. In some runs it gets placement rules, mostly for a group in which the coordinator places."""
    random = Random(f"placement of {plan.fault_seed}")
    if random.random() >= PLACED:
        return plan
    aim = MOVING_PHASE if random.random() < AIMED_AT_MOVES else plan.aim
    places = plan.tells and random.random() < 0.85
    return attrs.evolve(
        plan,
        weights={**plan.weights, PLACEMENT: _swarming(random, PLACEMENT_WEIGHT)},
        computing=random.choice(("uniform", "cooperative")) if places else plan.computing,
        aim=aim,
        placements=draw_documents(random, plan.workers, plan.connectors),
    )


def _draw(random: Random) -> Plan:
    chance, choice = random.random, random.choice
    workers = choice((1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8))
    tells = chance() < 0.9
    client_side = ("client", "client", "eager")
    return Plan(
        workers=workers,
        connectors=choice((1, 1, 2, 2, 3, 4)),
        tasks=choice((1, 2, 3, 4, 6)),
        faulty_ms=choice((20_000, 40_000, 40_000, 80_000)),
        gap_ms=choice((400, 1_000, 2_000, 4_000, 10_000)),
        weights=swarm(random, FAULTS),
        session_ms=choice((6_000, 10_000, 10_000, 20_000)),
        interval_ms=choice((500, 1_000, 2_000)),
        rebalance_delay_ms=choice((0, 0, 2_000, 10_000, 30_000)),
        commit_ms=choice((0, 2, 20, 200)),
        hot_path=chance() < 0.5,
        wire=chance() < 0.04,
        computing=choice(("uniform", "cooperative", "mixed", *client_side) if tells else client_side),
        tells=tells,
        flawed=choice((0.0, 0.0, 0.1, 0.4)),
        held=choice((0.0, 0.5, 1.0)),
        static=choice((0.0, 0.0, 0.5, 1.0)),
        slow=choice((0.0, 0.1, 0.4)),
        latency_ms=choice((2, 20, 200, 800)),
        aim=choice(PHASES) if chance() < AIMED else "",
        fault_seed=random.getrandbits(32),
    )


def swarm(random: Random, usual: Mapping[str, int]) -> dict[str, int]:
    """The weights of faults for one run. A few kinds or most of them are on, each between a quarter of its usual weight
    and four times that weight.
    """
    share = random.choice(SHARES)
    return {fault: _swarming(random, weight) if random.random() < share else 0 for fault, weight in usual.items()}


def _swarming(random: Random, weight: int) -> int:
    return max(1, round(weight * 4 ** random.uniform(-1, 1)))


def schedule(plan: Plan, weights: Mapping[str, int]) -> tuple[Fault, ...]:
    """Which faults of these weights strike when. It follows from `plan.fault_seed` alone."""
    random = Random(plan.fault_seed)
    kinds = [kind for kind, weight in weights.items() if weight]
    summed = list(accumulate(weights[kind] for kind in kinds))
    found: list[Fault] = []
    at_ms = 0
    while kinds:
        at_ms += 1 + int(random.expovariate(1 / plan.gap_ms))
        if at_ms >= plan.faulty_ms:
            break
        (kind,) = random.choices(kinds, cum_weights=summed)
        found.append(Fault(at_ms, kind, random.getrandbits(32)))
    return tuple(found)


def churn(random: Random, plan: Plan) -> Plan:
    """The same run, except that work moves while responses about it are on their way: many requests cross responses."""
    return attrs.evolve(
        plan,
        workers=random.choice((3, 4, 6)),
        connectors=2,
        tasks=random.choice((3, 6)),
        faulty_ms=20_000,
        gap_ms=random.choice((150, 400)),
        weights={fault: CHURN.get(fault, 0) for fault in FAULTS},
        session_ms=20_000,
        commit_ms=random.choice((0, 200)),
        computing=random.choice(("uniform", "client", "eager")),
        tells=True,
        flawed=0.0,
        held=random.choice((0.5, 1.0)),
        static=0.0,
        latency_ms=random.choice((200, 800)),
        aim="",
    )


def resources(connectors: int, tasks: Mapping[int, int]) -> frozenset[Resource]:
    """Connectors `a`, `b`, … with the given numbers of tasks."""
    found = set[Resource]()
    for at in range(connectors):
        name = chr(ord("a") + at)
        found.add(connector(name))
        found.update(task(name, number) for number in range(tasks.get(at, 0)))
    return frozenset(found)
