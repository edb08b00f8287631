"""The log in a compacted topic of a Kafka cluster, put together from its parts.

Each partition has an `Appender`, which makes transactions of waiting changes. The appender has a `Producer`, which
commits one transaction and takes the partition over. A `Reader` loads the partition. All share one client
(`Connections`). The topic is made or checked when the log is opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing

import attrs

from kcoord.log.interface import Lease, LogUnusable, RawRecord, StoredRecord
from kcoord.log.kafka.appending import Appender
from kcoord.log.kafka.batches import record_fits
from kcoord.log.kafka.committed_records import Reader
from kcoord.log.kafka.connections import Connections
from kcoord.log.kafka.producer import Producer
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.log.kafka.topic import prepare_topic

_CHUNK_RECORDS = 1000


@attrs.define(eq=False)
class KafkaLog:
    """A log (see `interface.Log`) in a topic."""

    settings: KafkaLogSettings
    on_writable: Callable[[], None] | None = attrs.field(default=None, init=False)
    """Never called: a log that cannot be reached can be neither written nor loaded, and failing appends show that."""
    partitions: int = attrs.field(init=False)
    lease_ms: int = attrs.field(init=False)

    is_new: bool = attrs.field(default=False, init=False)
    """Whether the topic was made when this log was opened."""
    _connections: Connections = attrs.field(init=False)
    _limit: int = attrs.field(default=0, init=False)
    """The largest batch that the topic takes, in bytes."""
    _appenders: list[Appender] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.partitions = self.settings.partitions
        self.lease_ms = self.settings.lease_ms
        self._connections = Connections(self.settings)

    @property
    def writable(self) -> bool:
        """See Log.writable."""
        return bool(self._appenders)

    @property
    def commits(self) -> int:
        """The number of transactions committed since `open`, ticks included."""
        return sum(each.commits for each in self._appenders)

    async def open(self) -> None:
        """Connect to the cluster, and make or check the topic. Raises LogUnusable, LogIncompatible."""
        try:
            await self._connections.open()
            self.is_new, self._limit = await prepare_topic(self._connections)
        except BaseException:
            await self._connections.close()
            raise
        self._connections.follow_topic()
        settings = self.settings
        self._appenders = [
            Appender(
                Producer(self._connections, settings.topic, partition, self._limit),
                settings.lease_ms,
                settings.append_timeout_ms / 1000,
                settings.load_timeout_ms / 1000,
            )
            for partition in range(settings.partitions)
        ]

    async def close(self) -> None:
        """See Log.close. Appends that Kafka does not take within `append_timeout_ms` fail."""
        if self._appenders:
            await asyncio.gather(*(each.release() for each in self._appenders))
            self._appenders = []
            await self._connections.close()

    def lease(self, partition: int) -> Lease:
        """See Log.lease."""
        return self._appender(partition).lease

    async def load(self, partition: int) -> AsyncIterator[list[StoredRecord]]:
        """See Log.load. Yields only the last record of each key, tombstones included: compaction runs late, and
        skipping a day's replaced records takes a quarter of the time of decoding them.

        Raises AppendFailed if the partition is lost again before the load is done.
        """
        appender = self._appender(partition)
        reader = self._reader(partition)
        live: dict[bytes, StoredRecord] = {}
        began_ms = await appender.gain()
        start, end = await reader.bounds()
        async with aclosing(reader.read(start, end)) as chunks:
            async for chunk in chunks:
                for record in chunk:
                    live.pop(record[1], None)  # moves the key to the end
                    live[record[1]] = record
                await asyncio.sleep(0)
        last = list(live.values())
        for first in range(0, len(last), _CHUNK_RECORDS):
            yield last[first : first + _CHUNK_RECORDS]
        await appender.begin(began_ms)

    def append(self, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """See Log.append."""
        return self._appender(partition).append(batch)

    def fits(self, key: bytes, value: bytes | None) -> bool:
        """See Log.fits. The limit is the topic's max.message.bytes."""
        return record_fits(key, value, self._limit)

    def tick(self, partition: int) -> asyncio.Future[None]:
        """See Log.tick. It is a transaction without records."""
        return self._appender(partition).append(())

    async def release(self, partition: int) -> None:
        """See Log.release."""
        await self._appender(partition).release()

    # Inside

    def _appender(self, partition: int) -> Appender:
        if not 0 <= partition < self.partitions:
            raise ValueError(f"partition {partition} is not one of the log's {self.partitions}")
        if not self._appenders:
            raise LogUnusable(f"the log in topic {self.settings.topic} is not open")
        return self._appenders[partition]

    def _reader(self, partition: int) -> Reader:
        return Reader(self._connections, self.settings.topic, partition, self.settings.load_timeout_ms / 1000)
