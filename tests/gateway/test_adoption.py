"""Is a live group taken over from the cluster without its members noticing? AD-6 to AD-14.

The numbers in test names are those of AD rules.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.handover import adoption
from kcoord.gateway.ownership.handover.adoption import Adoptions, CannotAdopt
from kcoord.gateway.ownership.sentinel import joins, replacement
from kcoord.gateway.ownership.sentinel.described_groups import PREPARING, described_group
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import (
    AdoptGroupRequest,
    AdoptGroupResponse,
    ConnectGroupDescribeRequest,
    LeaveGroupRequest,
)
from tests.gateway.entries import Entry, entries
from tests.gateway.moving_groups import (
    adopted_pair,
    assigned,
    committed,
    goes,
    has_members,
    is_adopted,
    live_pair,
    owned_by,
    stable,
    sync,
)
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, describe, subscription, until
from tests.gateway.test_taking import is_27
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client


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

    async def heard(self: GuardedGroups, session: Any, taken: Any, request: Any, *others: Any, **more: Any) -> Any:
        answer = await call(self, session, taken, request, *others, **more)
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
    look = replacement._is_parked_among
    joining: list[asyncio.Task[object]] = []

    async def with_a_stranger(*args: Any) -> ErrorCode:
        joining.append(asyncio.create_task(stranger.join()))
        await until(lambda: has_members(entry.cluster, name, 4), "the stranger is in the group")
        return await look(*args)

    monkeypatch.setattr(replacement, "_is_parked_among", with_a_stranger)
    with pytest.raises(CannotAdopt, match="INCONSISTENT_GROUP_PROTOCOL"):
        await entry.gateway.adoptions.adopt(name)
    await asyncio.gather(*joining, *map(goes, members))
    await sync(*members, stranger)
    assert [await each.heartbeat() for each in (*members, stranger)] == [ErrorCode.NONE] * 3
    assert not entry.gateway.groups.known_facts(name).has_members, "its members are the cluster's"
    assert not entry.sentinel(name).is_joined


@attrs.frozen
class LastMoment:
    """A stranger got into a group when its members had been put out for kcoord. Who leads them then is the cluster's
    choice: all that the stranger has been given is a generation in which the one or the other assigns.
    """

    members: list[ScriptedMember]
    stranger: ScriptedMember
    name: str
    refused: BaseException | None


async def at_the_last_moment(
    entry: Entry,
    kafka: KafkaCluster,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    kcoord_leads: bool,
    is_late: bool = False,
) -> LastMoment:
    """Let strangers get into groups until one of these is led by whom it shall be. `is_late`: what kcoord is told of
    the group is from before the cluster's choice.
    """
    replace = replacement.replace

    async def before_the_choice(asker: Asker, group_id: str) -> DescribedGroup:
        return attrs.evolve(await described_group(asker, group_id), group_state=PREPARING)

    if is_late:
        monkeypatch.setattr(joins, "described_group", before_the_choice)
    for number in range(50):
        group = f"{name}-{number}"
        members = await live_pair(entry, group)
        await asyncio.to_thread(kafka.create_topic, group)
        stranger = await ScriptedMember.at(entry.cluster, group)
        joining: list[asyncio.Task[object]] = []

        async def with_the_stranger(
            *args: Any, group: str = group, stranger: ScriptedMember = stranger, joining: list[Any] = joining
        ) -> ErrorCode:
            joining.append(asyncio.create_task(stranger.join()))
            await until(lambda: has_members(entry.cluster, group, 4), "the stranger is in the group")
            return await replace(*args)

        monkeypatch.setattr(replacement, "replace", with_the_stranger)
        (refused,) = await asyncio.gather(entry.gateway.adoptions.adopt(group), return_exceptions=True)
        await asyncio.gather(*joining)
        if stranger.leads is not kcoord_leads:
            return LastMoment(members, stranger, group, refused)
    raise AssertionError("in 50 groups the cluster has always chosen the other one")


@pytest.mark.parametrize("is_late", [False, True])
async def test_rule_10_members_that_were_put_out_for_nothing_join_again(
    entry: Entry, kafka: KafkaCluster, name: str, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """AD-10: the stranger leads. kcoord has put the members out, and is refused. They hear of one more rebalance, not
    that nobody knows them.
    """
    found = await at_the_last_moment(entry, kafka, name, monkeypatch, kcoord_leads=False, is_late=is_late)
    members, stranger = found.members, found.stranger
    assert isinstance(found.refused, CannotAdopt)
    assert "INCONSISTENT_GROUP_PROTOCOL" in str(found.refused)
    assert [await each.heartbeat() for each in members] == [ErrorCode.REBALANCE_IN_PROGRESS] * 2
    assert await members[0].commit(found.name, 7) == ErrorCode.REBALANCE_IN_PROGRESS
    await goes(stranger)  # kcoord's member has left
    await asyncio.gather(*map(goes, (stranger, *members)))
    await sync(*members, stranger)
    assert [await each.heartbeat() for each in (*members, stranger)] == [ErrorCode.NONE] * 3

    async def is_over() -> bool:
        return not entry.gateway.releases.is_open(found.name)

    await until(is_over, "its members are the cluster's")
    assert not entry.gateway.groups.known_facts(found.name).has_members
    assert not entry.sentinel(found.name).is_joined


async def test_rule_10_a_stranger_that_waits_for_kcoords_member_is_put_out(
    entry: Entry, kafka: KafkaCluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-10, seeds 5029789 and 5110679: kcoord's member leads. It left the stranger alone with the group, which had all
    partitions at once while members here still worked on them.
    """
    found = await at_the_last_moment(entry, kafka, name, monkeypatch, kcoord_leads=True)
    assert found.refused is None
    assert (await found.stranger.sync({})).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    found.stranger.member_id = ""
    assert (await found.stranger.try_join()).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert [await each.heartbeat() for each in found.members] == [ErrorCode.NONE] * 2
    assert await found.members[0].commit(found.name, 7) == ErrorCode.NONE


async def test_a_group_is_the_clusters_while_nobody_says_that_kcoord_has_taken_it(
    entry: Entry, name: str, joins: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-7: the record of the adoption is there, but not the answer to it, as when its coordinator goes. The cluster
    still has the members, so kcoord passes on what they say, and does not try to get into their group.
    """
    members = await live_pair(entry, name)
    adopt = entry.gateway.guarded.adopt

    async def unanswered(request: AdoptGroupRequest) -> AdoptGroupResponse:
        await adopt(request)
        return AdoptGroupResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)

    monkeypatch.setattr(entry.gateway.guarded, "adopt", unanswered)
    with pytest.raises(CannotAdopt, match="COORDINATOR_NOT_AVAILABLE"):
        await entry.gateway.adoptions.adopt(name)
    joins.clear()
    stranger = await ScriptedMember.at(entry.cluster, name)
    joining = asyncio.create_task(stranger.join())
    await until(lambda: is_27(members[0]), "a member hears that the cluster rebalances")
    assert not joins[name]
    await asyncio.gather(joining, *(each.join() for each in members))


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


async def test_rule_11_an_id_that_nobody_uses_delays_nothing(entry: Entry, kafka: KafkaCluster, name: str) -> None:
    """AD-11: the cluster waits for whoever was given an id; meanwhile heartbeats and commits are answered."""
    await asyncio.to_thread(kafka.create_topic, name)
    members = await live_pair(entry, name)
    newcomer = await ScriptedMember.at(entry.cluster, name, session_ms=45_000)
    newcomer.member_id = (await newcomer.try_join()).member_id
    await entry.gateway.adoptions.adopt(name)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2
    assert await members[0].commit(name, 7) == ErrorCode.NONE
    assert entry.sentinel(name).is_taking, "the cluster waits on"
    assert await committed(await connect(entry.cluster), name, name) == 7
    await newcomer.leave()
    taking = entry.sentinel(name).taking
    assert taking is not None
    assert await taking == ErrorCode.NONE
    assert await members[1].commit(name, 8) == ErrorCode.NONE
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2


@pytest.mark.parametrize("is_lost", [False, True], ids=["does not answer", "is lost"])
async def test_rule_11_calls_go_on_though_the_cluster_does_not_say_who_the_sentinel_is(
    entry: Entry, kafka: KafkaCluster, name: str, monkeypatch: pytest.MonkeyPatch, is_lost: bool
) -> None:
    """AD-11: then only commits wait for the adoption."""
    await asyncio.to_thread(kafka.create_topic, name)

    async def ask_in_vain(_self: Sentinel, _asker: Asker, _generation: int) -> None:
        if is_lost:
            raise UpstreamLost("the connection has ended")
        await asyncio.Event().wait()

    monkeypatch.setattr(Sentinel, "find_stand_in", ask_in_vain)
    members = await live_pair(entry, name)
    newcomer = await ScriptedMember.at(entry.cluster, name, session_ms=45_000)
    newcomer.member_id = (await newcomer.try_join()).member_id
    await entry.gateway.adoptions.adopt(name)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2
    assert entry.sentinel(name).is_taking, "the cluster waits on"
    committing = asyncio.create_task(members[0].commit(name, 7))
    await newcomer.leave()
    assert await committing == ErrorCode.NONE


async def test_rule_11_nobody_is_answered_before_the_cluster_has_removed_the_members(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-7, AD-11: the cluster hears nothing from kcoord for a while, and has the members still. If kcoord answered
    their heartbeats, their sessions would end there, and others would get their partitions.
    """
    arrives = asyncio.Event()
    look = replacement._is_parked_among

    async def held_up(*args: Any) -> ErrorCode:
        await arrives.wait()
        return await look(*args)

    monkeypatch.setattr(replacement, "_is_parked_among", held_up)
    members = await live_pair(entry, name)
    await entry.gateway.adoptions.adopt(name)
    assert entry.sentinel(name).is_taking, "the cluster has not answered"
    assert await has_member_ids(entry.cluster, name, *members)
    answers = await asyncio.gather(*(each.heartbeat() for each in members))
    assert [each.retriable for each in answers] == [True, True], answers
    joined = ErrorCode((await attrs.evolve(members[0]).try_join()).error_code)
    assert joined == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    with pytest.raises(CannotAdopt):
        await entry.gateway.adoptions.adopt(name)
    committing = asyncio.create_task(members[0].commit(name, 7))
    arrives.set()
    assert await committing in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2
    assert not await has_member_ids(entry.cluster, name, *members)
    assert entry.sentinel(name).is_joined


async def has_member_ids(cluster: str, group: str, *members: ScriptedMember) -> bool:
    """Whether all of them are members at the cluster."""
    client = await connect(cluster)
    there = {each.member_id for each in (await describe(client, group)).members}
    await client.close()
    return there >= {each.member_id for each in members}


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


async def test_10_what_an_instance_began_before_it_died_is_undone(
    kafka: KafkaCluster, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It had taken the members over, and had not begun to join the cluster's group. Their sessions may stand still for
    minutes then, so the group is not adopted before they are given up.
    """
    async with entries(kafka, tmp_path, at={1: 0}) as [first, second]:
        members = await live_pair(first, name)
        adoptions = first.gateway.adoptions
        await first.gateway.guarded.adopt((await adoptions._known(name, None)).request())
        first.gateway.paused_sessions.pause(name, [each.member_id for each in members], first.gateway.now_ms())
        for each in members:
            await each.close()
            each.client = (await second.member(name)).client
            assert await each.heartbeat() == ErrorCode.NONE
        monkeypatch.setattr(adoption, "WARNED_AFTER_MS", 1_000)
        monkeypatch.setattr(adoption, "LOOK_EVERY_MS", 100)

        async def is_adopted() -> bool:
            assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2
            return [each.group_instance_id for each in (await describe(direct, name)).members] == ["kcoord"]

        direct = await connect(kafka.bootstrap)
        with caplog.at_level(logging.INFO, "kcoord.gateway"):
            await until(is_adopted, "the other instance has adopted the group")
        assert f"group {name}: 2 members are the cluster's still, its adoption was broken off" in caplog.text


async def test_rule_6_no_question_waits_behind_a_members_join(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-6, AD-15: another member has not joined yet, so the cluster answers nothing on this one's connection. kcoord
    ends connections on which a question of its own is not answered, and the member would have to join once more.
    """
    await coordinator_port(entry.bootstrap, name)
    there = await ScriptedMember.at(entry.cluster, name)
    here = await entry.member(name)
    await stable(there, here)
    assert await here.heartbeat() == ErrorCode.NONE
    gateway = entry.gateway
    monkeypatch.setattr(gateway, "settings", attrs.evolve(gateway.settings, adopts=False, request_timeout_ms=200))
    here.metadata = subscription("another-topic")
    joining = asyncio.create_task(here.join())
    await until(lambda: is_in_state(entry.cluster, name, "PreparingRebalance"), "the cluster waits for the other one")
    for _ in range(2):
        with pytest.raises(CannotAdopt):
            await gateway.adoptions.adopt(name)
    await there.join()
    await joining
    await sync(there, here)
    assert await here.heartbeat() == ErrorCode.NONE


async def test_rule_7_calls_go_on_where_no_members_connection_is_there(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-7: the adoption ends before it has begun, and the group's calls do not wait for it any more."""
    members = await live_pair(entry, name)
    monkeypatch.setattr(Adoptions, "_sessions", lambda *_: [])
    with pytest.raises(CannotAdopt, match="no member's connection"):
        await entry.gateway.adoptions.adopt(name)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2


async def is_in_state(cluster: str, group: str, state: str) -> bool:
    client = await connect(cluster)
    found = await describe(client, group)
    await client.close()
    return bool(found.group_state == state)


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


async def test_14_a_full_group_is_adopted_too(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """AD-14: there is no place for the sentinel beside the members, so it comes in the place of one of them."""
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

    async def adopted() -> bool:
        for each in (first, second):
            assert await each.heartbeat() == ErrorCode.NONE
        return f"group {name} is kcoord's now: adopted in generation" in kcoord.log.read_text()

    await until(adopted, "it is adopted")
    assert [(each.member_id, each.generation) for each in (first, second)] == before
    for each in (first, second):
        assert await each.heartbeat() == ErrorCode.NONE
        assert await each.commit(name, 5) in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    at_cluster = await describe(there.client, name)
    assert [each.group_instance_id for each in at_cluster.members] == ["kcoord"]
