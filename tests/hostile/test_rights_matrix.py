"""Is every API of groups refused, in every state of a group, to who may not, and moves it nothing then?"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kcoord.protocol.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    LeaveGroupRequest,
    OffsetDeleteRequest,
    TxnOffsetCommitRequest,
)
from tests.connectgroups.worker import Worker, resources
from tests.gateway.scripted import ScriptedMember, ask, until
from tests.hostile.front import Front, allow, coordinates, front_of
from tests.kafka.cluster import KafkaCluster
from tests.kafka.security import ADMIN, Security

A = resources("a", "a-0")
TOPIC = "topic"
DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
USERS = {"stranger": [], "viewer": ["DESCRIBE"], "reader": ["READ"]}
MAY = {"stranger": set(), "viewer": {"DESCRIBE"}, "reader": {"READ", "DESCRIBE"}}
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker with SASL and ACLs."""
    overrides = {"group.initial.rebalance.delay.ms": 0}
    kafka = start_kafka(security=Security.SASL_PLAINTEXT, users=[*USERS, "owner"], acl=True, overrides=overrides)
    allow(kafka, "owner", "READ", topics=True)
    for user, operations in USERS.items():
        allow(kafka, user, *operations, topics=True)
    asyncio.run(coordinates(kafka))
    kafka.create_topic(TOPIC)
    return kafka


@pytest.fixture
async def front(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[Front]:
    async with front_of(kafka, tmp_path) as front:
        yield front


async def untaken(_front: Front, _group: str) -> Any:
    """Nobody has ever come to the group."""
    return ScriptedMember(None, "", member_id="nobody", generation=1)  # type: ignore[arg-type]


async def preparing(front: Front, group: str) -> Any:
    """A member waits for another one's join."""
    member = await classic(front, group)
    other = ScriptedMember(await front.client("owner"), group)
    asyncio.ensure_future(other.join()).add_done_callback(lambda done: done.cancelled() or done.exception())

    async def begun() -> bool:
        return bool(await member.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS)

    await until(begun, "the group rebalances")
    return member


async def classic(front: Front, group: str) -> Any:
    """A member of a stable group."""
    member = ScriptedMember(await front.client("owner"), group)
    await member.join_and_sync()
    return member


async def connect_group(front: Front, group: str) -> Any:
    """A worker of a connect group."""
    worker = Worker(await front.client("owner"), group, "w")
    assert await worker.join(A) == ErrorCode.NONE
    await worker.settle(A)
    return worker


STATES = {each.__name__: each for each in (untaken, preparing, classic, connect_group)}


async def _leave(client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    request = LeaveGroupRequest(group_id=forged.group, members=[MemberIdentity(member_id=forged.member_id)])
    answer = await ask(client, request)
    return int(answer.error_code or answer.members[0].error_code)


async def _txn_commit(client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    request = TxnOffsetCommitRequest(
        transactional_id="t", group_id=forged.group, producer_id=1, producer_epoch=0, generation_id=forged.generation,
        member_id=forged.member_id,
        topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[TxnOffsetCommitRequestPartition()])],
    )  # fmt: skip
    return int((await ask(client, request, 3)).topics[0].partitions[0].error_code)


async def _offset_delete(client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    topics = [OffsetDeleteRequestTopic(name=TOPIC, partitions=[OffsetDeleteRequestPartition()])]
    return int((await ask(client, OffsetDeleteRequest(group_id=forged.group, topics=topics))).error_code)


async def _sync(_client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    return int((await forged.sync({})).error_code)


async def _join(_client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    return int((await forged.try_join()).error_code)


async def _commit(_client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    return int(await forged.commit(TOPIC, 7))


async def _heartbeat(_client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    return int(await forged.heartbeat())


async def _describe(client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    return int((await ask(client, DescribeGroupsRequest([forged.group]), 5)).groups[0].error_code)


async def _delete(client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    return int((await ask(client, DeleteGroupsRequest([forged.group]))).results[0].error_code)


async def _connect_join(_client: Any, _forged: ScriptedMember, worker: Worker) -> int:
    return int(await worker.join(A))


async def _connect_heartbeat(_client: Any, _forged: ScriptedMember, worker: Worker) -> int:
    return int(await worker.heartbeat())


async def _connect_leave(_client: Any, _forged: ScriptedMember, worker: Worker) -> int:
    return int(await worker.leave())


async def _prepare(_client: Any, _forged: ScriptedMember, worker: Worker) -> int:
    return int((await worker.prepare()).error_code)


async def _install(_client: Any, _forged: ScriptedMember, worker: Worker) -> int:
    return int((await worker.install(1, {})).error_code)


async def _connect_describe(client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    return int((await ask(client, ConnectGroupDescribeRequest([forged.group]))).groups[0].error_code)


async def _newer(client: Any, forged: ScriptedMember, _worker: Worker) -> int:
    request = ConsumerGroupHeartbeatRequest(
        group_id=forged.group, member_id="new", member_epoch=0, rebalance_timeout_ms=60_000,
        subscribed_topic_names=[TOPIC], topic_partitions=[],
    )  # fmt: skip
    return int((await ask(client, request)).error_code)


NEEDED = {
    _join: "READ", _sync: "READ", _heartbeat: "READ", _leave: "READ", _commit: "READ", _txn_commit: "READ",
    _offset_delete: "DELETE", _describe: "DESCRIBE", _delete: "DELETE", _connect_join: "READ",
    _connect_heartbeat: "READ", _connect_leave: "READ", _prepare: "READ", _install: "READ",
    _connect_describe: "DESCRIBE", _newer: "READ",
}  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("api", NEEDED, ids=lambda api: api.__name__.removeprefix("_"))
async def test_each_api_in_each_state(front: Front, state: str, user: str, api: Any) -> None:
    group = f"group-{next(_numbers)}"
    member = await STATES[state](front, group)
    client = await front.client(user)
    watcher = await front.client(ADMIN)
    forged = ScriptedMember(
        client, group, member_id=member.member_id, generation=getattr(member, "generation", 1), session_ms=10_000
    )
    worker = Worker(client, group, member.member_id, getattr(member, "epoch", 1), A)
    refused = NEEDED[api] not in MAY[user]
    before = await seen(watcher, group), sessions(front, group), carriers(front, group)
    if not refused and (api, state) in ((_join, "preparing"), (_join, "classic")):
        return  # it joins in the member's name, as Kafka too lets it, and waits for the others
    error = ErrorCode(await api(client, forged, worker))
    if refused:
        assert error in (DENIED, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        assert (await seen(watcher, group), sessions(front, group), carriers(front, group)) == before
        assert client_members(front) == 0
    else:
        assert error != DENIED


async def seen(watcher: Any, group: str) -> tuple[Any, Any]:
    """The group as both kinds of describing show it."""
    classic_group = (await ask(watcher, DescribeGroupsRequest([group]), 5)).groups[0]
    return classic_group, (await ask(watcher, ConnectGroupDescribeRequest([group]))).groups[0]


def sessions(front: Front, group: str) -> list[int]:
    """When each of the group's members was seen last."""
    state: Any = front.coordinator._host(group).shard.state
    found = []
    for groups in (state.groups, state.connect):
        known = groups.get(group)
        if known is not None:
            found += [each.last_seen_ms for each in known.members.values()]
    return found


def carriers(front: Front, group: str) -> int:
    """Who speaks for the group in the cluster."""
    sentinel = front.gateway.sentinels.known(group)
    return 0 if sentinel is None else len(sentinel.carriers)


def client_members(front: Front) -> int:
    """Connections that are taken for members', beside the owner's."""
    return sum(
        1
        for session in front.gateway._member_sessions._all
        if session.members and not all(front.gateway.rights.may_read(session, group) for group in session.members)
    )
