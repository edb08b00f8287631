"""The workers of a run with two releases: each life of a worker is of one release or the other."""

from __future__ import annotations

from typing import Any

import attrs

from kcoord.sim.assignors import Assignors
from kcoord.sim.context import RunContext
from kcoord.sim.fleet import Fleet, Place
from kcoord.sim.process import SimulatedProcess
from kcoord.sim.release.former_context import FormerContext
from kcoord.sim.release.sides import Side
from kcoord.worker.setup import Setup


class ReleaseFleet(Fleet):
    """All places of such a run."""

    def __init__(
        self, context: RunContext, assignors: Assignors, sides: tuple[Side, Side], view: FormerContext
    ) -> None:
        super().__init__(context, assignors)
        self._sides = sides
        self._view = view

    def _process(self, place: Place) -> SimulatedProcess:
        process, side = super()._process(place), self._random.choice(self._sides)
        if side is self._sides[0]:
            return process
        self._context.note(place.name, f"is of {side.name}")
        theirs: SimulatedProcess = side.module("sim.worker").Process(
            self._view,
            place.name,
            _setup_of(side, place.setup),
            lambda _, gone: self._ended(place, gone.error_code),
        )
        theirs.side = side  # type: ignore[attr-defined]
        return theirs


def _setup_of(side: Side, setup: Setup) -> Any:
    """The setup for a worker of that release: the fields that both know."""
    module = side.module("worker.setup")
    known = {each.name for each in attrs.fields(module.Setup)}
    values = {each.name: getattr(setup, each.name) for each in attrs.fields(Setup) if each.name in known}
    values["offers"] = tuple(module.Offer(*attrs.astuple(offer)) for offer in setup.offers)
    return module.Setup(**values)
