"""Does the first join of an empty group wait as long as at the broker, and not twice? GW-11.

The delays are so long here that a test which waited for one of them would not end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.gateway.handlers import group_calls
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.session.client_session import ClientSession
from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, JoinGroupRequest, Request
from tests.gateway.entries import Entry, entries
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, describe, until
from tests.kafka.cluster import KafkaCluster
from tests.server.harness import Client

BROKER = 1
HOUR_MS = 3_600_000
PREPARING = "PreparingRebalance"
NO_ID = 3
"""The last version of JoinGroup whose first answer is not MEMBER_ID_REQUIRED."""


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A broker whose empty groups wait for an hour, or for the first member's rebalance timeout."""
    return start_kafka(overrides={"group.initial.rebalance.delay.ms": HOUR_MS})


@pytest.fixture(autouse=True)
def no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody goes on because kcoord has waited long enough for a refusal."""
    monkeypatch.setattr(group_calls, "REFUSED_WITHIN_S", HOUR_MS / 1000)


@pytest.fixture(autouse=True)
async def coordinated(kafka: KafkaCluster, direct: Client, name: str) -> None:
    """The broker coordinates the test's group."""
    await coordinator_port(kafka.bootstrap, name)

    async def is_loaded() -> bool:
        return ErrorCode((await describe(direct, name)).error_code) == ErrorCode.NONE

    await until(is_loaded, "the broker answers for the group")


@pytest.fixture(params=["one kcoord", "one of several instances"])
async def patient(kafka: KafkaCluster, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Entry]:
    """kcoord, whose empty groups wait for an hour too."""
    settings = GroupSettings(initial_rebalance_delay_ms=HOUR_MS, min_session_timeout_ms=1000)
    shared = request.param != "one kcoord"
    async with entries(kafka, tmp_path, at={BROKER: 0}, count=1, shared=shared, groups=settings) as [started]:

        async def is_open() -> bool:
            return started.gateway.brokers.has_port(BROKER)

        await coordinator_port(started.bootstrap, "any")
        await until(is_open, "the port of the broker is open")
        yield started


@pytest.mark.parametrize("protocol_type", ["consumer", "connect"])
async def test_both_delays_begin_with_the_members_first_request(
    patient: Entry, direct: Client, name: str, protocol_type: str
) -> None:
    """The first answer is there while the cluster's delay runs, and the member's own join waits beside it."""
    member = await patient.member(name, protocol_type=protocol_type)
    told = await member.try_join()
    assert ErrorCode(told.error_code) == ErrorCode.MEMBER_ID_REQUIRED
    await waits_upstream(direct, name)
    member.member_id = told.member_id
    async with joining(member):
        await waits_here(patient, name)
        await waits_upstream(direct, name)


async def test_a_member_that_needs_no_id_waits_here_at_once(patient: Entry, direct: Client, name: str) -> None:
    member = await patient.member(name)
    async with joining(member, NO_ID):
        await waits_here(patient, name)
        await waits_upstream(direct, name)


async def test_members_that_come_together_ask_upstream_once(
    patient: Entry, direct: Client, name: str, sent: list[JoinGroupRequest]
) -> None:
    members = [await patient.member(name) for _ in range(3)]
    told = await asyncio.gather(*(each.try_join() for each in members))
    assert {ErrorCode(each.error_code) for each in told} == {ErrorCode.MEMBER_ID_REQUIRED}
    await waits_upstream(direct, name)
    assert [each.group_instance_id for each in sent] == [None, "kcoord"], "one that is refused, and one that waits"


async def test_a_live_group_of_the_cluster_is_never_begun_here(
    patient: Entry, kafka: KafkaCluster, direct: Client, name: str, called_here: list[type[Request]]
) -> None:
    """Upstream refuses both joins: the member is passed on before kcoord's own group has heard of it."""
    there = ScriptedMember(await connect(await coordinator_port(kafka.bootstrap, name)), name)
    stays = ConsumerGroupHeartbeatRequest(
        group_id=name, member_id="A" * 22, member_epoch=0, rebalance_timeout_ms=30_000, subscribed_topic_names=["t"],
        topic_partitions=[],
    )  # fmt: skip
    assert ErrorCode((await ask(there.client, stays)).error_code) == ErrorCode.NONE
    for protocol_type in ("consumer", "connect"):
        member = await patient.member(name, protocol_type=protocol_type)
        await member.try_join()
    assert JoinGroupRequest not in called_here
    assert (await patient.gateway.groups.facts([name]))[name].generation is None


async def test_a_live_classic_group_of_the_cluster_is_never_begun_here(
    patient: Entry, kafka: KafkaCluster, direct: Client, name: str, called_here: list[type[Request]]
) -> None:
    there = ScriptedMember(await connect(await coordinator_port(kafka.bootstrap, name)), name)
    async with joining(there, NO_ID):
        await until(lambda: is_alone(direct, name), "the other client waits in the cluster")
        member = await patient.member(name, protocol_type="connect")
        assert ErrorCode((await member.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert JoinGroupRequest not in called_here
        assert await is_alone(direct, name)


# -- what is seen -----------------------------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[JoinGroupRequest]:
    """kcoord's own JoinGroups to the cluster."""
    seen: list[JoinGroupRequest] = []
    send = ClientSession.ask

    async def watched(self: ClientSession, request: Request, *arguments: Any) -> Any:
        if isinstance(request, JoinGroupRequest):
            seen.append(attrs.evolve(request))
        return await send(self, request, *arguments)

    monkeypatch.setattr(ClientSession, "ask", watched)
    return seen


@pytest.fixture
def called_here(monkeypatch: pytest.MonkeyPatch) -> list[type[Request]]:
    """The calls that reached kcoord's own groups."""
    seen: list[type[Request]] = []
    call = GuardedGroups.call

    async def watched(self: GuardedGroups, session: Any, which: Any, request: Request, *arguments: Any) -> Any:
        seen.append(type(request))
        return await call(self, session, which, request, *arguments)

    monkeypatch.setattr(GuardedGroups, "call", watched)
    return seen


@asynccontextmanager
async def joining(member: ScriptedMember, version: int | None = None) -> AsyncIterator[None]:
    """A JoinGroup of that member is under way, and is given up at the end."""
    task = asyncio.create_task(member.try_join(version))
    try:
        yield
        assert not task.done(), "nobody has waited"
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def is_alone(asker: Client, group: str) -> bool:
    """Whether one client, and not the sentinel, waits in the group where `asker` is connected."""
    seen = await describe(asker, group)
    return seen.group_state == PREPARING and [each.group_instance_id for each in seen.members] == [None]


async def waits_upstream(direct: Client, group: str) -> None:
    """The sentinel waits in the cluster's group for other members."""

    async def waits() -> bool:
        seen = await describe(direct, group)
        return seen.group_state == PREPARING and [each.group_instance_id for each in seen.members] == ["kcoord"]

    await until(waits, "the sentinel waits in the cluster")


async def waits_here(entry: Entry, group: str) -> None:
    """A member waits in kcoord's own group for others."""
    asker = await entry.member(group)

    await until(lambda: is_alone(asker.client, group), "the member waits in kcoord's group")
