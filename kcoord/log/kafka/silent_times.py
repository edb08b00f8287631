"""Silences: the times in which nobody wrote to a partition of the topic, not even a tick.

An instance that has a partition with members commits before its lease is over, if only a tick, which leaves the marker
of a transaction (`server/shards/lease_keeper.py`). So if a partition with members is silent for longer than the lease,
nobody coordinated it. The outage began within one lease after the last write.

Compaction removes the markers of ticks, but none that are younger than the retention of history. So only that time is
searched.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

from kcoord.log.kafka.history import TopicHistory
from kcoord.log.kafka.settings import KafkaLogSettings

SPARE_MS = 1_000
"""Time beyond the lease before a silence counts, because commits take some time."""

Silence = tuple[int, int, int]
"""The partition, and the begin and end of the silence (unix ms)."""


async def silences(settings: KafkaLogSettings, now_ms: int) -> list[Silence]:
    """All silences that are over. Raises LogError."""
    found: list[Silence] = []
    since_ms = now_ms - settings.history_retention_ms
    async with TopicHistory(settings) as history:
        for partition in range(history.partitions):
            times = [each async for each in _signs(history, partition, since_ms)]
            found += [(partition, *each) for each in _longer_than(settings.lease_ms + SPARE_MS, times)]
    return found


async def _signs(history: TopicHistory, partition: int, since_ms: int) -> AsyncIterator[int]:
    async with aclosing(history.signs(partition, since_ms)) as signs:
        async for at_ms in signs:
            yield at_ms


def _longer_than(most_ms: int, times: list[int]) -> Iterator[tuple[int, int]]:
    last_ms: int | None = None
    for at_ms in times:
        if last_ms is not None and at_ms - last_ms > most_ms:
            yield last_ms, at_ms
        last_ms = at_ms if last_ms is None else max(last_ms, at_ms)
