"""The context of a run with several instances: what concerns instances is drawn separately, so that the rest of a seed
is the same as with one instance.
"""

from __future__ import annotations

from random import Random

from kcoord.sim.basis.trace import Sink
from kcoord.sim.context import RunContext
from kcoord.sim.instances.network import FrontNetwork
from kcoord.sim.plans.plan import Plan


class InstancesContext(RunContext):
    """What the parts of such a run share. `choices` draws what concerns instances."""

    network: FrontNetwork

    def __init__(self, seed: int, random: Random, plan: Plan, sink: Sink | None = None) -> None:
        self.choices = Random(f"instances of {seed}")
        super().__init__(seed, random, plan, sink)

    def _make_network(self) -> FrontNetwork:
        return FrontNetwork(self.events, self.random, self.plan, self.choices)
