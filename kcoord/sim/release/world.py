"""A run with two releases: coordinators of both take over from one another, and workers of both are in the group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kcoord.sim.assignors import Assignors
from kcoord.sim.checks import Checks
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.plan import Plan, draw_without_placement
from kcoord.sim.release.alias import load_release
from kcoord.sim.release.checks import ReleaseChecks
from kcoord.sim.release.coordinator import ReleaseCoordinator
from kcoord.sim.release.fleet import ReleaseFleet
from kcoord.sim.release.sides import Side, other_side, this_side
from kcoord.sim.trace import Sink
from kcoord.sim.world import World


class ReleaseWorld(World):
    """One run."""

    def __init__(self, seed: int, site: Path, sink: Sink | None = None) -> None:
        self.ours, self.theirs = this_side(), other_side(load_release(site))
        self.sides = (self.ours, self.theirs)
        self.view = View(self, self.theirs)
        super().__init__(seed, sink)

    def draw(self) -> Plan:
        """The plan that the seed draws, without placement rules: the other release may not know them."""
        return draw_without_placement(self.random)

    def build_components(self) -> tuple[Checks, Fleet, Faults]:
        """Make the checks, the workers and the faults."""
        checks = ReleaseChecks(self)
        self.found_group()
        return checks, ReleaseFleet(self), Faults(self)

    def found_group(self) -> None:
        """Make what workers need."""
        self.coordinator = self.releases_coordinator = ReleaseCoordinator(self, self._settings())
        self.assignors = Assignors(self)
        self.view.assignors = self.theirs.module("sim.assignors").Assignors(self.view)


class View:
    """The world as the other release's workers see it: with their own assignors."""

    def __init__(self, world: ReleaseWorld, side: Side) -> None:
        self._world = world
        self._side = side
        self.assignors: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)
