"""What comes of a step when the broker, or kcoord itself, goes away in the middle of it?"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Coroutine

import pytest

from kcoord.log.clock import lease_now_ms
from kcoord.log.interface import AppendFailed, Log, LogUnusable
from tests.kafka.cluster import KafkaCluster
from tests.kafka.lost_transaction_ends import TRIES, lost_ends
from tests.log.child import STEP_RECORDS
from tests.log.conftest import Child
from tests.log.places import Topic, loaded, opened

BROKER = 1
ROUNDS = 6
DEADLINE_S = 180
"""A story takes some seconds. It never ends if a partition cannot be read any more, because its owner tries again."""
SHORT = {"request_timeout_ms": 500, "append_timeout_ms": 1_000, "load_timeout_ms": 1_000}


@pytest.fixture(scope="module")
def broker(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A cluster of one broker that is killed and started again."""
    return start_kafka()


async def _keep_appending(log: Log, acknowledged: list[int], enough: Callable[[], bool]) -> None:
    n = len(acknowledged)
    while not enough():
        await log.append(0, [(b"%d" % n, b"1"), (b"%d'" % n, b"2")])
        acknowledged.append(n)
        n += 1


async def _in_spite_of_all(log: Log, acknowledged: list[int], enough: Callable[[], bool]) -> None:
    """The same by an owner that loads the partition again where it must, and goes on from what is there."""
    while True:
        try:
            await _keep_appending(log, acknowledged, enough)
        except AppendFailed:
            found = len(await _loaded_at_last(log)) // 2
            assert found >= len(acknowledged), "what was acknowledged is there"
            acknowledged[:] = range(found)
        else:
            return


@pytest.mark.parametrize("kill", [False, True])
async def test_a_broker_that_restarts_costs_time_and_nothing_else(broker: KafkaCluster, kill: bool) -> None:
    await _told_in_full(broker, lambda: a_broker_restarts(broker, kill))


async def _told_in_full(broker: KafkaCluster, story: Callable[[], Coroutine[None, None, None]]) -> None:
    """Tell the story, and repeat it if it stands still because the broker has lost the end of a transaction."""
    for _ in range(TRIES):
        lost_before = lost_ends(broker)
        try:
            await asyncio.wait_for(story(), DEADLINE_S)
        except TimeoutError:
            if lost_ends(broker) == lost_before:
                raise
        else:
            return
    pytest.fail(f"the broker lost the end of a transaction {TRIES} times in a row")


async def a_broker_restarts(broker: KafkaCluster, kill: bool) -> None:
    """While an owner appends all the time."""
    topic = Topic(broker)
    acknowledged: list[int] = []
    async with opened(topic.make(append_timeout_ms=120_000), 0) as log:
        before = 0
        restarted = asyncio.Event()
        appending = asyncio.create_task(
            _in_spite_of_all(log, acknowledged, lambda: restarted.is_set() and len(acknowledged) > before + 20)
        )
        while len(acknowledged) < 50:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(broker.restart_broker, BROKER, kill=kill)
        before = len(acknowledged)
        restarted.set()
        await appending
        assert await loaded(log) == [pair for n in acknowledged for pair in ((b"%d" % n, b"1"), (b"%d'" % n, b"2"))]


async def test_a_broker_that_stays_away_fails_what_waits_and_nothing_hangs(broker: KafkaCluster) -> None:
    await _told_in_full(broker, lambda: a_broker_stays_away(broker))


async def a_broker_stays_away(broker: KafkaCluster) -> None:
    """For longer than kcoord waits, while an owner appends."""
    topic = Topic(broker)
    acknowledged: list[int] = []
    async with _closing_in_time(topic.make(**SHORT)) as log:
        await loaded(log)
        appending = asyncio.create_task(_keep_appending(log, acknowledged, lambda: False))
        while len(acknowledged) < 50:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(broker.kill_broker, BROKER)
        try:
            with pytest.raises(AppendFailed, match=rf"partition 0 of topic {topic.name} took nothing within 1 s: .*"):
                await appending
            assert log.lease(0).until_ms < lease_now_ms()
            with pytest.raises(AppendFailed, match="must be loaded again first"):
                await log.append(0, [(b"a", b"1")])
            with pytest.raises(LogUnusable, match="cannot be taken over"):
                await loaded(log)
            await asyncio.wait_for(log.release(0), 20)
        finally:
            await asyncio.to_thread(broker.start_brokers, BROKER)
        found = await _loaded_at_last(log)
        whole = [pair for n in range(len(found) // 2) for pair in ((b"%d" % n, b"1"), (b"%d'" % n, b"2"))]
        assert found == whole, "each step whole and in order"
        assert len(acknowledged) <= len(found) // 2 <= len(acknowledged) + 1, "all that was acknowledged"
        await log.append(0, [(b"after", b"1")])
        assert (await loaded(log))[-1] == (b"after", b"1")


async def test_a_log_whose_brokers_are_gone_closes(broker: KafkaCluster) -> None:
    topic = Topic(broker)
    async with _closing_in_time(topic.make(**SHORT)) as log:
        await loaded(log)
        await asyncio.to_thread(broker.kill_broker, BROKER)
        try:
            waiting = log.append(0, [(b"a", b"1")])
            await asyncio.wait_for(log.close(), 20)
            with pytest.raises(AppendFailed):
                await waiting
            with pytest.raises(LogUnusable, match=r"log.bootstrap=127.0.0.1:\d+\) cannot be used: 127.0.0.1:\d+: "):
                await topic.make(**SHORT).open()
        finally:
            await asyncio.to_thread(broker.start_brokers, BROKER)


async def test_a_step_larger_than_4_mib_is_there_whole_or_not_at_all(
    kafka: KafkaCluster, start_child: Callable[..., object]
) -> None:
    """Killed with -9 amid many requests of one transaction."""
    topic = Topic(kafka)
    kafka.create_topic(topic.name, 4, {"cleanup.policy": "compact", "max.message.bytes": "200000"})
    acknowledged = -1
    for number in range(ROUNDS):
        child: Child = await start_child("steps", kafka.bootstrap, topic.name)  # type: ignore[misc]
        assert child.stdout is not None
        for _ in range(2):
            acknowledged = max(acknowledged, _acknowledged(await child.stdout.readline()))
        await asyncio.sleep(random.Random(number).random() * 0.4)
        child.kill()
        for line in (await child.stdout.read()).splitlines(keepends=True):
            acknowledged = max(acknowledged, _acknowledged(line))
        await child.wait()
        async with opened(topic.make()) as log:
            found = [key for key, _ in await loaded(log)]
        steps = len(found) // STEP_RECORDS
        assert found == [b"%d/%d" % (step, record) for step in range(steps) for record in range(STEP_RECORDS)]
        assert acknowledged + 1 <= steps <= acknowledged + 2


def _acknowledged(line: bytes) -> int:
    match line.split():
        case [b"acked", n] if line.endswith(b"\n"):
            return int(n)
    return -1


@contextlib.asynccontextmanager
async def _closing_in_time(log: Log) -> AsyncIterator[Log]:
    await log.open()
    try:
        yield log
    finally:
        await asyncio.wait_for(log.close(), 30)


async def _loaded_at_last(log: Log) -> list[tuple[bytes, bytes | None]]:
    """Load until Kafka is there again."""
    while True:
        with contextlib.suppress(LogUnusable):
            return await loaded(log)
        await asyncio.sleep(0.1)
