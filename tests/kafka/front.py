"""What do the clients of a test connect to?

To kcoord before a Kafka cluster. With TESTS_DIRECT=1 to that cluster itself: so the tests' own stories are
checked against what Kafka does, and a failure is told apart: kcoord's, or the test's.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import attrs

from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord

DIRECT = os.environ.get("TESTS_DIRECT") == "1"
ALL_GROUPS = (".*",)


class Front(Protocol):
    """Where clients are pointed at."""

    @property
    def bootstrap(self) -> str:
        """The value of the clients' `bootstrap.servers`."""

    def kill_and_restart(self) -> None:
        """`kill -9` kcoord and start it again; nothing where there is none."""

    def remove(self) -> None:
        """Make sure that nothing of it is left."""


@attrs.frozen
class Direct:
    """No kcoord: the cluster itself."""

    cluster: KafkaCluster

    @property
    def bootstrap(self) -> str:
        return self.cluster.bootstrap

    def kill_and_restart(self) -> None:
        pass

    def remove(self) -> None:
        pass


QUICK = {"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 1000, "gateway.sentinel.grace.ms": 500}


def kcoord_of(cluster: KafkaCluster, folder: Path, groups: Sequence[str] = ALL_GROUPS, **settings: object) -> Kcoord:
    """kcoord before `cluster` for these groups, started; `settings` are its own, with underscores for dots."""
    named: dict[str, object] = {**QUICK, "upstream.security.protocol": cluster.security.value}
    if cluster.certificates is not None:
        named["upstream.ssl.ca.location"] = cluster.certificates.authority
    named |= {name.replace("_", "."): value for name, value in settings.items()}
    return Kcoord(folder, cluster.bootstrap, groups, named).start()


def front_of(cluster: KafkaCluster, folder: Path, groups: Sequence[str] = ALL_GROUPS, **settings: object) -> Front:
    """`kcoord_of` the same, or the cluster itself where TESTS_DIRECT says so."""
    return Direct(cluster) if DIRECT else kcoord_of(cluster, folder, groups, **settings)


F = TypeVar("F", bound=Front)


@contextlib.contextmanager
def one_for_each(start: Callable[[KafkaCluster], F]) -> Iterator[Callable[[KafkaCluster], F]]:
    """Gives what stands before a cluster, started when it is first asked for; nothing of them is left afterwards."""
    started: dict[str, F] = {}

    def of(cluster: KafkaCluster) -> F:
        if cluster.bootstrap not in started:
            started[cluster.bootstrap] = start(cluster)
        return started[cluster.bootstrap]

    yield of
    for each in started.values():
        each.remove()
