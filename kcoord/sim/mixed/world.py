"""The world of a run with classic workers: as in any run, plus workers of the classic protocol in the same group."""

from __future__ import annotations

from random import Random

import attrs

from kcoord.group.state.connect_settings import MigrationPolicy
from kcoord.group.state.settings import GroupSettings
from kcoord.sim.assignors import Assignors
from kcoord.sim.basis.trace import Sink
from kcoord.sim.coordinator import UP, Coordinator
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import GROUP, Fleet
from kcoord.sim.judging.checks import Checks
from kcoord.sim.mixed.checks import MixedChecks
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.mixed.faults import MixedFaults
from kcoord.sim.mixed.fleet import MixedFleet
from kcoord.sim.plans.mixed import Mix, draw
from kcoord.sim.plans.plan import Plan
from kcoord.sim.plans.plan_file import RunPlan
from kcoord.sim.world import World


class MixedWorld(World):
    """One run."""

    context: MixedContext

    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> MixedContext:
        plan, mix = draw(random) if run_plan is None else mixed_plan(run_plan)
        return MixedContext(self.seed, random, plan, mix, sink)

    def _build_components(self) -> tuple[Coordinator, Fleet, Checks, Faults]:
        """Make the coordinator, the workers, the checks and the faults, in this order: some of them draw."""
        context = self.context
        coordinator = Coordinator(context, self._settings())
        fleet = MixedFleet(context, Assignors(context))
        checks = MixedChecks(context, coordinator, fleet)
        return coordinator, fleet, checks, MixedFaults(context, coordinator, fleet, checks, self._planned_faults)

    def _settings(self) -> GroupSettings:
        settings = super()._settings()
        mix = self.context.mix
        connect = attrs.evolve(settings.connect, classic_mode=mix.mode, classic_wait_ms=mix.wait_ms)
        return attrs.evolve(settings, connect=connect, initial_rebalance_delay_ms=mix.gather_ms)

    # -- the run ------------------------------------------------------------------------------------------------------

    def _heal(self) -> None:
        self.context.policy = MigrationPolicy.BIDIRECTIONAL
        super()._heal()
        self.context.events.after(1_000, self._allow_all)

    def _allow_all(self) -> None:
        """The administrator repeats the request until it is committed: an append that began before may still fail."""
        self.coordinator.alter_config(GROUP, self.context.group_configuration())
        if self.coordinator.stage is not UP or self.coordinator.pending:
            self.context.events.after(1_000, self._allow_all)


def mixed_plan(run_plan: RunPlan) -> tuple[Plan, Mix]:
    """The plan in a plan file."""
    assert run_plan.mix is not None
    return run_plan.plan, run_plan.mix
