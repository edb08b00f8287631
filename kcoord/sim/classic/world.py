"""A run of a classic group, as Kafka's own coordinator has it: Java's workers and kcoord's in one group.

The coordinator is kcoord's of classic groups, which answers as Kafka's does (`group/generic`), so what is tried here
are the workers: whether all is shared once the faults have ended, nobody runs what another one runs, and nobody wants
rounds without end.
"""

from __future__ import annotations

from typing import Any

from kcoord.sim.classic.checks import ClassicChecks
from kcoord.sim.classic.fleet import ClassicFleet
from kcoord.sim.classic.plan import draw
from kcoord.sim.mixed.checks import MixedChecks
from kcoord.sim.mixed.fleet import MixedFleet
from kcoord.sim.mixed.world import MixedWorld
from kcoord.sim.plan import Plan


class ClassicWorld(MixedWorld):
    """One run."""

    def draw(self) -> Plan:
        """What the seed says."""
        plan, self.mix = draw(self.random)
        return plan

    def _checks(self) -> MixedChecks:
        return ClassicChecks(self)

    def _fleet(self) -> MixedFleet:
        return ClassicFleet(self)

    def configuration(self) -> dict[str, Any]:
        """What one of kcoord's workers has read of the config topic."""
        return {**super().configuration(), "revisions": self.topic.newest.revisions, "of_topic": True}
