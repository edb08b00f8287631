"""Which fixtures do the tests of commands about connect groups share?"""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import psutil
import pytest

from tests.cli.run_cli import Outcome, kcoord
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.process import ServerProcess
from tests.kafka.wait import eventually
from tests.repository import ROOT

SETTINGS = {
    "group.initial.rebalance.delay.ms": 0,
    "group.connect.rebalance.delay.ms": 600_000,
    "group.connect.assignors": "cooperative,uniform",
    "group.connect.min.heartbeat.interval.ms": 200,
    "group.connect.heartbeat.interval.ms": 500,
}
TOML = '[copy]\nclass = "tests.cli.idle:Idle"\ntasks = 3\n'


@attrs.define
class Worker:
    """A `kcoord worker` that a test has started."""

    process: ServerProcess

    @property
    def said(self) -> str:
        """Its log, without the times."""
        return re.sub(r"(?m)^[-\d]+ [:,\d]+ (\w+) +", r"\1 ", self.process.log.read_text())

    def wait_for(self, text: str) -> None:
        """Until it has said that."""

        def found() -> bool:
            if text not in self.said:
                self.process.check_running()
            return text in self.said

        eventually(found, f"the worker says {text!r}", every_s=0.05)


@attrs.define
class Cli:
    """Commands at one kcoord."""

    kcoord: Kcoord
    folder: Path
    start: Callable[..., Worker]

    def __call__(self, *arguments: object) -> Outcome:
        return kcoord(*arguments, "--bootstrap-server", self.kcoord.bootstrap)

    def worker(self, group: str, *options: str, toml: str = TOML) -> Worker:
        """A worker of a group, whose connectors stand in `GROUP.toml`."""
        source = self.folder / f"{group}.toml"
        if not source.exists():
            source.write_text(toml)
        at = ["--bootstrap-server", self.kcoord.bootstrap]
        return self.start("worker", str(source), "-g", group, *at, *options)


@pytest.fixture(scope="module")
def start_command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Worker]]:
    """Starts `kcoord …` in the background; all are ended with the tests of a file: each keeps its session alive."""
    started: list[ServerProcess] = []
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KCOORD_")}

    def start(*arguments: str) -> Worker:
        log = tmp_path_factory.mktemp("command") / "log"
        command = [sys.executable, "-m", "kcoord", *arguments]
        process = ServerProcess.start(arguments[0], command, log, {**inherited, "PYTHONPATH": str(ROOT)})
        started.append(process)
        return Worker(process)

    yield start
    for process in started:
        if process.running:
            process.popen.send_signal(signal.SIGCONT)
            children = psutil.Process(process.popen.pid).children(recursive=True)  # the demo has some
            process.kill()
            for child in children:
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory, start_command: Callable[..., Worker]) -> Iterator[Cli]:
    """A kcoord alone, in which the work of a worker that is gone waits."""
    folder = tmp_path_factory.mktemp("connect-groups")
    process = Kcoord(folder, settings=SETTINGS).start()
    yield Cli(process, folder, start_command)
    process.remove()
