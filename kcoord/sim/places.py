"""The places of a run: each has one process at most, and starts another one when that has ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.sim.context import RunContext
from kcoord.sim.process import ProcessJudge, SimulatedProcess


@attrs.define(eq=False)
class ProcessPlace:
    """A place where one process at a time runs."""

    name: str
    process: SimulatedProcess | None = attrs.field(default=None, kw_only=True)
    lives: int = attrs.field(default=0, kw_only=True)
    wanted: bool = attrs.field(default=True, kw_only=True)
    """Whether a process is started again when it has ended."""


class FleetJudge(ProcessJudge, Protocol):
    """The judge of all processes: it also follows which of them live."""

    def born(self, process: SimulatedProcess) -> None: ...
    def died(self, process: SimulatedProcess) -> None: ...


P = TypeVar("P", bound=ProcessPlace)


class Places(ABC, Generic[P]):
    """All places of a run."""

    judge: FleetJudge
    """Set by the judge itself."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._random = context.random
        self.places = [self._place(at) for at in range(context.plan.workers)]

    @abstractmethod
    def _place(self, at: int) -> P:
        """Make the place of that number."""

    @abstractmethod
    def _process(self, place: P) -> SimulatedProcess:
        """Make the next process at a place. `_ended` is to be called when it ends by itself."""

    def processes(self) -> list[SimulatedProcess]:
        """All processes that live."""
        return [place.process for place in self.places if place.process is not None]

    def is_starting(self) -> bool:
        """Whether a process is to start yet."""
        return any(place.wanted and place.process is None for place in self.places)

    def start(self, place: P) -> None:
        """Start a new process if no process lives."""
        if place.process is not None or not place.wanted:
            return
        place.lives += 1
        place.process = self._process(place)
        self.judge.born(place.process)
        place.process.start()

    def kill(self, place: P, back_ms: int | None) -> None:
        """The process dies. Another one starts after `back_ms`; None: none does."""
        if place.process is not None:
            self._context.note(place.name, "dies")
            self.judge.died(place.process)
            place.process.kill()
            self._over(place, back_ms)

    def _ended(self, place: P, error_code: int) -> None:
        assert place.process is not None
        self.judge.died(place.process)
        back_ms: int | None = 1_000 + int(self._random.random() * 4_000)
        if error_code == ErrorCode.NONE and self._context.faulty and self._random.random() < 0.3:
            back_ms = None
        self._over(place, back_ms)

    def _over(self, place: P, back_ms: int | None) -> None:
        place.process = None
        if back_ms is None:
            place.wanted = False
        else:
            self._context.events.after(back_ms, self.start, place)
