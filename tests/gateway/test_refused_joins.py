"""What does a join leave behind that is refused, here or upstream? Nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from kcoord.gateway.handlers import group_calls
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.group.state.step import RequestContext
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupRequest, JoinGroupResponse, Request
from tests.connectgroups.worker import Worker
from tests.gateway.entries import Entry, entries
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, describe, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

BROKER = 1


async def test_a_join_that_kcoord_refuses_leaves_no_sentinel(
    start_kcoord: Callable[..., Kcoord], kafka: KafkaCluster, direct: Client, name: str
) -> None:
    """The grace is for groups whose members have left; nobody was in this one."""
    kcoord = start_kcoord(kafka, gateway_sentinel_grace_ms=600_000)
    refused = await ScriptedMember.at(kcoord.bootstrap, name, session_ms=1)

    async def is_refused() -> bool:
        return (await refused.try_join()).error_code == ErrorCode.INVALID_SESSION_TIMEOUT

    await until(is_refused, "refused, once the broker knows the group")

    there = ScriptedMember(direct, name)

    async def gets_in() -> bool:
        told = await there.try_join()
        there.member_id = told.member_id
        return bool(told.error_code == ErrorCode.NONE)

    await until(gets_in, "the sentinel has left")
    await there.join_and_sync()
    await there.leave()


async def test_a_worker_of_the_new_protocol_that_kcoord_refuses_leaves_no_sentinel(
    start_kcoord: Callable[..., Kcoord], kafka: KafkaCluster, direct: Client, name: str
) -> None:
    kcoord = start_kcoord(kafka, gateway_sentinel_grace_ms=600_000)
    await coordinator_port(kcoord.bootstrap, name)
    worker = Worker(await connect(kcoord.bootstrap), name)

    async def is_refused() -> bool:
        return await worker.join(server_assignor="nobody's") == ErrorCode.UNSUPPORTED_ASSIGNOR

    await until(is_refused, "refused, once the broker knows the group")

    async def is_free() -> bool:
        return not (await describe(direct, name)).members

    await until(is_free, "the sentinel has left")
    assert await worker.join() in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT)


async def test_a_join_without_a_type_or_a_protocol_touches_nothing(kcoord: Kcoord, direct: Client, name: str) -> None:
    nobody = await ScriptedMember.at(kcoord.bootstrap, name, protocol_type="")
    assert ErrorCode((await nobody.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    request = attrs.evolve(ScriptedMember(direct, name).join_request(), protocols=[])
    assert ErrorCode((await ask(nobody.client, request)).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert (await describe(direct, name)).group_state == "Dead"


async def test_a_join_that_upstream_refuses_leaves_the_group_there_as_it_was(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str
) -> None:
    there = await ScriptedMember.at(kafka.bootstrap, name)
    await there.join_and_sync()
    before = await describe(direct, name)
    worker = await ScriptedMember.at(kcoord.bootstrap, name, protocol_type="connect")
    assert ErrorCode((await worker.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert await there.heartbeat() == ErrorCode.NONE
    assert await describe(direct, name) == before


@pytest.fixture
async def entry(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[Entry]:
    async with entries(kafka, tmp_path, at={BROKER: 0}, count=1) as [started]:

        async def is_open() -> bool:
            return started.gateway.brokers.has_port(BROKER)

        await until(is_open, "the port of the broker is open")
        await coordinator_port(started.bootstrap, "any")
        yield started


async def test_a_join_that_upstream_refuses_late_leaves_no_group_here(
    entry: Entry, kafka: KafkaCluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upstream has not answered when the member joins here; then it says that the group is somebody else's."""
    monkeypatch.setattr(group_calls, "REFUSED_WITHIN_S", 0)
    there = await ScriptedMember.at(kafka.bootstrap, name)
    await there.join_and_sync()
    late = await entry.member(name)
    joined = await late.try_join()
    while joined.error_code == ErrorCode.MEMBER_ID_REQUIRED or ErrorCode(joined.error_code).retriable:
        late.member_id = joined.member_id or late.member_id
        joined = await late.try_join()
    facts = (await entry.gateway.groups.facts([name]))[name]
    assert (facts.has_members, facts.generation) == (False, None), ErrorCode(joined.error_code).name
    assert late.member_id not in {each.member_id for each in (await describe(there.client, name)).members}


async def test_who_is_taken_out_again_is_so_where_another_instance_has_the_group() -> None:
    """Calls to another instance are written in a version of their own, not in that of the client's JoinGroup."""
    sent: list[str] = []

    async def relay(request: Request, context: RequestContext) -> None:
        request.encode(context.api_version)
        sent.append(request.NAME)

    context = RequestContext(JoinGroupRequest.MAX_VERSION, "client", "/host", 1, 0)
    session: Any = SimpleNamespace(context=lambda _: context)
    groups: Any = SimpleNamespace(call=relay)
    gateway: Any = None
    joined = JoinGroupResponse(member_id="m")
    call: Any = None
    await GuardedGroups(gateway, groups).undo_join(session, call, JoinGroupRequest(group_id="g"), joined, is_new=True)
    assert sent == ["LeaveGroupRequest", "DeleteGroupsRequest"]
