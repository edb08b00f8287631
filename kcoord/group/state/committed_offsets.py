"""The committed offsets of a shard, by group, topic and partition, as in their records.

They are durable: only `replay` changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern

from kcoord.protocol.records import OffsetCommitKey, OffsetCommitValue, Record

Partitions = dict[int, OffsetCommitValue]
NO_TOPICS: Mapping[str, Partitions] = {}
NO_PARTITIONS: Mapping[int, OffsetCommitValue] = {}


class Offsets:
    """All committed offsets of a shard."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Partitions]] = {}
        self._counts: dict[str, int] = {}

    def put(self, group_id: str, topic: str, partition: int, value: OffsetCommitValue) -> None:
        """Store an offset in place of the one before."""
        partitions = self._groups.setdefault(group_id, {}).setdefault(intern(topic), {})
        if partition not in partitions:
            self._counts[group_id] = self.count(group_id) + 1
        partitions[partition] = value

    def remove(self, group_id: str, topic: str, partition: int) -> None:
        """Remove an offset, if it is there."""
        topics = self._groups.get(group_id, {})
        partitions = topics.get(topic, {})
        if partitions.pop(partition, None) is not None:
            self._counts[group_id] -= 1
        if not partitions:
            topics.pop(topic, None)
        if not topics:
            self._groups.pop(group_id, None)
            self._counts.pop(group_id, None)

    def count(self, group_id: str) -> int:
        """How many partitions have an offset of the group."""
        return self._counts.get(group_id, 0)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, OffsetCommitValue]]:
        """Offsets by topic and partition."""
        return self._groups.get(group_id, NO_TOPICS)

    def of_topic(self, group_id: str, topic: str) -> Mapping[int, OffsetCommitValue]:
        """Offsets of one topic by partition."""
        return self._groups.get(group_id, NO_TOPICS).get(topic, NO_PARTITIONS)


def tombstone(group_id: str, topic: str, partition: int) -> Record:
    """The record that removes an offset."""
    return Record(OffsetCommitKey(group_id, topic, partition), None)


def tombstones(offsets: Offsets, group_id: str) -> list[Record]:
    """The records that remove all offsets of a group."""
    stored = offsets.of_group(group_id)
    return [tombstone(group_id, topic, partition) for topic, partitions in stored.items() for partition in partitions]
