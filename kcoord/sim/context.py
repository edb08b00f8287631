"""The context of a run: time, random numbers, the plan, the network, the trace, and what is configured by now.

Every part of a run has it. A part that needs another part gets that when it is made; the context knows none of them.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kcoord.group.state.connect_settings import PLACEMENT
from kcoord.sim.basis.events import Events
from kcoord.sim.basis.fingerprint import Fingerprint
from kcoord.sim.basis.sightings import Sightings
from kcoord.sim.basis.trace import Sink
from kcoord.sim.network import Network
from kcoord.sim.plans.plan import Plan, resources


class RunContext:
    """What the parts of one run share."""

    def __init__(self, seed: int, random: Random, plan: Plan, sink: Sink | None = None) -> None:
        self.seed = seed
        self.random = random
        self.plan = plan
        self._sink = sink
        self.tracing = sink is not None
        self.events = Events()
        self.network = self._make_network()
        self.sightings = Sightings()
        self.fingerprint = Fingerprint()
        self.steps = 0
        self.hot_answers = 0
        self.faulty = True
        """Whether things may still go wrong."""
        self.placement = ""
        """The placement rules that the group is to have. Empty: none."""
        self.configured = resources(plan.connectors, dict.fromkeys(range(plan.connectors), plan.tasks))
        self.config_offset = 1

    def _make_network(self) -> Network:
        return Network(self.events, self.random, self.plan)

    def note(self, who: str, what: str) -> None:
        """Write a line of the trace."""
        if self._sink is not None:
            self._sink(f"{self.events.now_ms / 1000:9.3f}  {who:<11} {what}")

    def flawed(self) -> float:
        """The probability that an assignor of the coordinator fails or returns nonsense."""
        return self.plan.flawed if self.faulty else 0.0

    def start_ms(self) -> int:
        """How long `on_assigned` takes."""
        return int(self.random.random() * 20)

    def stop_ms(self) -> int | None:
        """How long `on_revoked` takes. None: it hangs until it is cut short."""
        chance = self.random.random
        if not self.faulty or chance() >= self.plan.slow:
            return int(chance() * 100)
        return None if chance() < 0.2 else int(chance() * 15_000)

    def configuration(self) -> dict[str, Any]:
        """What a worker knows of the configuration when it starts."""
        if not self.plan.tells:
            return {}
        return {"configured": self.configured, "config_offset": self.config_offset}

    def placement_configuration(self) -> dict[str, str]:
        """The group's own setting of placement rules, as it is to be."""
        return {PLACEMENT: self.placement} if self.placement else {}
