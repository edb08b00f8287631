"""What belongs to a run with several instances? The same as to any; what concerns instances is drawn by itself, so that
the rest of a seed is what it is with one.
"""

from __future__ import annotations

from random import Random

import attrs

from kcoord.sim.assignors import Assignors
from kcoord.sim.checks import Checks
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.instances.checks import InstancesChecks
from kcoord.sim.instances.coordinator import SharedCoordinator
from kcoord.sim.instances.faults import InstancesFaults
from kcoord.sim.instances.network import FrontNetwork
from kcoord.sim.plan import Plan
from kcoord.sim.world import World


def overlapping(choices: Random, plan: Plan) -> Plan:
    """The same run, but for work that moves all the time and is slow to stop."""
    return attrs.evolve(
        plan,
        workers=choices.choice((2, 3, 4)),
        connectors=2,
        tasks=3,
        gap_ms=choices.choice((150, 400, 1_000)),
        weights={**plan.weights, "burst": 20, "configure": 20},
        session_ms=20_000,
        computing=choices.choice(("uniform", "eager", "client")),
        tells=True,
        flawed=0.0,
        held=choices.choice((0.0, 0.5)),
        slow=0.4,
    )


class InstancesWorld(World):
    """One run."""

    shared: SharedCoordinator
    choices: Random

    def draw(self) -> Plan:
        """What the seed says. In every second run work moves while it is slow to stop: others wait for what a request
        that lay somewhere would free.
        """
        plan, choices = super().draw(), Random(f"plan of instances {self.seed}")
        return overlapping(choices, plan) if choices.random() < 0.5 else plan

    def furnish(self) -> tuple[Checks, Fleet, Faults]:
        """Who watches, who works, what goes wrong."""
        self.choices = Random(f"instances of {self.seed}")
        checks = InstancesChecks(self)
        self.found_group()
        checks.shared = self.shared
        return checks, Fleet(self), InstancesFaults(self)

    def found_group(self) -> None:
        """What workers need."""
        network = self.network = FrontNetwork(self.events, self.random, self.plan, self.choices)
        number = self.choices.choice((2, 2, 3))
        self.coordinator = self.shared = SharedCoordinator(self, self._settings(), network, self.choices, number)
        self.assignors = Assignors(self)

    def reachable(self) -> bool:
        """Whether a connection to some instance can be made now."""
        return self.shared.is_up and not (self.faulty and self.random.random() < 0.02)
