"""How many records a second does `kcoord pipeline history` decode, beside one Python process without Spark?

Both read the same topic, decode the same records by the same codecs and write the same table, `records`, as Parquet:
Spark on two cores, after its start; the one process with kcoord's own reader of the topic and pyarrow. What the other
tables cost besides is told, and not compared: nobody has another way to make them.

`python -m bench pipeline` takes ten million records; BENCH_RECORDS says another number, for a look.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

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
from kcoord.pipeline.spark.history import run_batch, take_records
from kcoord.pipeline.spark.session import session
from kcoord.pipeline.spark.sources import TopicSource
from kcoord.pipeline.spark.store import Store
from kcoord.protocol.generated import connect_worker_group_current_member_assignment_value as record7
from kcoord.protocol.records import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupCurrentMemberAssignmentValue,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    encode_record,
)
from kcoord.server.run import loop_factory

COUNT = int(os.environ.get("BENCH_RECORDS", "10000000"))
PARTITIONS, GROUPS, MEMBERS, TASKS = 50, 200, 5, 10
WRITE_AT_ONCE = 5_000
CORES = 2
LEAST_A_SECOND, TIMES_AS_FAST = 200_000, 1.6


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
class Timed:
    """What the parts used."""

    alone: Used
    start: Used
    first: Used
    """The records, by a JVM that compiles."""
    records: Used
    others: Used


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
    """Fill a topic, then read it in both ways."""
    with kafka(folder) as broker, asyncio.Runner(loop_factory=loop_factory()) as runner:
        settings = KafkaLogSettings(bootstrap=broker.cluster.bootstrap, topic="history", partitions=PARTITIONS)
        runner.run(fill(settings))
        (folder / "alone").mkdir()
        pid = broker.broker.pid
        began = Clock.read(pid)
        count = runner.run(alone(settings, folder / "alone"))
        used = began.until(Clock.read(pid))
        assert count == COUNT
        timed = with_spark(settings, folder, used, pid)
    return outcome(timed)


def story() -> Iterator[tuple[int, list[RawRecord]]]:
    """What fleets write, for ever: a partition, and the records of a step: an epoch, what its members then run, and
    offsets that a consumer commits beside it.
    """
    epoch = 0
    while True:
        epoch += 1
        for number in range(GROUPS):
            group = f"connect-cluster-{number}"
            records = [
                Record(ConnectWorkerGroupMetadataKey(group), ConnectWorkerGroupMetadataValue(epoch, "worker joined"))
            ]
            for member in range(MEMBERS):
                tasks = [record7.ConnectorTaskId(f"connector-{member}", task) for task in range(TASKS)]
                packed = [record7.ConnectorsTasks([f"connector-{member}"], tasks)]
                key = ConnectWorkerGroupCurrentMemberAssignmentKey(group, f"worker-{member}-0b2f7a5e")
                records.append(Record(key, ConnectWorkerGroupCurrentMemberAssignmentValue(epoch, 0, packed)))
            for partition in range(MEMBERS):
                value = OffsetCommitValue(offset=epoch, commit_timestamp=1_700_000_000_000)
                records.append(Record(OffsetCommitKey(group, "orders", partition), value))
            yield partition_of(group, PARTITIONS), [encode_record(each) for each in records]


async def fill(settings: KafkaLogSettings) -> None:
    """Write `COUNT` records as kcoord does."""
    log = KafkaLog(settings)
    await log.open()
    try:
        for partition in range(PARTITIONS):
            async for _ in log.load(partition):
                pass
        left, steps, waiting = COUNT, story(), []
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


def with_spark(settings: KafkaLogSettings, folder: Path, alone: Used, broker: int) -> Timed:
    """The whole of `kcoord pipeline history`, with what was used when each of its parts began."""
    parts: list[Clock] = []
    began = Clock.read(broker)
    with session(
        f"local[{2 * CORES}]", folder / "spark.log", kafka=True, settings={"spark.driver.memory": "4g"}
    ) as spark:
        spark.range(CORES).mapInArrow(lambda batches: batches, "id bigint").count()  # its Pythons are there
        ready = Clock.read(broker)
        store, source = Store(spark, str(folder / "tables")), TopicSource.look(settings)
        take_records(store, source)
        compiled = Clock.read(broker)
        done = run_batch(store, source, lambda what: parts.append(Clock.read(broker)))
        ended = Clock.read(broker)
    assert done.records == COUNT
    assert not done.quarantined
    reading, following, *_ = parts
    return Timed(alone, began.until(ready), ready.until(compiled), reading.until(following), following.until(ended))


def outcome(timed: Timed) -> Outcome:
    """The figures."""
    fast, first, slow = (COUNT / each.wall_s for each in (timed.records, timed.first, timed.alone))
    return Outcome(
        title="History by Spark",
        how=f"{COUNT:,} records of {GROUPS} groups in a topic of {PARTITIONS} partitions, one broker beside; Spark "
        f"on {CORES} cores with local[{2 * CORES}], as the command starts it, after its start: the JVM has read the "
        "topic once before, and so has compiled what it runs, as a stream that goes on has.",
        claims=[
            Claim("records decoded", f"≥ {LEAST_A_SECOND:,}/s", f"{fast:,.0f}/s", fast >= LEAST_A_SECOND),
            Claim(
                "records decoded, by a JVM that compiles yet",
                f"≥ {LEAST_A_SECOND:,}/s",
                f"{first:,.0f}/s",
                first >= LEAST_A_SECOND,
            ),
            Claim(
                "beside one Python process",
                f"≥ {TIMES_AS_FAST:g} × as fast",
                f"{fast / slow:.2f} ×",
                fast >= TIMES_AS_FAST * slow,
            ),
        ],
        tables=[
            Table(
                ["what", "seconds", "CPU seconds", "records/s"],
                [
                    timed.alone.row("read, decode, write: one Python process", COUNT),
                    timed.records.row(f"the same, Spark on {CORES} cores", COUNT),
                    timed.first.row("the same in a JVM that was just started, and compiles", COUNT),
                    timed.others.row("all other tables, out of that one", COUNT),
                    timed.start.row("Spark's start", None),
                ],
            )
        ],
        notes=[
            "The codecs are plain Python in both; a key that comes again is read once, in both. What reads Kafka is "
            "Java in the one and Python in the other. CPU is that of the JVM and of all Pythons, without the broker's, "
            "which shares the machine.",
            "What holds the second one back: each record is handed from the JVM to Python and back, which the one "
            "process need not do; both cores are busy all the time.",
        ],
    )
