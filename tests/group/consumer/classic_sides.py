"""A group at one side that classic consumers join too, in raw frames, and what they are answered, in short."""

from __future__ import annotations

from collections.abc import Mapping
from struct import pack

import attrs

from kcoord.protocol.consumer_embedded import decode_assignment, encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest
from tests.group.consumer.sides import LEAVE_VERSION, REBALANCE_MS, Group, Owned

JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION = 9, 5, 4
SESSION_MS = 45_000
VERSION = 3
"""Of the consumer protocol."""


def subscription(
    topics: str, owned: Mapping[str, list[int]], version: int = VERSION, generation: int = -1, data: bytes | None = None
) -> bytes:
    """ConsumerProtocolSubscription; `topics`: "AB". `data`: of the assignor."""
    parts = [pack(">hi", version, len(topics)), *(pack(">h1s", 1, each.encode()) for each in topics)]
    parts.append(pack(">i", -1) if data is None else pack(f">i{len(data)}s", len(data), data))
    if version >= 1:
        parts.append(pack(">i", len(owned)))
        parts += [pack(f">h1si{len(some)}i", 1, name.encode(), len(some), *some) for name, some in owned.items()]
    if version >= 2:
        parts.append(pack(">i", generation))
    if version >= 3:
        parts.append(pack(">h", -1))
    return b"".join(parts)


@attrs.define
class MixedGroup(Group):
    """One group with members of both protocols. Classic members are named by one letter; their ids are what they were
    given.
    """

    ids: dict[str, str] = attrs.Factory(dict)

    def by_name(self, partitions: Owned) -> dict[str, list[int]]:
        """Partitions by the names of their topics."""
        found: dict[str, list[int]] = {}
        for topic, number in sorted(partitions):
            found.setdefault(self.names[topic], []).append(number)
        return found

    async def enter(
        self,
        member: str,
        topics: str = "A",
        assignors: tuple[str, ...] = ("range",),
        *,
        instance_id: str | None = None,
        protocol_type: str = "consumer",
        version: int = JOIN_VERSION,
        subscription_version: int = VERSION,
        metadata: bytes | None = None,
    ) -> None:
        """A JoinGroup that says that it owns what it was told last. One who is to come with an id does so."""
        said = subscription(topics, self.by_name(self.has.get(member, frozenset())), subscription_version)
        request = JoinGroupRequest(
            self.group_id,
            SESSION_MS,
            REBALANCE_MS,
            self.ids.get(member, ""),
            instance_id,
            protocol_type,
            [JoinGroupRequestProtocol(name, said if metadata is None else metadata) for name in assignors],
        )
        told = await self.side.answer(request, version)
        if told.error_code:
            self.seen.append(("join", ErrorCode(told.error_code).name, bool(told.member_id)))
            if told.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.ids[member] = told.member_id
                await self.enter(
                    member,
                    topics,
                    assignors,
                    protocol_type=protocol_type,
                    version=version,
                    subscription_version=subscription_version,
                )
            return
        self.ids[member], self.epoch[member] = told.member_id, told.generation_id
        leads = told.leader == told.member_id
        self.seen.append(("join", told.generation_id, told.protocol_type, told.protocol_name, leads, len(told.members)))

    async def sync(
        self,
        member: str,
        given: Mapping[str, Owned] | None = None,
        *,
        instance_id: str | None = None,
        generation_id: int | None = None,
        protocol_type: str = "consumer",
        protocol_name: str = "range",
    ) -> None:
        """A SyncGroup. `given`: what a leader gives to each."""
        assignments = [
            SyncGroupRequestAssignment(self.ids[each], encode_assignment(VERSION, self.by_name(some)))
            for each, some in (given or {}).items()
        ]
        request = SyncGroupRequest(
            self.group_id,
            self.epoch.get(member, -1) if generation_id is None else generation_id,
            self.ids.get(member, member),
            instance_id,
            protocol_type,
            protocol_name,
            assignments,
        )
        told = await self.side.answer(request, SYNC_VERSION)
        if told.error_code:
            self.seen.append(("sync", ErrorCode(told.error_code).name))
            return
        ids = {name: topic for topic, name in self.names.items()}
        self.has[member] = frozenset((ids[name], at) for name, at in decode_assignment(told.assignment).partitions)
        self.seen.append(("sync", told.protocol_type, told.protocol_name, self.counts(self.has[member])))

    async def enter_and_sync(self, member: str, topics: str = "A", *, instance_id: str | None = None) -> None:
        """A JoinGroup and a SyncGroup."""
        await self.enter(member, topics, instance_id=instance_id)
        await self.sync(member, instance_id=instance_id)

    async def live(self, member: str, generation: int | None = None, instance_id: str | None = None) -> None:
        """A Heartbeat."""
        at = self.epoch.get(member, -1) if generation is None else generation
        request = HeartbeatRequest(self.group_id, at, self.ids.get(member, member), instance_id)
        told = await self.side.answer(request, HEARTBEAT_VERSION)
        self.seen.append(("heartbeat", ErrorCode(told.error_code).name))

    async def go(self, member: str) -> None:
        """A LeaveGroup of the member itself."""
        request = LeaveGroupRequest(self.group_id, members=[MemberIdentity(self.ids.get(member, member), None)])
        told = await self.side.answer(request, LEAVE_VERSION)
        self.seen.append(("left", ErrorCode(told.error_code or told.members[0].error_code).name))
        self.has.pop(member, None)

    async def commit_as(self, member: str, generation: int, partitions: Owned) -> None:
        """A commit of a classic member."""
        await self.commit(self.ids.get(member, member), generation, partitions)

    async def describe(self) -> None:
        """As everybody may see it, with the members' names in place of the ids that they were given."""
        before = len(self.seen)
        await super().describe()
        *head, members = self.seen[before]
        called = {given: name for name, given in self.ids.items()}
        self.seen[before] = (*head, {called.get(each, each): told for each, told in members.items()})
