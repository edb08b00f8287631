"""A kcoord that ends itself with SIGKILL at one append: how a test kills it at each record boundary.

`python -m tests.connectgroups.dying FILE serve …`: FILE may say at any time "N before" or "N after": the process dies
at the Nth append from then on, before the batch is handed to the log, or when it is on the disk and no answer that
waited for it has left. Every batch is one step of a shard, so these are all boundaries that a log can have.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from kcoord.cli import main
from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import RawRecord


def die() -> None:
    """End as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def doom(file: Path) -> None:
    """Let every append look into `file` first."""
    append = EmbeddedLog.append
    count = 0

    def doomed(self: EmbeddedLog, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        nonlocal count
        number, when = 0, ""
        if file.exists():
            count += 1
            first, when = file.read_text().split()
            number = int(first)
        if number and number == count and when == "before":
            die()
        future = append(self, partition, batch)
        if number and number == count:
            future.add_done_callback(lambda _: die())  # the first callback: nobody has been told yet
        return future

    EmbeddedLog.append = doomed  # type: ignore[method-assign]


if __name__ == "__main__":
    doom(Path(sys.argv.pop(1)))
    main()
