"""The requests of `kcoord groups reset-offsets`: where a group is to begin when its members come back.

As with Kafka's own tool, the group must have no members, and nothing is written unless --execute says so. Other than
Kafka's tool, the command writes any offset that it is given at a kcoord without a cluster: there a position is what the
application says, and no topic has an end that it could be beyond.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from kcoord.cli.calls.connect_groups import ConnectGroup
from kcoord.cli.calls.group_calls import DescribedClassicGroup, describe
from kcoord.cli.calls.topic_calls import Topic, topics_named
from kcoord.cli.output.terminal_output import table_of, written
from kcoord.client import Broker, ClientError, Cluster
from kcoord.client.connection import error_name
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
)

LATEST, EARLIEST = -1, -2
"""The times in ListOffsets of a partition's end and beginning."""
Partition = tuple[str, int]


@attrs.frozen
class Scope:
    """A topic, or some of its partitions."""

    topic: str
    partitions: frozenset[int] | None
    """None: all."""

    @classmethod
    def parse(cls, text: str) -> "Scope":
        """`orders` or `orders:0,1`, as Kafka's tool takes them. Raises ValueError."""
        topic, colon, numbers = text.partition(":")
        if not colon:
            return cls(topic, None)
        if not all(each.isascii() and each.isdigit() for each in numbers.split(",")):
            raise ValueError(f"{text!r}: write a topic as NAME, or as NAME:0,1 for some of its partitions")
        return cls(topic, frozenset(map(int, numbers.split(","))))


@attrs.frozen
class Position:
    """Where a group begins to read a partition."""

    topic: str
    partition: int
    offset: int

    def as_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


async def positions(cluster: Cluster, group: str, scopes: Sequence[Scope], to: "To") -> list[Position]:
    """Where the group would begin. Raises ClientError, also if its offsets cannot be reset now."""
    await _check_idle(cluster, group)
    topics = {each.name: each for each in await topics_named(cluster, [*{scope.topic: None for scope in scopes}])}
    wanted = sorted({each for scope in scopes for each in _partitions(scope, topics[scope.topic])})
    known = await to.offsets(cluster, topics, wanted)
    return [Position(topic, number, known[topic, number]) for topic, number in wanted]


async def execute(cluster: Cluster, group: str, moved: Sequence[Position]) -> None:
    """Commit these offsets for the group. Raises ClientError."""
    named: dict[str, list[OffsetCommitRequestPartition]] = {}
    for each in moved:
        named.setdefault(each.topic, []).append(OffsetCommitRequestPartition(each.partition, each.offset))
    request = OffsetCommitRequest(
        group_id=group,
        topics=[OffsetCommitRequestTopic(topic, partitions=partitions) for topic, partitions in named.items()],
    )
    connection = await cluster.to(await cluster.coordinator(group))
    response = await connection.send(request, OffsetCommitResponse)
    for topic in response.topics:
        for part in topic.partitions:
            if part.error_code:
                raise ClientError(f"{group}: {topic.name}:{part.partition_index} not reset: {_why(part.error_code)}")


def table(group: str, moved: Sequence[Position]) -> str:
    """A table for people."""
    rows = [(group, each.topic, str(each.partition), str(each.offset)) for each in moved]
    return written(table_of(("GROUP", "TOPIC", "PARTITION", "NEW OFFSET"), rows))


async def _check_idle(cluster: Cluster, group: str) -> None:
    """Raises ClientError unless the group's offsets may be reset. A group that does not exist yet is made by it."""
    [found] = await describe(cluster, [group])
    if isinstance(found, ConnectGroup):
        raise ClientError(f"{group} is a connect group: it has no offsets")
    members = found.members if isinstance(found, DescribedClassicGroup) else found.workers
    if members:
        raise ClientError(f"{group}: not reset: it has members ({found.state}); stop them first")


def _partitions(scope: Scope, topic: Topic) -> Iterable[Partition]:
    """The partitions in this scope. Raises ClientError if one does not exist."""
    unknown = sorted((scope.partitions or frozenset()) - topic.leaders.keys())
    if unknown:
        raise ClientError(f"{topic.name}: there is no partition {unknown[0]}")
    return [(topic.name, number) for number in (topic.leaders if scope.partitions is None else scope.partitions)]


@attrs.frozen
class To:
    """Where to: an offset, or a partition's beginning or end."""

    offset: int | None = None
    time: int | None = None
    """A time in ListOffsets."""

    async def offsets(
        self, cluster: Cluster, topics: dict[str, Topic], wanted: Sequence[Partition]
    ) -> dict[Partition, int]:
        """The offset in each of these partitions. Raises ClientError."""
        if self.time is not None:
            return await _listed(cluster, topics, wanted, self.time)
        offset = self.offset or 0
        if not (await cluster.any()).keeps_data:  # no data: no position is out of range
            return dict.fromkeys(wanted, offset)
        ends = await _listed(cluster, topics, wanted, LATEST)
        beginnings = await _listed(cluster, topics, wanted, EARLIEST)
        return {each: min(max(offset, beginnings[each]), ends[each]) for each in wanted}


async def _listed(
    cluster: Cluster, topics: dict[str, Topic], wanted: Sequence[Partition], time: int
) -> dict[Partition, int]:
    """The offsets at this time, asked of the leader of each partition."""
    brokers = {each.node_id: each for each in await cluster.brokers()}
    by_leader: dict[int, list[Partition]] = {}
    for topic, number in wanted:
        by_leader.setdefault(topics[topic].leaders[number], []).append((topic, number))

    async def of(leader: int, partitions: Sequence[Partition]) -> dict[Partition, int]:
        if leader not in brokers:
            topic, number = partitions[0]
            raise ClientError(f"{topic}:{number} has no leader at the moment; try again")
        return await _listed_by(cluster, brokers[leader], partitions, time)

    found = await asyncio.gather(*(of(leader, partitions) for leader, partitions in by_leader.items()))
    return {each: offset for some in found for each, offset in some.items()}


async def _listed_by(
    cluster: Cluster, broker: Broker, partitions: Sequence[Partition], time: int
) -> dict[Partition, int]:
    named: dict[str, list[ListOffsetsPartition]] = {}
    for topic, number in partitions:
        named.setdefault(topic, []).append(ListOffsetsPartition(number, timestamp=time))
    request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(topic, some) for topic, some in named.items()])
    response = await (await cluster.to(broker)).send(request, ListOffsetsResponse)
    found: dict[Partition, int] = {}
    for told in response.topics:
        for each in told.partitions:
            if each.error_code:
                raise ClientError(f"{told.name}:{each.partition_index}: {error_name(each.error_code)}")
            found[told.name, each.partition_index] = each.offset
    return found


def _why(code: int) -> str:
    return _WHY_NOT.get(code) or error_name(code)


_HAS_MEMBERS = "it has members; stop them first"
_WHY_NOT: dict[int, str] = {
    ErrorCode.UNKNOWN_MEMBER_ID: _HAS_MEMBERS,
    ErrorCode.REBALANCE_IN_PROGRESS: _HAS_MEMBERS,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "you are not allowed to",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "you are not allowed to",
}
