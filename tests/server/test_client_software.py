"""Is a client that waits for long known by the name of its software? (KG-10, KG-25)"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ApiVersionsRequest, ConsumerGroupHeartbeatRequest
from tests.gateway.scripted import ask, close_all, connect
from tests.kafka.kcoord_process import Kcoord

NAMED = 3
"""The first version of ApiVersions that names the client's software."""
SOFTWARE: list[tuple[str, str, int]] = [
    ("Java's", "apache-kafka-java", 500),
    ("franz-go", "kgo", 500),
    ("librdkafka", "librdkafka", 1_000),
    ("one that nobody knows", "x", 1_000),
]
"""Whose client, the name that it says, and the interval that its consumer is told."""


@pytest.fixture(scope="module")
def kcoord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    process = Kcoord(Path(tmp_path_factory.mktemp("patient")), settings={"topics": "work:3"})
    yield process.start()
    process.remove()


def joining(group_id: str) -> ConsumerGroupHeartbeatRequest:
    """A consumer's first heartbeat."""
    return ConsumerGroupHeartbeatRequest(
        group_id, "m", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["work"], topic_partitions=[]
    )


@pytest.mark.parametrize(("whose", "name", "interval_ms"), SOFTWARE)
async def test_it_is_told_a_shorter_interval(kcoord: Kcoord, whose: str, name: str, interval_ms: int) -> None:
    client = await connect(kcoord.bootstrap)
    named = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    assert not (await ask(client, named, NAMED)).error_code
    assert (await ask(client, joining(name))).heartbeat_interval_ms == interval_ms, whose
    await close_all()


async def test_who_does_not_say_its_name_or_a_wrong_one_is_nobody_known(kcoord: Kcoord) -> None:
    client = await connect(kcoord.bootstrap)
    wrong = ApiVersionsRequest(client_software_name="apache-kafka-java", client_software_version="?")
    assert (await ask(client, wrong, NAMED)).error_code == ErrorCode.INVALID_REQUEST
    assert not (await ask(client, ApiVersionsRequest(), NAMED - 1)).error_code
    assert (await ask(client, joining("nobody"))).heartbeat_interval_ms == 1_000
    await close_all()
