"""Does kcoord say that a group is the cluster's, and which members come through kcoord? AD-6."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from kcoord.gateway.ownership.handover.cluster_groups import SEEN_BYTES, USUAL_SESSION_MS, ClusterGroup, ClusterGroups
from kcoord.gateway.ownership.sentinel import joins
from kcoord.group_owner_words import AT_CLUSTER, AT_KCOORD, DIRECT, ELSEWHERE, THROUGH_INSTANCE, THROUGH_KCOORD
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.messages import ConnectGroupDescribeRequest
from tests.gateway.entries import entries
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, until
from tests.gateway.test_taking import is_27
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

# -- the memory --------------------------------------------------------------------------------------------------------


class ClientSession:
    """As much of a client session as the memory looks at."""

    def __init__(self) -> None:
        self.gone, self.in_flight = False, 0
        self.upstream: object | None = object()


class World:
    """A memory, and the clock that it reads."""

    def __init__(self) -> None:
        self.time_ms = 0
        gateway: Any = SimpleNamespace(now_ms=lambda: self.time_ms)
        self.groups = ClusterGroups(gateway)

    def came(self, session: Any, member: str, session_ms: int | None = None) -> None:
        self.groups.came(session, "g", member, None if session_ms is None else (session_ms, session_ms))

    def comes(self, member: str) -> bool:
        return self.groups.comes_through("g", member)


def test_a_member_is_forgotten_after_its_session() -> None:
    world, session = World(), ClientSession()
    world.came(session, "joined", 10_000)
    world.came(session, "beating")
    world.time_ms = 9_999
    assert world.comes("joined")
    world.came(session, "joined")  # a heartbeat names no session: the one of the join holds
    world.time_ms += 10_000
    assert (world.comes("joined"), world.comes("beating")) == (False, True)
    world.time_ms = USUAL_SESSION_MS
    assert not world.comes("beating")
    assert not world.comes("nobody")
    assert not world.groups.comes_through("other", "beating")


def test_a_member_that_waits_for_an_answer_is_there() -> None:
    """A JoinGroup waits for the other members, for longer than a session maybe; nobody sends heartbeats meanwhile."""
    world, session = World(), ClientSession()
    world.came(session, "m", 10_000)
    world.time_ms, session.in_flight = 60_000, 1
    assert world.comes("m")
    session.in_flight = 0
    assert not world.comes("m")


def test_a_member_is_forgotten_with_its_connection() -> None:
    world, first, second = World(), ClientSession(), ClientSession()
    world.came(first, "m")
    first.gone = True
    assert not world.comes("m")
    world.came(second, "m")
    assert world.comes("m")
    second.upstream = None
    assert not world.comes("m")
    world.came(third := ClientSession(), "m")
    del third
    assert not world.comes("m")


def test_the_memory_is_bounded() -> None:
    world, session = World(), ClientSession()
    for number in range(2 * SEEN_BYTES // 30_000):
        world.came(session, f"{number}-{'x' * 30_000}")
    assert world.groups._seen.used_bytes <= SEEN_BYTES
    assert world.comes(f"{number}-{'x' * 30_000}")


def test_what_is_told() -> None:
    def told(through: int, direct: int, *, is_shared: bool = False, **fields: Any) -> str:
        member = DescribedGroupMember()
        return ClusterGroup("g", (member,) * through, (member,) * direct, is_shared, "Stable", **fields).told

    assert ": 3 of 7 members come through kcoord, 4 directly. Point those at kcoord" in told(3, 4)
    assert ": 1 of 2 members comes through this instance of kcoord, 1 directly or through another instance." in told(
        1, 1, is_shared=True
    )
    assert told(2, 0).endswith(" come through kcoord. kcoord takes it over as soon as it is stable; it is Stable")
    manually = "kcoord groups adopt takes it over, and no member notices (gateway.adopt=manual)"
    assert told(2, 0, adopts=False).endswith(manually)
    assert "It was given to the cluster (gateway.owner=cluster)" in told(2, 0, owner="cluster")
    assert "sent nothing since" in told(1, 1, has_just_begun=True)
    assert "no --groups of this kcoord matches it" in told(2, 0, owner="cluster", is_matched=False)


# -- before a cluster --------------------------------------------------------------------------------------------------


async def owner(client: Client, group: str) -> tuple[str, dict[str, str], str]:
    """Who has the group, by which way each member comes, and the text."""
    [told] = (await ask(client, ConnectGroupDescribeRequest([group]))).groups
    assert told.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    return told.group_state, {each.member_id: each.state for each in told.members}, told.error_message


async def join_among(newcomer: ScriptedMember, *others: ScriptedMember) -> None:
    """`newcomer` becomes a member of a group at the cluster that has these."""

    async def rejoin(member: ScriptedMember) -> None:
        await until(lambda: is_27(member), "a member is told of the newcomer")
        await member.join()

    await asyncio.gather(newcomer.join(), *map(rejoin, others))
    members = [newcomer, *others]
    leader = next(each for each in members if each.leads)
    given = {each.member_id: b"some" for each in members}
    await asyncio.gather(*(each.sync(given if each is leader else {}) for each in members))
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * len(members)


async def test_members_come_one_by_one_and_the_group_is_the_clusters_until_the_last_has_gone(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str
) -> None:
    one = await ScriptedMember.at(kafka.bootstrap, name)
    await one.join_and_sync()
    two = ScriptedMember(await connect(kafka.bootstrap), name)
    await join_among(two, one)
    client = (await ScriptedMember.at(kcoord.bootstrap, name)).client
    state, ways, text = await owner(client, name)
    assert (state, ways) == (AT_CLUSTER, {one.member_id: DIRECT, two.member_id: DIRECT})
    assert ": 0 of 2 members come through kcoord, 2 directly." in text

    here = await ScriptedMember.at(kcoord.bootstrap, name)
    await join_among(here, one, two)
    state, ways, _ = await owner(client, name)
    assert state == AT_CLUSTER
    assert ways == {one.member_id: DIRECT, two.member_id: DIRECT, here.member_id: THROUGH_KCOORD}
    line = f"group {name}: the cluster has this group, not kcoord: 1 of 3 members comes through kcoord, 2 directly."
    await asyncio.to_thread(kcoord.wait_for_line, line)

    await here.close()  # its member stays in the group, as one that nobody speaks for here
    await until(lambda: has_left(client, name, here.member_id), "it does not come through kcoord any more")
    here.client = (await ScriptedMember.at(kcoord.bootstrap, name)).client
    assert await here.heartbeat() == ErrorCode.NONE
    assert (await owner(client, name))[1][here.member_id] == THROUGH_KCOORD

    await one.leave()
    await two.leave()
    await until(lambda: is_27(here), "it is told that the others have left")
    await here.join_and_sync()
    assert (await owner(client, name))[:2] == (AT_CLUSTER, {here.member_id: THROUGH_KCOORD})
    assert f"group {name} is kcoord's now" not in kcoord.log.read_text()
    await here.leave()
    assert not (await owner(client, name))[1]
    here.member_id = ""
    await here.join_and_sync()
    await asyncio.to_thread(kcoord.wait_for_line, f"group {name} is kcoord's now")
    assert (await owner(client, name))[:2] == (AT_KCOORD, {})
    assert kcoord.log.read_text().count(f"group {name}: the cluster has this group") == 1


async def has_left(client: Client, group: str, member_id: str) -> bool:
    return (await owner(client, group))[1].get(member_id) == DIRECT


async def test_who_is_not_let_in_is_no_member_and_leaves_a_line(kafka: KafkaCluster, kcoord: Kcoord, name: str) -> None:
    """A group of another type at the cluster: the join passes, and is refused there."""
    there = await ScriptedMember.at(kafka.bootstrap, name)
    await there.join_and_sync()
    worker = await ScriptedMember.at(kcoord.bootstrap, name, protocol_type="connect")
    assert ErrorCode((await worker.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert (await owner(worker.client, name))[1] == {there.member_id: DIRECT}
    await asyncio.to_thread(kcoord.wait_for_line, f"group {name}: the cluster has this group, not kcoord: 0 of 1 ")


async def test_an_instance_tells_of_its_own_connections(kafka: KafkaCluster, tmp_path: Path, name: str) -> None:
    there = await ScriptedMember.at(kafka.bootstrap, name)
    await there.join_and_sync()
    async with entries(kafka, tmp_path, at={1: 0}) as [first, second]:

        async def are_open() -> bool:
            return all(each.gateway.brokers.has_port(1) for each in (first, second))

        await until(are_open, "the ports of the broker are open")
        here = await first.member(name)
        await join_among(here, there)
        _, ways, text = await owner(here.client, name)
        assert ways == {there.member_id: ELSEWHERE, here.member_id: THROUGH_INSTANCE}
        assert ": 1 of 2 members comes through this instance of kcoord, 1 directly or through another instance." in text
        _, ways, text = await owner((await second.member(name)).client, name)
        assert ways == {there.member_id: ELSEWHERE, here.member_id: ELSEWHERE}
        assert ": 0 of 2 members come through this instance of kcoord, 2 directly or through another instance." in text


async def test_nobody_is_unknown_while_a_newcomer_tries_to_take_the_group(
    kafka: KafkaCluster, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster's answer takes its time: who is a member there waits for it, and is not unknown meanwhile."""
    await asyncio.to_thread(kafka.create_topic, name)
    async with entries(kafka, tmp_path, at={1: 0}, count=1, shared=False) as [entry]:
        await coordinator_port(entry.bootstrap, name)  # kcoord knows the broker by then
        member = await ScriptedMember.at(entry.cluster, name)
        await member.join_and_sync()
        await member.close()
        member.client, again = (await entry.member(name)).client, await entry.member(name)
        entry.gateway.settings = attrs.evolve(entry.gateway.settings, adopts=False)
        asked, answered = held_back(monkeypatch)
        newcomer = await entry.member(name)
        comes = asyncio.create_task(newcomer.join())
        await asked.wait()
        again.member_id, again.generation = member.member_id, member.generation
        calls = [asyncio.create_task(each) for each in (member.heartbeat(), again.commit(name, 7))]
        await asyncio.wait(calls, timeout=0.5)
        answered.set()
        assert [await each for each in calls] == [ErrorCode.NONE] * 2
        await asyncio.gather(comes, rejoins(member))


async def test_nobody_is_unknown_who_joins_again_while_a_newcomer_tries_to_take_the_group(
    kafka: KafkaCluster, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with entries(kafka, tmp_path, at={1: 0}, count=1, shared=False) as [entry]:
        await coordinator_port(entry.bootstrap, name)  # kcoord knows the broker by then
        member = await ScriptedMember.at(entry.cluster, name)
        await member.join_and_sync()
        await member.close()
        member.client = (await entry.member(name)).client
        asked, answered = held_back(monkeypatch)
        joins = asyncio.create_task(member.try_join())
        await asked.wait()
        await asyncio.wait([joins], timeout=0.5)  # longer than is waited for a refusal
        answered.set()
        assert ErrorCode((await joins).error_code) == ErrorCode.NONE


async def rejoins(member: ScriptedMember) -> None:
    await until(lambda: is_27(member), "it is told of the newcomer")
    await member.join()


def held_back(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """What the cluster answers a sentinel that joins: it is there (the first event), and not told before the second."""
    asked, answered = asyncio.Event(), asyncio.Event()
    ask_upstream = joins.attempt

    async def slowly(*args: Any) -> ErrorCode:
        error = await ask_upstream(*args)
        asked.set()
        await answered.wait()
        return error

    monkeypatch.setattr(joins, "attempt", slowly)
    return asked, answered
