"""A stream that is killed when it has written some batches, and not all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT


def kill_a_stream(arguments: Sequence[str], place: Path) -> None:
    """Start `tests.pipeline.streaming` with these arguments, which writes to `place`, and kill it with its JVM."""
    command = [sys.executable, "-m", "tests.pipeline.streaming", *arguments]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True)

    def some_but_not_all() -> bool:
        assert process.poll() is None, "it has ended by itself"
        if len(list((place / "records").glob("batch-*"))) < 2:
            raise NotYet("no second batch")
        return True

    try:
        eventually(some_but_not_all, "a few batches are written", deadline_s=300)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
