"""Shrinking: a failing run is made as small as possible while it still violates the same invariant.

1. The faults that struck until the violation become a list of their own (`RunPlan.faults`), each with its own seed.
2. Faults are left out by delta debugging (Zeller's ddmin): halves, quarters, … and at the end one by one.
3. The plan is made simpler, field by field: fewer workers, connectors and tasks, no flaws, no delays, fewer placement
   rules.
4. Both are repeated until neither makes progress or the allowed runs are used up.

Leaving a fault out shifts the run's own random numbers, and so changes what messages meet. So a candidate is tried with
a few other run seeds before it is given up. The run seed that fails is part of the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from kcoord.sim.basis.violation import Violation
from kcoord.sim.plans.consumer import Consumers
from kcoord.sim.plans.mixed import Mix
from kcoord.sim.plans.placement_documents import NO_RULES, write_document
from kcoord.sim.plans.plan import Fault, Plan
from kcoord.sim.plans.plan_file import RunPlan
from kcoord.sim.series.run import struck_faults

RUNS = 1_000
"""How many runs shrinking may take."""
SEEDS = 4
"""How many run seeds a candidate is tried with."""
FIRST_SEEDS = 100
"""The same when faults first get seeds of their own, which shifts everything."""

Note = Callable[[str], None]

SIMPLER: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("workers", (1, 2, 3, 4, 5)),
    ("connectors", (1, 2, 3)),
    ("tasks", (1, 2, 3, 4)),
    ("aim", ("",)),
    ("flawed", (0.0,)),
    ("held", (0.0,)),
    ("static", (0.0,)),
    ("slow", (0.0,)),
    ("wire", (False,)),
    ("hot_path", (False,)),
    ("computing", ("uniform", "client")),
    ("rebalance_delay_ms", (0,)),
    ("commit_ms", (0,)),
    ("latency_ms", (2, 20, 200)),
)
"""Simpler values for fields of the plan, simplest first."""
SIMPLER_MIX: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("unread", (0.0,)),
    ("wait_ms", (-1,)),
    ("gather_ms", (0,)),
    ("max_delay_ms", (0,)),
)
"""The same for fields that are drawn for runs with classic workers."""
SIMPLER_CONSUMERS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("groups", (1, 2)),
    ("topics", (1, 2, 3)),
    ("partitions", (1, 2, 3, 4)),
    ("hasty", (0.0,)),
    ("twins", (0.0,)),
    ("slow_metadata", (0.0,)),
    ("assignment_takes_ms", (0,)),
    ("assignment_interval_ms", (0, 300, 1_000)),
    ("wishes", ((None,),)),
    ("wait_ms", (0,)),
)
"""The same for fields that are drawn for runs with consumer groups."""


class NothingToShrink(Exception):
    """The run violates nothing, or nothing once its faults have seeds of their own."""


@attrs.frozen
class Shrunk:
    """The smallest run that was found."""

    run_plan: RunPlan
    violation: Violation
    runs: int
    """How many runs it took."""


def shrink(run_plan: RunPlan, note: Note = lambda _: None, runs: int = RUNS) -> Shrunk:
    """Make a failing run as small as possible within `runs` runs. Raises NothingToShrink."""
    outcome, faults = struck_faults(run_plan)
    if outcome.violation is None:
        raise NothingToShrink("the run violates nothing")
    search = Search(outcome.violation, runs - 1)
    start = attrs.evolve(run_plan, faults=faults)
    if not search.holds(start, FIRST_SEEDS):
        raise NothingToShrink(f"no run with the same faults violates {outcome.violation.invariant} again")
    note(f"{len(faults)} faults, {start.plan.workers} workers: {search.violation}")
    while True:
        before = search.best
        for step in (_fewer_faults, _simpler, _fewer_rules):
            step(search)
            best = search.best
            note(f"{len(best.faults or ())} faults, {best.plan.workers} workers, after {runs - search.left} runs")
        if search.best == before or not search.left:
            break
    return Shrunk(attrs.evolve(search.best, cause=str(search.violation)), search.violation, runs - search.left)


class Search:
    """The smallest failing run so far, and how many more runs may be tried."""

    def __init__(self, violation: Violation, left: int) -> None:
        self.violation = violation
        self.left = left
        self.best: RunPlan
        self._kind = _kind(violation)

    def holds(self, candidate: RunPlan, seeds: int = SEEDS) -> bool:
        """Whether the candidate fails in the same way with one of `seeds` run seeds. If so, it is the best so far."""
        for at in range(seeds):
            if not self.left:
                return False
            self.left -= 1
            run_plan = candidate if not at else attrs.evolve(candidate, seed=candidate.seed + at, skip=0)
            outcome, faults = struck_faults(run_plan)
            if outcome.violation is not None and _kind(outcome.violation) == self._kind:
                self.best, self.violation = attrs.evolve(run_plan, faults=faults), outcome.violation
                return True
        return False


def _kind(violation: Violation) -> tuple[str, str]:
    """What must stay the same: the invariant, and for an exception also its type."""
    return violation.invariant, violation.text.partition(":")[0] if violation.invariant == "fault" else ""


def _fewer_faults(search: Search) -> None:
    """ddmin: leave out ever smaller parts, as long as the rest still fails."""
    parts = 2
    while faults := search.best.faults:
        size = max(1, len(faults) // parts)
        for rest in _without_a_part(faults, size):
            if search.holds(attrs.evolve(search.best, faults=rest)):
                parts = max(2, parts - 1)
                break
        else:
            if size == 1:
                return
            parts = min(len(faults), parts * 2)


def _without_a_part(faults: tuple[Fault, ...], size: int) -> Iterator[tuple[Fault, ...]]:
    for begin in range(0, len(faults), size):
        yield faults[:begin] + faults[begin + size :]


def _simpler(search: Search) -> None:
    """Simplify each field by itself, trying the simplest value first."""
    for field, values in SIMPLER:
        for value in values:
            if value == getattr(search.best.plan, field) or _is_more(field, value, search.best.plan):
                break
            if search.holds(_with(search.best, attrs.evolve(search.best.plan, **{field: value}))):
                break
    for field, values in SIMPLER_MIX:
        mix = search.best.mix
        if mix is not None and getattr(mix, field) not in values:
            search.holds(attrs.evolve(search.best, mix=attrs.evolve(mix, **{field: values[0]})))
    for field, values in SIMPLER_CONSUMERS:
        for value in values:
            consumers = search.best.consumers
            if consumers is None or value == getattr(consumers, field) or _is_more(field, value, consumers):
                break
            if search.holds(attrs.evolve(search.best, consumers=attrs.evolve(consumers, **{field: value}))):
                break


def _fewer_rules(search: Search) -> None:
    """Leave out each placement document by itself, then each of its tables."""
    for at in reversed(range(len(search.best.plan.placements))):
        documents = search.best.plan.placements
        search.holds(_with_rules(search.best, documents[:at] + documents[at + 1 :]))
    for at, document in enumerate(search.best.plan.placements):
        for name in json.loads(document) if document else ():
            documents = search.best.plan.placements
            tables = {key: rows for key, rows in json.loads(documents[at]).items() if key != name}
            simpler = write_document(tables) if tables else NO_RULES
            search.holds(_with_rules(search.best, (*documents[:at], simpler, *documents[at + 1 :])))


def _with_rules(run_plan: RunPlan, documents: tuple[str, ...]) -> RunPlan:
    return _with(run_plan, attrs.evolve(run_plan.plan, placements=documents))


def _is_more(field: str, value: Any, plan: Plan | Consumers) -> bool:
    now = getattr(plan, field)
    return isinstance(value, int) and not isinstance(value, bool) and isinstance(now, int) and value > now


def _with(run_plan: RunPlan, plan: Plan) -> RunPlan:
    mix: Mix | None = run_plan.mix
    if mix is not None:
        mix = attrs.evolve(mix, classic=mix.classic[: plan.workers])
    return attrs.evolve(run_plan, plan=plan, mix=mix)
