"""Two sides that answer the same consumers: a broker of Kafka, asked over the wire, and a shard of kcoord.

Which partitions a member gets may differ between them, how many may not. So a scenario names what a member owns by what
it was told (`Group.has`), and answers are compared as counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any, Protocol

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext
from kcoord.group.state.topic import Topic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_request import TopicPartitions
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from kcoord.protocol.message_base import Request
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from tests.gateway.scripted import ask
from tests.server.harness import Client

REBALANCE_MS = 60_000
COMMIT_VERSION = FETCH_VERSION = 9
LEAVE_VERSION = 5
V0, V1 = 0, 1
_connections = count(1)

Owned = frozenset[tuple[bytes, int]]


def flat(topics: Iterable[Any]) -> Owned:
    """Partitions as sets of topics and numbers."""
    return frozenset((each.topic_id, number) for each in topics for number in each.partitions)


class Side(Protocol):
    """Somebody who coordinates groups."""

    async def answer(self, request: Request, version: int) -> Any:
        """The answer to a request."""


@attrs.frozen
class KafkaSide:
    """A broker."""

    client: Client

    async def answer(self, request: Request, version: int) -> Any:
        return await ask(self.client, request, version)


class OurSide:
    """A shard. Its clock stands."""

    def __init__(self, known: Iterable[Topic], interval_ms: int = 0) -> None:
        """`interval_ms`: the shortest time between two assignments."""
        settings = ConsumerSettings(heartbeat_wait_ms=0, assignment_interval_ms=interval_ms)
        self.shard = Shard(
            GroupSettings(consumer=settings, initial_rebalance_delay_ms=0), lambda: f"id-{next(_connections)}"
        )
        self.shard.state.topics = {topic.name: topic for topic in known}
        self.shard.loaded(0, 0)

    async def answer(self, request: Request, version: int) -> Any:
        token = object()
        context = RequestContext(version, "tester", "/127.0.0.1", 1, 1)
        step = self.shard.handle(request, context, token, 1).checked()
        (reply,) = step.replies
        request_class = type(reply.response)
        return request_class.decode(reply.response.encode(version), version)  # what the wire leaves of it


@attrs.define
class Group:
    """One group at one side, and all that was answered, in short."""

    side: Side
    group_id: str
    names: dict[bytes, str]
    """Topics by their ids."""
    seen: list[Any] = attrs.Factory(list)
    has: dict[str, Owned] = attrs.Factory(dict)
    """By member, the last assignment that it was told."""
    epoch: dict[str, int] = attrs.Factory(dict)
    """By member, the last epoch that it was told."""

    async def beat(self, member: str, epoch: int, owned: Owned | None = None, version: int = V1, **said: Any) -> None:
        """A heartbeat; what is answered is noted."""
        held = None if owned is None else [TopicPartitions(topic, [number]) for topic, number in sorted(owned)]
        request = ConsumerGroupHeartbeatRequest(self.group_id, member, epoch, topic_partitions=held, **said)
        told = await self.side.answer(request, version)
        if told.error_code:
            self.seen.append(ErrorCode(told.error_code).name)
            return
        self.epoch[member] = told.member_epoch
        if told.assignment is not None:
            self.has[member] = flat(told.assignment.topic_partitions)
        self.seen.append((told.member_epoch, None if told.assignment is None else self.counts(self.has[member])))

    def some(self, name: str, count: int) -> Owned:
        """The first partitions of that topic."""
        (topic,) = (topic for topic, known in self.names.items() if known == name)
        return frozenset((topic, number) for number in range(count))

    def counts(self, partitions: Owned) -> int:
        """How many there are, all of topics that exist."""
        assert all(topic in self.names for topic, _ in partitions)
        return len(partitions)

    async def join(self, member: str, topics: str | None = "A", **said: Any) -> None:
        """Epoch 0 with all that a join needs; `topics`: "AB"."""
        names = None if topics is None else [name for name in self.names.values() if name[0] in topics]
        fields = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": names}
        await self.beat(member, 0, frozenset(), **{**fields, **said})

    async def go_on(self, member: str, **said: Any) -> None:
        """A heartbeat with the epoch that it was told last."""
        await self.beat(member, self.epoch[member], **said)

    async def confirm(self, member: str) -> None:
        """The same, and it owns exactly what it was told."""
        await self.go_on(member, owned=self.has[member])

    async def commit(self, member: str, epoch: int, partitions: Owned) -> None:
        """A commit of these partitions."""
        request = OffsetCommitRequest(
            self.group_id,
            epoch,
            member,
            topics=[
                OffsetCommitRequestTopic(self.names[topic], partitions=[OffsetCommitRequestPartition(number, 7)])
                for topic, number in sorted(partitions)
            ],
        )
        told = await self.side.answer(request, COMMIT_VERSION)
        errors = {part.error_code for topic in told.topics for part in topic.partitions}
        self.seen.append(("committed", sorted(ErrorCode(each).name for each in errors)))

    async def fetch(self, member: str | None, epoch: int) -> None:
        """A fetch of all offsets."""
        group = OffsetFetchRequestGroup(self.group_id, member, epoch, None)
        told = await self.side.answer(OffsetFetchRequest(groups=[group]), FETCH_VERSION)
        self.seen.append(("fetched", ErrorCode(told.groups[0].error_code).name))

    async def describe(self) -> None:
        """What everybody may see of the group."""
        (told,) = (await self.side.answer(ConsumerGroupDescribeRequest([self.group_id]), V1)).groups
        members = {
            each.member_id: (
                (each.member_epoch, each.instance_id, each.rack_id, each.member_type),
                (sorted(each.subscribed_topic_names), each.subscribed_topic_regex),
                [self.counts(flat(some.topic_partitions)) for some in (each.assignment, each.target_assignment)],
            )
            for each in told.members
        }
        head = (ErrorCode(told.error_code).name, told.group_state, told.group_epoch, told.assignment_epoch)
        self.seen.append((*head, told.assignor_name, members))
        listed = await self.side.answer(ListGroupsRequest(), 5)
        self.seen += [
            (each.protocol_type, each.group_state, each.group_type)
            for each in listed.groups
            if each.group_id == self.group_id
        ]

    async def leave(self, *members: tuple[str, str | None]) -> None:
        """An admin removes members, each by its id, its instance id, or both."""
        named = [MemberIdentity(member_id, instance_id) for member_id, instance_id in members]
        told = await self.side.answer(LeaveGroupRequest(self.group_id, members=named), LEAVE_VERSION)
        errors = [ErrorCode(each.error_code).name for each in told.members]
        self.seen.append(("left", ErrorCode(told.error_code).name, errors))

    async def delete(self) -> None:
        """Delete the group."""
        told = await self.side.answer(DeleteGroupsRequest([self.group_id]), 2)
        self.seen.append(("deleted", ErrorCode(told.results[0].error_code).name))
