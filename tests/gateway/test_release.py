"""Is a group given back to the cluster by one rebalance, and nobody kept waiting? AD-15 to AD-18."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kcoord.gateway.ownership.handover import calls_during_release
from kcoord.gateway.ownership.sentinel import joins, requests
from kcoord.gateway.ownership.sentinel.appearance import Appearance, KnownAppearance
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.service_connection import ServiceConnection
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import DescribeGroupsRequest, HeartbeatRequest
from tests.gateway.entries import Entry
from tests.gateway.live_member import LiveMember
from tests.gateway.moving_groups import (
    PATIENT_MS,
    adopted_pair,
    assigned,
    committed,
    goes,
    has_members,
    live_pair,
    owned_by,
    stable,
    sync,
)
from tests.gateway.scripted import ScriptedMember, connect, describe, until
from tests.gateway.test_taking import is_27
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client


async def test_a_static_member_that_starts_again_in_a_release_is_not_waited_for(
    entry: Entry,
    name: str,
) -> None:
    """It comes without an id, by its instance id alone; two newcomers come meanwhile."""
    patient = {"rebalance_ms": PATIENT_MS}
    first, second = [await ScriptedMember.at(entry.bootstrap, name, instance=each, **patient) for each in ("a", "b")]
    await stable(first, second)
    await owned_by(await connect(entry.port), name, "cluster")

    async def is_open() -> bool:
        return entry.gateway.releases.is_open(name)

    await until(is_open, "the release has begun")
    again = await ScriptedMember.at(entry.bootstrap, name, instance="b", **patient)
    newcomers = [await ScriptedMember.at(entry.bootstrap, name) for _ in range(2)]
    joining = [asyncio.create_task(each.join()) for each in (again, *newcomers)]
    await goes(first)

    async def all_are_at_the_cluster() -> bool:
        """Newcomers may come a generation later; who is asked to join once more does."""
        there = {each.group_instance_id for each in (await describe(upstream, name)).members}
        if {"a", "b"} <= there and "kcoord" not in there:
            return True
        if first.generation >= 0 and await first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS:
            await first.join()
        return False

    upstream = await connect(entry.cluster)
    await until(all_are_at_the_cluster, "kcoord has left the group to them")
    await asyncio.gather(*joining)


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves", "is killed"])
async def test_15_who_goes_during_a_release_is_not_waited_for(entry: Entry, name: str, leaves: bool) -> None:
    """Two have joined the cluster, and wait there. The third goes before it has joined."""
    sessions = {"session_ms": 6_000 if not leaves else 45_000, "rebalance_ms": PATIENT_MS}
    *others, goner = [await ScriptedMember.at(entry.bootstrap, name, **sessions) for _ in range(3)]
    await stable(*others, goner)
    await owned_by(await connect(entry.port), name, "cluster")
    joining = [asyncio.create_task(goes(each)) for each in others]

    async def two_have_come() -> bool:
        release = entry.gateway.releases.opened(name)
        return release is not None and len(release.came) == len(others)

    await until(two_have_come, "two have joined the cluster")
    if leaves:
        await goner.leave()
    await asyncio.gather(*joining)
    await sync(*others)
    assert [await each.heartbeat() for each in others] == [ErrorCode.NONE] * 2
    there = await describe(await connect(entry.cluster), name)
    assert sorted(each.member_id for each in there.members) == sorted(each.member_id for each in others)


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
    await entry.gateway.sentinels.speak(sentinel, lambda asker: joins.join(sentinel, asker, sentinel.mark or 0))
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
    sync_upstream = requests.sync

    async def slowly(*args: Any) -> ErrorCode:
        joined.set()
        await may_sync.wait()
        return await sync_upstream(*args)

    monkeypatch.setattr(requests, "sync", slowly)
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
    # kcoord's member does not leave before all have come
    monkeypatch.setattr(calls_during_release, "LEFT_EARLIER_MS", -3_600_000)
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


async def test_15_no_question_waits_behind_a_members_join(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-15: the sentinel goes on waiting for the members, and kcoord asks nothing over the connection of one that
    waits, neither for the sentinel nor for the member's rights.
    """
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
    assert session not in sentinels.speakers(sentinel)
    ask_for_rights, asked = entry.gateway.rights.ask, []

    async def ask(asker: ClientSession, group_id: str) -> Authorization | ErrorCode:
        asked.append(asker)
        return await ask_for_rights(asker, group_id)

    monkeypatch.setattr(entry.gateway.rights, "ask", ask)

    async def are_asked(*sessions: ClientSession) -> bool:
        return set(sessions) <= set(asked)

    others = [each for each in entry.gateway.member_sessions(name) if each is not session]
    for each in (session, *others):
        each.question_due_ms = 0
    entry.gateway.tend()
    await until(lambda: are_asked(*others), "the members that do not wait are asked")
    assert session not in asked
    await asyncio.gather(first, goes(members[1]))
    assert len({each.generation for each in members}) == 1
    entry.gateway.tend()
    await until(lambda: are_asked(session), "the member is asked once its JoinGroup is answered")


async def test_15_kcoords_own_join_waits_on_no_members_connection(entry: Entry, name: str) -> None:
    """AD-15: kcoord's own member joins once more in a release, and the cluster waits for an id that nobody uses. What
    waits with it is a connection that nobody needs.
    """
    members = await adopted_pair(entry, name)
    assert [await each.heartbeat() for each in members] == [ErrorCode.NONE] * 2
    await owned_by(await connect(entry.port), name, "cluster")

    async def is_open() -> bool:
        return entry.gateway.releases.is_open(name)

    await until(is_open, "the release has begun")
    unused = await ScriptedMember.at(entry.cluster, name)
    unused.member_id = (await unused.try_join()).member_id
    sentinel = entry.sentinel(name)
    entry.gateway.releases._open.clear()  # kcoord has forgotten how far it was
    sentinel.mark, sentinel.inherited = None, True
    direct = await connect(entry.cluster)

    async def waits() -> bool:
        return bool((await describe(direct, name)).group_state == "PreparingRebalance")

    await until(waits, "the cluster waits for that id")
    sessions = entry.gateway.member_sessions(name)
    upstreams = [each.upstream for each in sessions if each.upstream is not None]
    assert len(upstreams) == 2
    assert not any(each.waits_for_members for each in upstreams)
    assert sentinel.lock.locked(), "kcoord's own member waits"
    assert [await each.heartbeat() for each in members] == [ErrorCode.REBALANCE_IN_PROGRESS] * 2
    await unused.leave()
    await until(is_open, "the members are let in")
    await asyncio.gather(*map(goes, members))
    assert members[0].generation == members[1].generation


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


async def test_15_an_answer_from_just_before_a_release_is_not_repeated(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release opens while a heartbeat is answered. Its member hears of it at the next one."""
    first, _ = await adopted_pair(entry, name)
    answered, admin = entry.gateway.guarded.call, await connect(entry.port)

    async def is_open() -> bool:
        return entry.gateway.releases.is_open(name)

    async def late(*call: Any) -> Any:
        answer = await answered(*call)
        if any(isinstance(each, HeartbeatRequest) for each in call):
            await until(is_open, "the release has begun")
        return answer

    monkeypatch.setattr(entry.gateway.guarded, "call", late)
    beating = asyncio.create_task(first.heartbeat())
    await owned_by(admin, name, "cluster")
    assert await beating == ErrorCode.NONE
    assert await first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


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


async def test_17_who_comes_by_its_old_id_after_a_release_is_not_just_given_a_new_one(entry: Entry, name: str) -> None:
    """AD-17: kcoord was killed when its own member had left, so nobody heard the answer to its JoinGroup. librdkafka
    takes its partitions for lost when a JoinGroup is answered with nothing but a new id.
    """
    first, second = await adopted_pair(entry, name)
    old_id, first.session_ms = first.member_id, 6_000
    await owned_by(await connect(entry.port), name, "cluster")
    await asyncio.gather(*(goes(each) for each in (first, second)))
    entry.gateway.releases._open.clear()  # kcoord knows as much as after a restart
    first.member_id = old_id

    async def joins() -> bool:
        answer = await first.try_join()
        error = ErrorCode(answer.error_code)
        assert error == ErrorCode.NONE or error.retriable, error.name
        first.member_id, first.generation = answer.member_id or old_id, answer.generation_id
        first.leads = answer.leader == answer.member_id
        return error == ErrorCode.NONE

    joining = asyncio.create_task(until(joins, "it is at the cluster"))
    await goes(second)
    await joining
    assert first.member_id != old_id
    assert first.generation == second.generation


async def test_17_who_comes_when_others_have_its_work_is_told_so(
    entry: Entry, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AD-17: it stood still while the others joined the cluster, and kcoord's own member could not wait any longer."""
    monkeypatch.setattr(calls_during_release, "REBALANCE_TIMEOUT_MS", 0)
    first, second = members = await adopted_pair(entry, name)
    first.client.client_id, second.client.client_id = "first", "second"
    for each in members:
        each.rebalance_ms = 6_000
    await owned_by(await connect(entry.port), name, "cluster")
    await goes(first)
    await first.sync()
    assert await first.heartbeat() == ErrorCode.NONE
    assert await second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert (await second.try_join()).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    second.member_id = ""
    joining = asyncio.create_task(second.join())
    await goes(first)
    await joining
    assert first.generation == second.generation


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
    stays = f"group {name}: the cluster has this group, not kcoord: 2 of 2 members come through kcoord. It stays with"
    await asyncio.to_thread(front.wait_for_line, stays)
    assert f"group {name} is not adopted" not in front.log.read_text()
    await asyncio.gather(*(each.stop() for each in members))
