"""A run of a classic group, as Kafka's own coordinator has it: Java's workers and kcoord's in one group.

The coordinator is kcoord's own for classic groups, which responds as Kafka's does (`group/classic`). So this tests the
workers: once the faults have ended, everything must be shared, no two workers may run the same resource, and no worker
may want rounds endlessly.
"""

from __future__ import annotations

from random import Random

from kcoord.sim.assignors import Assignors
from kcoord.sim.basis.trace import Sink
from kcoord.sim.classic.checks import ClassicChecks
from kcoord.sim.classic.context import ClassicContext
from kcoord.sim.classic.fleet import ClassicFleet
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.judging.checks import Checks
from kcoord.sim.mixed.faults import MixedFaults
from kcoord.sim.mixed.world import MixedWorld, mixed_plan
from kcoord.sim.plans.classic import draw
from kcoord.sim.plans.plan_file import RunPlan

DELETES_AFTER_MS = 15_000
"""How long after the last fault a connector is deleted, in runs in which revocations hang."""


class ClassicWorld(MixedWorld):
    """One run."""

    context: ClassicContext
    fleet: ClassicFleet

    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> ClassicContext:
        plan, mix = draw(random) if run_plan is None else mixed_plan(run_plan)
        return ClassicContext(self.seed, random, plan, mix, sink)

    def _build_components(self) -> tuple[Coordinator, Fleet, Checks, Faults]:
        """Make the coordinator, the workers, the checks and the faults, in this order: some of them draw."""
        context = self.context
        coordinator = Coordinator(context, self._settings())
        fleet = ClassicFleet(context, Assignors(context))
        checks = ClassicChecks(context, coordinator, fleet)
        return coordinator, fleet, checks, MixedFaults(context, coordinator, fleet, checks, self._planned_faults)

    def _heal(self) -> None:
        super()._heal()
        if self.context.mix.hangs:
            self.context.is_to_delete = True
            self.context.events.after(DELETES_AFTER_MS, self._delete_connector)

    def _delete_connector(self) -> None:
        """Give workers something to stop. Nothing begins another round after that."""
        self.context.is_to_delete = False
        known = self.context.topic.newest.task_counts
        if known:
            self.context.topic.remove(min(known))
            self.fleet.announce()
