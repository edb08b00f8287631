"""What does every log promise? The same for the file, for the topic, and for the memory of a test."""

import asyncio
from pathlib import Path

import pytest

from kcoord.log.clock import lease_now_ms
from kcoord.log.interface import AppendFailed, Log, LogUnusable
from tests.kafka.cluster import KafkaCluster
from tests.log.places import Directory, Memory, Place, Topic, loaded, opened


@pytest.fixture(params=["embedded", "kafka", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "memory":
        return Memory()
    if request.param == "embedded":
        return Directory(tmp_path / "not" / "there" / "yet")
    cluster: KafkaCluster = request.getfixturevalue("kafka")
    return Topic(cluster)


async def test_records_come_back_in_order_after_a_restart(place: Place) -> None:
    batches = [[(b"k%d-%d" % (n, part), b"v" * n) for part in range(n % 5)] for n in range(60)]
    async with opened(place.make(), 2) as log:
        for batch in batches:
            await log.append(2, batch)
    async with opened(place.make()) as log:
        assert await loaded(log, 2) == [record for batch in batches for record in batch]
        assert await loaded(log, 1) == []


async def test_the_last_record_of_a_key_counts_and_a_tombstone_takes_it_away(place: Place) -> None:
    async with opened(place.make(), 0, 1) as log:
        await log.append(0, [(b"a", b"1"), (b"b", b"1"), (b"c", b"1"), (b"empty", b"")])
        await log.append(0, [(b"a", b"2"), (b"b", None), (b"a", b"3")])
        await log.append(1, [(b"a", b"of another partition")])
        assert await loaded(log) == [(b"c", b"1"), (b"empty", b""), (b"a", b"3")]


async def test_values_of_any_size_come_back(place: Place) -> None:
    sizes = [0, 1, 1023, 1024, 1025, 5000, 3 << 20, 3 << 20, 3 << 20]
    async with opened(place.make(), 0) as log:
        records = [(b"key-%d" % n, bytes([n]) * size) for n, size in enumerate(sizes)]
        await log.append(0, records)
        assert await loaded(log) == records


async def test_records_come_in_chunks(place: Place) -> None:
    async with opened(place.make(), 0) as log:
        await log.append(0, [(b"key-%d" % n, bytes(100)) for n in range(50_000)])
        sizes = [len(chunk) async for chunk in log.load(0)]
        assert sum(sizes) == 50_000
        assert max(sizes) < 20_000


async def test_changes_that_wait_share_commits(place: Place) -> None:
    """Group commit: one commit takes all that waits."""
    async with opened(place.make(), *range(4)) as log:
        waiting = [log.append(n % 4, [(b"%d" % n, b"v")]) for n in range(1000)]
        await asyncio.gather(*waiting)
        assert log.commits <= 10  # type: ignore[attr-defined]
        assert sum([len(await loaded(log, partition)) for partition in range(4)]) == 1000


async def test_a_large_batch_and_a_large_queue_are_each_written_whole(place: Place) -> None:
    async with opened(place.make(), 0, 1) as log:
        large = [(b"large-%d" % n, b"v") for n in range(10_000)]
        many = [log.append(1, [(b"many-%d" % n, bytes(10_000))]) for n in range(2000)]
        await asyncio.gather(log.append(0, large), *many)
        assert await loaded(log, 0) == large
        assert [key for key, _ in await loaded(log, 1)] == [b"many-%d" % n for n in range(2000)]


async def test_what_was_appended_before_close_is_written(place: Place) -> None:
    async with opened(place.make(), 0) as log:
        waiting = [log.append(0, [(b"%d" % n, b"v")]) for n in range(100)]
    assert all(future.done() and future.exception() is None for future in waiting)
    async with opened(place.make()) as log:
        assert len(await loaded(log)) == 100


async def test_a_partition_that_does_not_exist_is_a_mistake_of_the_caller(place: Place) -> None:
    async with opened(place.make(), 0) as log:
        for wrong in (lambda: log.append(4, [(b"k", b"v")]), lambda: log.tick(-1), lambda: log.lease(4)):
            with pytest.raises(ValueError, match="is not one of the log's 4"):
                wrong()


async def test_a_log_that_is_not_open_says_so(place: Place) -> None:
    async with opened(place.make()) as log:
        pass
    await log.close()
    assert not log.writable
    with pytest.raises(LogUnusable, match="is not open"):
        log.append(0, [(b"k", b"v")])


async def test_a_load_may_be_broken_off_at_any_moment(place: Place) -> None:
    async with opened(place.make(), 0) as log:
        await log.append(0, [(b"%d" % n, b"v") for n in range(50_000)])
        for turns in range(60):
            task = asyncio.create_task(loaded(log))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        async for _ in log.load(0):
            break
        task = asyncio.create_task(loaded(log))
        await asyncio.sleep(0)
    task.cancel()
    async with opened(place.make()) as log:
        assert len(await loaded(log)) == 50_000


async def test_a_lease_runs_from_the_load_and_a_tick_leaves_nothing_to_read(place: Place) -> None:
    """CG-27."""
    async with opened(place.make(), 0) as log:
        lease = log.lease(0)
        assert lease is log.lease(0)
        first = lease.until_ms
        assert first > lease_now_ms()
        await asyncio.sleep(0.01)
        await log.append(0, [(b"a", b"1")])
        second = lease.until_ms
        assert second > first or log.lease_ms == 0
        await asyncio.sleep(0.01)
        await log.tick(0)
        assert lease.until_ms > second or log.lease_ms == 0
        assert await loaded(log) == [(b"a", b"1")]
        assert lease is log.lease(0)


async def test_ticks_and_appends_share_a_commit(place: Place) -> None:
    async with opened(place.make(), 0) as log:
        await asyncio.gather(log.tick(0), log.append(0, [(b"a", b"1")]), log.tick(0))
        assert log.commits <= 1  # type: ignore[attr-defined]
        assert await loaded(log) == [(b"a", b"1")]


async def test_a_partition_that_was_let_go_is_there_for_the_next(place: Place) -> None:
    async with opened(place.make(), 0) as log:
        waiting = log.append(0, [(b"a", b"1")])
        await log.release(0)
        assert waiting.done()
        assert waiting.exception() is None
        assert await loaded(log) == [(b"a", b"1")]
        await log.append(0, [(b"b", b"1")])
        await log.release(1)  # which was never loaded


async def test_a_partition_takes_nothing_while_it_is_not_loaded(kafka: KafkaCluster) -> None:
    """Of the topic: the file's lock says at once whose all of it is."""
    async with opened(Topic(kafka).make()) as log:
        await refused(log, "is not loaded")
        await loaded(log)
        await log.append(0, [(b"a", b"1")])
        await log.release(0)
        await refused(log, "was let go")


async def refused(log: Log, says: str) -> None:
    assert log.lease(0).until_ms < lease_now_ms()
    for future in (log.append(0, [(b"a", b"2")]), log.tick(0)):
        with pytest.raises(AppendFailed, match=says):
            await future
