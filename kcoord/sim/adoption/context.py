"""The context of a run of adoption and release: random numbers, the plan, the event loop, the network, the trace."""

from __future__ import annotations

from random import Random

from kcoord.sim.adoption.frames import Frames
from kcoord.sim.adoption.loop import SimLoop
from kcoord.sim.adoption.plan import AdoptionPlan, draw
from kcoord.sim.adoption.wires import Network
from kcoord.sim.basis.fingerprint import Fingerprint
from kcoord.sim.basis.trace import Sink


class AdoptionContext:
    """What the parts of such a run share."""

    def __init__(self, seed: int, sink: Sink | None = None) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.plan: AdoptionPlan = draw(self.random, seed)
        self.fingerprint = Fingerprint()
        """Of what members hear, and when."""
        self._sink = sink
        self.tracing = sink is not None
        self.loop = SimLoop()
        of_releases = Random(f"releases {seed}")
        self.network = Network(self.loop, Random(self.random.getrandbits(64)), of_releases, self.plan.latency_ms)
        if self.tracing:
            self.network.show = Frames(self.note).sent

    def note(self, who: str, what: str) -> None:
        """Write a line of the trace."""
        if self._sink is not None:
            self._sink(f"{self.loop.now_ms / 1000:9.3f}  {who:<11} {what}")
