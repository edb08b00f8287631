"""The fleet of a mixed run: which kind of worker starts at a place, and the setup with which both kinds work together.

A place can change its kind: a classic worker's successor may be a new-protocol one at the same url, and back.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.sim.assignors import Assignors
from kcoord.sim.classic_worker import ClassicSetup, Close
from kcoord.sim.fleet import GROUP, Fleet, Place
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.mixed.process import ClassicProcess, ClassicProcessJudge
from kcoord.sim.places import FleetJudge
from kcoord.sim.process import SimulatedProcess


class MixedFleetJudge(FleetJudge, ClassicProcessJudge, Protocol):
    """The judge of workers of either kind."""


class MixedFleet(Fleet):
    """All places of a mixed run."""

    judge: MixedFleetJudge
    _context: MixedContext

    def __init__(self, context: MixedContext, assignors: Assignors) -> None:
        super().__init__(context, assignors)
        mix, choice = context.mix, context.random.choice
        self.classic = {place.name: classic for place, classic in zip(self.places, mix.classic, strict=True)}
        """Whether a classic worker starts there next."""
        self.versions = {place.name: choice(mix.versions) for place in self.places}
        """The `connect.protocol` of the classic worker there."""

    def _place(self, at: int) -> Place:
        place = super()._place(at)
        # every Connect worker has a url, and classic workers know a leader by it
        place.setup = attrs.evolve(place.setup, url=f"http://{place.name}", instance_id=None)
        return place

    def _process(self, place: Place) -> SimulatedProcess:
        if not self.classic[place.name]:
            return super()._process(place)
        context, mix = self._context, self._context.mix
        version = self.versions[place.name]
        setup = ClassicSetup(
            GROUP,
            f"http://{place.name}",
            protocol=version,
            session_timeout_ms=mix.session_ms,
            rebalance_timeout_ms=mix.rebalance_ms,
            heartbeat_interval_ms=mix.interval_ms,
            request_timeout_ms=40_000,
            max_delay_ms=mix.max_delay_ms,
            worker_unsync_backoff_ms=10_000,
        )
        context.note(place.name, f"starts as a classic worker, version {version}")
        return ClassicProcess(context, self.judge, place.name, setup, lambda _, close: self._closed(place, close))

    def _closed(self, place: Place, close: Close) -> None:
        if close.died_of == ErrorCode.INCONSISTENT_GROUP_PROTOCOL.name and not self._context.faulty:
            self._speak_as_others(place)
        self._ended(place, ErrorCode.UNKNOWN_SERVER_ERROR if close.died_of else ErrorCode.NONE)

    def _speak_as_others(self, place: Place) -> None:
        """The operator sets `connect.protocol` to the value of the other workers. A classic group that was loaded knows
        only the chosen protocol of each member, as on Kafka's coordinator, until the member joins again.
        """
        others = [process.worker.setup.protocol for process in self.classic_processes()]
        self.versions[place.name] = max([self.versions[place.name], *others])

    def announce(self) -> None:
        """The config topic has grown. Workers read it one after the other."""
        context, random = self._context, self._random
        context.read_topic()
        if context.tracing:
            newest = context.topic.newest
            context.note("admin", f"configuration {newest.offset}: {dict(newest.task_counts)}")
        for process in self.processes():
            late_ms = int(random.random() * random.choice((50, 500, 2_000)))
            context.events.after(late_ms, process.hear_configuration)

    def classic_processes(self) -> list[ClassicProcess]:
        """The classic workers that live."""
        return [each for each in self.processes() if isinstance(each, ClassicProcess)]
