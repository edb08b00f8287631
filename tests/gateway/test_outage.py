"""What becomes of members while upstream is away, and when it is back? GW-3, GW-9, GW-10."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest, ListGroupsRequest, MetadataRequest
from tests.cells import cells
from tests.gateway.sasl import log_in
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import ADMIN, Security
from tests.kafka.wait import DEADLINE_S
from tests.server.harness import Client

SESSION_MS = 6_000


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker, which comes and goes."""
    return start_kafka()


@asynccontextmanager
async def away(
    kafka: KafkaCluster, *members: ScriptedMember, broker: int = 1, kill: bool = True
) -> AsyncIterator[None]:
    """While the broker is down. It takes its time to go and to come back: heartbeats of `members` go on meanwhile.

    They are answered well, until the connection is closed because the broker is back.
    """
    await beside_heartbeats(members, kafka.kill_broker if kill else kafka.stop_broker, broker)
    try:
        yield
    finally:
        await beside_heartbeats(members, kafka.start_brokers, broker)


async def beside_heartbeats(members: Sequence[ScriptedMember], work: Callable[[int], object], broker: int) -> None:
    """Stop or start a broker, which takes its time, while these members live on."""
    working = asyncio.create_task(asyncio.to_thread(work, broker))
    connected = list(members)
    while not working.done():
        answers = [(member, await raw_heartbeat(member)) for member in connected]
        assert {answer for _, answer in answers} <= {ErrorCode.NONE, None}
        connected = [member for member, answer in answers if answer is not None]
        await asyncio.wait({working}, timeout=1)
    await working


async def raw_heartbeat(member: ScriptedMember) -> ErrorCode | None:
    """The answer to a heartbeat; None when the connection is closed."""
    member.client.writer.write(member.client.frame(member.heartbeat_request(), 4)[1])
    async with asyncio.timeout(DEADLINE_S):
        answer = await member.client.read_frame()
    return ErrorCode(int.from_bytes(answer[-3:-1], "big")) if answer else None


async def is_over(client: Client) -> bool:
    """Whether kcoord has closed this connection."""
    async with asyncio.timeout(DEADLINE_S):
        return await client.read_frame() == b""


async def keeps_on(member: ScriptedMember, times: int) -> list[ErrorCode]:
    """Heartbeats at a third of the session; their answers."""
    answers = []
    for _ in range(times):
        answers.append(await member.heartbeat())
        await asyncio.sleep(SESSION_MS / 3000)
    return answers


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
async def test_rule_10_a_member_outlives_its_broker_on_one_connection(
    kafka: KafkaCluster, kcoord: Kcoord, name: str, topic: str, kill: bool
) -> None:
    member = await ScriptedMember.at(kcoord.bootstrap, name, session_ms=SESSION_MS)
    await member.join_and_sync()
    assert await member.commit(topic, 1) == ErrorCode.NONE
    generation = member.generation
    async with away(kafka, member, kill=kill):
        assert await keeps_on(member, 4) == [ErrorCode.NONE] * 4  # longer than the session
        assert await member.commit(topic, 2) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert ErrorCode((await member.try_join()).error_code) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        found = (await ask(member.client, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))).coordinators[0]
        assert (found.error_code, found.node_id, found.port) == (0, 1, kcoord.port + 2)
        late = await connect(kcoord.port + 2)  # GW-9: discovery works for whoever comes by the coordinator's port
        found = (await ask(late, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))).coordinators[0]
        assert (found.error_code, found.node_id, found.port) == (0, 1, kcoord.port + 2)
        assert (await ask(late, FindCoordinatorRequest(key_type=0, coordinator_keys=[]))).coordinators == []
        again = ScriptedMember(late, name, member_id=member.member_id, generation=generation)
        assert await again.heartbeat() == ErrorCode.NONE
        late.writer.write(late.frame(MetadataRequest(topics=[]), 12)[1])
        assert await is_over(late)  # GW-3: never made up
        listing = await connect(kcoord.port + 2)
        assert ErrorCode((await ask(listing, ListGroupsRequest())).error_code) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    async def commits() -> bool:
        return await member.commit(topic, 3) == ErrorCode.NONE

    await until(commits, "the same connection commits again")
    assert kafka.committed(name) == {(topic, 0): 3}
    assert await member.heartbeat() == ErrorCode.NONE
    assert member.generation == generation
    await member.join_and_sync()
    assert member.generation == generation + 1


async def test_rule_10_a_join_that_waits_in_an_outage_is_answered_after_it(
    kafka: KafkaCluster, kcoord: Kcoord, name: str
) -> None:
    """The generation's mark cannot be made upstream while upstream is away: nobody is told of it before."""
    member = await ScriptedMember.at(kcoord.bootstrap, name, session_ms=300_000, rebalance_ms=300_000)
    await member.join_and_sync()
    generation = member.generation
    async with away(kafka):
        assert await member.heartbeat() == ErrorCode.NONE
        joining = asyncio.create_task(member.join())
        await asyncio.sleep(1)
        assert not joining.done()
    await joining
    assert member.generation == generation + 1


async def test_rule_10_an_outage_is_borne_for_so_long_and_no_longer(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    kcoord = start_kcoord(kafka, gateway_outage_ms=2000)
    member = await ScriptedMember.at(kcoord.bootstrap, name, session_ms=SESSION_MS)
    await member.join_and_sync()
    async with away(kafka):
        assert await member.heartbeat() == ErrorCode.NONE
        while (answer := await raw_heartbeat(member)) is not None:
            assert answer == ErrorCode.NONE
            await asyncio.sleep(0.2)
    await asyncio.to_thread(kcoord.wait_for_line, "upstream has been away for 2000 ms")


async def test_upstream_down_at_start(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], name: str) -> None:
    """kcoord starts before its cluster: clients are refused until it is there, nothing needs to be restarted."""
    kcoord = start_kcoord(kafka)
    member = await ScriptedMember.at(kcoord.bootstrap, name, session_ms=SESSION_MS)
    await member.join_and_sync()
    async with away(kafka):
        kcoord.kill()
        kcoord.start(wait=False)
        await until(lambda: refuses(kcoord), "kcoord is up")
    again = ScriptedMember(await connect(await coordinator_port(kcoord.bootstrap, name)), name)
    again.member_id, again.generation = member.member_id, member.generation

    async def goes_on() -> bool:
        return await again.heartbeat() == ErrorCode.NONE

    await until(goes_on, "the member goes on")


async def refuses(kcoord: Kcoord) -> bool:
    try:
        client = await connect(kcoord.bootstrap)
    except OSError:
        return False
    client.writer.write(client.frame(MetadataRequest(topics=[]), 12)[1])
    return await is_over(client)


async def test_rule_10_with_sasl_connections_are_kept_and_then_closed_for_clients_to_log_in_again(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    kafka = start_kafka(security=Security.SASL_PLAINTEXT)
    kcoord = start_kcoord(kafka, upstream_security_protocol="SASL_PLAINTEXT")

    async def logged_in(port: int) -> Client:
        client = await connect(port)
        await log_in(client, ADMIN)
        return client

    first = await logged_in(kcoord.port)

    async def known() -> bool:
        found = (await ask(first, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))).coordinators[0]
        return not found.error_code and found.port == kcoord.port + 2

    await until(known, "a coordinator")
    member = ScriptedMember(await logged_in(kcoord.port + 2), name, session_ms=SESSION_MS)
    await member.join_and_sync()
    async with away(kafka, member):
        assert await keeps_on(member, 4) == [ErrorCode.NONE] * 4
        assert await is_over(first)  # no member: it ended with its broker
        stranger = await connect(kcoord.port + 2)
        assert await is_over(stranger)  # nobody can tell who it is
    assert await is_over(member.client)
    back = ScriptedMember(await logged_in(kcoord.port + 2), name)
    back.member_id, back.generation = member.member_id, member.generation

    async def goes_on() -> bool:
        return await back.heartbeat() == ErrorCode.NONE

    await until(goes_on, "the member goes on, with the same generation")


@pytest.mark.parametrize("uses_sasl", cells([False, True], lambda uses_sasl: not uses_sasl), ids=["plaintext", "sasl"])
async def test_rule_9_and_10_members_follow_their_coordinator_to_another_broker(
    start_kafka: Callable[..., KafkaCluster],
    start_kcoord: Callable[..., Kcoord],
    name: str,
    uses_sasl: bool,
) -> None:
    """One of three brokers dies and stays away. Heartbeats are answered until the coordinator has moved; then the
    member is sent to find it, and goes on there with its generation."""
    security = Security.SASL_PLAINTEXT if uses_sasl else Security.PLAINTEXT
    kafka = start_kafka(3, security=security)
    kcoord = start_kcoord(kafka, upstream_security_protocol=security.value)
    topic = kafka.create_topic(name)

    async def logged_in(port: int) -> Client:
        client = await connect(port)
        if uses_sasl:
            await log_in(client, ADMIN)
        return client

    there = [await logged_in(port) for port in kafka.ports.values()]
    client = await logged_in(kcoord.port)  # a client's bootstrap connection, by which its coordinator was found
    assert len((await ask(client, MetadataRequest(topics=[]))).brokers) == 3

    async def coordinator(*, other_than: int = 0) -> int:
        for finder in there:
            try:
                found = (await ask(finder, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))).coordinators[0]
            except (AssertionError, ConnectionError):
                continue
            if not found.error_code and found.node_id != other_than:
                return int(found.node_id)
        return 0

    first = await until(coordinator, "a coordinator")
    member = ScriptedMember(await logged_in(kcoord.port + 1 + first), name, session_ms=SESSION_MS)
    await member.join_and_sync()
    assert await member.commit(topic, 1) == ErrorCode.NONE
    for broker in kafka.ports:  # as every client does before it joins
        finder = await logged_in(kcoord.port + 1 + broker)
        await ask(finder, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))
    await asyncio.to_thread(kafka.kill_broker, first)
    answers = []
    while (answer := await raw_heartbeat(member)) is not None:
        answers.append(answer)
        await asyncio.sleep(0.2)
    assert set(answers) == {ErrorCode.NONE}
    second = await until(lambda: coordinator(other_than=first), "another coordinator")
    moved = ScriptedMember(await logged_in(kcoord.port + 1 + second), name)
    moved.member_id, moved.generation = member.member_id, member.generation

    async def goes_on() -> bool:
        return await moved.heartbeat() == ErrorCode.NONE and await moved.commit(topic, 2) == ErrorCode.NONE

    await until(goes_on, "the member goes on at another broker, with the same generation")
