"""Are heartbeats of the new protocol answered in time over a slow connection? KG-10, KG-25

librdkafka gives up a heartbeat one interval after it has sent it, and closes the connection. So an answer that waits
must leave time for the round trip, whichever interval the consumer was told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest

from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest
from tests.clients.test_consumers_alone import NEW_PROTOCOL
from tests.faults.proxy import KafkaProxy
from tests.kafka.kcoord_process import Kcoord

ONE_WAY_S = 0.075
HEARTBEATS = 6
"""After this many the interval has grown from 0.5 s to 5 s."""
PATIENCE_S = 60.0


@pytest.fixture
def kcoord(tmp_path: Path) -> Iterator[Kcoord]:
    """With the intervals that it has by default."""
    kcoord = Kcoord(tmp_path / "kcoord", settings={"topics": "work:6"})
    kcoord.folder.mkdir()
    kcoord.start()
    yield kcoord
    kcoord.remove()


class Said(logging.Handler):
    """What librdkafka logs."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.mark.proof  # a machine that pauses for a third of a second makes the connection too slow
async def test_rule_10_and_25_no_heartbeat_times_out(kcoord: Kcoord) -> None:
    said, answered = Said(), asyncio.Semaphore(0)
    logger = logging.getLogger("slow")
    logger.addHandler(said)

    async def count(request: bytes, is_passed: bool) -> None:
        if is_passed and int.from_bytes(request[:2], "big") == ConsumerGroupHeartbeatRequest.API_KEY:
            answered.release()

    port = int(kcoord.bootstrap.rpartition(":")[2])
    async with KafkaProxy.opened({1: port}) as proxy:
        proxy.delay_s, proxy.watch = ONE_WAY_S, count
        settings = {"bootstrap.servers": proxy.bootstrap, "group.id": "g", "log_level": 4, **NEW_PROTOCOL}
        consumer = confluent_kafka.Consumer(settings, logger=logger)
        consumer.subscribe(["work"])
        polling = asyncio.create_task(poll(consumer))
        async with asyncio.timeout(PATIENCE_S):
            for _ in range(HEARTBEATS):
                await answered.acquire()
        polling.cancel()
        await asyncio.to_thread(consumer.close)
    assert not [line for line in said.lines if "REQTMOUT" in line]


async def poll(consumer: confluent_kafka.Consumer) -> None:
    """Until it is cancelled."""
    while True:
        consumer.poll(0)
        await asyncio.sleep(0.05)
