"""Can a word that arrives late break a step in two? A request to Kafka that was given up, and is carried out after all.

Whoever sends a request again because no answer came cannot know that the first is dead: it may lie in a broker that
stands still, or in a network, and be heard when the next transaction is under way.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from aiokafka.protocol.produce import ProduceRequest
from aiokafka.protocol.transaction import EndTxnRequest

from kcoord.log.interface import AppendFailed, RawRecord
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings
from tests.faults.proxy import KafkaProxy
from tests.kafka.cluster import KafkaCluster

END, PRODUCE = EndTxnRequest.API_KEY, ProduceRequest.API_KEY


async def all_records(log: KafkaLog) -> list[bytes]:
    return [key async for chunk in log.load(0) for _, key, _ in chunk]


async def test_the_end_of_a_transaction_that_comes_late_ends_no_other(kafka: KafkaCluster, tmp_path: Path) -> None:
    topic = f"late-{tmp_path.name}"
    async with KafkaProxy.opened(kafka.ports) as proxy:
        settings = KafkaLogSettings(
            bootstrap=proxy.bootstrap, topic=topic, partitions=1, request_timeout_ms=500, append_timeout_ms=3_000
        )
        log = KafkaLog(settings)
        await log.open()
        assert await all_records(log) == []
        ends, produced, caught, late, rest = 0, 0, asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def catch(api_key: int) -> None:
            nonlocal ends, produced
            if api_key == END:
                ends += 1
                if ends == 1:  # the first is given up, and heard when the next transaction is half done
                    await late.wait()
                    return
            if api_key == PRODUCE and ends > 0:
                produced += 1
                if produced > 1:
                    caught.set()
                    await rest.wait()

        proxy.catch = catch
        try:
            await log.append(0, [(b"first", b"")])
        except AppendFailed:  # or it is given up: then nobody knows what became of it, and the load shows it
            await all_records(log)
        large: list[RawRecord] = [(b"%d" % number, bytes(400_000)) for number in range(8)]
        step = log.append(0, large)
        async with asyncio.timeout(180):
            await caught.wait()
        late.set()
        await asyncio.sleep(1)  # the late word arrives
        proxy.cut()  # and the rest of the step never does
        step.cancel()

        other = KafkaLog(KafkaLogSettings(bootstrap=kafka.bootstrap, topic=topic, partitions=1))
        await other.open()
        assert await all_records(other) == [b"first"], "the step was not finished: nothing of it counts"
        await other.close()
        rest.set()
        await log.close()
