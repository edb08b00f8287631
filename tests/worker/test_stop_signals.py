"""SIGTERM and SIGINT to programs with workers: real processes, which leave their group before they end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from kcoord.worker.stop_signals import STOP_SIGNALS
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT
from tests.worker.house import House
from tests.worker.stepped import Observer
from tests.worker.test_worker import worker

BOTH = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
DEADLINE_S = 180


@attrs.define
class Program:
    """One program of `signalled`, and what it has said."""

    process: subprocess.Popen[bytes]
    output: Path

    def said(self) -> list[str]:
        """Its whole lines."""
        return self.output.read_text().splitlines()

    def wait_for(self, line: str) -> None:
        """Wait until it has said so."""

        def has_said() -> bool:
            if line not in self.said():
                raise NotYet(f"{self.said()}, exit code {self.process.poll()}")
            return True

        eventually(has_said, line, every_s=0.02)

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def ended(self) -> int:
        """Wait until it has ended; its exit code, or minus the signal that ended it."""
        return self.process.wait(DEADLINE_S)


@attrs.define
class Programs:
    """Those of one test."""

    bootstrap: str
    group: str
    folder: Path
    started: list[Program] = attrs.Factory(list)

    def start(self, name: str) -> Program:
        """Start a program of `signalled`."""
        output = self.folder / f"{len(self.started)}.out"
        command = [sys.executable, "-m", "tests.worker.signalled", self.bootstrap, self.group, name]
        with output.open("wb") as file:
            process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT)
        self.started.append(Program(process, output))
        return self.started[-1]


@pytest.fixture
def programs(kcoord: Kcoord, group: str, tmp_path: Path) -> Iterator[Programs]:
    made = Programs(kcoord.bootstrap, group, tmp_path)
    yield made
    for each in made.started:
        each.process.kill()
        each.process.wait()


@BOTH
async def test_a_signal_makes_the_worker_leave_and_wait_return(
    programs: Programs, observer: Observer, number: signal.Signals
) -> None:
    program = programs.start("waits")
    program.wait_for("assigned")
    program.send(number)
    assert program.ended() == 0
    assert program.said() == [
        "assigned",
        "revoking",
        "revoked",
        "wait has returned",
        "sigint is asyncio's again: True",
        "sigterm is the system's again: True",
        "ends",
    ]
    assert (await observer.describe()).members == []


@BOTH
def test_a_worker_that_finds_no_coordinator_ends_too(programs: Programs, number: signal.Signals) -> None:
    program = programs.start("finds_nobody")
    program.wait_for("looks for its coordinator")
    program.send(number)
    assert program.ended() == 0
    assert program.said()[-2:] == ["wait has returned", "ends"]


async def test_all_workers_of_a_process_leave(programs: Programs, observer: Observer) -> None:
    program = programs.start("two_workers")
    program.wait_for("both joined")
    program.wait_for("assigned")
    program.send(signal.SIGTERM)
    assert program.ended() == 0
    assert program.said()[-2:] == ["both have left", "ends"]
    assert (await observer.describe()).members == []


@BOTH
async def test_where_nobody_waits_for_the_worker_the_signal_has_its_usual_effect_afterwards(
    programs: Programs, observer: Observer, number: signal.Signals
) -> None:
    program = programs.start("does_something_else")
    program.wait_for("assigned")
    program.send(number)
    assert program.ended() == -number
    assert program.said()[:3] == ["assigned", "revoking", "revoked"]
    assert ("KeyboardInterrupt" in program.said()) == (number == signal.SIGINT)
    assert (await observer.describe()).members == []


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_process_at_once(programs: Programs, second: signal.Signals) -> None:
    program = programs.start("does_not_stop")
    program.wait_for("assigned")
    program.send(signal.SIGTERM)
    program.wait_for("revoking")
    program.send(second)
    assert program.ended() == -second
    assert program.said() == ["assigned", "revoking"]


def test_a_second_signal_ends_also_a_process_whose_event_loop_is_stuck(programs: Programs) -> None:
    program = programs.start("blocks")
    program.wait_for("blocked")
    program.send(signal.SIGINT)
    seen = len(program.said())
    eventually(lambda: len(program.said()) > seen, "it goes on")
    program.send(signal.SIGINT)
    assert program.ended() == -signal.SIGINT


async def test_a_revocation_that_hangs_does_not_keep_the_process_beyond_the_close_timeout(
    programs: Programs, observer: Observer
) -> None:
    program = programs.start("stops_late")
    program.wait_for("assigned")
    program.send(signal.SIGTERM)
    assert program.ended() == 0
    said = [line for line in program.said() if "stopping everything" not in line]  # what is logged
    assert said == ["assigned", "revoking", "lost", "wait has returned", "ends"]
    assert (await observer.describe()).members == []


def test_handlers_of_the_program_are_left_alone(programs: Programs) -> None:
    program = programs.start("has_handlers")
    program.wait_for("assigned")
    program.send(signal.SIGINT)
    program.wait_for("sigint of its own")
    program.send(signal.SIGTERM)
    assert program.ended() == 0
    assert program.said() == [
        "assigned",
        "sigint of its own",
        "sigterm of its own",
        "revoking",
        "revoked",
        "ends",
    ]


def test_a_handler_that_the_program_installs_later_is_left_alone_too(programs: Programs) -> None:
    program = programs.start("installs_handlers_later")
    program.wait_for("installed")
    program.send(signal.SIGTERM)
    program.wait_for("closed")
    program.send(signal.SIGINT)
    program.wait_for("sigint of its own")
    program.send(signal.SIGTERM)
    assert program.ended() == -signal.SIGTERM


@pytest.mark.parametrize("name", ["declines", "in_a_thread"])
def test_nothing_is_installed_where_it_is_not_wanted_or_cannot_be(programs: Programs, name: str) -> None:
    program = programs.start(name)
    program.wait_for("assigned")
    program.send(signal.SIGTERM)
    assert program.ended() == -signal.SIGTERM
    assert program.said() == ["assigned"]


async def test_nothing_is_installed_while_pytest_runs_a_test(kcoord: Kcoord, group: str) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    async with worker(kcoord, group, House().listener("w1")):
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
        assert STOP_SIGNALS._watches == []
