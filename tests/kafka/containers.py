"""How are the brokers of a test run as containers?

Each broker is one container for all its life: stopped, killed and started again it keeps its data and its port. Clients
reach it on 127.0.0.1 only; brokers reach each other on a network of their cluster's own, by name. Settings and
certificates are copied in before the start, since an engine need not see this machine's files. All of it is removed at
the latest when the tests end.
"""

import atexit
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
from docker.errors import DockerException  # type: ignore[import-untyped]
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from tests.kafka.broker_config import Node
from tests.kafka.engine import engine, settle_reaper
from tests.kafka.java import properties_text
from tests.kafka.nodes import Runner
from tests.kafka.security import Certificates

LABELS = {"kcoord": "tests"}
INSIDE = {"INTERNAL": 9093, "CONTROLLER": 9094}
CONFIG, DATA, SERVER_PEM = (
    "/mnt/shared/config/server.properties",
    "/var/lib/kafka/data",
    "/etc/kafka/secrets/server.pem",
)
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# A broker that comes back may have another address, and one that was gone is there again: Java would remember either.
FORGET_ADDRESSES = "-Dsun.net.inetaddr.ttl=0 -Dsun.net.inetaddr.negative.ttl=0"
STOP_DEADLINE_S = 60
KILLED = 137

_alive: set["ContainerSite"] = set()


@attrs.define
class ContainerRunner:
    """A broker as a container of an image with the interface of `apache/kafka`."""

    node: Node
    log: Path
    _container: DockerContainer
    _created: bool = attrs.field(default=False, init=False)

    @property
    def _inner(self) -> Any:
        """Docker's own view; it has no types."""
        return self._container.get_wrapped_container()

    def start(self) -> None:
        if self._created:
            self._inner.start()
        else:
            self._created = True
            self._container.start()

    def check_running(self) -> None:
        self._inner.reload()
        if self._inner.status != "running":
            code = self._inner.attrs["State"]["ExitCode"]
            raise AssertionError(f"broker {self.node.id} ended with {code}; end of its log:\n{self._tail()}")

    def stop(self) -> None:
        self._inner.stop(timeout=STOP_DEADLINE_S)
        if self._inner.wait()["StatusCode"] == KILLED:
            raise AssertionError(f"broker {self.node.id} did not end on SIGTERM; end of its log:\n{self._tail()}")

    def kill(self) -> None:
        self._inner.kill()
        self._inner.wait()

    def remove(self) -> None:
        if self._container._container is None:  # it could not even be created
            return
        with suppress(OSError):  # its log may have nowhere to go any more
            self.log.write_bytes(self._inner.logs())
        self._container.stop()  # kills it, and removes it with its volumes
        self._container._container = None

    def _tail(self, characters: int = 3000) -> str:
        return str(self._inner.logs().decode(errors="replace"))[-characters:]


@attrs.define(eq=False)
class ContainerSite:
    """The containers of one cluster and their network."""

    folder: Path
    image: str
    _network: Network
    _runners: list[ContainerRunner] = attrs.field(factory=list, init=False)
    _certificates: Certificates | None = attrs.field(default=None, init=False)

    @classmethod
    def make(cls, folder: Path, image: str) -> "ContainerSite":
        """A site without brokers yet."""
        with engine() as client:
            settle_reaper(client)
        folder.mkdir(parents=True, exist_ok=True)
        site = cls(folder, image, Network(docker_network_kw={"labels": LABELS}).create())
        _alive.add(site)
        return site

    def node(self, node_id: int, port: int) -> Node:
        """A broker that binds all addresses of its container, of which only its clients' port leaves the network."""
        ports = {"CLIENT": port, **INSIDE}
        bind = {name: f"0.0.0.0:{number}" for name, number in ports.items()}
        advertised = {name: f"{_alias(node_id)}:{number}" for name, number in INSIDE.items()}
        return Node(node_id, port, bind, {"CLIENT": f"127.0.0.1:{port}", **advertised})

    def as_brokers_see(self, certificates: Certificates) -> Certificates:
        """The same certificates, by their paths in a container."""
        self._certificates = certificates
        return attrs.evolve(certificates, server=Path(SERVER_PEM))

    def runner(self, node: Node, cluster_id: str, properties: Mapping[str, object], heap_mb: int) -> Runner:
        container = DockerContainer(self.image, network=self._network, network_aliases=[_alias(node.id)])
        container.with_kwargs(labels=LABELS)
        container.ports[str(node.port)] = ("127.0.0.1", node.port)  # type: ignore[assignment]  # docker takes it
        container.with_env("CLUSTER_ID", cluster_id)
        container.with_env("KAFKA_HEAP_OPTS", f"-Xmx{heap_mb}m")
        container.with_env("KAFKA_JVM_PERFORMANCE_OPTS", QUICK_START)
        container.with_env("KAFKA_OPTS", FORGET_ADDRESSES)
        container.with_copy_into_container(properties_text({**properties, "log.dirs": DATA}).encode(), CONFIG)
        if self._certificates is not None:
            container.with_copy_into_container(self._certificates.server, SERVER_PEM)
        runner = ContainerRunner(node, self.folder / f"broker-{node.id}.log", container)
        self._runners.append(runner)
        return runner

    def remove(self) -> None:
        for runner in self._runners:
            runner.remove()
        self._runners.clear()
        self._network.remove()
        self._network._docker.client.close()
        _alive.discard(self)


def _alias(node_id: int) -> str:
    return f"broker-{node_id}"


@atexit.register
def _remove_all() -> None:
    for site in list(_alive):
        try:
            site.remove()
        except (DockerException, OSError) as error:
            print(f"not removed, the containers and the network of {site.folder}: {error}")
