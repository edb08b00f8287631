"""What did an event cost a fleet? Joins, stops, and how long anything stood still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from tests.javafleet.fleet import JavaFleet
from tests.javafleet.joins import joining_since
from tests.javafleet.notes import Run, bounces, needless, now_ms, nowhere_ms, overlaps, running, runs_of, stops

TASK = "task "


@attrs.frozen
class Figures:
    """An event from its first deed until nobody joined any more."""

    began_ms: int
    joins: Mapping[str, int]
    """How many each worker made, of those that there were before or are there after."""
    idle: Mapping[str, int]
    """Those of them after which the worker ran what it ran before."""
    stopped: Sequence[Run]
    """Tasks that workers stopped which did not end themselves."""
    needless: Sequence[Run]
    """Those of them that nobody needed."""
    moved: Sequence[str]
    """Tasks that run on another worker in the end."""
    nowhere_ms: int
    """The longest time that a task, there before and after, ran nowhere."""
    until_ms: int
    """From the first deed until the last connector or task was started."""
    twice: Sequence[tuple[Run, Run]]
    """What ran on two workers at one time."""

    @property
    def idle_joins(self) -> int:
        """Joins that changed nothing, of all workers."""
        return sum(self.idle.values())

    def rejoined(self) -> set[str]:
        """The workers that joined at all."""
        return {name for name, joins in self.joins.items() if joins}


@attrs.frozen
class Watch:
    """Begins when it is made."""

    fleet: JavaFleet
    began_ms: int = attrs.field(factory=now_ms, init=False)
    _before: Mapping[str, int] = attrs.field(init=False)

    @_before.default
    def _joins_before(self) -> Mapping[str, int]:
        return self.fleet.join_counts()

    def figures(self) -> Figures:
        """All from the beginning until now."""
        notes, now = self.fleet.notes.read(), now_ms()
        runs = runs_of(notes)
        since = {name: worker.joins()[self._before.get(name, 0) :] for name, worker in self.fleet.workers.items()}
        there = {run.worker for run in running(runs, self.began_ms)} | {worker.name for worker in self.fleet.alive}
        tasks = [run for run in runs if run.resource.startswith(TASK)]
        started = [run.from_ms for run in runs if run.from_ms > self.began_ms]
        return Figures(
            began_ms=self.began_ms,
            joins={name: len(joins) for name, joins in since.items() if name in there or joins},
            idle={name: sum(not join.changed for join in joins) for name, joins in since.items()},
            stopped=stops(tasks, self.began_ms, now),
            needless=needless(notes, self.began_ms, now, TASK),
            moved=_moved(running(tasks, self.began_ms), running(tasks)),
            nowhere_ms=max(nowhere_ms(tasks, self.began_ms, now).values(), default=0),
            until_ms=max(started, default=self.began_ms) - self.began_ms,
            twice=[pair for pair in overlaps(runs) if pair[1].from_ms >= self.began_ms],
        )


@attrs.frozen
class Restart:
    """A worker that was stopped in order and started again, once."""

    worker: str
    away_ms: int
    """From its stop until it, started again, asked to be a member."""
    nowhere_ms: int
    """The longest time that one of its tasks ran nowhere."""
    late_ms: int
    """From when it asked to be a member until the last of its tasks had been started again."""


def restarts(fleet: JavaFleet, since_ms: int) -> list[Restart]:
    """All workers that were stopped in order since then. Each was started again, and has not ended since."""
    found = []
    for each in bounces(fleet.notes.read(), since_ms, TASK):
        asked_ms = joining_since(fleet.workers[each.worker].log, each.leaving_ms)
        away_ms, late_ms = asked_ms - each.leaving_ms, each.all_run_ms - asked_ms
        found.append(Restart(each.worker, away_ms, each.nowhere_ms, late_ms))
    return found


def _moved(before: Sequence[Run], after: Sequence[Run]) -> list[str]:
    had = {run.resource: run.worker for run in before}
    return [run.resource for run in after if had.get(run.resource, run.worker) != run.worker]
