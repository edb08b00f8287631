"""The fleet: places for workers of connect groups.

A worker that starts again in its place has the same url and instance id, and the same member id or a new one.
"""

from __future__ import annotations

from typing import Any

import attrs

from kcoord.assign import Resource
from kcoord.sim.assignors import Assignors
from kcoord.sim.basis.trace import names
from kcoord.sim.context import RunContext
from kcoord.sim.places import Places, ProcessPlace
from kcoord.sim.process import SimulatedProcess
from kcoord.sim.worker import Process
from kcoord.worker.setup import Offer, Setup

GROUP = "g"


@attrs.define(eq=False)
class Place(ProcessPlace):
    """A place where one worker at a time runs."""

    setup: Setup
    """The setup of the process that was started last."""
    offers: tuple[Offer, ...]
    """The assignors that it offers by now."""
    changes: dict[str, Any] = attrs.Factory(dict)
    """What the worker has reported about itself since. The next process reports that too."""


class Fleet(Places[Place]):
    """All places of a run with workers."""

    def __init__(self, context: RunContext, assignors: Assignors) -> None:
        self._assignors = assignors
        super().__init__(context)

    def _place(self, at: int) -> Place:
        setup = self._setup(at)
        return Place(f"w{at}", setup, setup.offers)

    def _setup(self, at: int) -> Setup:
        plan, chance, choice = self._context.plan, self._random.random, self._random.choice
        computing = plan.computing
        if computing == "mixed":
            computing = choice(("client", "client", "both", "eager", "uniform"))
        offers: tuple[Offer, ...] = ()
        newest = choice((0, 1, 1, 2))
        cooperative, eager = Offer("cooperative", -1, newest, 0, newest), Offer("eager", -1, 0)
        if computing == "client":
            offers = (cooperative,) if chance() < 0.7 else (cooperative, eager)
        elif computing == "both":
            offers = (eager, cooperative)
        elif computing == "eager":
            offers = (eager,)
        return Setup(
            GROUP,
            f"w{at}",
            instance_id=f"i{at}" if chance() < plan.static else None,
            url=f"http://w{at}" if chance() < 0.7 else None,
            rebalance_timeout_ms=choice((1_000, 3_000, 3_000, 10_000)),
            server_assignor=computing if computing == "cooperative" else None,
            offers=offers,
            max_wait_ms=choice((500, 60_000)) if chance() < plan.held else 0,
            request_timeout_ms=choice((500, 2_000, 5_000)) + 3 * plan.latency_ms,
            leave_timeout_ms=2_000,
        )

    def configure(self, configured: frozenset[Resource]) -> None:
        """From now on other resources exist. Workers hear of it one after the other."""
        context = self._context
        context.configured = configured
        context.config_offset += 1
        if context.tracing:
            context.note("admin", f"configuration {context.config_offset}: {names(configured)}")
        for process in self.processes():
            context.events.after(int(self._random.random() * 2_000), process.hear_configuration)

    def _process(self, place: Place) -> SimulatedProcess:
        context = self._context
        new_id = place.lives > 1 and self._random.random() < 0.5
        member_id = f"{place.name}.{place.lives}" if new_id else place.setup.member_id
        place.setup = place.setup.with_changes({"member_id": member_id, **place.changes, **context.configuration()})
        place.changes.clear()
        context.note(place.name, f"starts as {member_id}")
        return Process(
            context,
            self.judge,
            self._assignors,
            place.name,
            place.setup,
            lambda _, gone: self._ended(place, gone.error_code),
        )
