"""Is a live group taken over from the cluster without its members noticing, and given back? AD-6 to AD-18.

The numbers in test names are those of AD rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.gateway.ownership import release
from kcoord.gateway.ownership.adoption import CannotAdopt
from kcoord.gateway.ownership.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.sentinel import KnownAppearance, Sentinel
from kcoord.gateway.ownership.sentinel_appearance import Appearance
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.service_connection import ServiceConnection
from kcoord.group.group_configs import GROUP, Operation
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    DescribeGroupsRequest,
    IncrementalAlterConfigsRequest,
    LeaveGroupRequest,
    OffsetFetchRequest,
)
from tests.gateway.entries import Entry, entries
from tests.gateway.live_member import LiveMember
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, describe, until
from tests.gateway.test_taking import is_27
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client


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


async def test_a_group_is_adopted_and_nobody_notices(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str
) -> None:
    """AD-6, AD-8, AD-9, AD-12: the same ids, generation and assignments, and no heartbeat or commit fails."""
    await asyncio.to_thread(kafka.create_topic, name)
    members = [await ScriptedMember.at(kcoord.bootstrap, name) for _ in range(2)]
    there = await ScriptedMember.at(kafka.bootstrap, name)
    await stable(there, *members)
    await there.leave()
    await until(lambda: is_27(members[0]), "it is told that a direct member has left")
    await asyncio.gather(*(each.join() for each in members))
    leader = next(each for each in members if each.leads)
    given = {each.member_id: assigned(each) for each in members}
    await asyncio.gather(*(each.sync(given if each is leader else {}) for each in members))
    before = [(each.member_id, each.generation) for each in members]
    assert await members[0].commit(name, 5) == ErrorCode.NONE
    await is_adopted(kcoord, name, *members)
    assert [(each.member_id, each.generation) for each in members] == before
    for each in members:
        assert (await each.sync({})).assignment == assigned(each)
        assert await each.commit(name, 6) == ErrorCode.NONE
    assert await committed(direct, name, name) == 6
    upstream = await describe(direct, name)
    assert [each.group_instance_id for each in upstream.members] == ["kcoord"]
    here = await describe(members[0].client, name)
    assert {each.member_id for each in here.members} == {each.member_id for each in members}
    stranger = await ScriptedMember.at(kafka.bootstrap, name)
    assert ErrorCode((await stranger.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


async def owned_by(client: Client, group: str, owner: str) -> None:
    """Set who is to have the group."""
    change = AlterableConfig("gateway.owner", Operation.SET, owner)
    answer = await ask(client, IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, group, [change])]))
    assert [each.error_code for each in answer.responses] == [ErrorCode.NONE]


async def goes(member: ScriptedMember) -> None:
    """What a client does that is told to join: it joins, by whatever id it is given."""
    await until(lambda: is_27(member), "it is told to join")
    await member.join()


async def test_a_group_is_released_by_one_rebalance(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str
) -> None:
    """AD-15, AD-17, AD-18: each is asked to join once, commits until then, and has a new id at the cluster."""
    await asyncio.to_thread(kafka.create_topic, name)
    members = [await ScriptedMember.at(kcoord.bootstrap, name) for _ in range(2)]
    await stable(*members)
    assert [each.group_instance_id for each in (await describe(direct, name)).members] == ["kcoord"]
    before = [(each.member_id, each.generation) for each in members]
    await owned_by(await connect(kcoord.bootstrap), name, "cluster")
    first, second = members
    await asyncio.to_thread(kcoord.wait_for_line, f"group {name} is being released")
    await until(lambda: is_27(first), "it is told to join")
    assert await first.commit(name, 3) == ErrorCode.NONE
    joining = asyncio.create_task(first.try_join())
    await until(lambda: is_27(second), "it is told to join")
    assert await second.commit(name, 4) == ErrorCode.NONE
    _, joined = await asyncio.gather(second.join(), joining)
    assert joined.error_code == ErrorCode.NONE, "its new id comes with the answer to its only JoinGroup"
    first.member_id, first.generation = joined.member_id, joined.generation_id
    first.leads = joined.leader == joined.member_id
    assert first.generation == second.generation > before[0][1]
    assert not {each.member_id for each in members} & {member_id for member_id, _ in before}
    leader = next(each for each in members if each.leads)
    given = {each.member_id: assigned(each) for each in members}
    synced = await asyncio.gather(*(each.sync(given if each is leader else {}) for each in members))
    assert [each.assignment for each in synced] == [assigned(each) for each in members]
    for each in members:
        assert await each.heartbeat() == ErrorCode.NONE
        assert await each.commit(name, 5) == ErrorCode.NONE
    assert await committed(direct, name, name) == 5
    upstream = await describe(direct, name)
    assert {each.member_id for each in upstream.members} == {each.member_id for each in members}
    await asyncio.to_thread(kcoord.wait_for_line, f"group {name} is the cluster's again")
    again = ScriptedMember(await connect(kafka.bootstrap), name)
    await asyncio.gather(again.join(), *map(goes, members))


# -- what comes between ------------------------------------------------------------------------------------------------


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


@pytest.fixture
async def entry(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[Entry]:
    """A kcoord alone, in the test's own loop."""
    async with entries(kafka, tmp_path, at={1: 0}, count=1, shared=False) as [only]:
        yield only


async def test_rule_6_a_member_of_the_clusters_leaves_while_kcoord_asks_whose_the_group_is(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes by kcoord for the first time. Told here that it is unknown, it would stay a member upstream."""
    theirs = await ScriptedMember.at(entry.cluster, name)
    await theirs.join_and_sync()
    asks, may_ask = asyncio.Event(), asyncio.Event()
    take = Sentinel.take

    async def slowly(self: Sentinel, *args: Any) -> ErrorCode:
        asks.set()
        await may_ask.wait()
        return await take(self, *args)

    is_unknown_here = asyncio.Event()
    call = GuardedGroups.call

    async def heard(self: GuardedGroups, session: Any, taken: Any, request: Any, *others: Any) -> Any:
        answer = await call(self, session, taken, request, *others)
        if isinstance(request, LeaveGroupRequest):
            is_unknown_here.set()
        return answer

    monkeypatch.setattr(Sentinel, "take", slowly)
    monkeypatch.setattr(GuardedGroups, "call", heard)
    newcomer = ScriptedMember(await connect(entry.port), name)
    joining = asyncio.create_task(newcomer.join())
    await asks.wait()
    member = attrs.evolve(theirs, client=await connect(entry.port))
    leaving = asyncio.create_task(member.leave())
    await is_unknown_here.wait()
    may_ask.set()
    assert await leaving == ErrorCode.NONE
    await joining
    direct = await connect(entry.cluster)
    assert theirs.member_id not in {each.member_id for each in (await describe(direct, name)).members}


async def test_rule_8_a_stranger_that_gets_in_keeps_the_group_at_the_cluster(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = await live_pair(entry, name)
    stranger = await ScriptedMember.at(entry.cluster, name)
    look = Sentinel._is_parked_among
    joining: list[asyncio.Task[object]] = []

    async def with_a_stranger(self: Sentinel, *args: Any) -> ErrorCode:
        joining.append(asyncio.create_task(stranger.join()))
        await until(lambda: has_members(entry.cluster, name, 4), "the stranger is in the group")
        return await look(self, *args)

    monkeypatch.setattr(Sentinel, "_is_parked_among", with_a_stranger)
    with pytest.raises(CannotAdopt, match="INCONSISTENT_GROUP_PROTOCOL"):
        await entry.gateway.adoptions.adopt(name)
    await asyncio.gather(*joining, *map(goes, members))
    await sync(*members, stranger)
    assert [await each.heartbeat() for each in (*members, stranger)] == [ErrorCode.NONE] * 3
    assert not entry.gateway.groups.known_facts(name).has_members, "its members are the cluster's"
    assert not entry.sentinel(name).is_joined


async def test_rule_10_members_that_were_put_out_for_nothing_join_again(
    entry: Entry, kafka: KafkaCluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-10: a stranger gets in at the last moment. kcoord has put the members out, and is refused. They hear of one
    more rebalance, not that nobody knows them.
    """
    members = await live_pair(entry, name)
    kafka.create_topic(name)
    stranger = await ScriptedMember.at(entry.cluster, name)
    replace = Sentinel._replace
    joining: list[asyncio.Task[object]] = []

    async def with_a_stranger(self: Sentinel, *args: Any) -> ErrorCode:
        joining.append(asyncio.create_task(stranger.join()))
        await until(lambda: has_members(entry.cluster, name, 4), "the stranger is in the group")
        return await replace(self, *args)

    monkeypatch.setattr(Sentinel, "_replace", with_a_stranger)
    with pytest.raises(CannotAdopt, match="INCONSISTENT_GROUP_PROTOCOL"):
        await entry.gateway.adoptions.adopt(name)
    assert [await each.heartbeat() for each in members] == [ErrorCode.REBALANCE_IN_PROGRESS] * 2
    assert await members[0].commit(name, 7) == ErrorCode.REBALANCE_IN_PROGRESS
    await asyncio.gather(*joining)
    await goes(stranger)  # kcoord's member has left
    await asyncio.gather(*map(goes, (stranger, *members)))
    await sync(*members, stranger)
    assert [await each.heartbeat() for each in (*members, stranger)] == [ErrorCode.NONE] * 3

    async def is_over() -> bool:
        return not entry.gateway.releases.is_open(name)

    await until(is_over, "its members are the cluster's")
    assert not entry.gateway.groups.known_facts(name).has_members
    assert not entry.sentinel(name).is_joined


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


async def test_members_are_let_in_again_where_the_cluster_has_forgotten_what_they_speak(
    entry: Entry, name: str
) -> None:
    """A coordinator that is loaded anew knows only kcoord's own protocol of kcoord's member."""
    members = await adopted_pair(entry, name)
    await owned_by(await connect(entry.port), name, "cluster")

    async def is_open() -> bool:
        return entry.gateway.releases.is_open(name)

    await until(is_open, "the release has begun")
    sentinel = entry.sentinel(name)
    offers, sentinel.offers = sentinel.offers, ()
    await entry.gateway.sentinels.speak(sentinel, lambda asker: sentinel._join(asker, sentinel.mark or 0))
    sentinel.offers = offers
    await asyncio.gather(*(each.join() for each in members))
    await sync(*members)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2


async def test_who_comes_while_the_members_are_let_in_waits_for_all_of_them(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it answered before the members have joined, it would be given what they own."""
    members = await adopted_pair(entry, name)
    joined, may_sync = asyncio.Event(), asyncio.Event()
    sync_upstream = Sentinel._sync

    async def slowly(self: Sentinel, *args: Any) -> ErrorCode:
        joined.set()
        await may_sync.wait()
        return await sync_upstream(self, *args)

    monkeypatch.setattr(Sentinel, "_sync", slowly)
    await owned_by(await connect(entry.port), name, "cluster")
    await joined.wait()
    stranger = await ScriptedMember.at(entry.cluster, name)
    comes = asyncio.create_task(stranger.join())
    direct = await connect(entry.cluster)

    async def waits_for(count: int) -> bool:
        seen = await describe(direct, name)
        return seen.group_state == "PreparingRebalance" and len(seen.members) == count

    await until(lambda: waits_for(2), "the stranger waits beside kcoord's member")
    may_sync.set()
    first = asyncio.create_task(goes(members[0]))
    await until(lambda: waits_for(3), "the first member waits with it")
    assert not comes.done()
    await asyncio.gather(comes, first, goes(members[1]))
    assert len({each.generation for each in (stranger, *members)}) == 1


async def test_old_clients_are_released_once_all_have_joined(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before KIP-394 a member joins without an id, so the cluster cannot be asked for it by one. It has them all once
    it has as many as have come: here the second one's JoinGroup gets there late.
    """
    monkeypatch.setattr(release, "LEFT_EARLIER_MS", -3_600_000)  # kcoord's member does not leave before all have come
    members = await adopted_pair(entry, name)
    await owned_by(await connect(entry.port), name, "cluster")
    passed: list[asyncio.Task[None]] = []
    looked = asyncio.Event()
    pass_changed, ask_own = ClientSession.pass_changed, ServiceConnection.ask

    async def late(*passing: Any) -> None:
        await looked.wait()
        pass_changed(*passing)

    def passes(*passing: Any) -> None:
        if not passed:
            pass_changed(*passing)
        passed.append(asyncio.create_task(late(*passing) if passed else asyncio.sleep(0)))

    async def looks(self: ServiceConnection, request: Any, *others: Any) -> Any:
        response = await ask_own(self, request, *others)
        if len(passed) == 2 and isinstance(request, DescribeGroupsRequest):
            looked.set()
        return response

    async def is_open() -> bool:
        return entry.gateway.releases.is_open(name)

    await until(is_open, "the release has begun")
    monkeypatch.setattr(ClientSession, "pass_changed", passes)
    monkeypatch.setattr(ServiceConnection, "ask", looks)
    joined = await asyncio.gather(*(each.try_join(3) for each in members))
    assert [each.error_code for each in joined] == [ErrorCode.NONE] * 2
    assert len({each.generation_id for each in joined}) == 1


async def test_a_heartbeat_of_its_own_delays_no_release(entry: Entry, name: str) -> None:
    """The sentinel goes on waiting for the members, and asks nothing over the connection of one that waits."""
    members = await adopted_pair(entry, name)
    await owned_by(await connect(entry.port), name, "cluster")
    first = asyncio.create_task(goes(members[0]))
    direct = await connect(entry.cluster)

    async def waits() -> bool:
        seen = await describe(direct, name)
        return seen.group_state == "PreparingRebalance" and len(seen.members) == 2

    await until(waits, "the first member waits beside kcoord's")
    sentinels = entry.gateway.sentinels
    sentinel = sentinels.of(name)
    assert await sentinels.speak(sentinel, sentinel.beat) == ErrorCode.REBALANCE_IN_PROGRESS
    assert sentinel.is_joined
    [session] = [each for each in entry.gateway.member_sessions(name) if each.in_flight]
    sentinels.carry(sentinel, session)
    assert list(sentinels.speakers(sentinel))[-1] is session
    await asyncio.gather(first, goes(members[1]))
    assert len({each.generation for each in members}) == 1


async def test_a_release_that_is_taken_back_lets_nobody_in(entry: Entry, name: str) -> None:
    members = await adopted_pair(entry, name)
    before = [(each.member_id, each.generation) for each in members]
    admin = await connect(entry.port)
    await owned_by(admin, name, "cluster")

    async def is_open() -> bool:
        return entry.gateway.releases.is_open(name)

    await until(is_open, "the release has begun")
    stranger = await ScriptedMember.at(entry.cluster, name)
    comes = asyncio.create_task(stranger.try_join())
    await owned_by(admin, name, "kcoord")
    assert ErrorCode((await comes).error_code) in (
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.MEMBER_ID_REQUIRED,
    )

    async def are_there() -> bool:
        return [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2

    await until(are_there, "they are kcoord's as before")
    assert [(each.member_id, each.generation) for each in members] == before
    direct = await connect(entry.cluster)
    assert [each.group_instance_id for each in (await describe(direct, name)).members] == ["kcoord"]


async def test_nobody_is_refused_for_a_sentinel_that_was_left_behind(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to its join was lost as the group was to be released, and its members' sessions have ended here."""
    members = await adopted_pair(entry, name)
    monkeypatch.setattr(entry.gateway.releases, "_begin", lambda sentinel: asyncio.sleep(0))
    await owned_by(await connect(entry.port), name, "cluster")
    sentinel = entry.sentinel(name)
    sentinel.mark, sentinel.inherited = None, True
    gone = [MemberIdentity(member_id=each.member_id) for each in members]
    await entry.gateway.guarded.give_up(name, gone)
    newcomer = await entry.member(name)
    await newcomer.join_and_sync()
    assert await newcomer.heartbeat() == ErrorCode.NONE
    direct = await connect(entry.cluster)
    assert [each.member_id for each in (await describe(direct, name)).members] == [newcomer.member_id]


async def test_who_did_not_hear_of_its_new_id_is_known_by_the_old_one(entry: Entry, name: str) -> None:
    """Its connection ended while it joined the cluster: it joins again, and the release is over when it has heard."""
    first, second = await adopted_pair(entry, name)
    old_id, first.session_ms = first.member_id, 6_000
    await owned_by(await connect(entry.port), name, "cluster")
    await asyncio.gather(*(goes(each) for each in (first, second)))
    await second.leave()
    first.member_id = old_id
    await first.join()
    assert entry.gateway.releases.is_open(name)
    assert first.member_id != old_id
    await sync(first)

    async def is_over() -> bool:
        return not entry.gateway.releases.is_open(name)

    await until(is_over, "the release is over")


async def test_where_a_member_is_is_its_own_address(entry: Entry, name: str) -> None:
    """AD-13: the cluster takes kcoord's address for that of whoever comes through it."""
    members = await live_pair(entry, name)
    for each in members:
        seen = entry.gateway.cluster_groups.sighting(name, each.member_id)
        session = None if seen is None else seen.session()
        assert session is not None
        session.client.client_host = "/10.1.2.3"
    await entry.gateway.adoptions.adopt(name)
    here = await describe(members[0].client, name)
    assert {each.client_host for each in here.members} == {"/10.1.2.3"}


async def test_rule_11_an_id_that_nobody_uses_delays_commits_only(entry: Entry, kafka: KafkaCluster, name: str) -> None:
    """AD-11: the cluster waits for whoever was given an id; heartbeats are answered, and the commit in the end."""
    await asyncio.to_thread(kafka.create_topic, name)
    members = await live_pair(entry, name)
    newcomer = await ScriptedMember.at(entry.cluster, name, session_ms=6_000)
    assert ErrorCode((await newcomer.try_join()).error_code) == ErrorCode.MEMBER_ID_REQUIRED
    await entry.gateway.adoptions.adopt(name)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2
    assert await members[0].commit(name, 7) == ErrorCode.NONE
    assert entry.sentinel(name).is_joined


async def test_rule_6_members_by_two_instances_stay_until_they_come_by_one(
    kafka: KafkaCluster, tmp_path: Path, name: str
) -> None:
    async with entries(kafka, tmp_path, at={1: 0}) as [first, second]:
        [here, there] = await live_pair(first, name)
        await there.close()
        there.client = (await second.member(name)).client
        assert await there.heartbeat() == ErrorCode.NONE
        for each in (first, second):
            with pytest.raises(CannotAdopt, match="1 directly or through another instance"):
                await each.gateway.adoptions.adopt(name)
        await there.close()
        there.client = (await first.member(name)).client
        assert await there.heartbeat() == ErrorCode.NONE
        await first.gateway.adoptions.adopt(name)
        assert [await each.heartbeat() for each in (here, there)] == [ErrorCode.NONE] * 2
        there.client = (await second.member(name)).client
        assert await there.heartbeat() == ErrorCode.NONE, "the other instance has the group too"
        assert (await describe(await connect(kafka.bootstrap), name)).members[0].group_instance_id == "kcoord"


@pytest.mark.parametrize(
    ("owner", "has_old_instance", "why"),
    [("cluster", False, "gateway.owner"), ("kcoord", True, "0.1.0")],
)
async def test_what_is_not_adopted(
    kafka: KafkaCluster, tmp_path: Path, name: str, owner: str, has_old_instance: bool, why: str
) -> None:
    async with entries(kafka, tmp_path, at={1: 0}) as [first, _]:
        members = await live_pair(first, name)
        await owned_by(await connect(first.port), name, owner)
        if has_old_instance:
            assert first.gateway.places is not None
            first.gateway.places.releases.add("0.1.0")  # type: ignore[attr-defined]
        with pytest.raises(CannotAdopt, match=why):
            await first.gateway.adoptions.adopt(name)
        client = await connect(first.port)

        async def is_told() -> bool:
            first.gateway.adoptions.tend()
            [described] = (await ask(client, ConnectGroupDescribeRequest(group_ids=[name]))).groups
            return why in described.error_message

        await until(is_told, "describe says why")
        assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2


async def test_a_sentinel_that_lets_members_in_does_not_join_beside_them(entry: Entry, name: str) -> None:
    """It was about to change its topics when the group was released. It would do so over a member's connection, and
    wait there for that member, whose own JoinGroup would stand behind it.
    """
    first, second = await live_pair(entry, name)
    await entry.gateway.adoptions.adopt(name)
    await owned_by(first.client, name, "cluster")
    await until(lambda: is_27(first), "it is told to join")
    joining = asyncio.create_task(first.join())
    await until(lambda: has_members(entry.cluster, name, 2), "the first is in the group, beside the sentinel")
    sentinel = entry.sentinel(name)
    assert sentinel.is_joined
    told = KnownAppearance(Appearance("consumer", {"some-topic": 1, "another": 1}), is_settled=True)
    await entry.gateway.sentinels.speak(sentinel, lambda asker: sentinel.change_appearance(asker, told, 9))
    assert not joining.done()
    await asyncio.gather(joining, goes(second))
    assert first.generation == second.generation


async def test_a_group_that_is_not_meant_any_more_is_released(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """kcoord is started again with another `--groups`."""
    front = await asyncio.to_thread(start_kcoord, kafka)
    await asyncio.to_thread(kafka.create_topic, name)
    members = [LiveMember(name, lambda: front.bootstrap, name) for _ in range(2)]
    for each in members:
        each.start()

    async def commit() -> bool:
        before = [each.committed for each in members]
        await asyncio.sleep(0.5)
        return all(each.is_stable and each.committed > at for each, at in zip(members, before, strict=True))

    await until(commit, "all are stable, and commit")
    front.groups = ("something-else",)
    await asyncio.to_thread(front.kill_and_restart)
    await asyncio.to_thread(front.wait_for_line, f"group {name} is the cluster's again")
    await until(commit, "all are stable, and commit")
    assert [each.answers["UNKNOWN_MEMBER_ID"] for each in members] == [0, 0]
    direct = await connect(kafka.bootstrap)
    assert len((await describe(direct, name)).members) == 2
    await asyncio.gather(*(each.stop() for each in members))


async def test_14_a_full_group_stays_with_the_cluster_and_says_why(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """AD-14: there is no place for the sentinel beside the members, and nobody is put out for it."""
    full = start_kafka(overrides={"group.max.size": 2})
    kcoord = start_kcoord(full)
    there = await ScriptedMember.at(full.bootstrap, name)
    first, second = [await ScriptedMember.at(kcoord.bootstrap, name) for _ in range(2)]
    await stable(there, first)
    await there.leave()
    await goes(first)
    await first.sync({first.member_id: assigned(first)})
    joining = asyncio.ensure_future(second.join())
    await goes(first)
    await joining
    leader = next(each for each in (first, second) if each.leads)
    given = {each.member_id: assigned(each) for each in (first, second)}
    await asyncio.gather(*(each.sync(given if each is leader else {}) for each in (first, second)))
    before = [(each.member_id, each.generation) for each in (first, second)]

    why = f"group {name} is not adopted, kcoord tries again: the cluster answered GROUP_MAX_SIZE_REACHED"

    async def refused() -> bool:
        for each in (first, second):
            assert await each.heartbeat() == ErrorCode.NONE
        return why in kcoord.log.read_text()

    await until(refused, why)
    assert [(each.member_id, each.generation) for each in (first, second)] == before
    asked = ConnectGroupDescribeRequest(group_ids=[name])
    [described] = (await ask(await connect(kcoord.bootstrap), asked)).groups
    assert "2 of 2 members come through kcoord" in described.error_message
    assert "group.max.size" in described.error_message
    for each in (first, second):
        assert await each.heartbeat() == ErrorCode.NONE
    assert kcoord.log.read_text().count(why) == 1, "it is said once, and not tried again at once"
