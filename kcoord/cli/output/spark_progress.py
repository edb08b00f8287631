"""Spark's progress: on a terminal a bar of the tasks of the running stages, elsewhere one line for each step.

It is written to a copy of stderr, because the JVM's output goes elsewhere.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

LOOK_EVERY_S = 0.3


class Progress:
    """A context manager. `say` and `watch` may be called from any thread."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(sys.stderr.fileno()), "w")
        self._console = Console(file=self._file)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bar = Bar(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task("", total=None)
        self._over = threading.Event()
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        if self._watcher is not None:
            self._watcher.join()
        if self._console.is_terminal:
            self._bar.stop()
        self._file.close()

    def say(self, what: str) -> None:
        """Show that a step begins."""
        if self._console.is_terminal:
            self._bar.reset(self._task, total=None, description=what)
        else:
            self._console.print(what, highlight=False)

    def watch(self, spark: Any) -> None:
        """From now on, show how many tasks of `spark` are done."""
        if not self._console.is_terminal:
            return
        self._watcher = threading.Thread(target=self._look, args=(spark.sparkContext.statusTracker(),), daemon=True)
        self._watcher.start()

    def _look(self, tracker: Any) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            try:
                stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
            except Exception:  # Spark has ended; the command says how
                return
            known = [each for each in stages if each is not None]
            if known:
                done, tasks = sum(each.numCompletedTasks for each in known), sum(each.numTasks for each in known)
                self._bar.update(self._task, completed=done, total=tasks)
