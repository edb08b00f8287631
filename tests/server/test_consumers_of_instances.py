"""Do consumers share work in two kcoords that share a log and have no cluster before them? (KG-14, GW-19 to GW-21)"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.create_topics_request import CreatableTopic
from kcoord.protocol.generated.create_topics_response import CreatableTopicResult
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, CreateTopicsRequest
from kcoord.protocol.record_levels import CONSUMER_GROUPS, RELEASE_0_1_0
from tests.clients.members import Librdkafka
from tests.clients.test_consumers_alone import NEW_PROTOCOL, wait_until_shared
from tests.gateway.scripted import ask, close_all, connect
from tests.kafka.cluster import KafkaCluster
from tests.server.harness import over
from tests.server.test_instances import Pair, owner_of


async def test_topics_and_consumers_of_one_are_those_of_the_other(kafka: KafkaCluster, tmp_path: Path) -> None:
    pair = Pair(kafka, tmp_path, settings={"topics": "work:4"})
    try:
        for each in pair.both:
            each.start()
        await owner_of(pair, "g")
        await asyncio.to_thread(_share_and_go_on, pair)
    finally:
        print(pair.tails())
        await close_all()
        for each in pair.both:
            each.remove()


def _share_and_go_on(pair: Pair) -> None:
    one, other = pair.both
    with (
        Librdkafka(one.bootstrap, "g", ["work", "later"], options=NEW_PROTOCOL) as first,
        Librdkafka(other.bootstrap, "g", ["work", "later"], options=NEW_PROTOCOL) as second,
    ):
        wait_until_shared([first, second], [2, 2], frozenset(("work", number) for number in range(4)))
        admin = AdminClient({"bootstrap.servers": other.bootstrap})
        admin.create_topics([NewTopic("later", 2)])["later"].result(60)
        work = frozenset(("work", number) for number in range(4)) | {("later", 0), ("later", 1)}
        wait_until_shared([first, second], [3, 3], work)
        one.kill()
        second.close()
        wait_until_shared([first], [6], work)


@pytest.mark.parametrize("level", [RELEASE_0_1_0, CONSUMER_GROUPS])
async def test_while_an_older_kcoord_shares_the_log_nothing_is_written_that_it_cannot_read(
    tmp_path: Path, level: int
) -> None:
    refused = level < CONSUMER_GROUPS
    async with over(EmbeddedLog(tmp_path, partitions=2), topics={}) as running:
        running.coordinator.write_at_level(level)
        client = await connect(running.port)
        created = await ask(client, CreateTopicsRequest([CreatableTopic("work", 1, 1)]))
        [result] = created.topics
        assert isinstance(result, CreatableTopicResult)
        assert result.error_code == (ErrorCode.COORDINATOR_NOT_AVAILABLE if refused else 0)
        join = ConsumerGroupHeartbeatRequest(
            "g", "a", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["work"], topic_partitions=[]
        )
        joined = await ask(client, join)
        assert joined.error_code == (ErrorCode.COORDINATOR_NOT_AVAILABLE if refused else 0)
        running.coordinator.write_at_level(CONSUMER_GROUPS)
        assert (await ask(client, join)).error_code == 0
        await close_all()
