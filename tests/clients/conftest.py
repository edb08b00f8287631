"""Which fixtures do the tests with other people's clients share?"""

import gc
import itertools
import warnings
from collections.abc import Callable, Iterator

import pytest

from tests.clients.consumer_group_settings import SETTINGS
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front, front_of, one_for_each
from tests.kafka.groups import describe
from tests.kafka.wait import eventually

VERSIONS = {"2.8": "2.8.2", "3.9": "3.9.1"}
"""The older clusters of the tests, and their releases."""
_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _libraries_leave_sockets() -> Iterator[None]:
    """kafka-python leaves a socket open for each connection that is refused: collected here, where it is no error."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="session")
def front(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """kcoord before the shared Kafka; it owns all groups, and lives as long as the tests."""
    front = front_of(kafka, tmp_path_factory.mktemp("kcoord"))
    yield front
    front.remove()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for the test's own topic or group."""
    return f"{request.node.originalname.removeprefix('test_')}-{next(_numbers)}"


@pytest.fixture
def topic(kafka: KafkaCluster, name: str) -> str:
    """A topic of four partitions for the test alone."""
    return kafka.create_topic(f"topic-{name}", partitions=4)


@pytest.fixture(scope="module")
def entry_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[KafkaCluster], Front]]:
    """kcoord in front of a cluster, which serves consumer groups."""
    with one_for_each(lambda cluster: front_of(cluster, tmp_path_factory.mktemp("kcoord"), **SETTINGS)) as of:
        yield of


@pytest.fixture(scope="module")
def cluster_of(kafka: KafkaCluster, start_kafka: Callable[..., KafkaCluster]) -> Callable[[str], KafkaCluster]:
    """The cluster of a version; the tests' own Kafka is the newest."""
    started = {"4.3": kafka}

    def of(version: str) -> KafkaCluster:
        if version not in started:
            started[version] = start_kafka(version=VERSIONS[version])
        bootstrap = started[version].bootstrap
        eventually(lambda: describe(bootstrap, "whoever"), "there are coordinators", retry=Exception)
        return started[version]

    return of
