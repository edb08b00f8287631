"""What does somebody see at a terminal, and in a file, while Spark works?"""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from kcoord.cli.output import spark_progress
from kcoord.cli.output.spark_progress import Progress
from tests.kafka.wait import eventually


class Tracker:
    """What a SparkContext tells of the stages that run: one has 8 tasks, 3 of them done; another has just ended."""

    has_ended = False

    def getActiveStageIds(self) -> list[int]:  # noqa: N802 (Spark's name)
        if self.has_ended:
            raise ConnectionResetError("Spark has ended")
        return [4, 5]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802 (Spark's name)
        return SimpleNamespace(numCompletedTasks=3, numTasks=8) if stage == 4 else None


def spark_with(tracker: Tracker) -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as stderr; what is shown there can be read from the descriptor."""
    shown, stderr = pty.openpty()
    os.set_blocking(shown, False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(spark_progress, "LOOK_EVERY_S", 0.01)
    with os.fdopen(stderr, "w") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", file)
        yield shown
    os.close(shown)


def until_shown(at: int, part: str) -> None:
    seen = b""

    def is_there() -> bool:
        nonlocal seen
        with suppress(BlockingIOError):
            seen += os.read(at, 65_536)
        return part in seen.decode(errors="replace")

    eventually(is_there, f"{part} is shown")


def test_a_terminal_shows_the_step_and_how_many_tasks_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until Spark has ended: how it ended is for the command to say."""
    tracker = Tracker()
    with terminal(monkeypatch) as shown, Progress() as progress:
        progress.say("reading the topic")
        until_shown(shown, "reading the topic")
        progress.watch(spark_with(tracker))
        until_shown(shown, "3/8")
        tracker.has_ended = True


def test_a_file_gets_a_line_for_each_step(capfd: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        progress.say("reading the topic")
        progress.watch(spark_with(Tracker()))
        progress.say("writing")
    assert capfd.readouterr().err == "reading the topic\nwriting\n"
