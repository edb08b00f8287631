"""How is one broker run: as a JVM process, or as a container?

Both ways take the same settings and keep the same ports and data over a restart; a test does not see which it is.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import attrs

from tests.kafka.broker_config import Node
from tests.kafka.java import Java, write_properties
from tests.kafka.process import ServerProcess

LISTENERS = ("CLIENT", "INTERNAL", "CONTROLLER")


class Runner(Protocol):
    """One broker as it is run."""

    def start(self) -> None:
        """Start it, on the data that it left if it ran before."""

    def check_running(self) -> None:
        """Raise AssertionError with the end of its log if it ended by itself."""

    def stop(self) -> None:
        """End it in order: it hands its leadership over."""

    def kill(self) -> None:
        """End it at once."""

    def remove(self) -> None:
        """Leave nothing of it behind."""


def local_node(node_id: int, ports: Mapping[str, int]) -> Node:
    """A broker whose listeners are all on 127.0.0.1."""
    addresses = {name: f"127.0.0.1:{ports[name]}" for name in LISTENERS}
    return Node(node_id, ports["CLIENT"], addresses, addresses)


@attrs.define
class ProcessRunner:
    """A broker as a JVM process on Maven's jars."""

    java: Java
    folder: Path
    node: Node
    cluster_id: str
    properties: Mapping[str, object]
    heap_mb: int
    _process: ServerProcess | None = attrs.field(default=None, init=False)

    def start(self) -> None:
        config, data = self.folder / "server.properties", self.folder / "data"
        if not data.exists():
            self.folder.mkdir(parents=True)
            write_properties(config, {**self.properties, "log.dirs": data})
            self.java.tool("kafka.tools.StorageTool", "format", "-c", str(config), f"--cluster-id={self.cluster_id}")
        name, log = f"broker {self.node.id}", self.folder / "server.log"
        self._process = self.java.start(name, "kafka.Kafka", [str(config)], log, self.heap_mb)

    def _running(self) -> ServerProcess:
        assert self._process is not None, "the broker was never started"
        return self._process

    def check_running(self) -> None:
        self._running().check_running()

    def stop(self) -> None:
        self._running().stop()

    def kill(self) -> None:
        self._running().kill()

    def remove(self) -> None:
        if self._process is not None and self._process.running:
            self.kill()
        shutil.rmtree(self.folder / "data", ignore_errors=True)
