"""The world of a run as the workers of the other release see it: what they ask of it, under the names of 0.1.0."""

from __future__ import annotations

from typing import Any

from kcoord.sim.context import RunContext
from kcoord.sim.process import ProcessJudge
from kcoord.sim.release.sides import Side


class FormerContext:
    """The context of the run, with these workers' own assignors, and with the judge."""

    checks: ProcessJudge

    def __init__(self, context: RunContext, side: Side) -> None:
        self._context = context
        self._flawed = context.flawed
        self.assignors = side.module("sim.assignors").Assignors(self)

    def reachable(self) -> bool:
        """Whether a connection to the coordinator can be made now."""
        return self._context.network.reachable()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)
