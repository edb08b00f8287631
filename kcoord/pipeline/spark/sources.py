"""The sources of raw rows: the log's topic, as a batch or as a stream, or the embedded log's file.

kcoord's own readers look at the log first: they say in one line what is wrong with a topic or a file.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import attrs

from kcoord.log.interface import LogError
from kcoord.log.kafka.history import TopicHistory
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.log.kafka.silent_times import silences
from kcoord.log.outages import read_outages
from kcoord.log.sqlite_file import LogFile, read_all
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.spark.raw_batches import RawRow, batches, nothing, together
from kcoord.pipeline.spark.session import has_compiled, is_local, most_tasks

_COLUMNS = ("partition", "offset", "timestamp AS at", "key", "value")
_AT_ONCE = {"max.poll.records": "100000"}
"""Take everything that a broker has sent at once. After each part that Kafka's client hands on, 500 records by default,
Spark's source looks for the ends of the partition. That discards what the client has fetched and not handed on.
"""

ROWS_AT_ONCE = 4096
"""How many rows one run of the event loop reads. Starting and stopping the loop costs as much as reading ten rows."""
Outage = tuple[int | None, int, int]
"""The partition (None: all of them), and the beginning and end (unix ms)."""


class PartitionReader(Protocol):
    """Reads partitions of a log. Spark carries it to executors."""

    @property
    def sizes(self) -> Mapping[int, int]:
        """About how many records each partition has."""
        ...

    def rows(self, partition: int) -> Iterable[RawRow]:
        """The rows of a partition, in order. Raises LogError."""
        ...


class Source(Protocol):
    """A log to read."""

    @property
    def partitions(self) -> int:
        """How many partitions the log has."""
        ...

    def batch(self, spark: Any, scratch: str) -> Any:
        """Everything that is in the log now, as a DataFrame of raw rows. `scratch`: a place that all executors see,
        whose content may be deleted when nothing reads the rows any more. Raises PipelineError.
        """
        ...

    def reader(self, spark: Any) -> PartitionReader | None:
        """Reads the log in the tasks of `spark`, by kcoord's own readers. None: its executors cannot do that."""
        ...

    def outages(self) -> list[Outage]:
        """The times when nobody had the log, as far as it shows them. Raises PipelineError."""
        ...


@attrs.frozen
class TopicSource:
    """The log in a topic, up to `ends`: partition → the position at which the first open transaction begins."""

    settings: KafkaLogSettings
    options: Mapping[str, str]
    """More options for Kafka's client in Spark, by Kafka's names, without `kafka.` before them."""
    partitions: int
    ends: Mapping[int, int]

    @classmethod
    def look(cls, settings: KafkaLogSettings, options: Mapping[str, str] | None = None) -> TopicSource:
        """Look at the topic. Raises PipelineError: no such topic, no response, no rights."""
        try:
            ends = asyncio.run(_ends(settings))
        except LogError as error:
            raise PipelineError(str(error)) from None
        return cls(settings, options or {}, len(ends), ends)

    def batch(self, spark: Any, scratch: str) -> Any:
        """See Source."""
        ends = json.dumps({self.settings.topic: {str(partition): end for partition, end in self.ends.items()}})
        reader = spark.read.format("kafka").options(**self._options(), startingOffsets="earliest", endingOffsets=ends)
        return reader.load().selectExpr(*_COLUMNS)

    def reader(self, spark: Any) -> PartitionReader | None:
        """See Source. What is said to Kafka's Java client only, kcoord's own reader does not know."""
        security = self.settings.security
        files = (security.ca_file, security.certificate_file, security.key_file)
        is_here = is_local(spark.sparkContext.master)
        can_read = is_here or (has_compiled(spark) and not any(files))
        return TopicPartitions(self.settings, self.ends) if can_read and not self.options else None

    def outages(self) -> list[Outage]:
        """See Source."""
        try:
            return list(asyncio.run(silences(self.settings, time.time_ns() // 1_000_000)))
        except LogError as error:
            raise PipelineError(str(error)) from None

    def stream(self, spark: Any, at_once: int) -> Any:
        """All rows from the beginning on, at most `at_once` records in one batch."""
        reader = spark.readStream.format("kafka").options(**self._options(), startingOffsets="earliest")
        return reader.option("maxOffsetsPerTrigger", at_once).load().selectExpr(*_COLUMNS)

    def _options(self) -> dict[str, str]:
        return {
            "kafka.bootstrap.servers": self.settings.bootstrap,
            "kafka.isolation.level": "read_committed",
            **{f"kafka.{name}": value for name, value in _security(self.settings, self.options).items()},
            **{f"kafka.{name}": value for name, value in (_AT_ONCE | dict(self.options)).items()},
            "subscribe": self.settings.topic,
            "failOnDataLoss": "true",
        }


@attrs.frozen
class FileSource:
    """The embedded log's file in `directory` of this machine."""

    directory: Path
    partitions: int

    @classmethod
    def look(cls, directory: Path) -> FileSource:
        """Look at the file. Raises PipelineError if it does not exist or is damaged."""
        try:
            connection, partitions = LogFile(directory, 0).look()
        except LogError as error:
            raise PipelineError(str(error)) from None
        connection.close()
        return cls(directory.absolute(), partitions)

    def batch(self, spark: Any, scratch: str) -> Any:
        """See Source. Executors on other machines do not see the file: they get its rows from here."""
        from kcoord.pipeline.spark.arrow import RAW

        if not is_local(spark.sparkContext.master):
            return self._brought(spark, scratch)
        numbers = spark.range(0, self.partitions, 1, min(self.partitions, most_tasks(spark)))
        return numbers.mapInArrow(_file_reader(str(self.directory), self.partitions), RAW)

    def reader(self, spark: Any) -> PartitionReader | None:
        """See Source."""
        return FilePartitions(self.directory, self.partitions) if is_local(spark.sparkContext.master) else None

    def outages(self) -> list[Outage]:
        """See Source."""
        try:
            connection, _ = LogFile(self.directory, self.partitions).look()
        except LogError as error:
            raise PipelineError(str(error)) from None
        with closing(connection):
            return [(None, *each) for each in read_outages(connection)]

    def _brought(self, spark: Any, scratch: str) -> Any:
        """The rows, written to `scratch` from here, a part at a time."""
        import pyarrow as pa

        from kcoord.pipeline.spark.arrow import RAW

        numbers = pa.RecordBatch.from_pydict({"id": list(range(self.partitions))})
        rows = chain(_file_reader(str(self.directory), self.partitions)([numbers]), [nothing()])
        for part in together(rows):
            spark.createDataFrame(pa.Table.from_batches(part), RAW).coalesce(1).write.mode("append").parquet(scratch)
        return spark.read.schema(RAW).parquet(scratch)


@attrs.frozen
class TopicPartitions:
    """See PartitionReader."""

    settings: KafkaLogSettings
    sizes: Mapping[int, int]
    """Where each partition ends, too."""

    def rows(self, partition: int) -> Iterator[RawRow]:
        """See PartitionReader."""
        return topic_rows(self.settings, partition, 0, self.sizes[partition])


@attrs.frozen
class FilePartitions:
    """See PartitionReader."""

    directory: Path
    partitions: int

    @property
    def sizes(self) -> Mapping[int, int]:
        """See PartitionReader. Nobody has counted them."""
        return dict.fromkeys(range(self.partitions), 1)

    def rows(self, partition: int) -> Iterator[RawRow]:
        """See PartitionReader."""
        return file_rows(self.directory, partition, self.partitions)


def topic_rows(settings: KafkaLogSettings, partition: int, start: int, end: int | None) -> Iterator[RawRow]:
    """The rows of a partition of the log's topic, from one position up to another. Raises LogError."""

    async def parts() -> AsyncIterator[list[RawRow]]:
        rows: list[RawRow] = []
        async with TopicHistory(settings) as history:
            async for step in history.read(partition, start):
                rows += [(each.position, each.at_ms, each.key, each.value) for each in step]
                if end is not None and rows and rows[-1][0] >= end:
                    break  # what has come since
                if len(rows) >= ROWS_AT_ONCE:
                    yield rows
                    rows = []
        yield rows if end is None else [each for each in rows if each[0] < end]

    return chain.from_iterable(_one_by_one(parts()))


def _one_by_one(results: AsyncIterator[list[RawRow]]) -> Iterator[list[RawRow]]:
    """What an asynchronous iterator gives, for a caller that has no event loop."""
    with asyncio.Runner() as runner:
        while True:
            try:
                yield runner.run(_next_of(results))
            except StopAsyncIteration:
                return


async def _next_of(results: AsyncIterator[list[RawRow]]) -> list[RawRow]:
    """The next result. Raises StopAsyncIteration."""
    return await anext(results)


async def _ends(settings: KafkaLogSettings) -> dict[int, int]:
    async with TopicHistory(settings) as history:
        return {partition: await history.end(partition) for partition in range(history.partitions)}


def _file_reader(directory: str, partitions: int) -> Any:
    def read(numbers: Iterable[Any]) -> Iterator[Any]:
        for batch in numbers:
            for partition in batch.column("id").to_pylist():
                yield from batches(partition, file_rows(Path(directory), partition, partitions))

    return read


def file_rows(directory: Path, partition: int, partitions: int = 0) -> Iterator[RawRow]:
    """The rows of a partition of the embedded log's file. `partitions`: how many it must have; 0: as many as it has.

    Raises LogError.
    """
    file = LogFile(directory, partitions)
    connection, _ = file.look()
    with closing(connection):
        yield from read_all(file, connection, partition, 0)


def _security(settings: KafkaLogSettings, given: Mapping[str, str]) -> dict[str, str]:
    """kcoord's security settings in the terms of Kafka's Java client. Raises PipelineError if there is no
    equivalent.
    """
    security = settings.security
    said = {"security.protocol": security.protocol}
    if security.uses_tls:
        said["ssl.endpoint.identification.algorithm"] = "https" if security.check_hostname else ""
        if security.ca_file is not None:
            said |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": security.ca_file.read_text()}
        if security.certificate_file is not None:
            key = security.key_file or security.certificate_file
            said |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.certificate.chain": security.certificate_file.read_text(),
                "ssl.keystore.key": key.read_text(),
            }
            if security.key_password:
                said["ssl.key.password"] = security.key_password
    if security.uses_sasl:
        said["sasl.mechanism"] = security.mechanism
        if security.username is not None and security.password is not None:
            kind = "plain.PlainLoginModule" if security.mechanism == "PLAIN" else "scram.ScramLoginModule"
            name, password = (
                each.replace("\\", "\\\\").replace('"', '\\"') for each in (security.username, security.password)
            )
            module = f"org.apache.kafka.common.security.{kind}"
            said["sasl.jaas.config"] = f'{module} required username="{name}" password="{password}";'
        elif "sasl.jaas.config" not in given:
            raise PipelineError(
                f"Spark's Java client needs its own configuration for {security.mechanism}: give it by "
                "--kafka-option sasl.jaas.config=… (and what else Kafka's documentation names for it)"
            )
    return said
