"""The context of a run of a classic group: as in a mixed run, plus revocations that hang after the last fault."""

from __future__ import annotations

from random import Random
from typing import Any

from kcoord.sim.basis.trace import Sink
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.plans.mixed import Mix
from kcoord.sim.plans.plan import Plan


class ClassicContext(MixedContext):
    """What the parts of such a run share."""

    def __init__(self, seed: int, random: Random, plan: Plan, mix: Mix, sink: Sink | None = None) -> None:
        super().__init__(seed, random, plan, mix, sink)
        self.is_to_delete = False
        """Whether a connector has to be deleted before all can be well."""
        self._hangs_left = mix.hangs

    def stop_ms(self) -> int | None:
        """How long `on_revoked` takes. None: it hangs until it is cut short. A few hang after the last fault, when no
        round that something else begins can end that.
        """
        if not self.faulty and self._hangs_left:
            self._hangs_left -= 1
            return None
        return super().stop_ms()

    def configuration(self) -> dict[str, Any]:
        """What one of kcoord's workers has read of the config topic."""
        return {**super().configuration(), "revisions": self.topic.newest.revisions, "of_topic": True}
