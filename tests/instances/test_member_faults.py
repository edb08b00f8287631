"""What becomes of an instance's place in the group when something goes wrong inside, at Kafka or in aiokafka?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

from kcoord.instances import instances_group_member
from kcoord.instances.instances_group_member import GroupMember, GroupMemberSettings
from kcoord.instances.offsets_topic_leaders import LeadersWatch
from tests.instances.standing import Authorization, until
from tests.kafka.cluster import KafkaCluster

NOBODY_THERE = "127.0.0.1:1"


class Hooks:
    """Nothing is done."""

    async def connected(self) -> None: ...
    def facts(self, place: str) -> bytes:
        return place.encode()

    def divide(self, leader: str, generation: int, members: Mapping[str, bytes]) -> dict[str, tuple[list[int], bytes]]:
        return {}

    def told(self, place: str, data: bytes) -> None: ...
    async def joining(self, place: str) -> None: ...


SETTINGS = GroupMemberSettings(
    group="g",
    topic="t",
    kafka={"bootstrap_servers": NOBODY_THERE},
    client_id="c",
    session_timeout_ms=6_000,
    heartbeat_interval_ms=100,
)


async def test_heartbeats_that_ended_with_an_error_begin_again(kafka: KafkaCluster) -> None:
    async with Authorization(kafka, "heartbeats-ended") as standing:
        first, one = standing.come(1)
        await until(lambda: standing.is_served(one), "it serves everything")
        coordinator: Any = first.member._coordinator
        sound, broken, beats = coordinator._do_heartbeat, asyncio.Event(), 0

        async def beat() -> bool:
            nonlocal beats
            if not broken.is_set():
                broken.set()
                raise KafkaError("an answer that aiokafka does not know")
            beats += 1
            return bool(await sound())

        coordinator._do_heartbeat = beat
        await broken.wait()
        await until(lambda: beats > 1, "heartbeats go on")
        assert standing.is_served(one)
        assert (one.loses, first.is_cut_off) == (0, False)


async def test_an_error_that_nobody_expects_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0

    async def connect(_member: GroupMember) -> None:
        nonlocal tried
        tried += 1
        raise AttributeError("'NoneType' object has no attribute 'write'")

    monkeypatch.setattr(GroupMember, "_connect", connect)
    monkeypatch.setattr(instances_group_member, "START_AGAIN_S", 0.01)
    member = GroupMember(SETTINGS, Hooks())
    member.start()
    await until(lambda: tried > 1, "it is tried again")
    await member.leave()


async def test_who_leaves_while_a_new_beginning_is_made_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = asyncio.Event()

    async def connect(member: GroupMember) -> None:
        coordinator = instances_group_member._Coordinator(
            AIOKafkaClient(bootstrap_servers=NOBODY_THERE), SETTINGS, Hooks()
        )
        close = coordinator.close

        async def closing() -> None:
            ending.set()
            await asyncio.sleep(60)
            await close()

        coordinator.close = closing
        member._coordinator = coordinator

    async def watch(_member: GroupMember) -> None:
        """The machinery has broken off at once."""

    monkeypatch.setattr(GroupMember, "_connect", connect)
    monkeypatch.setattr(GroupMember, "_watch", watch)
    member = GroupMember(SETTINGS, Hooks())
    member.start()
    await ending.wait()
    async with asyncio.timeout(180):
        await member.leave()


async def test_leaders_are_asked_for_again_after_an_answer_that_cannot_be_read() -> None:
    async def ask(_request: Any) -> Any:
        raise AttributeError("'NoneType' object has no attribute 'brokers'")

    watch = LeadersWatch(ask)
    await watch.start()
    assert watch.seen().leaders == ()
    await watch.stop()
