"""What is one real Connect worker to a test? A JVM that keeps its name, its address and its log over restarts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from tests.javafleet.joins import STARTED, Join, joins_of
from tests.javafleet.notes import Notes, What
from tests.kafka.java import Java, write_properties
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess

MAIN = "org.apache.kafka.connect.cli.ConnectDistributed"
HEAP_MB = 128


@attrs.define(eq=False)
class JavaWorker:
    """One worker; `settings` are its whole configuration but what its address says."""

    name: str
    java: Java
    folder: Path
    notes: Notes
    settings: Mapping[str, object]
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

    def joins(self) -> list[Join]:
        """All joins that it has come out of, over all its lives."""
        return joins_of(self.log) if self.log.exists() else []

    def start(self) -> None:
        """Start it; it is not up yet when this returns."""
        assert not self.running, f"{self.name} runs already"
        config = self.folder / f"{self.name}.properties"
        write_properties(config, {**self.settings, **self._own()})
        with self.log.open("a") as log:
            log.write(f"{STARTED}\n")
        self.notes.add(What.COMING, self.name)
        told = {"kcoord.worker": self.name, "user.timezone": "UTC"}
        self._process = self.java.start(self.name, MAIN, [str(config)], self.log, HEAP_MB, told)

    def stop(self) -> None:
        """End it in order."""
        self.notes.add(What.LEAVING, self.name)
        self.process.stop()
        self.notes.add(What.GONE, self.name)

    def kill(self) -> None:
        """`kill -9`."""
        self.process.kill()
        self.notes.add(What.GONE, self.name)

    def remove(self) -> None:
        """Make sure that it is gone."""
        if self.running:
            self.kill()

    def _own(self) -> dict[str, object]:
        return {
            "client.id": self.name,
            "listeners": f"http://{self.id}",
            "rest.advertised.host.name": "127.0.0.1",
            "rest.advertised.port": self.port,
        }
