"""The connectors of the demo: small jobs that show that each runs once and continues where it was left.

- `Clock`: each task writes a line a second, with its process id. The line names the next full second. If there were
  ever two tasks of the same number, both would write the same second: the view counts that.
- `Collect`: each task follows one file and copies the lines with a given text. Each copied line carries the position
  where it ended in its file, so that the next owner of the task continues there.
- `Usage`: writes how large the files of a directory are.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kcoord.worker.runner import Connector, Context, Task
from kcoord.worker.runner.connector import Config

_LARGEST_READ = 1 << 20
_LONGEST_LINE = 1 << 16


class Tick(Task):
    """Writes `SECOND PID`, once a second."""

    async def run(self, context: Context) -> None:
        """Run until cancelled. Stopping takes `stopping_takes_s`, so that a hand-over can be seen."""
        file = Path(self.config["folder"]) / f"{context.name}.txt"
        try:
            while True:
                second = math.floor(time.time()) + 1
                await asyncio.sleep(max(second - time.time(), 0))
                if context.may_run():
                    _append(file, f"{second} {os.getpid()}\n")
        finally:
            await asyncio.sleep(self.config.get("stopping_takes_s", 0))


class Clock(Connector):
    """`tasks` clocks, which write into `folder`."""

    task = Tick


class Follow(Task):
    """Copies lines of one file, each as `WHERE IT ENDED<TAB>LINE`."""

    async def run(self, context: Context) -> None:
        """Run until cancelled."""
        source = Path(self.config["file"])
        copy = Path(self.config["folder"]) / f"{context.name}.txt"
        position = _copied_up_to(copy)
        while context.may_run():
            lines = list(_whole_lines(source, position))
            wanted = [(end, line) for end, line in lines if self.config["contains"] in line]
            _append(copy, "".join(f"{end}\t{line}\n" for end, line in wanted))
            position = lines[-1][0] if lines else position
            await asyncio.sleep(0 if lines else 0.5)


class Collect(Connector):
    """One task for each of `files`."""

    task = Follow

    def task_configs(self) -> Sequence[Config]:
        """One configuration for each file."""
        for name in ("folder", "contains"):
            self.config[name]
        return [{**self.config, "file": file} for file in self.config["files"]]


class Measure(Task):
    """Writes the sizes in bytes, as JSON."""

    async def run(self, context: Context) -> None:
        """Run until cancelled."""
        report = Path(self.config["folder"]) / f"{context.name}.json"
        while context.may_run():
            await asyncio.to_thread(_report_sizes, Path(self.config["of"]), report)
            await asyncio.sleep(self.config.get("every_s", 5))


class Usage(Connector):
    """Writes into `folder` how large the files below `of` are."""

    task = Measure


def _append(file: Path, text: str) -> None:
    if text:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(text)


def _whole_lines(file: Path, position: int) -> Iterator[tuple[int, str]]:
    """The lines after `position`, each with the position where it ends."""
    try:
        with file.open("rb") as source:
            if position > os.fstat(source.fileno()).st_size:
                position = 0
            source.seek(position)
            whole = source.read(_LARGEST_READ).rpartition(b"\n")[0]
    except FileNotFoundError:
        return
    for line in whole.split(b"\n") if whole else ():
        position += len(line) + 1
        yield position, line.decode(errors="replace")


def _copied_up_to(copy: Path) -> int:
    """The position in the source where the last copied line ended."""
    try:
        with copy.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LONGEST_LINE))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        return int(last.partition(b"\t")[0] or 0)
    except (FileNotFoundError, ValueError):
        return 0


def _report_sizes(folder: Path, report: Path) -> None:
    sizes = {}
    for file in sorted(folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):  # deleted a moment ago
            if file.is_file():
                sizes[str(file.relative_to(folder))] = file.stat().st_size
    report.parent.mkdir(parents=True, exist_ok=True)
    part = report.with_suffix(".part")
    part.write_text(json.dumps(sizes, indent=2))
    part.replace(report)
