"""How is one broker run: as a JVM process, or as a container?

Both ways take the same settings and keep the same ports and data over a restart; a test does not see which it is.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import attrs

from tests.kafka.broker_config import Node
from tests.kafka.choice import choice
from tests.kafka.java import BROKER, Java, write_properties
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess
from tests.kafka.security import Certificates
from tests.kafka.storage import format_storage

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


class Site(Protocol):
    """Where the brokers of one cluster are run."""

    def node(self, node_id: int, port: int) -> Node:
        """A broker's addresses; its clients find it at `port` of 127.0.0.1."""

    def as_brokers_see(self, certificates: Certificates) -> Certificates:
        """These certificates by the paths at which the brokers that are made after this find them."""

    def runner(self, node: Node, cluster_id: str, properties: Mapping[str, object], heap_mb: int) -> Runner:
        """A broker that was not started yet."""

    def remove(self) -> None:
        """Leave nothing behind but logs, once all brokers are removed."""


def make_site(folder: Path) -> Site:
    """A site in `folder`, of the kind that `choice.py` says. Raises MissingTool where that cannot be had."""
    chosen = choice()
    chosen.check()
    if chosen.image is None:
        return ProcessSite(Java.find(), folder)
    from tests.kafka.containers import ContainerSite  # imports Docker's client, which most runs do not need

    return ContainerSite.make(folder, chosen.image)


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
            format_storage(self.java, config, data, self.cluster_id, self.node.id)
        name, log = f"broker {self.node.id}", self.folder / "server.log"
        self._process = self.java.start(name, BROKER, [str(config)], log, self.heap_mb)

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


@attrs.define
class ProcessSite:
    """Brokers as processes of this machine."""

    java: Java
    folder: Path

    def node(self, node_id: int, port: int) -> Node:
        others = {name: free_port() for name in LISTENERS if name != "CLIENT"}
        return local_node(node_id, {"CLIENT": port, **others})

    def as_brokers_see(self, certificates: Certificates) -> Certificates:
        return certificates

    def runner(self, node: Node, cluster_id: str, properties: Mapping[str, object], heap_mb: int) -> Runner:
        return ProcessRunner(self.java, self.folder / f"broker-{node.id}", node, cluster_id, properties, heap_mb)

    def remove(self) -> None:
        pass
