"""The world of a run with several instances around one shard."""

from __future__ import annotations

from random import Random

from kcoord.sim.assignors import Assignors
from kcoord.sim.basis.trace import Sink
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.instances.checks import InstancesChecks
from kcoord.sim.instances.context import InstancesContext
from kcoord.sim.instances.coordinator import SharedCoordinator
from kcoord.sim.instances.faults import InstancesFaults
from kcoord.sim.judging.checks import Checks
from kcoord.sim.plans.instances import Instances, draw
from kcoord.sim.plans.plan_file import RunPlan
from kcoord.sim.world import World


class InstancesWorld(World):
    """One run."""

    context: InstancesContext

    instances: Instances
    """What applies to them: what a plan file says, or what was drawn."""

    def __init__(self, seed: int, sink: Sink | None = None, run_plan: RunPlan | None = None) -> None:
        self._planned_instances = None if run_plan is None else run_plan.instances
        super().__init__(seed, sink, run_plan)

    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> InstancesContext:
        plan = draw(self.seed, random) if run_plan is None else run_plan.plan
        return InstancesContext(self.seed, random, plan, sink)

    def _build_components(self) -> tuple[Coordinator, Fleet, Checks, Faults]:
        """Make the coordinator, the workers, the checks and the faults, in this order: some of them draw."""
        context, planned = self.context, self._planned_instances
        drawn = context.choices.choice((2, 2, 3))
        coordinator = SharedCoordinator(context, self._settings(), drawn if planned is None else planned.number)
        fleet = Fleet(context, Assignors(context))
        checks = InstancesChecks(context, coordinator, fleet)
        weights = None if planned is None else planned.weights
        faults = InstancesFaults(context, coordinator, fleet, checks, self._planned_faults, weights)
        self.instances = Instances(len(coordinator.instances), faults.weights)
        return coordinator, fleet, checks, faults
