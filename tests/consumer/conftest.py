"""Which fixtures do the tests of consumers share? A kcoord without a cluster, and programs with consumers."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.kafka.kcoord_process import Kcoord
from tests.kafka.process import ServerProcess
from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT

_numbers = itertools.count(1)

SESSION_MS, INTERVAL_MS = 6_000, 1_000
QUICK: dict[str, object] = {
    "group.consumer.session.timeout.ms": SESSION_MS,
    "group.consumer.min.session.timeout.ms": SESSION_MS,
    "group.consumer.heartbeat.interval.ms": INTERVAL_MS,
    "group.consumer.min.heartbeat.interval.ms": INTERVAL_MS,
}
"""Short sessions and intervals, by names that Kafka and kcoord share."""


@pytest.fixture(scope="session")
def shared_kcoord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A kcoord without a cluster, for tests that leave it as it is."""
    kcoord = Kcoord(tmp_path_factory.mktemp("kcoord"), settings={"topics": "work:6", **QUICK})
    yield kcoord.start()
    kcoord.remove()


@pytest.fixture
def own_kcoord(tmp_path: Path) -> Iterator[Kcoord]:
    """A kcoord of the test's own."""
    kcoord = Kcoord(tmp_path, settings={"topics": "work:6", **QUICK})
    yield kcoord.start()
    kcoord.remove()


@pytest.fixture
def group(request: pytest.FixtureRequest) -> str:
    """A name for the test's own group."""
    return f"{request.node.originalname.removeprefix('test_')[:60]}-{next(_numbers)}"


@attrs.define
class Child:
    """One process of `child.py`."""

    process: ServerProcess
    block: Path
    """While there is a file, it blocks its event loop when it has a record in hand."""

    def said(self, what: str) -> list[str]:
        """What it has said under this word, in whole lines."""
        lines = self.process.log.read_text().splitlines(keepends=True)
        return [line[len(what) :].strip() for line in lines if line.endswith("\n") and line.split()[:1] == [what]]

    def wait_for(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait until that is so. Raises AssertionError if the process ends before."""

        def seen() -> bool:
            self.process.check_running()
            if not is_so():
                raise NotYet(self.process.tail())
            return True

        eventually(seen, what, every_s=0.03)

    def freeze(self) -> None:
        """It stands still."""
        self.process.popen.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        self.process.popen.send_signal(signal.SIGCONT)


@pytest.fixture
def start_child(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Starts a process of `child.py`, which ends with the test."""
    started: list[ServerProcess] = []

    def start(bootstrap: str, group: str, topic: str, **options: Any) -> Child:
        name = f"child-{len(started)}"
        log, block = tmp_path / f"{name}.log", tmp_path / f"{name}.block"
        arguments = [bootstrap, group, topic, str(block), json.dumps(options)]
        command = [sys.executable, "-m", "tests.consumer.child", *arguments]
        inherited = {name: value for name, value in os.environ.items() if not re.match("KCOORD_|PYTEST_", name)}
        started.append(ServerProcess.start("consumer", command, log, {**inherited, "PYTHONPATH": str(ROOT)}))
        return Child(started[-1], block)

    yield start
    for each in started:
        each.kill()
