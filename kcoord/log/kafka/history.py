"""Read-only access to the history of a log in a topic: it takes no partition over and writes nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Self

import attrs

from kcoord.log.history import Entry
from kcoord.log.kafka.committed_records import Reader
from kcoord.log.kafka.connections import Connections
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.log.kafka.topic import count_partitions


@attrs.define(eq=False)
class TopicHistory:
    """The history of a log in a topic (see `log.history.History`). Raises LogError if the topic does not exist."""

    settings: KafkaLogSettings
    partitions: int = attrs.field(default=0, init=False)
    _connections: Connections = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._connections = Connections(self.settings)

    async def __aenter__(self) -> Self:
        try:
            await self._connections.open()
            self.partitions = await count_partitions(self._connections)
        except BaseException:
            await self._connections.close()
            raise
        self._connections.follow_topic()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connections.close()

    async def read(self, partition: int, start: int = 0) -> AsyncIterator[list[Entry]]:
        """See History.read."""
        reader = self._reader(partition)
        first, _ = await reader.bounds()
        async with aclosing(reader.steps(max(first, start), await reader.stable_end())) as steps:
            async for entries in steps:
                yield entries

    async def signs(self, partition: int, since_ms: int) -> AsyncGenerator[int, None]:
        """The times (unix ms), from `since_ms` on, of all writes to `partition`, ticks included. Raises LogError."""
        reader = self._reader(partition)
        start = await reader.first_since(since_ms)
        if start is None:
            return
        async with aclosing(reader.signs(start, await reader.stable_end())) as signs:
            async for at_ms in signs:
                yield at_ms

    async def end(self, partition: int) -> int:
        """The offset up to which everything in `partition` is committed or aborted at present. Raises LogError."""
        return await self._reader(partition).stable_end()

    def _reader(self, partition: int) -> Reader:
        return Reader(self._connections, self.settings.topic, partition, self.settings.load_timeout_ms / 1000)
