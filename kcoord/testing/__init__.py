"""Tests of workers: a coordinator in the process of the test, workers under test, and a clock to drive.

For pytest, write `pytest_plugins = ["kcoord.testing"]` into the conftest.py at the top, or start it as
`pytest -p kcoord.testing`: then there is a fixture `kcoord`. It is no entry point, so that nobody has it who does not
ask for it: an entry point would be imported in each run of pytest wherever kcoord is installed, take the name `kcoord`
among fixtures, and have a say about everybody's event loop. Without pytest, use `Kcoord` inside `run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from kcoord.testing.errors import NotReached, TestingError, TimeRanAway, WorkerFailed, WorkerLeftRunning
from kcoord.testing.kcoord import Kcoord
from kcoord.testing.virtual_time_loop import VirtualTimeLoop
from kcoord.testing.worker import TestedWorker

__all__ = [
    "Kcoord",
    "NotReached",
    "TestedWorker",
    "TestingError",
    "TimeRanAway",
    "VirtualTimeLoop",
    "WorkerFailed",
    "WorkerLeftRunning",
    "run",
]

pytest_plugins = ("kcoord.testing.plugin",)
"""What pytest loads with this module, and nobody else does."""

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` on an event loop with virtual time, as `asyncio.run` does on another one; gives what it returns."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
