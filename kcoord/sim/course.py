"""The course of one run, of any kind: a coordinator, processes, a network between them, and faults.

1. For a while things go wrong, as the plan says. After each step the run looks for what must never be.
2. Then nothing goes wrong any more. Within a bounded time all must be well, and stay so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random
from traceback import format_exception
from typing import Any, Protocol

from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.basis.trace import Sink
from kcoord.sim.basis.violation import Violation
from kcoord.sim.common_faults import CommonFaults
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.places import Places
from kcoord.sim.plans.plan_file import RunPlan

LOOK_MS = 1_000
"""How often the run checks whether all is well."""
STAYS_MS = 4_000
"""How long all must stay well."""
PATIENCE_MS = 600_000
"""How long it may take until all is well, after the last fault."""


class RunJudge(Protocol):
    """The judge of a run, as its course needs it."""

    @property
    def loads(self) -> int: ...
    def healed(self) -> None: ...
    def epoch(self) -> int: ...
    def wrong(self) -> str | None: ...
    def at_end(self) -> None: ...


class Course(ABC):
    """One run."""

    coordinator: Coordinator
    fleet: Places[Any]
    checks: RunJudge
    faults: CommonFaults[Any]

    def __init__(self, seed: int, sink: Sink | None = None, run_plan: RunPlan | None = None) -> None:
        self.seed = seed
        random = Random(seed) if run_plan is None else run_plan.random()
        self._planned_faults = None if run_plan is None else run_plan.faults
        self.context = self._make_context(random, sink, run_plan)
        self.coordinator, self.fleet, self.checks, self.faults = self._build_components()

    @abstractmethod
    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> RunContext:
        """Make the context, with the plan that the seed draws or that of a plan file."""

    @abstractmethod
    def _build_components(self) -> tuple[Coordinator, Places[Any], RunJudge, CommonFaults[Any]]:
        """Make the coordinator, the processes, the checks and the faults, in this order: some of them draw."""

    # -- the run ------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run from the first process's start until all is well."""
        context = self.context
        violation: Violation | None = None
        healed_ms = 0
        try:
            self._begin()
            context.events.run(context.plan.faulty_ms)
            self._heal()
            healed_ms = self._be_well()
            self.checks.at_end()
        except Violation as found:
            violation = found
        except Exception as fault:  # any exception that ends a step is a finding
            if context.tracing:
                context.note("FAULT", "".join(format_exception(fault)))
            violation = Violation("fault", f"{type(fault).__name__}: {fault}")
        if violation is not None:
            context.note("VIOLATION", str(violation))
        self.coordinator.count()
        return Outcome(
            self.seed,
            context.steps,
            context.hot_answers,
            self.checks.loads,
            context.events.now_ms,
            healed_ms,
            violation,
            context.sightings.names(),
            context.fingerprint.value,
        )

    def _begin(self) -> None:
        if self.context.tracing:
            self.context.note("plan", str(self.context.plan))
        self.coordinator.start()
        for place in self.fleet.places:
            self.context.events.after(int(self.context.random.random() * 3_000), self.fleet.start, place)
        self.faults.start()

    def _heal(self) -> None:
        """End all faults."""
        self.context.note("faults", "end here")
        self.context.faulty = False
        self.checks.healed()
        self.context.network.heal()
        self.coordinator.heal()
        for place in self.fleet.places:
            if place.process is not None:
                place.process.isolated_until_ms = 0
                place.process.thaw()
            elif self.context.random.random() < 0.5:
                place.wanted = True
                self.fleet.start(place)
        if not any(place.wanted for place in self.fleet.places):
            self.fleet.places[0].wanted = True
            self.fleet.start(self.fleet.places[0])

    def _be_well(self) -> int:
        """Wait until all is well and stays so. Returns how long that took, in ms."""
        checks, events = self.checks, self.context.events
        healed_at_ms = well_ms = events.now_ms
        epoch = checks.epoch()
        while True:
            wrong = checks.wrong()
            if wrong is not None or checks.epoch() != epoch:
                well_ms, epoch = events.now_ms + LOOK_MS, checks.epoch()
                if events.now_ms >= healed_at_ms + PATIENCE_MS:
                    raise Violation("liveness", f"{PATIENCE_MS} ms after the last fault: {wrong or 'no rest'}")
            elif events.now_ms >= well_ms + STAYS_MS:
                return well_ms - healed_at_ms
            events.run(events.now_ms + LOOK_MS)
