"""How fast is `kcoord pipeline history`, beside one Python process without Spark, and what does a stream pay for new
records after a long history?

All read the same topic, and decode by the same codecs. The one process writes the same table, `records`, with kcoord's
own reader of the topic and pyarrow. One group has half of all records. What the other tables cost besides is told, and
not compared: nobody has another way to make them.

`python -m bench pipeline` takes ten million records; BENCH_RECORDS says another number, for a look.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Self

import attrs
import psutil
import pyarrow as pa
import pyarrow.parquet as parquet

from bench.probe import Process
from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from kcoord.group.partition_of_group import partition_of
from kcoord.log.interface import RawRecord
from kcoord.log.kafka.history import TopicHistory
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.pipeline.schemas import RECORDS
from kcoord.pipeline.spark.arrow import ROWS, decoded
from kcoord.pipeline.spark.history import run_batch, run_stream, take_records
from kcoord.pipeline.spark.session import session
from kcoord.pipeline.spark.sources import TopicSource
from kcoord.pipeline.spark.store import Store
from kcoord.protocol.generated import connect_worker_group_current_member_assignment_value as record7
from kcoord.protocol.records import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupCurrentMemberAssignmentValue,
    ConnectWorkerGroupHistoryKey,
    ConnectWorkerGroupHistoryValue,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    encode_record,
)
from kcoord.server.run import loop_factory
from tests.pipeline.spark import bring_connectors
from tests.pipeline.standalone_cluster import spark_cluster

COUNT = int(os.environ.get("BENCH_RECORDS", "10000000"))
NEW = 1_000
PARTITIONS, GROUPS, MEMBERS, TASKS = 50, 200, 5, 10
WRITE_AT_ONCE = 5_000
CORES = 2
LARGE = "connect-cluster-large"
"""The group that has half of all records."""
LOCAL = {"spark.driver.memory": "4g"}
ON_CLUSTER = {"spark.executor.memory": "1g", "spark.driver.memory": "2g"}
LEAST_DECODED, LEAST_OTHERS, MOST_NEW_S, LEAST_ON_CLUSTER, MOST_TASK_BYTES = 400_000, 300_000, 10, 0.85, 400 << 20
LOOK_EVERY_S = 0.2


@attrs.frozen
class Used:
    """Seconds of one part: by the clock, and of CPU."""

    wall_s: float
    cpu_s: float

    def row(self, what: str, count: int | None) -> list[str]:
        """For the table of figures."""
        rate = "" if count is None else f"{count / self.wall_s:,.0f}"
        return [what, f"{self.wall_s:,.1f}", f"{self.cpu_s:,.1f}", rate]


@attrs.frozen
class Passes:
    """What one session used. All passes read the log from its beginning."""

    start: Used
    first: Used
    """The records, as the first thing that a session does."""
    whole: Used
    """All tables."""
    task_bytes: int
    """The most that one of its Pythons had in memory, while all tables were made."""

    def others(self) -> Used:
        """What the other tables cost besides."""
        return Used(self.whole.wall_s - self.first.wall_s, self.whole.cpu_s - self.first.cpu_s)


@attrs.frozen
class Timed:
    """What the parts used."""

    alone: Used
    here: Passes
    cluster: Passes
    history: Used
    """The first run of a stream, which follows everything."""
    new: Used
    """Its next one, which finds `NEW` records."""


@attrs.frozen
class Clock:
    """What had been used at some moment by this process and all below it, without the broker."""

    wall_s: float
    cpu_s: float

    @classmethod
    def read(cls, broker: int) -> Clock:
        """Now."""
        ours = psutil.Process()
        counted = [each for each in ours.children(recursive=True) if each.pid != broker]
        return cls(time.perf_counter(), sum(Process(each.pid).cpu_s() for each in (ours, *counted)))

    def until(self, later: Clock) -> Used:
        """What was used from here on."""
        return Used(later.wall_s - self.wall_s, later.cpu_s - self.cpu_s)


def run(folder: Path) -> Outcome:
    """Fill a topic, then read it in all ways."""
    bring_connectors()
    with kafka(folder) as broker, asyncio.Runner(loop_factory=loop_factory()) as runner:
        settings = KafkaLogSettings(bootstrap=broker.cluster.bootstrap, topic="history", partitions=PARTITIONS)
        steps = story()
        runner.run(fill(settings, steps, COUNT))
        (folder / "alone").mkdir()
        pid = broker.broker.pid
        began = Clock.read(pid)
        count = runner.run(alone(settings, folder / "alone"))
        used = began.until(Clock.read(pid))
        assert count == COUNT
        here = passes(settings, folder / "here", f"local[{CORES}]", LOCAL, pid)
        with spark_cluster(folder / "cluster", Path(sys.executable)) as cluster:
            theirs = {name: cluster.settings[name] for name in ("spark.driver.host", "spark.driver.bindAddress")}
            on_cluster = passes(settings, folder / "there", cluster.master, theirs | ON_CLUSTER, pid)
        history = streamed(settings, folder / "stream", COUNT, pid)
        runner.run(fill(settings, steps, NEW))
        new = streamed(settings, folder / "stream", COUNT + NEW, pid)
    return outcome(Timed(used, here, on_cluster, history, new))


def story() -> Iterator[tuple[int, list[RawRecord]]]:
    """What fleets write, for ever: a partition, and the records of a step: an epoch, what its members then run, offsets
    that a consumer commits beside it, and what came of the epoch. Every other step is of the large group.
    """
    epoch, large = 0, 0
    while True:
        epoch += 1
        for number in range(GROUPS - 1):
            large += 1
            yield step_of(LARGE, large)
            yield step_of(f"connect-cluster-{number}", epoch)


def step_of(group: str, epoch: int) -> tuple[int, list[RawRecord]]:
    """A step of one group."""
    records = [Record(ConnectWorkerGroupMetadataKey(group), ConnectWorkerGroupMetadataValue(epoch, "worker joined"))]
    for member in range(MEMBERS):
        tasks = [record7.ConnectorTaskId(f"connector-{member}", task) for task in range(TASKS)]
        packed = [record7.ConnectorsTasks([f"connector-{member}"], tasks)]
        key = ConnectWorkerGroupCurrentMemberAssignmentKey(group, f"worker-{member}-0b2f7a5e")
        records.append(Record(key, ConnectWorkerGroupCurrentMemberAssignmentValue(epoch, 0, packed)))
    for partition in range(MEMBERS):
        value = OffsetCommitValue(offset=epoch, commit_timestamp=1_700_000_000_000)
        records.append(Record(OffsetCommitKey(group, "orders", partition), value))
    came = ConnectWorkerGroupHistoryValue("worker joined", epoch, epoch, epoch, 0)
    records.append(Record(ConnectWorkerGroupHistoryKey(group, epoch), came))
    return partition_of(group, PARTITIONS), [encode_record(each) for each in records]


async def fill(settings: KafkaLogSettings, steps: Iterator[tuple[int, list[RawRecord]]], count: int) -> None:
    """Write so many records as kcoord does."""
    log = KafkaLog(settings)
    await log.open()
    try:
        for partition in range(PARTITIONS):
            async for _ in log.load(partition):
                pass
        left, waiting = count, []
        while left:
            for partition, records in islice(steps, WRITE_AT_ONCE // 10):
                waiting.append(log.append(partition, records[:left]))
                left -= min(left, len(records))
                if not left:
                    break
            await asyncio.gather(*waiting)
            waiting.clear()
    finally:
        await log.close()


async def alone(settings: KafkaLogSettings, folder: Path) -> int:
    """One process: read, decode, write; gives the number of records."""
    count = 0
    writer: parquet.ParquetWriter | None = None
    async with TopicHistory(settings) as history:
        for partition in range(PARTITIONS):
            rows: list[tuple[int, int, int, bytes, bytes | None]] = []
            async for entries in history.read(partition):
                rows += [(each.partition, each.position, each.at_ms * 1000, each.key, each.value) for each in entries]
                if len(rows) >= ROWS:
                    writer = _write(folder, writer, rows)
                    count += len(rows)
                    rows = []
            if rows:
                writer = _write(folder, writer, rows)
                count += len(rows)
    if writer is not None:
        writer.close()
    return count


def _write(
    folder: Path, writer: parquet.ParquetWriter | None, rows: Sequence[tuple[int, int, int, bytes, bytes | None]]
) -> parquet.ParquetWriter:
    kinds = (pa.int32(), pa.int64(), pa.timestamp("us", tz="UTC"), pa.binary(), pa.binary())
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, names=["partition", "offset", "at", "key", "value"])
    for done in decoded([batch]):
        kept = done.select([column.name for column in RECORDS.columns])
        writer = writer or parquet.ParquetWriter(folder / "records.parquet", kept.schema)
        writer.write_batch(kept)
    assert writer is not None
    return writer


def passes(settings: KafkaLogSettings, folder: Path, master: str, given: Mapping[str, str], broker: int) -> Passes:
    """The records, then the whole of `kcoord pipeline history`, in a new session."""
    folder.mkdir()
    (folder / "spark.log").touch()
    began = Clock.read(broker)
    with session(master, folder / "spark.log", kafka=True, settings=given) as spark:
        spark.range(CORES, numPartitions=CORES).mapInArrow(lambda batches: batches, "id bigint").count()  # its Pythons
        ready = Clock.read(broker)
        store, source = Store(spark, str(folder / "tables")), TopicSource.look(settings)
        take_records(store, source)
        first = Clock.read(broker)
        with Watch() as watch:
            done = run_batch(store, source)
        ended = Clock.read(broker)
    assert (done.records, done.quarantined) == (COUNT, 0)
    return Passes(began.until(ready), ready.until(first), first.until(ended), watch.most)


def streamed(settings: KafkaLogSettings, folder: Path, count: int, broker: int) -> Used:
    """A run of a stream, in a session that is ready."""
    with session(f"local[{CORES}]", folder.with_suffix(".log"), kafka=True, settings=LOCAL) as spark:
        spark.range(CORES, numPartitions=CORES).mapInArrow(lambda batches: batches, "id bigint").count()
        began = Clock.read(broker)
        done = run_stream(Store(spark, str(folder)), TopicSource.look(settings))
        assert done.records == count
        return began.until(Clock.read(broker))


class Watch:
    """Looks at how much memory Spark's Pythons have."""

    def __init__(self) -> None:
        self.most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            for each in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if "pyspark.daemon" in each.cmdline():
                        self.most = max(self.most, each.memory_info().rss)


def outcome(timed: Timed) -> Outcome:
    """The figures."""
    here, cluster, others = timed.here, timed.cluster, timed.here.others()
    decoded_s, alone_s, others_s = (COUNT / each.wall_s for each in (here.first, timed.alone, others))
    shares = [here.first.wall_s / cluster.first.wall_s, here.whole.wall_s / cluster.whole.wall_s]
    most_bytes = max(here.task_bytes, cluster.task_bytes)
    return Outcome(
        title="History by Spark",
        how=f"{COUNT:,} records of {GROUPS} groups in a topic of {PARTITIONS} partitions, half of them of one group; "
        f"one broker beside; Spark on {CORES} cores, in sessions that were just started: what they do first counts.",
        claims=[
            Claim("records decoded", f"≥ {LEAST_DECODED:,}/s", f"{decoded_s:,.0f}/s", decoded_s >= LEAST_DECODED),
            Claim("beside one Python process", "", f"{decoded_s / alone_s:.2f} ×"),
            Claim("all other tables", f"≥ {LEAST_OTHERS:,}/s", f"{others_s:,.0f}/s", others_s >= LEAST_OTHERS),
            Claim(
                f"{NEW:,} new records after {COUNT:,}, in a stream",
                f"≤ {MOST_NEW_S} s",
                f"{timed.new.wall_s:.1f} s",
                timed.new.wall_s <= MOST_NEW_S,
            ),
            Claim(
                "on a cluster of 2 workers with a core each, as fast as here",
                f"≥ {LEAST_ON_CLUSTER:g} ×",
                f"{min(shares):.2f} ×",
                min(shares) >= LEAST_ON_CLUSTER,
            ),
            Claim(
                "memory of a task's Python",
                f"≤ {MOST_TASK_BYTES >> 20} MiB",
                f"{most_bytes >> 20} MiB",
                most_bytes <= MOST_TASK_BYTES,
            ),
        ],
        tables=[
            Table(
                ["what", "seconds", "CPU seconds", "records/s"],
                [
                    timed.alone.row("read, decode, write: one Python process", COUNT),
                    here.first.row(f"the same, Spark on {CORES} cores", COUNT),
                    here.whole.row("all tables", COUNT),
                    here.start.row("Spark's start", None),
                    cluster.first.row("read, decode, write: the cluster", COUNT),
                    cluster.whole.row("all tables: the cluster", COUNT),
                    cluster.start.row("Spark's start, with a look at the executors", None),
                    timed.history.row("a stream's first run, with all tables", COUNT),
                    timed.new.row(f"its next run, with {NEW:,} new records", None),
                ],
            )
        ],
        notes=[
            "The codecs are plain Python everywhere; a key that comes again is read once. CPU is that of the JVM and "
            "of all Pythons, without the broker's, which shares the machine.",
            "All other tables: what all tables take longer than the records alone.",
        ],
    )
