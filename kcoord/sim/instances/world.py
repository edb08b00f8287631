"""The world of a run with several instances: as in any run. What concerns instances is drawn separately, so that the
rest of a seed is the same as with one instance.
"""

from __future__ import annotations

from random import Random

from kcoord.sim.assignors import Assignors
from kcoord.sim.checks import Checks
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.instances.checks import InstancesChecks
from kcoord.sim.instances.coordinator import SharedCoordinator
from kcoord.sim.instances.faults import InstancesFaults
from kcoord.sim.instances.network import FrontNetwork
from kcoord.sim.instances.plan import Instances, draw
from kcoord.sim.plan import Plan
from kcoord.sim.plan_file import RunPlan
from kcoord.sim.world import World


class InstancesWorld(World):
    """One run."""

    shared: SharedCoordinator
    choices: Random

    instances: Instances | None = None
    """What a plan file says about them. Once the run has been set up: what applies."""

    def draw(self) -> Plan:
        """The plan that the seed draws."""
        return draw(self.seed, self.random)

    def take(self, run_plan: RunPlan) -> Plan:
        """The plan in a plan file."""
        self.instances = run_plan.instances
        return run_plan.plan

    def build_components(self) -> tuple[Checks, Fleet, Faults]:
        """Make the checks, the workers and the faults."""
        self.choices = Random(f"instances of {self.seed}")
        checks = InstancesChecks(self)
        self.found_group()
        checks.shared = self.shared
        fleet, faults = Fleet(self), InstancesFaults(self)
        self.instances = Instances(len(self.shared.instances), faults.weights)
        return checks, fleet, faults

    def found_group(self) -> None:
        """Make what workers need."""
        network = self.network = FrontNetwork(self.events, self.random, self.plan, self.choices)
        drawn = self.choices.choice((2, 2, 3))
        number = drawn if self.instances is None else self.instances.number
        self.coordinator = self.shared = SharedCoordinator(self, self._settings(), network, self.choices, number)
        self.assignors = Assignors(self)

    def reachable(self) -> bool:
        """Whether a connection to some instance can be made now."""
        return self.shared.is_up and not (self.faulty and self.random.random() < 0.02)
