"""The world of one run: a coordinator, workers, a network between them, and faults; and the course of the run.

1. For a while things go wrong, as the plan says. After each step the run looks for what must never be
   (`judging/checks.py`).
2. Then nothing goes wrong any more. Within a bounded time all must be well, and stay so: everything that is configured
   runs once, every member has converged, and the group is stable.
"""

from __future__ import annotations

from random import Random
from traceback import format_exception

from kcoord.assign import CooperativeAssignor, UniformAssignor
from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.sim.assignors import Assignors, FlawedServerAssignor
from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.basis.trace import Sink
from kcoord.sim.basis.violation import Violation
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.judging.checks import Checks
from kcoord.sim.plans.plan import draw
from kcoord.sim.plans.plan_file import RunPlan

LOOK_MS = 1_000
"""How often the run checks whether all is well."""
STAYS_MS = 4_000
"""How long all must stay well."""
PATIENCE_MS = 600_000
"""How long it may take until all is well, after the last fault."""


class World:
    """One run."""

    def __init__(self, seed: int, sink: Sink | None = None, run_plan: RunPlan | None = None) -> None:
        self.seed = seed
        random = Random(seed) if run_plan is None else run_plan.random()
        self._planned_faults = None if run_plan is None else run_plan.faults
        self.context = self._make_context(random, sink, run_plan)
        self.coordinator, self.fleet, self.checks, self.faults = self._build_components()

    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> RunContext:
        """Make the context, with the plan that the seed draws or that of a plan file."""
        return RunContext(self.seed, random, draw(random) if run_plan is None else run_plan.plan, sink)

    def _build_components(self) -> tuple[Coordinator, Fleet, Checks, Faults]:
        """Make the coordinator, the workers, the checks and the faults, in this order: some of them draw."""
        context = self.context
        coordinator = Coordinator(context, self._settings())
        fleet = Fleet(context, Assignors(context))
        checks = Checks(context, coordinator, fleet)
        return coordinator, fleet, checks, Faults(context, coordinator, fleet, checks, self._planned_faults)

    def _settings(self) -> GroupSettings:
        context, plan = self.context, self.context.plan
        flawed = [
            FlawedServerAssignor(each, context.random, context.flawed)
            for each in (UniformAssignor(), CooperativeAssignor())
        ]
        return GroupSettings(
            connect=ConnectSettings(
                session_timeout_ms=plan.session_ms,
                min_session_timeout_ms=3_000,
                max_session_timeout_ms=60_000,
                heartbeat_interval_ms=plan.interval_ms,
                min_heartbeat_interval_ms=100,
                rebalance_delay_ms=plan.rebalance_delay_ms,
                assignors=tuple(flawed),
            )
        )

    # -- the run ------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run from the first worker's start until all is well."""
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
        context.sightings.counted(self.coordinator.shard.state.counters)
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
