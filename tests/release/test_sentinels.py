"""A gateway of 0.1.0 is replaced under a group with members: they go on, whatever its sentinel looked like.

AD-1 and AD-5: the sentinel has the group's own protocol type, but for as long as 0.1.0 shares the groups.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from tests.faults.instances import Instances, instances
from tests.gateway.scripted import ScriptedMember, close_all, connect, describe, subscription, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import QUICK, kcoord_of
from tests.kafka.kcoord_process import Kcoord
from tests.release.test_rolling_upgrade import set_site
from tests.repository import ROOT
from tests.server.harness import Client

BROKER = 1
SESSION_MS = 60_000
"""Longer than any restart."""


@pytest.fixture(autouse=True)
async def connections() -> AsyncIterator[None]:
    """Every connection of a test ends with it."""
    yield
    await close_all()


@pytest.fixture
def topic(kafka: KafkaCluster, tmp_path: Path) -> str:
    return kafka.create_topic(f"topic-{tmp_path.name}")


@pytest.fixture
async def direct(kafka: KafkaCluster) -> Client:
    return await connect(kafka.bootstrap)


async def until_of_type(direct: Client, group: str, protocol_type: str) -> None:
    """Wait until the sentinel, and nobody else, is in the group at the brokers, with that protocol type."""

    async def is_so() -> bool:
        seen = await describe(direct, group)
        there = [member.group_instance_id for member in seen.members]
        return bool((seen.group_state, seen.protocol_type, there) == ("Stable", protocol_type, ["kcoord"]))

    await until(is_so, f"the sentinel of {group} is of type {protocol_type}")


async def moved(member: ScriptedMember, kcoord: Kcoord) -> ScriptedMember:
    """The same member by another connection."""
    return attrs.evolve(member, client=await connect(kcoord.port + 1 + BROKER))


async def commits(member: ScriptedMember, topic: str, offset: int) -> None:
    """Its commit is accepted, in the generation that it has; a moment may be wanted first."""

    async def accepted() -> bool:
        error = await member.commit(topic, offset)
        assert error == ErrorCode.NONE or error.retriable, error.name
        return error == ErrorCode.NONE

    await until(accepted, f"offset {offset} is committed")


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_a_kcoord_alone_is_upgraded(
    kafka: KafkaCluster, direct: Client, tmp_path: Path, topic: str, release: Path, kill: bool
) -> None:
    """And what 0.1.0 left is taken over without a commit lost; then it goes back, which was prepared."""
    kcoord = kcoord_of(kafka, tmp_path / "kcoord")
    kcoord.stop()
    kcoord.site = release
    kcoord.start()
    group = f"alone-{tmp_path.name}"
    try:
        member = await ScriptedMember.at(kcoord.bootstrap, group, metadata=subscription(topic), session_ms=SESSION_MS)
        await member.join_and_sync()
        await commits(member, topic, 1)
        await until_of_type(direct, group, "kcoord")
        if kill:
            kcoord.kill()
        else:
            assert await asyncio.to_thread(kcoord.stop) == 0
        kcoord.site = ROOT
        await asyncio.to_thread(kcoord.start)
        member = await moved(member, kcoord)
        assert await member.heartbeat() == ErrorCode.NONE
        await commits(member, topic, 2)
        await until_of_type(direct, group, "consumer")
        await commits(member, topic, 3)
        for offset, site in ((4, ROOT), (5, release)):
            await asyncio.to_thread(kcoord.stop)
            set_site(kcoord, site)
            await asyncio.to_thread(kcoord.start)
            member = await moved(member, kcoord)
            assert await member.heartbeat() == ErrorCode.NONE
            await commits(member, topic, offset)
            await until_of_type(direct, group, "kcoord")
        assert await member.heartbeat() == ErrorCode.NONE
        assert kafka.committed(group) == {(topic, 0): 5}
    finally:
        kcoord.remove()


async def test_two_instances_are_upgraded(
    kafka: KafkaCluster, direct: Client, tmp_path: Path, topic: str, release: Path
) -> None:
    """While one of them is of 0.1.0 both know the sentinel; a member commits by each in turn. Then they go back."""
    async with instances(kafka, tmp_path, upstream=True, settings=QUICK, site=release) as all_:
        group = f"shared-{tmp_path.name}"
        member = await ScriptedMember.at(
            all_.kcoords[0].bootstrap, group, metadata=subscription(topic), session_ms=SESSION_MS
        )
        await member.join_and_sync()
        offset = await commits_by_each(all_, member, topic, 0)
        for kcoord, protocol_type in zip(all_.kcoords, ("kcoord", "consumer"), strict=True):
            assert await asyncio.to_thread(kcoord.stop) == 0
            kcoord.site = ROOT
            await all_.start(kcoord)
            offset = await commits_by_each(all_, member, topic, offset)
            await until_of_type(direct, group, protocol_type)
            offset = await commits_by_each(all_, member, topic, offset)
        for site in (ROOT, release):
            for kcoord in all_.kcoords:
                assert await asyncio.to_thread(kcoord.stop) == 0
                set_site(kcoord, site)
                await all_.start(kcoord)
                offset = await commits_by_each(all_, member, topic, offset)
                await until_of_type(direct, group, "kcoord")
        assert kafka.committed(group) == {(topic, 0): offset}


async def commits_by_each(all_: Instances, member: ScriptedMember, topic: str, offset: int) -> int:
    """The last offset that was committed."""
    for kcoord in all_.kcoords:
        offset += 1
        await commits(await moved(member, kcoord), topic, offset)
    return offset
