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
from tests.kafka.libs import BROKER_POM, fetch_libs, java_command
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


def make_site(folder: Path, version: str | None = None) -> Site:
    """A site in `folder`, of the kind that `choice.py` says; brokers of another version are processes. Raises
    MissingTool where that cannot be had.
    """
    if version is not None:
        java = Java(java_command(), fetch_libs(version, BROKER_POM))
        return ProcessSite(java, folder) if int(version.split(".")[0]) > 2 else ZooKeeperSite(java, folder)
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


@attrs.define
class ZooKeeperRunner(ProcessRunner):
    """A broker from before KRaft: its cluster is kept by a ZooKeeper, which outlives it."""

    def start(self) -> None:
        config, data = self.folder / "server.properties", self.folder / "data"
        if not data.exists():
            data.mkdir(parents=True)
            kept = {name: value for name, value in self.properties.items() if name not in KRAFT_ONLY}
            inherited = {name: ",".join(_without_controller(str(kept[name]))) for name in LISTS_OF_LISTENERS}
            times = {"zookeeper.connection.timeout.ms": 60_000, "zookeeper.session.timeout.ms": ZOOKEEPER_SESSION_MS}
            own = {"broker.id": self.node.id, "log.dirs": data, **times}
            if AUTHORIZER in kept:
                own[AUTHORIZER] = "kafka.security.authorizer.AclAuthorizer"  # ACLs are kept in ZooKeeper
            write_properties(config, {**kept, **inherited, **own})
        log = self.folder / "server.log"
        self._process = self.java.start(f"broker {self.node.id}", BROKER, [str(config)], log, self.heap_mb)


KRAFT_ONLY = frozenset({"process.roles", "node.id", "controller.quorum.voters", "controller.listener.names"})
AUTHORIZER = "authorizer.class.name"
LISTS_OF_LISTENERS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
ZOOKEEPER_TICK_MS, ZOOKEEPER_SESSION_MS = 500, 2_000
"""A broker that was killed cannot start again before its session there has ended."""


def _without_controller(listeners: str) -> list[str]:
    return [each for each in listeners.split(",") if not each.startswith("CONTROLLER")]


@attrs.define
class ZooKeeperSite(ProcessSite):
    """Brokers from before KRaft, and their ZooKeeper."""

    _port: int = attrs.field(factory=free_port, init=False)
    _process: ServerProcess | None = attrs.field(default=None, init=False)

    def runner(self, node: Node, cluster_id: str, properties: Mapping[str, object], heap_mb: int) -> Runner:
        if self._process is None:
            folder = self.folder / "zookeeper"
            folder.mkdir(parents=True)
            told: dict[str, object] = {"dataDir": folder, "clientPort": self._port, "clientPortAddress": "127.0.0.1"}
            told |= {"tickTime": ZOOKEEPER_TICK_MS, "admin.enableServer": "false"}
            write_properties(folder / "zookeeper.properties", told)
            config, log = str(folder / "zookeeper.properties"), folder / "server.log"
            self._process = self.java.start("zookeeper", ZOOKEEPER, [config], log, heap_mb)
        named = {**properties, "zookeeper.connect": f"127.0.0.1:{self._port}"}
        folder = self.folder / f"broker-{node.id}"
        return ZooKeeperRunner(self.java, folder, node, cluster_id, named, heap_mb)

    def remove(self) -> None:
        if self._process is not None and self._process.running:
            self._process.kill()
        shutil.rmtree(self.folder / "zookeeper", ignore_errors=True)
