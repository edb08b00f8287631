"""A run of a classic group, as Kafka's own coordinator has it: Java's workers and kcoord's in one group.

The coordinator is kcoord's own for classic groups, which responds as Kafka's does (`group/classic`). So this tests the
workers: once the faults have ended, everything must be shared, no two workers may run the same resource, and no worker
may want rounds endlessly.
"""

from __future__ import annotations

from typing import Any

from kcoord.sim.checks import Checks
from kcoord.sim.classic.checks import ClassicChecks
from kcoord.sim.classic.fleet import ClassicFleet
from kcoord.sim.classic.plan import draw
from kcoord.sim.faults import Faults
from kcoord.sim.fleet import Fleet
from kcoord.sim.mixed.checks import MixedChecks
from kcoord.sim.mixed.fleet import MixedFleet
from kcoord.sim.mixed.world import MixedWorld
from kcoord.sim.plan import Plan

DELETES_AFTER_MS = 15_000
"""How long after the last fault a connector is deleted, in runs in which revocations hang."""


class ClassicWorld(MixedWorld):
    """One run."""

    is_to_delete = False
    """Whether a connector has to be deleted before all can be well."""

    def draw(self) -> Plan:
        """The plan that the seed draws."""
        plan, self.mix = draw(self.random)
        return plan

    def build_components(self) -> tuple[Checks, Fleet, Faults]:
        """Make the checks, the workers and the faults."""
        self._hangs_left = self.mix.hangs
        return super().build_components()

    def _heal(self) -> None:
        super()._heal()
        if self.mix.hangs:
            self.is_to_delete = True
            self.events.after(DELETES_AFTER_MS, self._delete_connector)

    def _delete_connector(self) -> None:
        """Give workers something to stop. Nothing begins another round after that."""
        self.is_to_delete = False
        known = self.topic.newest.task_counts
        if known:
            self.topic.remove(min(known))
            self.announce()

    def stop_ms(self) -> int | None:
        """How long `on_revoked` takes. None: it hangs until it is cut short. A few hang after the last fault, when no
        round that something else begins can end that.
        """
        if not self.faulty and self._hangs_left:
            self._hangs_left -= 1
            return None
        return super().stop_ms()

    def _checks(self) -> MixedChecks:
        return ClassicChecks(self)

    def _fleet(self) -> MixedFleet:
        return ClassicFleet(self)

    def configuration(self) -> dict[str, Any]:
        """What one of kcoord's workers has read of the config topic."""
        return {**super().configuration(), "revisions": self.topic.newest.revisions, "of_topic": True}
