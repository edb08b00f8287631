"""Which fixtures do the tests of hostile clients share? One Kafka, kcoord alone, and kcoord before that Kafka."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Literal

import pytest

from tests.gateway.scripted import close_all
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord

Place = Literal["alone", "gateway"]
PLACES: tuple[Place, ...] = ("alone", "gateway")
QUICK = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
    "gateway.sentinel.grace.ms": 200,
}
"""No waiting where a test waits for nothing."""


@pytest.fixture(scope="module")
def start_kcoord(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Kcoord]]:
    """Starts kcoord alone, or as a gateway for all groups; removed with the module's last test."""
    started: list[Kcoord] = []

    def start(place: Place, **settings: object) -> Kcoord:
        named = {**QUICK, **{setting.replace("_", "."): value for setting, value in settings.items()}}
        upstream: str | None = None
        groups: tuple[str, ...] = ()
        if place == "gateway":
            cluster: KafkaCluster = request.getfixturevalue("kafka")
            upstream, groups = cluster.bootstrap, (".*",)
        kcoord = Kcoord(tmp_path_factory.mktemp("kcoord"), upstream, groups, named)
        started.append(kcoord)
        return kcoord.start()

    yield start
    for kcoord in started:
        kcoord.remove()


@pytest.fixture(scope="module", params=PLACES)
def kcoord(request: pytest.FixtureRequest, start_kcoord: Callable[..., Kcoord]) -> Kcoord:
    """A kcoord with its defaults, alone and as a gateway."""
    return start_kcoord(request.param)


@pytest.fixture(autouse=True)
async def connections() -> AsyncIterator[None]:
    """Every connection of a test ends with it."""
    yield
    await close_all()
