"""Where can a log be, for tests that must hold for all of them?"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import attrs

from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import Log, RawRecord
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.testing.memory_log import MemoryLog
from tests.kafka.cluster import KafkaCluster

PARTITIONS = 4


class Place(Protocol):
    """One place of a log: what is opened there again has the same records."""

    def make(self) -> Log:
        """A log that is not open yet."""
        ...


@attrs.frozen
class Directory:
    """The embedded log's."""

    path: Path

    def make(self) -> Log:
        return EmbeddedLog(self.path, partitions=PARTITIONS, check_interval_ms=0)


@attrs.frozen
class Memory:
    """That of `kcoord.testing`."""

    log: MemoryLog = attrs.field(factory=lambda: MemoryLog(PARTITIONS))

    def make(self) -> Log:
        return self.log


@attrs.frozen
class Topic:
    """A topic of a cluster."""

    cluster: KafkaCluster
    name: str = attrs.field(factory=lambda: f"offsets-{uuid.uuid4()}")

    def settings(self, **others: Any) -> KafkaLogSettings:
        return KafkaLogSettings(
            **{"bootstrap": self.cluster.bootstrap, "topic": self.name, "partitions": PARTITIONS, **others}
        )

    def make(self, **others: Any) -> KafkaLog:
        return KafkaLog(self.settings(**others))


@contextlib.asynccontextmanager
async def opened(log: Log, *partitions: int) -> AsyncIterator[Log]:
    """The log, open, with these partitions loaded; closed at the end."""
    await log.open()
    try:
        for partition in partitions:
            await loaded(log, partition)
        yield log
    finally:
        await log.close()


async def loaded(log: Log, partition: int = 0) -> list[RawRecord]:
    """Load `partition`; gives the last record of each key that is no tombstone, in order."""
    live: dict[bytes, bytes] = {}
    places: list[int] = []
    async for chunk in log.load(partition):
        for place, key, value in chunk:
            places.append(place)
            live.pop(key, None)
            if value is not None:
                live[key] = value
    assert places == sorted(set(places)), "records come in the order of the log"
    return list(live.items())
