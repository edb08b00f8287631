"""Steps of groups that are adopted and released, and of their members."""

from __future__ import annotations

import asyncio
from typing import Any

import attrs

from kcoord.group.group_configs import GROUP, Operation
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    IncrementalAlterConfigsRequest,
    OffsetFetchRequest,
)
from tests.gateway.entries import Entry
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, describe, until
from tests.gateway.test_taking import is_27
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

PATIENT_MS = 3_600_000
"""A rebalance timeout: so long kcoord's member waits for all of them."""


async def stable(*members: ScriptedMember) -> None:
    """All are in one stable group at the cluster, each with an assignment of its own."""
    first, *others = members
    await first.join_and_sync()
    for at, newcomer in enumerate(others, start=1):
        there = members[:at]

        async def rejoin(member: ScriptedMember) -> None:
            await until(lambda: is_27(member), "a member is told of the newcomer")
            await member.join()

        await asyncio.gather(newcomer.join(), *map(rejoin, there))
        now = [*there, newcomer]
        leader = next(each for each in now if each.leads)
        given = {each.member_id: assigned(each) for each in now}
        await asyncio.gather(*(each.sync(given if each is leader else {}) for each in now))


def assigned(member: ScriptedMember) -> bytes:
    return b"of " + member.member_id.encode()


async def is_adopted(kcoord: Kcoord, group: str, *members: ScriptedMember) -> None:
    """Its members beat until kcoord has the group; each heartbeat and each commit of theirs succeeds."""
    line = f"group {group} is kcoord's now: adopted"

    async def seen() -> bool:
        for each in members:
            assert await each.heartbeat() == ErrorCode.NONE
        return line in kcoord.log.read_text()

    await until(seen, line)


async def committed(client: Client, group: str, topic: str) -> int:
    asked = OffsetFetchRequestGroup(
        group_id=group, topics=[OffsetFetchRequestTopics(name=topic, partition_indexes=[0])]
    )
    answer = await ask(client, OffsetFetchRequest(groups=[asked]), 8)
    return int(answer.groups[0].topics[0].partitions[0].committed_offset)


async def owned_by(client: Client, group: str, owner: str) -> None:
    """Set who is to have the group."""
    change = AlterableConfig("gateway.owner", Operation.SET, owner)
    answer = await ask(client, IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, group, [change])]))
    assert [each.error_code for each in answer.responses] == [ErrorCode.NONE]


async def goes(member: ScriptedMember) -> None:
    """What a client does that is told to join: it joins, by whatever id it is given."""
    await until(lambda: is_27(member), "it is told to join")
    await member.join()


async def live_pair(entry: Entry, group: str, **options: Any) -> list[ScriptedMember]:
    """Two members of a stable group at the cluster, which come by that entry."""
    await coordinator_port(entry.bootstrap, group)  # kcoord knows the broker by then
    entry.gateway.settings = attrs.evolve(entry.gateway.settings, adopts=False)
    there = await ScriptedMember.at(entry.cluster, group, **options)
    members = [await entry.member(group, **options) for _ in range(2)]
    await stable(there, *members)
    await there.leave()
    await until(lambda: is_27(members[0]), "it is told that a direct member has left")
    await asyncio.gather(*(each.join() for each in members))
    await sync(*members)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2
    return members


async def sync(*members: ScriptedMember) -> None:
    """They have joined: each gets its assignment."""
    leader = next(each for each in members if each.leads)
    given = {each.member_id: assigned(each) for each in members}
    await asyncio.gather(*(each.sync(given if each is leader else {}) for each in members))


async def has_members(cluster: str, group: str, count: int) -> bool:
    """Whether the cluster counts so many members."""
    client = await connect(cluster)
    found = await describe(client, group)
    await client.close()
    return len(found.members) == count


async def adopted_pair(entry: Entry, group: str) -> list[ScriptedMember]:
    """Two members of a group that is kcoord's."""
    members = await live_pair(entry, group)
    await entry.gateway.adoptions.adopt(group)
    return members
