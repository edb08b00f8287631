"""Which classes need JVMs of the tests not load one by one? Those of an archive (class data sharing), made here once.

A broker and a Connect worker with work to do are started, and ended in order, which leaves what they have loaded in the
cache, for all JVMs after them: `tests/kafka/java.py` says who starts from which. Where that fails nothing else does:
JVMs start more slowly without.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import attrs
from filelock import FileLock

from tests.connect.fleet import ConnectFleet
from tests.connect.lines import Pipe
from tests.kafka.broker_config import broker_properties
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import ARCHIVED, QUIET_SHARING, Java
from tests.kafka.libs import CACHE
from tests.kafka.nodes import LISTENERS, ProcessRunner, local_node
from tests.kafka.ports import free_port
from tests.kafka.security import Security

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
HEAP_MB = 320


@attrs.define(slots=False)
class Archiving(Java):
    """Java that leaves an archive behind when it ends in order. One of classes that nobody verified is refused by those
    who verify.
    """

    trusting: ClassVar[Sequence[str]] = ()

    def part(self, main: str) -> Path:
        """Where the archive stands until it is whole."""
        return self.archive(main).with_suffix(f".{os.getpid()}.part")

    def sharing(self, main: str) -> list[str]:
        return [f"-XX:ArchiveClassesAtExit={self.part(main)}", *QUIET_SHARING] if main in ARCHIVED else []

    def keep(self) -> None:
        """All have ended: what they left is whole."""
        for main in ARCHIVED:
            self.part(main).rename(self.archive(main))


def bring_archives() -> str | None:
    """Make the archives that are not there. What there is to say of it, if anything, as one line."""
    found = Java.find()
    java = Archiving(found.command, found.libs)
    CACHE.mkdir(exist_ok=True)
    with FileLock(CACHE / "class-archives.lock"):
        if all(java.archive(main).exists() for main in ARCHIVED):
            return None
        java.archive(ARCHIVED[0]).parent.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory() as scratch:
                live_a_little(java, Path(scratch))
            java.keep()
        except (AssertionError, OSError) as failed:
            return f"there is no archive of Kafka's classes ({failed}): the tests' JVMs start more slowly"
    return None


def live_a_little(java: Java, folder: Path) -> None:
    """A broker, and a worker that brings lines from a file to a topic and back."""
    with ExitStack() as stack:
        cluster = one_broker(java, folder)
        stack.callback(cluster.remove)
        cluster.start_brokers(*cluster.ports)
        fleet = ConnectFleet(java, folder, cluster.bootstrap, "fleet", {"exactly.once.source.support": "enabled"})
        stack.callback(fleet.remove)
        [worker] = fleet.start_workers(1)
        pipe = Pipe("pipe", folder)
        cluster.create_topic(pipe.topic)
        pipe.create(fleet, {})
        pipe.write(1)
        pipe.wait_until_all_arrived()
        fleet.stop(worker)
        cluster.stop_broker(1)


def one_broker(java: Java, folder: Path) -> KafkaCluster:
    """A broker that runs as a process, whatever the tests' own run as; it is not started yet."""
    node = local_node(1, {name: free_port() for name in LISTENERS})
    properties = broker_properties(
        node, [node], Security.PLAINTEXT, acl=False, users=(), certificates=None, overrides={}
    )
    broker = ProcessRunner(java, folder / "broker-1", node, CLUSTER_ID, properties, HEAP_MB)
    return KafkaCluster(folder, Security.PLAINTEXT, (), None, {1: node.port}, {1: broker})
