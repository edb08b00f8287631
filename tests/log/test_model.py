"""Is what a log gives back always what a dictionary would, through restarts and compaction?"""

import asyncio
import sqlite3
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import RawRecord
from tests.kafka.cluster import KafkaCluster
from tests.light import fewer
from tests.log.conftest import Clock, loaded
from tests.log.places import Topic
from tests.log.places import loaded as loaded_of_place

RETENTION_MS = 1000
PARTITIONS = 3

records = st.tuples(
    st.sampled_from([b"", b"a", b"b", b"c", b"a long key " * 30]),
    st.none() | st.binary(max_size=20) | st.integers(900, 6000).map(bytes),
)
steps = st.one_of(
    st.tuples(st.just("append"), st.integers(0, PARTITIONS - 1), st.lists(records, max_size=6)),
    st.tuples(st.just("wait"), st.integers(-500, 800)),
    st.tuples(st.just("compact")),
    st.tuples(st.just("restart")),
)


class Model:
    """Each partition as a dictionary ordered by last change, and as the list of all that was ever written to it."""

    def __init__(self) -> None:
        self.live: list[dict[bytes, bytes]] = [{} for _ in range(PARTITIONS)]
        self.written: list[list[tuple[int, RawRecord]]] = [[] for _ in range(PARTITIONS)]

    def append(self, partition: int, batch: list[RawRecord], now: int) -> None:
        for key, value in batch:
            self.live[partition].pop(key, None)
            if value is not None:
                self.live[partition][key] = value
            self.written[partition].append((now, (key, value)))

    def compact(self, now: int) -> None:
        """History is the part of a partition before its first young record."""
        for partition, written in enumerate(self.written):
            young = [at >= now - RETENTION_MS for at, _ in written] + [True]
            last = {key: n for n, (_, (key, _)) in enumerate(written)}
            self.written[partition] = [
                (at, (key, value))
                for n, (at, (key, value)) in enumerate(written)
                if n >= young.index(True) or (last[key] == n and value is not None)
            ]


async def _run(script: list[tuple[object, ...]], directory: Path) -> None:
    model, clock = Model(), Clock()

    def make() -> EmbeddedLog:
        return EmbeddedLog(
            directory, PARTITIONS, history_retention_ms=RETENTION_MS, check_interval_ms=0, clock=clock
        )  # fmt: skip

    log = make()
    await log.open()
    for step in script:
        match step:
            case ("append", int(partition), list(batch)):
                await log.append(partition, batch)
                model.append(partition, batch, clock.now)
            case ("wait", int(ms)):
                clock.now += ms
            case ("compact",):
                before = _rows(log)
                taken = await log.compact()
                assert taken == before - _rows(log)
                model.compact(clock.now)
            case ("restart",):
                await log.close()
                log = make()
                await log.open()
        assert [await loaded(log, partition) for partition in range(PARTITIONS)] == [
            list(live.items()) for live in model.live
        ]
    assert _rows(log) == sum(map(len, model.written))
    clock.now += 2 * RETENTION_MS
    await log.compact()
    clock.now += 10 * RETENTION_MS  # past clocks that were set back
    await log.compact()
    assert _rows(log) == sum(map(len, model.live))
    await log.close()


def _rows(log: EmbeddedLog) -> int:
    connection = sqlite3.connect(log.file.path)
    (count,) = connection.execute("SELECT count(*) FROM record").fetchone()
    connection.close()
    assert isinstance(count, int)
    return count


@given(st.lists(steps, max_size=25))
@settings(max_examples=fewer(60, 10), deadline=None)
def test_loading_gives_what_a_dictionary_would(script: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_run(script, Path(directory)))


async def _run_on_topic(script: list[tuple[object, ...]], topic: Topic) -> None:
    """The same on a topic, whose brokers compact when they like."""
    model = Model()
    log = topic.make()
    await log.open()
    for partition in range(PARTITIONS):
        await loaded_of_place(log, partition)
    for step in script:
        match step:
            case ("append", int(partition), list(batch)):
                await log.append(partition, batch)
                model.append(partition, batch, 0)
            case ("restart",):
                await log.close()
                log = topic.make()
                await log.open()
            case _:
                continue
        assert [await loaded_of_place(log, partition) for partition in range(PARTITIONS)] == [
            list(live.items()) for live in model.live
        ]
    await log.close()


def test_loading_a_topic_gives_the_same(kafka: KafkaCluster) -> None:
    @given(st.lists(steps, max_size=25))
    @settings(max_examples=8, deadline=None)
    def check(script: list[tuple[object, ...]]) -> None:
        asyncio.run(_run_on_topic(script, Topic(kafka)))

    check()
