"""Which fixtures do the gateway's tests share?"""

import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from kcoord.gateway.ownership.sentinel import joins as sentinel_joins
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.upstream import Asker
from kcoord.protocol.errors import ErrorCode
from tests.gateway.entries import Entry, entries
from tests.gateway.scripted import close_all, connect
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

_numbers = itertools.count(1)
QUICK = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
    "gateway.sentinel.grace.ms": 200,
}
"""No waiting where a test waits for nothing."""


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for the test's own topic or group."""
    return f"gw-{request.node.originalname.removeprefix('test_')}-{next(_numbers)}"


@pytest.fixture(scope="module")
def start_kcoord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Kcoord]]:
    """Starts kcoord before a cluster, for all groups unless told otherwise; removed with the module's last test."""
    started: list[Kcoord] = []

    def start(
        cluster: KafkaCluster, *groups: str, upstream: str | None = None, wait: bool = True, **settings: object
    ) -> Kcoord:
        named = {**QUICK, **{setting.replace("_", "."): value for setting, value in settings.items()}}
        folder = tmp_path_factory.mktemp("kcoord")
        kcoord = Kcoord(folder, upstream or cluster.bootstrap, groups or (".*",), named)
        started.append(kcoord)
        return kcoord.start(wait=wait)

    yield start
    for kcoord in started:
        kcoord.remove()


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:
    """kcoord before the Kafka that all tests share; it takes all groups."""
    return start_kcoord(kafka)


@pytest.fixture(autouse=True)
async def connections() -> AsyncIterator[None]:
    """Every connection of a test ends with it."""
    yield
    await close_all()


@pytest.fixture
async def through(kcoord: Kcoord) -> Client:
    """A connection to kcoord's bootstrap port."""
    return await connect(kcoord.bootstrap)


@pytest.fixture
async def direct(kafka: KafkaCluster) -> Client:
    """A connection to Kafka itself."""
    return await connect(kafka.bootstrap)


@pytest.fixture
def topic(kafka: KafkaCluster, name: str) -> str:
    """A topic of one partition for the test alone."""
    return kafka.create_topic(f"topic-{name}")


@pytest.fixture
async def entry(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[Entry]:
    """A kcoord alone, in the test's own loop."""
    async with entries(kafka, tmp_path, at={1: 0}, count=1, shared=False) as [only]:
        yield only


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a sentinel was joined upstream, by group."""
    counted: Counter[str] = Counter()
    attempt = sentinel_joins.attempt

    async def counting(sentinel: Sentinel, asker: Asker, mark: int) -> ErrorCode:
        counted[sentinel.group_id] += 1
        return await attempt(sentinel, asker, mark)

    monkeypatch.setattr(sentinel_joins, "attempt", counting)
    return counted
