"""The fleet of a classic group: places at which workers of Java's or of kcoord's start."""

from __future__ import annotations

import attrs

from kcoord.protocol.embedded import EAGER
from kcoord.sim.classic.context import ClassicContext
from kcoord.sim.classic.process import LibraryProcess
from kcoord.sim.fleet import Place
from kcoord.sim.mixed.fleet import MixedFleet
from kcoord.sim.process import SimulatedProcess
from kcoord.worker.classic.phases import Timing

ASSIGNORS = ("cooperative", "cooperative", "connect", "eager")
"""The assignors that kcoord's workers use if they lead."""


class ClassicFleet(MixedFleet):
    """All places of a run."""

    _context: ClassicContext

    def _process(self, place: Place) -> SimulatedProcess:
        if self.classic[place.name]:
            return super()._process(place)
        context, mix = self._context, self._context.mix
        version = self.versions[place.name]
        timing = Timing(
            session_ms=mix.session_ms,
            interval_ms=mix.interval_ms,
            delay_ms=mix.max_delay_ms,
            version=version,
            assignor="cooperative" if version == EAGER else self._random.choice(ASSIGNORS[:3]),
        )
        place.setup = attrs.evolve(
            place.setup,
            member_id="",
            server_assignor=None,
            offers=(),
            rebalance_timeout_ms=mix.rebalance_ms,
            request_timeout_ms=40_000,
            **context.configuration(),
        )
        place.changes.clear()
        context.note(place.name, f"starts as one of kcoord's, version {version}")
        return LibraryProcess(
            context,
            self.judge,
            self._assignors,
            place.name,
            place.setup,
            timing,
            lambda _, gone: self._ended(place, gone.error_code),
        )

    def library_processes(self) -> list[LibraryProcess]:
        """The kcoord workers that live."""
        return [each for each in self.processes() if isinstance(each, LibraryProcess)]
