"""The log as a source of Spark's own: `spark.dataSource.register(KcoordLog)`, then `spark.read.format("kcoord")`.

It gives the decoded records in any session, as a batch or as a stream, without Spark's module for Kafka: kcoord reads
the log by itself. Each partition of the log is one of Spark's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.schemas import WHOLE
from kcoord.pipeline.spark.arrow import whole
from kcoord.pipeline.spark.log_options import settings_of, topic_of
from kcoord.pipeline.spark.raw_batches import batches
from kcoord.pipeline.spark.sources import FileSource, TopicSource, file_rows, topic_rows


class KcoordLog(DataSource):
    """kcoord's log, decoded: the columns of the table `records`, and of `quarantine` what is wrong with a record that
    cannot be read (docs/pipeline.md).

    Options: `bootstrap.servers` and `topic` for a log in a topic, `path` (or `load(DIR)`) for a log in a file; besides,
    every setting that says where the log is and how it is reached, such as `log.sasl.username`
    (docs/configuration.md). Options that are wrong, and a log that is not there, raise PipelineError when it is read.
    """

    @classmethod
    def name(cls) -> str:
        return "kcoord"

    def schema(self) -> str:
        return WHOLE.ddl

    def reader(self, schema: object) -> DataSourceReader:
        settings = settings_of(self.options)
        return FileReader(settings.data_dir) if settings.log == "embedded" else TopicReader(topic_of(settings))

    def streamReader(self, schema: object) -> DataSourceStreamReader:  # noqa: N802
        settings = settings_of(self.options)
        if settings.log == "embedded":
            raise PipelineError("a stream reads a log in a topic: give bootstrap.servers; a log in a file is a batch")
        return TopicStream(topic_of(settings))


@attrs.frozen
class Part(InputPartition):
    """A partition of the log, from one position up to another. A file has no end: it is read as it is."""

    number: int
    start: int = 0
    end: int | None = None


@attrs.frozen
class FileReader(DataSourceReader):
    """Reads the embedded log's file, which executors must see."""

    directory: Path

    def partitions(self) -> list[Part]:
        return [Part(number) for number in range(FileSource.look(self.directory).partitions)]

    def read(self, part: Part) -> Iterator[Any]:
        return whole(batches(part.number, file_rows(self.directory, part.number)))


@attrs.frozen
class TopicReader(DataSourceReader):
    """Reads what is in the topic now."""

    settings: KafkaLogSettings

    def partitions(self) -> list[Part]:
        return [Part(number, 0, end) for number, end in TopicSource.look(self.settings).ends.items() if end]

    def read(self, part: Part) -> Iterator[Any]:
        return read_topic(self.settings, part)


@attrs.frozen
class TopicStream(DataSourceStreamReader):
    """Reads what comes into the topic. An offset of the stream is the position in each partition."""

    settings: KafkaLogSettings

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {str(number): 0 for number in TopicSource.look(self.settings).ends}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802
        return {str(number): end for number, end in TopicSource.look(self.settings).ends.items()}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Part]:
        found = [Part(int(number), start.get(number, 0), until) for number, until in end.items()]
        return [each for each in found if each.start < (each.end or 0)]

    def read(self, part: Part) -> Iterator[Any]:
        return read_topic(self.settings, part)


def read_topic(settings: KafkaLogSettings, part: Part) -> Iterator[Any]:
    """The decoded rows of a part."""
    return whole(batches(part.number, topic_rows(settings, part.number, part.start, part.end)))
