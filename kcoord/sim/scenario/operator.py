"""The operator of a scenario's fleet: sets placement rules, drains workers, and waits until they run nothing.

It does what `kcoord placement apply` and `kcoord workers` do, on virtual time.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from kcoord.assign.placement import NO_RULES, Cordon, Rules
from kcoord.assign.placement.document import write_setting
from kcoord.group.state.connect_settings import PLACEMENT
from kcoord.sim.basis.events import Events
from kcoord.sim.scenario.hub import Hub
from kcoord.sim.scenario.meter import Meter

LOOK_MS = 1_000
"""How often the operator checks a drained worker, as `kcoord workers drain --wait` does."""
LONGEST_DRAIN_MS = 600_000
"""How long the operator waits for a drain."""


class Operator:
    """The operator of one group."""

    def __init__(self, group: str, events: Events, hub: Hub, meter: Meter) -> None:
        self._group, self._events, self._hub, self._meter = group, events, hub, meter
        self._rules = NO_RULES

    def apply(self, rules: Rules) -> None:
        """Replace the group's rules with these."""
        self._rules = rules
        self._meter.follows_rules = bool(rules)
        self._hub.configure(self._group, {PLACEMENT: write_setting(rules)} if rules else {})

    def cordon(self, url: str, *, drains: bool) -> None:
        """Give the worker nothing new. `drains`: also move what it runs."""
        others = [each for each in self._rules.cordons if each.worker != url]
        self.apply(attrs.evolve(self._rules, cordons=(*others, Cordon(url, drains))))

    def uncordon(self, url: str) -> None:
        """Use the worker again."""
        self.apply(attrs.evolve(self._rules, cordons=tuple(c for c in self._rules.cordons if c.worker != url)))

    def drain(self, worker: str, url: str, then: Callable[[], None]) -> None:
        """Drain the worker. `then` is called when it runs nothing, or when what it runs has no other place."""
        self.cordon(url, drains=True)
        now_ms = self._events.now_ms
        self._events.after(LOOK_MS, self._look, worker, now_ms + LONGEST_DRAIN_MS, then)

    def _look(self, worker: str, until_ms: int, then: Callable[[], None]) -> None:
        is_empty = worker not in self._meter.holders.values()
        if is_empty or self._events.now_ms >= until_ms or self._hub.is_placed(self._group):
            then()
        else:
            self._events.after(LOOK_MS, self._look, worker, until_ms, then)
