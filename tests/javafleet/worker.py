"""What is one worker of a fleet to a test? A process that keeps its name, its address and its log over restarts.

A real Java worker, or one of ours.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

import attrs

from tests.javafleet.jar import CLASS
from tests.javafleet.joins import STARTED, Join, joins_of
from tests.javafleet.notes import Notes, What
from tests.javafleet.noting import WORKER
from tests.javafleet.worker_complaints import complaints_in
from tests.kafka.java import WORKER as CONNECT
from tests.kafka.java import Java, write_properties
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess
from tests.kafka.wait import let_pass
from tests.repository import ROOT

HEAP_MB = 128
GRACE_S = 40.0


@attrs.define(eq=False)
class FleetWorker(ABC):
    """One worker."""

    name: str
    folder: Path
    notes: Notes
    port: int = attrs.field(factory=free_port, init=False)
    _process: ServerProcess | None = attrs.field(default=None, init=False)

    @property
    def id(self) -> str:
        """What REST and the group call it."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Its address as the group knows it."""
        return f"http://{self.id}/"

    @property
    def log(self) -> Path:
        """All that it has printed."""
        return self.folder / f"{self.name}.log"

    @property
    def process(self) -> ServerProcess:
        """The process as it runs, or ran last."""
        assert self._process is not None, f"{self.name} was never started"
        return self._process

    @property
    def running(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.running

    def start(self) -> None:
        """Start it; it is not up yet when this returns."""
        assert not self.running, f"{self.name} runs already"
        with self.log.open("a") as log:
            log.write(f"{STARTED}\n")
        self.notes.write(What.COMING, self.name)
        self._process = self._started()

    def stop(self) -> None:
        """End it in order; what does not end in time is killed, as an orchestrator does.

        Now and then Jetty's own shutdown hook and Connect's wait for each other: the log's dump of threads shows it.
        """
        self.notes.write(What.LEAVING, self.name)
        self.process.popen.send_signal(signal.SIGTERM)
        try:
            self.process.popen.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.popen.send_signal(signal.SIGQUIT)
            let_pass(1)
            self.process.kill()
        else:
            self.process.stop()
        self.notes.write(What.GONE, self.name)

    def kill(self) -> None:
        """`kill -9`."""
        self.process.kill()
        self.notes.write(What.GONE, self.name)

    def remove(self) -> None:
        """Make sure that it is gone. If the test has failed, pytest shows what it complained of last."""
        if self.running:
            self.kill()
        if self.log.exists():
            sys.stderr.write(f"what {self.name} complained of last in {self.log}:\n{complaints_in(self.log)}\n")

    @abstractmethod
    def joins(self) -> list[Join]:
        """All joins that it has come out of, over all its lives, as far as it logs them."""

    @abstractmethod
    def _started(self) -> ServerProcess: ...


@attrs.define(eq=False)
class JavaWorker(FleetWorker):
    """Connect's own; `settings` are its whole configuration but what its address says."""

    java: Java
    settings: Mapping[str, object]
    heap_mb: int = HEAP_MB

    def joins(self) -> list[Join]:
        return joins_of(self.log) if self.log.exists() else []

    def _started(self) -> ServerProcess:
        config = self.folder / f"{self.name}.properties"
        write_properties(config, {**self.settings, **self._own()})
        told = {"kcoord.worker": self.name, "user.timezone": "UTC"}
        return self.java.start(self.name, CONNECT, [str(config)], self.log, self.heap_mb, told)

    def _own(self) -> dict[str, object]:
        return {
            "client.id": self.name,
            "listeners": f"http://{self.id}",
            "rest.advertised.host.name": "127.0.0.1",
            "rest.advertised.port": self.port,
        }


@attrs.define(eq=False)
class PythonWorker(FleetWorker):
    """`kcoord worker` in the group of a Connect cluster, whose configuration topic it reads."""

    bootstrap: str
    group: str
    topic: str

    def joins(self) -> list[Join]:
        return []

    def _started(self) -> ServerProcess:
        run = f"{CLASS}=tests.javafleet.noting:Noting"
        where = [
            "--group",
            self.group,
            "--bootstrap-server",
            self.bootstrap,
            "--config-topic",
            self.topic,
            "--run",
            run,
        ]
        command = [sys.executable, "-m", "kcoord", "worker", *where, "--url", self.url, "--client-id", self.name]
        env = {**os.environ, "PYTHONPATH": str(ROOT), WORKER: self.name, "PYTHONUNBUFFERED": "1"}
        return ServerProcess.start(self.name, command, self.log, env)
