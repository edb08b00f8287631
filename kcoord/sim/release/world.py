"""A run with two releases: coordinators of both take over from one another, and workers of both are in the group."""

from __future__ import annotations

from pathlib import Path
from random import Random

from kcoord.sim.assignors import Assignors
from kcoord.sim.basis.trace import Sink
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.judging.checks import Checks
from kcoord.sim.plans.plan import draw_without_placement
from kcoord.sim.plans.plan_file import RunPlan
from kcoord.sim.release.checks import ReleaseChecks
from kcoord.sim.release.coordinator import ReleaseCoordinator
from kcoord.sim.release.fleet import ReleaseFleet
from kcoord.sim.release.former_context import FormerContext
from kcoord.sim.release.imported_release import load_release
from kcoord.sim.release.sides import other_side, this_side
from kcoord.sim.world import World


class ReleaseWorld(World):
    """One run."""

    def __init__(self, seed: int, site: Path, sink: Sink | None = None) -> None:
        self.ours, self.theirs = this_side(), other_side(load_release(site))
        super().__init__(seed, sink)

    def _make_context(self, random: Random, sink: Sink | None, run_plan: RunPlan | None) -> RunContext:
        """Make the context. Its plan has no placement rules: the other release may not know them."""
        return RunContext(self.seed, random, draw_without_placement(random), sink)

    def _build_components(self) -> tuple[Coordinator, Fleet, Checks, Faults]:
        """Make the coordinator, the workers, the checks and the faults, in this order: some of them draw."""
        context, sides, view = self.context, (self.ours, self.theirs), FormerContext(self.context, self.theirs)
        coordinator = ReleaseCoordinator(context, self._settings(), sides, view)
        fleet = ReleaseFleet(context, Assignors(context), sides, view)
        checks = view.checks = ReleaseChecks(context, coordinator, fleet)
        return coordinator, fleet, checks, Faults(context, coordinator, fleet, checks)
