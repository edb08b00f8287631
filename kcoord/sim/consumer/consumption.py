"""What a consumer reads: its partitions, where it is in each of them, and the requests about offsets.

A partition begins without a position. The consumer asks for the committed offset, and goes on from there. How far it
has come is drawn when it commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Protocol

from kcoord.group.state.groups.consumer_group import Partition, Partitions
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import OffsetCommitRequest, OffsetFetchRequest, OffsetFetchResponse

Named = tuple[str, int]
"""A topic's name, and a partition."""


class Identity(Protocol):
    """Who a consumer is in its requests about offsets."""

    @property
    def group_id(self) -> str: ...
    @property
    def member_id(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def instance_id(self) -> str | None: ...
    @property
    def fetches_as(self) -> tuple[str | None, int]:
        """The member id and the epoch with which it asks for offsets."""


class Consumption:
    """The partitions of one consumer."""

    def __init__(self, membership: Identity, names: Mapping[bytes, str], random: Random) -> None:
        self._membership = membership
        self._names = names
        """The topics that it knows, by id."""
        self._random = random
        self.positions: dict[Partition, int | None] = {}
        """Where it is in each partition that it reads. None: it does not know yet where to begin."""

    @property
    def partitions(self) -> Partitions:
        """What it reads."""
        return frozenset(self.positions)

    @property
    def unknown(self) -> Partitions:
        """Those of which it does not know where to begin."""
        return frozenset(each for each, position in self.positions.items() if position is None)

    @property
    def known(self) -> dict[Partition, int]:
        """Where it is in the others."""
        return {each: position for each, position in self.positions.items() if position is not None}

    def change(self, after: Partitions) -> None:
        """Read these partitions from now on."""
        self.positions = {each: self.positions.get(each) for each in sorted(after)}

    def go_on(self) -> None:
        """It has read on in some of them."""
        for each, position in self.known.items():
            self.positions[each] = position + int(self._random.random() * 6)

    def commit(self) -> tuple[OffsetCommitRequest, dict[Named, Partition]]:
        """The request that commits where it is, and which partitions it is about."""
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        about: dict[Named, Partition] = {}
        for (topic_id, number), position in self.known.items():
            name = self._names[topic_id]
            if (name, number) not in about:  # of a topic that is made again it may have an old and a new one
                about[name, number] = (topic_id, number)
                topics.setdefault(name, []).append(OffsetCommitRequestPartition(number, position))
        request = OffsetCommitRequest(
            self._membership.group_id,
            self._membership.epoch,
            self._membership.member_id,
            self._membership.instance_id,
            topics=[OffsetCommitRequestTopic(name, partitions=listed) for name, listed in topics.items()],
        )
        return request, about

    def fetch(self) -> OffsetFetchRequest:
        """The request for the offsets from which it is to begin."""
        topics: dict[str, list[int]] = {}
        for topic_id, number in sorted(self.unknown):
            topics.setdefault(self._names[topic_id], []).append(number)
        member_id, epoch = self._membership.fetches_as
        group = OffsetFetchRequestGroup(
            self._membership.group_id,
            member_id,
            epoch,
            [OffsetFetchRequestTopics(name, partition_indexes=numbers) for name, numbers in topics.items()],
        )
        return OffsetFetchRequest(groups=[group])

    def fetched(self, response: OffsetFetchResponse) -> None:
        """Begin where the answer says."""
        offsets = {
            (topic.name, each.partition_index): each.committed_offset
            for topic in response.groups[0].topics
            for each in topic.partitions
        }
        for topic_id, number in self.unknown:
            offset = offsets.get((self._names[topic_id], number))
            if offset is not None:
                self.positions[topic_id, number] = max(offset, 0)
