"""Does a client without rights, or with rights that are withdrawn, cost a group nothing and keep nobody alive?

In front of a Kafka with SASL and ACLs. What depends on the time that passes is driven by the test's own clock.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    Request,
    SaslAuthenticateRequest,
)
from tests.connectgroups.worker import Worker, resources
from tests.gateway.sasl import begin, finish, log_in, plain
from tests.gateway.scripted import ScriptedMember, ask, connect, describe, until
from tests.hostile.front import Front, allow, coordinates, front_of, may_not_read, withdraw
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import ADMIN, Security
from tests.kafka.wait import DEADLINE_S
from tests.server.harness import Client

USERS = ["reader", "second", "viewer", "stranger"]
BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
INTERVAL_MS = 240_000
"""The question's interval by default."""
SENTINEL_SESSION_MS = 3_000
SHORT_SESSION_MS = 1_000
A = resources("a", "a-0")
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker with SASL and ACLs, whose sessions may be short."""
    listener = "listener.name.client.oauthbearer.sasl"
    overrides: dict[str, object] = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        f"{listener}.jaas.config": f'{BEARER} required unsecuredLoginStringClaim_sub="admin";',
        "listener.name.client.connections.max.reauth.ms": 3_600_000,
        "group.min.session.timeout.ms": SHORT_SESSION_MS,
        "group.initial.rebalance.delay.ms": 0,
    }
    kafka = start_kafka(security=Security.SASL_PLAINTEXT, users=USERS, acl=True, overrides=overrides)
    allow(kafka, "reader", "READ", topics=True)
    allow(kafka, "viewer", "DESCRIBE")
    asyncio.run(coordinates(kafka))
    return kafka


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for the test's own group."""
    return f"{request.node.name.removeprefix('test_')[:60]}-{next(_numbers)}"


@pytest.fixture
async def front(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[Front]:
    async with front_of(kafka, tmp_path) as front:
        yield front


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:
    """A process, whose sentinels live no longer than they must."""
    return start_kcoord(
        "gateway",
        upstream_security_protocol="SASL_PLAINTEXT",
        gateway_sentinel_session_timeout_ms=SENTINEL_SESSION_MS,
        gateway_question_interval_ms=1_000,
        gateway_outage_ms=3_600_000,
    )


async def process_client(kcoord: Kcoord, user: str) -> Client:
    client = await connect(kcoord.port)
    await log_in(client, user)
    return client


async def direct_join(kafka: KafkaCluster, group: str) -> ErrorCode:
    """What a consumer is told that comes to the cluster directly."""
    client = await connect(kafka.bootstrap)
    await log_in(client, "reader")
    try:
        return ErrorCode((await ScriptedMember(client, group).try_join()).error_code)
    finally:
        await client.close()


async def sent(client: Client, request: Request, version: int) -> bytes:
    """What comes back for one request; nothing if the connection ends."""
    client.writer.write(client.frame(request, version)[1])
    return await client.read_frame()


async def is_over(member: ScriptedMember, client: Client) -> None:
    """Returns when the group has lost its silent member."""

    async def is_empty() -> bool:
        return not (await describe(client, member.group)).members

    await until(is_empty, "the silent member's session ends")


# -- who speaks for a group in the cluster ----------------------------------------------------------------------------


@pytest.mark.parametrize("user", ["stranger", "viewer"])
async def test_who_may_not_read_does_not_carry_the_sentinel(
    kafka: KafkaCluster,
    kcoord: Kcoord,
    name: str,
    user: str,
) -> None:
    """Its JoinGroup and its worker's heartbeat are refused, and its connection stays: the group must stay kcoord's."""
    member = ScriptedMember(await process_client(kcoord, "reader"), name)
    await member.join_and_sync()
    outsider = await process_client(kcoord, user)
    refused = await ScriptedMember(outsider, name, member_id=member.member_id).try_join()
    assert ErrorCode(refused.error_code) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert await Worker(outsider, name, "w").join(A) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    end = time.monotonic() + 2 * SENTINEL_SESSION_MS / 1000
    while time.monotonic() < end:
        assert await member.heartbeat() == ErrorCode.NONE
        assert await direct_join(kafka, name) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        await asyncio.sleep(0.2)


async def test_who_may_not_read_does_not_make_another_members_join_fail(front: Front, name: str) -> None:
    """Both come to a group that nobody has taken yet, the one without the right a moment earlier."""
    outsider = ScriptedMember(await front.client("viewer"), name)
    member = ScriptedMember(await front.client("reader"), name)
    refused, joined = await asyncio.gather(outsider.try_join(), member.try_join())
    assert ErrorCode(refused.error_code) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert ErrorCode(joined.error_code) == ErrorCode.MEMBER_ID_REQUIRED
    assert joined.member_id.startswith("tester-id-"), "it is kcoord that has given it"


@pytest.mark.parametrize("withdrawn_from", ["first", "second"])
async def test_a_carrier_that_is_refused_is_replaced_at_once(
    kafka: KafkaCluster, tmp_path: Path, name: str, withdrawn_from: str
) -> None:
    """Whichever of two members loses its right, the other one speaks for the group from then on."""
    allow(kafka, "second", "READ", group=name)
    async with front_of(kafka, tmp_path, sentinel_session_timeout_ms=60_000) as front:
        users = ["second", "reader"] if withdrawn_from == "first" else ["reader", "second"]
        first = ScriptedMember(await front.client(users[0]), name)
        await first.join_and_sync()
        heir = ScriptedMember(await front.client(users[1]), name)
        joining = asyncio.ensure_future(heir.join())
        sentinel = front.gateway.sentinels.of(name)

        async def both_carry() -> bool:
            return len(sentinel.carriers) == 2

        await until(both_carry, "the second one is about to join")
        withdraw(kafka, "second", name)
        await may_not_read(kafka, "second", name)
        first_beat_ms = front.gateway.now_ms() + sentinel.beat_interval_ms
        front.pass_time(sentinel.beat_interval_ms)
        await front.tend()
        assert sentinel.is_joined
        assert not sentinel.is_due(first_beat_ms + sentinel.beat_interval_ms - 1), "upstream has taken a sign of life"
        joining.cancel()


# -- who has not proved who it is -------------------------------------------------------------------------------------


@pytest.mark.parametrize("password", ["wrong", None])
async def test_a_wrong_raw_token_is_answered_nothing_and_keeps_nobody_alive(
    kcoord: Kcoord,
    name: str,
    password: str | None,
) -> None:
    """SaslHandshake v0, a wrong token, and a JoinGroup of a member that is silent, over and over."""
    member = ScriptedMember(await process_client(kcoord, "reader"), name, session_ms=SHORT_SESSION_MS)
    await member.join_and_sync()
    watcher = await process_client(kcoord, ADMIN)
    ended = asyncio.Event()

    async def forge() -> None:
        while not ended.is_set():
            client = await connect(kcoord.port)
            await begin(client, version=0)
            token = f"\0reader\0{password}".encode() if password else b""
            forged = ScriptedMember(client, name, member_id=member.member_id)
            _, frame = client.frame(forged.join_request(), 9)
            client.writer.write(len(token).to_bytes(4, "big") + token + frame)
            assert await client.read_frame() == b"", "the cluster ends it, and kcoord says nothing of its own"
            await client.close()

    forging = asyncio.ensure_future(forge())
    await is_over(member, watcher)
    ended.set()
    await forging


async def test_a_refused_bearer_token_keeps_nobody_alive(kcoord: Kcoord, name: str) -> None:
    """The first answer to a wrong OAUTHBEARER token bears no error: the cluster tells why, and waits for another."""
    member = ScriptedMember(await process_client(kcoord, "reader"), name, session_ms=SHORT_SESSION_MS)
    await member.join_and_sync()
    now = int(time.time())
    token = f"{_part({'alg': 'none'})}.{_part({'sub': ADMIN, 'iat': now - 200, 'exp': now - 100})}."
    client = await connect(kcoord.port)
    await begin(client, "OAUTHBEARER")
    challenge = await ask(client, SaslAuthenticateRequest(auth_bytes=f"n,,\x01auth=Bearer {token}\x01\x01".encode()))
    assert ErrorCode(challenge.error_code) == ErrorCode.NONE
    assert challenge.auth_bytes
    forged = ScriptedMember(client, name, member_id=member.member_id)
    refused = await sent(client, forged.join_request(), 9)
    assert not refused or int.from_bytes(refused[9:11], "big") == ErrorCode.ILLEGAL_SASL_STATE
    assert await client.read_frame() == b""
    await is_over(member, await process_client(kcoord, ADMIN))


def _part(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


async def test_describe_alone_keeps_nobody_alive(kcoord: Kcoord, name: str) -> None:
    """A forged JoinGroup is refused; what kcoord asks of itself over that connection later moves no session either."""
    member = ScriptedMember(await process_client(kcoord, "reader"), name, session_ms=4 * SHORT_SESSION_MS)
    await member.join_and_sync()
    viewer = await process_client(kcoord, "viewer")
    forged = ScriptedMember(viewer, name, member_id=member.member_id, generation=member.generation)
    assert ErrorCode((await forged.try_join()).error_code) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    await is_over(member, await process_client(kcoord, ADMIN))


async def test_who_authenticates_anew_is_answered_nothing_until_that_has_succeeded(
    front: Front,
    name: str,
) -> None:
    """Not from memory either: the cluster would refuse every other request in between."""
    member = ScriptedMember(await front.client("reader"), name)
    await member.join_and_sync()
    for _ in range(3):
        assert await member.heartbeat() == ErrorCode.NONE
    await begin(member.client)
    answer = await sent(member.client, member.heartbeat_request(), 4)
    assert not answer or ErrorCode(int.from_bytes(answer[9:11], "big")) == ErrorCode.ILLEGAL_SASL_STATE
    assert await member.client.read_frame() == b""


async def test_who_has_authenticated_anew_goes_on(front: Front, name: str) -> None:
    member = ScriptedMember(await front.client("reader"), name)
    await member.join_and_sync()
    await begin(member.client)
    await finish(member.client, plain("reader"))
    for _ in range(3):
        assert await member.heartbeat() == ErrorCode.NONE


async def test_a_refused_new_authentication_keeps_nobody_alive(kcoord: Kcoord, name: str) -> None:
    member = ScriptedMember(await process_client(kcoord, "reader"), name, session_ms=SHORT_SESSION_MS)
    await member.join_and_sync()
    await begin(member.client)
    refused = member.client.frame(SaslAuthenticateRequest(auth_bytes=b"\0reader\0wrong"), 2)[1]
    beat = member.client.frame(member.heartbeat_request(), 4)[1]
    member.client.writer.write(refused + beat)
    assert b"reader" not in await member.client.read_frame()
    assert await member.client.read_frame() == b""
    await is_over(member, await process_client(kcoord, ADMIN))


# -- rights that are withdrawn ----------------------------------------------------------------------------------------


async def withdrawn(kafka: KafkaCluster, front: Front, group: str, user: str = "second") -> None:
    """The right is gone, and the interval has passed since it was proved last."""
    withdraw(kafka, user, group)
    await may_not_read(kafka, user, group)
    front.pass_time(INTERVAL_MS)


async def test_heartbeats_from_memory_end_with_the_right(kafka: KafkaCluster, front: Front, name: str) -> None:
    allow(kafka, "second", "READ", group=name)
    member = ScriptedMember(await front.client("second"), name)
    await member.join_and_sync()
    await member.heartbeat()
    front.pass_time(INTERVAL_MS - 20_000)
    for _ in range(3):
        assert await member.heartbeat() == ErrorCode.NONE
    withdraw(kafka, "second", name)
    await may_not_read(kafka, "second", name)
    front.pass_time(20_000)
    assert await member.heartbeat() == ErrorCode.GROUP_AUTHORIZATION_FAILED


async def test_the_question_ends_a_member_whose_every_right_is_gone(
    kafka: KafkaCluster,
    front: Front,
    name: str,
) -> None:
    allow(kafka, "second", "READ", group=name)
    member = ScriptedMember(await front.client("second"), name)
    await member.join_and_sync()
    await withdrawn(kafka, front, name)
    await front.tend()
    async with asyncio.timeout(DEADLINE_S):
        assert await member.client.read_frame() == b""


async def test_a_workers_heartbeats_end_with_the_right(kafka: KafkaCluster, front: Front, name: str) -> None:
    allow(kafka, "second", "READ", group=name)
    worker = Worker(await front.client("second"), name, "w")
    assert await worker.join(A) == ErrorCode.NONE
    await worker.settle(A)
    for _ in range(3):
        assert await worker.heartbeat() == ErrorCode.NONE
    await withdrawn(kafka, front, name)
    assert await worker.heartbeat() == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert (await worker.prepare()).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


async def test_an_answer_that_was_held_back_ends_with_the_right(kafka: KafkaCluster, front: Front, name: str) -> None:
    """It was asked for while the right was there, and comes after: what it tells is the asker's to know no more."""
    allow(kafka, "second", "READ", group=name)
    worker = Worker(await front.client("second"), name, "w")
    assert await worker.join(A) == ErrorCode.NONE
    await worker.settle(A)
    number, frame = worker.client.frame(worker.request(max_wait_ms=60_000), 0)
    worker.client.writer.write(frame)
    watcher = await front.client(ADMIN)
    assert (await ask(watcher, ConnectGroupDescribeRequest([name]))).groups[0].error_code == ErrorCode.NONE
    await withdrawn(kafka, front, name)
    worker.client.writer.write(worker.client.frame(worker.request(), 0)[1])  # nothing is held back before another one
    told = await worker.client.read(worker.request(), 0, number)
    assert ErrorCode(told.error_code) == ErrorCode.GROUP_AUTHORIZATION_FAILED  # type: ignore[attr-defined]


async def test_a_commit_that_the_cluster_refuses_ends_what_is_remembered(
    kafka: KafkaCluster,
    front: Front,
    name: str,
) -> None:
    """No need to wait for the interval: the cluster has said it."""
    topic = kafka.create_topic(f"topic-{name}")
    allow(kafka, "second", "READ", group=name, topics=True)
    member = ScriptedMember(await front.client("second"), name)
    await member.join_and_sync()
    assert await member.commit(topic, 1) == ErrorCode.NONE
    assert await member.heartbeat() == ErrorCode.NONE
    assert await member.heartbeat() == ErrorCode.NONE
    withdraw(kafka, "second", name)
    await may_not_read(kafka, "second", name)
    assert await member.commit(topic, 2) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert await member.heartbeat() == ErrorCode.GROUP_AUTHORIZATION_FAILED
