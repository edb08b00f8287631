"""The state of a test in a few lines, as errors show it."""

from __future__ import annotations

from collections.abc import Iterable

from kcoord.assign import Resource, tell
from kcoord.testing.worker import TestedWorker
from kcoord.worker import Configured, WorkerError


def report(now_s: float, configured: Configured | None, workers: Iterable[TestedWorker]) -> str:
    """One line for the clock and the configured resources, and one for each worker."""
    exists = "nothing" if configured is None else _told(configured.resources)
    lines = [f"at {now_s:g} s; configured: {exists}"]
    lines += [f"  {each.name}: {_condition(each)}{_share(each)}" for each in workers]
    if len(lines) == 1:
        lines.append("  no worker was started")
    return "\n".join(lines)


def _condition(worker: TestedWorker) -> str:
    if worker.process.exit_code is not None:
        return f"has ended its process, exit code {worker.process.exit_code}"
    return worker.process.condition.value + (", cut off" if worker.process.is_cut else "")


def _share(worker: TestedWorker) -> str:
    if not worker.process.is_there:
        return ""
    if not worker.process.workers:
        return ", has made no Worker"
    try:
        epoch = f", epoch {worker.worker.epoch}"
    except WorkerError:
        epoch = ""
    return f"{epoch}, runs {_told(worker.runs)}"


def _told(resources: frozenset[Resource]) -> str:
    return " ".join(map(tell, sorted(resources))) or "nothing"
