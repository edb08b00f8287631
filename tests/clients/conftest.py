"""Which fixtures do the tests with other people's clients share?"""

import gc
import itertools
import warnings
from collections.abc import Iterator

import pytest

from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front, front_of

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
