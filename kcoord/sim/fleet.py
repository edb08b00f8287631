"""The fleet: places for workers, each with one process at most, and their restarts.

A worker that starts again in its place has the same url and instance id, and the same member id or a new one.
"""

from __future__ import annotations

from typing import Any, Protocol

import attrs

from kcoord.assign import Resource
from kcoord.protocol.errors import ErrorCode
from kcoord.sim.assignors import Assignors
from kcoord.sim.basis.trace import names
from kcoord.sim.context import RunContext
from kcoord.sim.process import ProcessJudge, SimulatedProcess
from kcoord.sim.worker import Process
from kcoord.worker.setup import Offer, Setup

GROUP = "g"


@attrs.define(eq=False)
class Place:
    """A place where one worker at a time runs."""

    name: str
    setup: Setup
    """The setup of the process that was started last."""
    offers: tuple[Offer, ...]
    """The assignors that it offers by now."""
    changes: dict[str, Any] = attrs.Factory(dict)
    """What the worker has reported about itself since. The next process reports that too."""
    process: SimulatedProcess | None = None
    lives: int = 0
    wanted: bool = True
    """Whether a process is started again when it has ended."""


class FleetJudge(ProcessJudge, Protocol):
    """The judge of all workers: it also follows which of them live."""

    def born(self, process: SimulatedProcess) -> None: ...
    def died(self, process: SimulatedProcess) -> None: ...


class Fleet:
    """All places of a run."""

    judge: FleetJudge
    """Set by the judge itself."""

    def __init__(self, context: RunContext, assignors: Assignors) -> None:
        self._context = context
        self._assignors = assignors
        self._random = context.random
        self.places = [self._place(at) for at in range(context.plan.workers)]

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

    def processes(self) -> list[SimulatedProcess]:
        """All processes that live."""
        return [place.process for place in self.places if place.process is not None]

    def is_starting(self) -> bool:
        """Whether a worker is to start yet."""
        return any(place.wanted and place.process is None for place in self.places)

    def configure(self, configured: frozenset[Resource]) -> None:
        """From now on other resources exist. Workers hear of it one after the other."""
        context = self._context
        context.configured = configured
        context.config_offset += 1
        if context.tracing:
            context.note("admin", f"configuration {context.config_offset}: {names(configured)}")
        for process in self.processes():
            context.events.after(int(self._random.random() * 2_000), process.hear_configuration)

    def start(self, place: Place) -> None:
        """Start a new process if there is none."""
        if place.process is not None or not place.wanted:
            return
        place.lives += 1
        place.process = self._process(place)
        self.judge.born(place.process)
        place.process.start()

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

    def kill(self, place: Place, back_ms: int | None) -> None:
        """The process dies. Another one starts after `back_ms`; None: none does."""
        if place.process is not None:
            self._context.note(place.name, "dies")
            self.judge.died(place.process)
            place.process.kill()
            self._over(place, back_ms)

    def _ended(self, place: Place, error_code: int) -> None:
        assert place.process is not None
        self.judge.died(place.process)
        back_ms: int | None = 1_000 + int(self._random.random() * 4_000)
        if error_code == ErrorCode.NONE and self._context.faulty and self._random.random() < 0.3:
            back_ms = None
        self._over(place, back_ms)

    def _over(self, place: Place, back_ms: int | None) -> None:
        place.process = None
        if back_ms is None:
            place.wanted = False
        else:
            self._context.events.after(back_ms, self.start, place)
