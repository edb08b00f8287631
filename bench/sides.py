"""Which servers are measured, and how are they started?

Kafka as its users run it: all compilers, G1, its own number of threads, 1 GiB of heap (the tests' brokers save where
these do not). kcoord as its users run it: the command. The echo server as the limit of what Python on uvloop can do.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from bench.probe import Process
from tests.kafka.broker_config import broker_properties
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.nodes import LISTENERS, ProcessRunner, local_node
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess
from tests.kafka.security import Security
from tests.kafka.wait import eventually
from tests.repository import ROOT

HEAP_MB = 1024
CLUSTER_ID = "YmVuY2gtYmVuY2gtYmVuYw"
KAFKA_DEFAULTS: Mapping[str, object] = {
    "num.network.threads": 3,
    "num.io.threads": 8,
    "offsets.topic.num.partitions": 50,
    "log.cleaner.dedupe.buffer.size": 128 * 1024 * 1024,
    "group.max.session.timeout.ms": 1_800_000,
}


@attrs.frozen
class Side:
    """A server under measurement: where it listens and which process it is."""

    name: str
    address: tuple[str, int]
    process: Process


class FullJava(Java):
    """Java as it is by itself: nothing saved at the cost of speed."""

    def line(
        self, main: str, arguments: Sequence[str] = (), heap_mb: int = 512, properties: Mapping[str, str] | None = None
    ) -> list[str]:
        """See Java.line."""
        defined = [f"-D{name}={value}" for name, value in (properties or {}).items()]
        heap = [f"-Xms{heap_mb}m", f"-Xmx{heap_mb}m", "-XX:+UseG1GC", "-Djava.awt.headless=true"]
        return [self.command, *heap, *defined, "-cp", self.classpath, main, *arguments]


class FullBroker(ProcessRunner):
    """A broker whose process is known."""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._running().popen.pid


@attrs.frozen
class Kafka:
    """A cluster of one broker."""

    cluster: KafkaCluster
    broker: FullBroker

    @property
    def side(self) -> Side:
        """The broker under measurement."""
        return Side("Kafka", ("127.0.0.1", self.cluster.ports[1]), Process(self.broker.pid))


@contextmanager
def kafka(folder: Path, **settings: object) -> Iterator[Kafka]:
    """A broker that serves, with its data under `folder`; `settings` by their names, with _ for the dot."""
    found = Java.find()
    node = local_node(1, {name: free_port() for name in LISTENERS})
    properties = broker_properties(
        node,
        [node],
        Security.PLAINTEXT,
        acl=False,
        users=(),
        certificates=None,
        overrides={**KAFKA_DEFAULTS, **_dotted(settings)},
    )
    java = FullJava(found.command, found.libs)
    broker = FullBroker(java, folder / "broker-1", node, CLUSTER_ID, properties, HEAP_MB)
    cluster = KafkaCluster(folder, Security.PLAINTEXT, (), None, {1: node.port}, {1: broker})
    try:
        cluster.start_brokers(1)
        yield Kafka(cluster, broker)
    finally:
        cluster.remove()


@contextmanager
def kcoord(folder: Path, **settings: object) -> Iterator[Side]:
    """kcoord alone in `folder`, with the embedded log if nothing else is said; `settings` by their names, with _ for
    the dot.
    """
    process = Kcoord(folder / "kcoord", settings=_dotted(settings))
    try:
        process.start()
        yield side_of(process)
    finally:
        process.remove()


def _dotted(settings: Mapping[str, object]) -> dict[str, object]:
    return {name.replace("_", "."): value for name, value in settings.items()}


def side_of(process: Kcoord) -> Side:
    """A running kcoord under measurement."""
    return Side("kcoord", ("127.0.0.1", process.port), Process(process.process.popen.pid))


@contextmanager
def echo(folder: Path) -> Iterator[Side]:
    """The echo server."""
    port = free_port()
    command = [sys.executable, "-m", "bench.echo_server", str(port)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = ServerProcess.start("echo server", command, folder / "echo.log", env)

    def listens() -> bool:
        process.check_running()
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return True

    try:
        eventually(listens, "the echo server listens", every_s=0.05, retry=OSError)
        yield Side("echo", ("127.0.0.1", port), Process(process.popen.pid))
    finally:
        process.kill()
