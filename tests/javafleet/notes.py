"""What ran where, when? As the tests' connectors note it in a file, and the fleet when it ends a worker.

A line is "TIME started|stopped connector|task NAME on WORKER with VERSION", or "TIME coming|leaving|gone WORKER"; times
are ms of one machine's clock. A run begins with "started" and ends with "stopped" or with its worker's "gone".
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

import attrs


class What(StrEnum):
    """What a line tells."""

    STARTED = "started"
    STOPPED = "stopped"
    COMING = "coming"
    """The worker's process was started."""
    LEAVING = "leaving"
    """The worker was told to end in order."""
    GONE = "gone"
    """Its process is there no more."""


@attrs.frozen
class Note:
    """One line; `resource` ("task NAME-0") and `version` are empty where it is about a worker."""

    at_ms: int
    what: What
    worker: str
    resource: str = ""
    version: str = ""


@attrs.define
class Run:
    """One resource on one worker. `to_ms` None: it runs still."""

    resource: str
    worker: str
    version: str
    from_ms: int
    to_ms: int | None = None
    stopped: bool = False
    """It was stopped by its worker, not with it."""


@attrs.frozen
class Bounce:
    """A worker was told to end, and all that it ran has been started again since, by whomever."""

    worker: str
    leaving_ms: int
    """When it was told to end."""
    nowhere_ms: int
    """The longest time that something of it ran nowhere."""
    all_run_ms: int
    """When the last of it was started again."""


@attrs.frozen
class Notes:
    """A file of notes."""

    file: Path

    def write(self, what: What, about: str) -> None:
        """Add a line, as of now."""
        line = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(line, f"{now_ms()} {what} {about}\n".encode())
        os.close(line)

    def read(self) -> list[Note]:
        """All lines, in the order of time; what is written half is none yet."""
        text = self.file.read_text() if self.file.exists() else ""
        return sorted(map(parse, text[: text.rfind("\n") + 1].splitlines()), key=lambda note: note.at_ms)

    def runs(self) -> list[Run]:
        """All runs, the first started first."""
        return runs_of(self.read())


def now_ms() -> int:
    """The clock of the notes."""
    return time.time_ns() // 1_000_000


def parse(line: str) -> Note:
    """One line. Raises ValueError."""
    at_ms, what, *rest = line.split(" ")
    if len(rest) == 1:
        return Note(int(at_ms), What(what), rest[0])
    kind, name, _, worker, _, version = rest
    return Note(int(at_ms), What(what), worker, f"{kind} {name}", version)


def runs_of(notes: Iterable[Note]) -> list[Run]:
    """The runs that these notes tell of."""
    runs: list[Run] = []
    open_at: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))  # by worker and resource
    leaving: set[str] = set()
    for note in notes:
        theirs = open_at[note.worker]
        if note.what is What.COMING:
            pass
        elif note.what is What.LEAVING:
            leaving.add(note.worker)
        elif note.what is What.GONE:
            leaving.discard(note.worker)
            for run in (run for each in theirs.values() for run in each):
                run.to_ms = note.at_ms
            theirs.clear()
        elif note.what is What.STARTED:
            run = Run(note.resource, note.worker, note.version, note.at_ms)
            runs.append(run)
            theirs[note.resource].append(run)
        else:
            run = _ended(theirs[note.resource], note)
            run.to_ms, run.stopped = note.at_ms, note.worker not in leaving
    return runs


def _ended(runs: list[Run], note: Note) -> Run:
    """Which of a worker's runs of one resource this note ends: that of its configuration, else the oldest."""
    found = next((run for run in runs if run.version == note.version), None) or (runs[0] if runs else None)
    assert found is not None, f"stopped, but was not started: {note}"
    runs.remove(found)
    return found


def running(runs: Iterable[Run], at_ms: int | None = None) -> list[Run]:
    """The runs that are under way at that time; None: now."""
    if at_ms is None:
        return [run for run in runs if run.to_ms is None]
    return [run for run in runs if run.from_ms <= at_ms and (run.to_ms is None or run.to_ms > at_ms)]


def overlaps(runs: Iterable[Run]) -> list[tuple[Run, Run]]:
    """Pairs of runs of one resource that were under way at one time."""
    found = []
    for each in _by_resource(runs).values():
        for number, run in enumerate(each):
            found += [(run, later) for later in each[number + 1 :] if run.to_ms is None or later.from_ms < run.to_ms]
    return found


def nowhere_ms(runs: Iterable[Run], begin_ms: int, end_ms: int) -> dict[str, int]:
    """The longest time in which each resource ran nowhere, of those that ran at `begin_ms` and at `end_ms`."""
    longest = {}
    for resource, each in _by_resource(runs).items():
        if not running(each, begin_ms) or not running(each, end_ms):
            continue
        until, gap = begin_ms, 0
        for run in each:
            if run.from_ms > end_ms:
                break
            gap = max(gap, run.from_ms - until)
            until = max(until, end_ms if run.to_ms is None else run.to_ms)
        longest[resource] = gap
    return longest


def stops(runs: Iterable[Run], begin_ms: int, end_ms: int) -> list[Run]:
    """The runs that their workers stopped in that time, but for workers that were ending themselves."""
    return [run for run in runs if run.stopped and run.to_ms is not None and begin_ms < run.to_ms <= end_ms]


def needless(notes: Sequence[Note], begin_ms: int, end_ms: int, kind: str = "") -> list[Run]:
    """Those of `stops` of resources of a kind that nobody needed: the worker, which did not end since, runs the same
    with the same configuration again in that time; or it had been stopped elsewhere before, and since then no worker
    had come or gone.
    """
    runs = [run for run in runs_of(notes) if run.resource.startswith(kind)]
    moves = [note for note in notes if not note.resource]  # workers that came and went
    found = []
    for each in _by_resource(runs).values():
        stopped = stops(each, begin_ms, end_ms)
        for number, run in enumerate(stopped):
            assert run.to_ms is not None
            end = next((note.at_ms for note in moves if note.worker == run.worker and note.at_ms > run.to_ms), end_ms)
            again = any(
                (later.worker, later.version) == (run.worker, run.version) and run.to_ms <= later.from_ms <= end
                for later in each
            )
            before = stopped[number - 1].to_ms if number else None
            at_once = before is not None and not any(before < note.at_ms <= run.to_ms for note in moves)
            if again or (at_once and run.version == stopped[number - 1].version):
                found.append(run)
    return found


def bounces(notes: Sequence[Note], begin_ms: int, kind: str = "") -> list[Bounce]:
    """Each worker that was told to end since then, with the resources of a kind that it ran. Raises AssertionError
    where one of these has not been started again.
    """
    runs = [run for run in runs_of(notes) if run.resource.startswith(kind)]
    theirs, found = _by_resource(runs), []
    for note in notes:
        if note.what is What.LEAVING and note.at_ms >= begin_ms:
            away = [_again(run, theirs[run.resource]) for run in running(runs, note.at_ms) if run.worker == note.worker]
            nowhere_ms = max((back_ms - end_ms for end_ms, back_ms in away), default=0)
            all_run_ms = max((back_ms for _, back_ms in away), default=note.at_ms)
            found.append(Bounce(note.worker, note.at_ms, nowhere_ms, all_run_ms))
    return found


def _again(run: Run, runs: Sequence[Run]) -> tuple[int, int]:
    """When this run ended, and when the next one of its resource began."""
    end_ms = run.to_ms
    assert end_ms is not None, f"{run.resource} has never been stopped on {run.worker}"
    back_ms = next((each.from_ms for each in runs if each is not run and each.from_ms >= end_ms), None)
    assert back_ms is not None, f"{run.resource} has not been started again"
    return end_ms, back_ms


def _by_resource(runs: Iterable[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        found[run.resource].append(run)
    return found
