"""Is a group answered by whichever instance one asks, as its owner would, and by none when the owner cannot be asked?

Real sockets between instances with coordinators of their own; GW-20, CG-3, CG-4 and CG-26.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.group.group_facts import UNKNOWN
from kcoord.group.state.settings import GroupSettings
from kcoord.instances import link as link_module
from kcoord.instances import request_routing
from kcoord.instances.listener import InternalListener
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.faults.wire import Wire
from tests.instances.neighbours import Client, neighbours
from tests.instances.standing import until

OWNED_BY_THE_OTHER = (1, 1, 1, 1)
LONG_MS = 3_600_000
SHORT_MS = 3_000


@attrs.define
class Member:
    """A member of a classic group that comes by one connection."""

    client: Client
    group_id: str = "group"
    session_timeout_ms: int = 30_000
    member_id: str = ""
    generation: int = -1

    def join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=30_000,
            member_id=self.member_id,
            protocol_type="test",
            protocols=[JoinGroupRequestProtocol(name="p", metadata=b"meta")],
        )

    async def join(self) -> JoinGroupResponse:
        answer = await self.client.ask(self.join_request(), 9)
        assert isinstance(answer, JoinGroupResponse)
        self.member_id = answer.member_id
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return await self.join()
        self.generation = answer.generation_id
        return answer

    async def sync(self) -> SyncGroupResponse:
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            protocol_type="test",
            protocol_name="p",
            assignments=[SyncGroupRequestAssignment(member_id=self.member_id, assignment=b"yours")],
        )
        answer = await self.client.ask(request, 5)
        assert isinstance(answer, SyncGroupResponse)
        return answer

    async def heartbeat(self) -> ErrorCode:
        request = HeartbeatRequest(group_id=self.group_id, generation_id=self.generation, member_id=self.member_id)
        answer = await self.client.ask(request, 4)
        assert isinstance(answer, HeartbeatResponse)
        return ErrorCode(answer.error_code)


def beat(
    group_id: str = "connect", epoch: int = 0, max_wait_ms: int = 0, **fields: Any
) -> ConnectGroupHeartbeatRequest:
    return ConnectGroupHeartbeatRequest(group_id, "w1", epoch, max_wait_ms=max_wait_ms, **fields)


async def joined_worker(client: Client) -> int:
    """A worker that is alone and has nothing to do; gives its epoch."""
    answer = await client.ask(
        beat(
            server_assignor="uniform",
            rebalance_timeout_ms=60_000,
            connectors_and_tasks=[],
            config_offset=1,
            configured_connectors_and_tasks=[],
        ),
        0,
    )
    assert isinstance(answer, ConnectGroupHeartbeatResponse)
    assert answer.error_code == ErrorCode.NONE
    while answer.error_code == ErrorCode.NONE:
        epoch = answer.member_epoch
        again = await client.ask(beat(epoch=epoch, connectors_and_tasks=[]), 0)
        assert isinstance(again, ConnectGroupHeartbeatResponse)
        if again.member_epoch == epoch:
            return epoch
        answer = again
    raise AssertionError(ErrorCode(answer.error_code))


async def test_a_members_whole_life_by_an_instance_that_does_not_own_its_group(tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        assert (await entry.groups.facts(["group"]))["group"].known
        member = Member(entry.connect("a client"))
        assert (await member.join()).error_code == ErrorCode.NONE
        synced = await member.sync()
        assert (synced.error_code, synced.assignment) == (ErrorCode.NONE, b"yours")
        assert await member.heartbeat() == ErrorCode.NONE
        described = await entry.connect().ask(DescribeGroupsRequest(groups=["group"]), 5)
        assert isinstance(described, DescribeGroupsResponse)
        seen = described.groups[0].members[0]
        assert (seen.client_id, seen.client_host) == ("a client", "/10.0.0.1")
        facts = entry.groups.known_facts("group")
        assert (facts.has_members, facts.generation, facts.loaded) == (True, member.generation, True)
        assert facts == owner.groups.known_facts("group") == (await entry.groups.facts(["group"]))["group"]
        check = entry.groups.check_commit
        assert await check("group", member.member_id, None, member.generation, False) == ErrorCode.NONE
        assert await check("group", "nobody", None, member.generation, False) == ErrorCode.UNKNOWN_MEMBER_ID
        assert await entry.groups.check_delete("group") == ErrorCode.NON_EMPTY_GROUP
        assert await entry.groups.check_offset_delete("group") == await owner.groups.check_offset_delete("group")
        left = await member.client.ask(
            LeaveGroupRequest(group_id="group", members=[MemberIdentity(member_id=member.member_id)]), 5
        )
        assert isinstance(left, LeaveGroupResponse)
        assert left.error_code == ErrorCode.NONE
        assert not entry.groups.known_facts("group").has_members
        assert await entry.groups.check_delete("group") == ErrorCode.NONE


async def test_groups_of_several_owners_are_described_in_the_order_of_the_question_and_listed_once(
    tmp_path: Path,
) -> None:
    """GW-17 and GW-18."""
    async with neighbours(tmp_path, (0, 1, 2, 2), number=3) as (entry, second, third):
        names = [f"g{number}" for number in range(8)]
        for name in names:
            await Member(entry.connect(), name).join()
        held = [len(each.coordinator.groups_of(at)) for at in range(4) for each in (entry, second, third)]
        assert sum(held) == len(names)
        described = await entry.connect().ask(DescribeGroupsRequest(groups=names), 5)
        assert isinstance(described, DescribeGroupsResponse)
        assert [group.group_id for group in described.groups] == names
        assert {group.error_code for group in described.groups} == {0}
        listed = await second.connect().ask(ListGroupsRequest(), 4)
        assert isinstance(listed, ListGroupsResponse)
        assert sorted(group.group_id for group in listed.groups) == names
        third.listener.close()
        partly = await second.connect().ask(ListGroupsRequest(), 4)
        assert isinstance(partly, ListGroupsResponse)
        assert partly.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert {group.group_id for group in partly.groups} < set(names)
        facts = await second.groups.facts(names)
        assert {name for name, each in facts.items() if each == UNKNOWN} == {
            name for name in names if entry.map.owner_of_group(name) == third.instance
        }


async def test_a_list_that_lacks_groups_on_their_way_says_so(tmp_path: Path) -> None:
    async with neighbours(tmp_path, (0, 1, 0, 1)) as (entry, other):
        names = [f"g{number}" for number in range(8)]
        for name in names:
            await Member(entry.connect(), name).join()

        async def listed() -> tuple[int, set[str]]:
            answer = await entry.connect().ask(ListGroupsRequest(), 4)
            assert isinstance(answer, ListGroupsResponse)
            return answer.error_code, {group.group_id for group in answer.groups}

        assert await listed() == (ErrorCode.NONE, set(names))
        moving = set(other.coordinator.groups_of(1))
        await other.coordinator.lose(1)
        entry.map = attrs.evolve(entry.map, partitions=(0, None, 0, 1))
        assert await listed() == (ErrorCode.COORDINATOR_NOT_AVAILABLE, set(names) - moving)
        entry.map = attrs.evolve(entry.map, partitions=(0, 0, 0, 1))
        entry.coordinator.expect(1)
        assert (await listed())[0] == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await entry.coordinator.gain(1)
        assert (await listed())[0] == ErrorCode.NONE


async def test_nobody_owns_it_or_who_does_takes_no_calls(tmp_path: Path) -> None:
    async with neighbours(tmp_path, (None, None, None, None)) as (entry, owner):
        assert (await Member(entry.connect()).join()).error_code == ErrorCode.NOT_COORDINATOR
        assert await entry.groups.check_delete("group") == ErrorCode.NOT_COORDINATOR
        assert await entry.groups.subscribed_among("group", ["a"]) == {"a"}
        closed = attrs.evolve(owner.instance, internal=None)
        entry.map = attrs.evolve(entry.map, instances={0: entry.instance, 1: closed}, partitions=OWNED_BY_THE_OTHER)
        assert (await Member(entry.connect()).join()).error_code == ErrorCode.NOT_COORDINATOR
        entry.map = attrs.evolve(entry.map, instances={0: entry.instance, 1: owner.instance})
        answer = await Member(entry.connect()).join()
        assert answer.error_code == ErrorCode.NOT_COORDINATOR, "the owner says so too: it has not gained it"


async def test_a_join_that_waits_ends_when_the_way_to_its_owner_does(tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        first = Member(entry.connect())
        await first.join()
        await first.sync()
        waiting = asyncio.create_task(Member(entry.connect()).join())
        await until(lambda: _in_work(owner.listener) == 1, "the owner lets it wait for the first member")
        for caller in owner.listener.callers:
            assert caller.transport is not None
            caller.transport.abort()
        assert (await waiting).error_code == ErrorCode.NOT_COORDINATOR
        assert await first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS, "the way is there again"


@pytest.mark.long("ten thousand calls at one time")
async def test_a_crowd_that_waits_for_its_group_stops_no_other_call(tmp_path: Path) -> None:
    """A call that waits ends by those behind it, perhaps: so it must not hold them up."""
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER, timeout_s=20) as (entry, _):
        alone = Member(entry.connect())
        await alone.join()
        await alone.sync()
        waiting = [entry.connect().begin(Member(entry.connect()).join_request(), 3) for _ in range(10_010)]
        await asyncio.sleep(0)
        assert await alone.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        await alone.join()
        answers: list[Any] = await asyncio.gather(*waiting)
        assert {answer.error_code for answer in answers} == {ErrorCode.NONE}


async def test_a_held_heartbeat_waits_at_the_owner_and_is_let_go_there(tmp_path: Path) -> None:
    """CG-26."""
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        client = entry.connect()
        epoch = await joined_worker(client)
        held = client.begin(beat(epoch=epoch, max_wait_ms=LONG_MS), 0)
        await until(lambda: _in_work(owner.listener) == 1, "it is held")
        await entry.connect().ask(ListGroupsRequest(), 4)  # others are answered meanwhile
        assert not held.done()
        entry.groups.flush_held_reply("connect", client.connection)
        answer = await held
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.NONE


@pytest.mark.parametrize(("is_patient", "interval_ms"), [(True, 500), (False, 1_000)])
async def test_the_owner_learns_which_clients_wait_for_long(
    tmp_path: Path, *, is_patient: bool, interval_ms: int
) -> None:
    """KG-10, KG-25: they are told a shorter interval."""
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, _):
        client = entry.connect()
        client.is_patient = is_patient
        joining = ConsumerGroupHeartbeatRequest(
            "consumers", "m", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"], topic_partitions=[]
        )
        answer = await client.ask(joining, 1)
        assert isinstance(answer, ConsumerGroupHeartbeatResponse)
        assert (answer.error_code, answer.heartbeat_interval_ms) == (ErrorCode.NONE, interval_ms)


async def test_what_is_held_for_a_connection_that_has_gone_is_let_go_of(tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        client = entry.connect()
        epoch = await joined_worker(client)
        held = client.begin(beat(epoch=epoch, max_wait_ms=LONG_MS), 0)
        await until(lambda: _in_work(owner.listener) == 1, "it is held")
        entry.groups.closed(client.connection)
        await held
        client = entry.connect()
        await client.ask(beat(epoch=epoch), 0)
        held = client.begin(beat(epoch=epoch, max_wait_ms=LONG_MS), 0)
        await until(lambda: _in_work(owner.listener) == 1, "it is held again")
        held.cancel()
        entry.links[1].close()
        await until(lambda: not owner.listener.callers, "the way is closed")
        by_its_owner = owner.connect().begin(beat(epoch=epoch), 0)
        answer = await by_its_owner
        assert isinstance(answer, ConnectGroupHeartbeatResponse)


async def test_the_owner_learns_which_clients_have_gone(tmp_path: Path) -> None:
    """CM-19, CM-20 and CM-23 ask for that."""
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        client = entry.connect()
        epoch = await joined_worker(client)
        state = owner.coordinator._host("connect").shard.state
        [member] = state.connect["connect"].members.values()
        assert not state.is_closed(member.connection)
        entry.groups.closed(client.connection)
        await until(lambda: state.is_closed(member.connection), "the owner knows")
        newer = entry.connect()
        await newer.ask(beat(epoch=epoch), 0)
        assert not state.is_closed(member.connection)

        entry.links.pop(1).close()
        await until(lambda: not owner.listener.callers, "the way is closed")
        assert not state.is_closed(member.connection), "the client may be there still"
        entry.myself.run = "its next life"
        await entry.connect().ask(ListGroupsRequest(), 4)
        assert state.is_closed(member.connection)


async def test_a_call_that_was_on_its_way_when_its_client_went_is_no_sign_of_life(tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        epoch = await joined_worker(entry.connect())
        entry.links[1].close()
        del entry.links[1]
        late = entry.connect()
        waiting = late.begin(beat(epoch=epoch), 0)
        await asyncio.sleep(0)  # it makes its way anew
        entry.groups.closed(late.connection)
        await waiting
        state = owner.coordinator._host("connect").shard.state
        [member] = state.connect["connect"].members.values()
        await until(lambda: state.is_closed(member.connection), "the owner knows")


async def test_a_member_belongs_to_its_newest_connection_wherever_that_is(tmp_path: Path) -> None:
    """CG-4."""
    async with neighbours(tmp_path, (2, 2, 2, 2), number=3) as (one, other, _):
        predecessor = one.connect()
        epoch = await joined_worker(predecessor)
        newer = other.connect()
        answer = await newer.ask(beat(epoch=epoch), 0)
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.NONE
        late = await predecessor.ask(beat(epoch=epoch), 0)
        assert isinstance(late, ConnectGroupHeartbeatResponse)
        assert late.error_code == ErrorCode.FENCED_MEMBER_EPOCH


async def test_a_session_stands_still_and_goes_on_where_its_group_is(tmp_path: Path) -> None:
    """GW-10."""
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        member = Member(entry.connect())
        await member.join()
        await member.sync()
        entry.groups.pause_session("group", member.member_id, entry.groups.now_ms() + LONG_MS)
        assert await member.heartbeat() == ErrorCode.NONE
        entry.groups.resume_session("group", member.member_id)
        assert await member.heartbeat() == ErrorCode.NONE
        assert (await entry.groups.facts(["group"])) == (await owner.groups.facts(["group"]))


async def test_who_came_by_an_instance_that_is_gone_does_not_expire_before_there_is_another_way(tmp_path: Path) -> None:
    """As GW-10 for a broker that is away. Who came by no other instance, and left last, does expire."""
    settings = GroupSettings(initial_rebalance_delay_ms=0, min_session_timeout_ms=1)
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER, settings=settings) as (entry, owner):
        guest = Member(entry.connect(), "guests", SHORT_MS)
        gone = Member(entry.connect(), "gone", SHORT_MS)
        inmate = Member(owner.connect(), "inmates", SHORT_MS)
        for member in (guest, gone, inmate):
            await member.join()
            await member.sync()
        leave = LeaveGroupRequest(group_id="gone", members=[MemberIdentity(member_id=gone.member_id)])
        await gone.client.ask(leave, 5)
        assert await guest.heartbeat() == ErrorCode.NONE
        entry.links[1].close()
        await until(lambda: not owner.listener.callers, "the way is closed")
        await inmate.heartbeat()
        await until(lambda: not owner.coordinator.known_facts("inmates").has_members, "who is silent expires")
        assert owner.coordinator.known_facts("guests").has_members
        guest.client = owner.connect()
        assert await guest.heartbeat() == ErrorCode.NONE
        await until(lambda: not owner.coordinator.known_facts("guests").has_members, "its next silence counts again")


def _in_work(listener: InternalListener) -> int:
    return sum(len(caller._in_work) for caller in listener.callers)


async def test_a_call_waits_for_the_next_owner_of_a_dead_ones_group(tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        member = Member(entry.connect())
        await member.join()
        await member.sync()
        entry.dead.add(owner.number)
        beating = asyncio.create_task(member.heartbeat())
        checking = asyncio.create_task(
            entry.groups.check_commit("group", member.member_id, None, member.generation, False)
        )
        await asyncio.sleep(0.05)
        assert not beating.done()
        assert not checking.done()
        entry.dead.clear()  # as if the owner of the next map were another
        entry.redraw(attrs.evolve(entry.map, epoch=2))
        assert await beating == ErrorCode.NONE
        assert await checking == ErrorCode.NONE


async def test_nobody_waits_for_ever_for_the_next_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_routing, "WAIT_S", 0.05)
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        entry.dead.add(owner.number)
        owner.listener.close()
        member = Member(entry.connect())
        assert (await member.join()).error_code == ErrorCode.NOT_COORDINATOR
        assert await member.heartbeat() == ErrorCode.NOT_COORDINATOR


async def test_a_heartbeat_outlasts_an_owner_that_says_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its link is lost long before another owner is known, and nobody answers who connects once more."""
    monkeypatch.setattr(link_module, "PING_S", 0.05)
    monkeypatch.setattr(request_routing, "WAIT_S", 0.05)
    monkeypatch.setattr(request_routing, "LOST_WAIT_S", 60.0)
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER, timeout_s=0.5) as (entry, owner):
        assert owner.instance.internal is not None
        async with Wire.opened(owner.instance.internal[1]) as wire:
            direct = entry.map
            away = attrs.evolve(owner.instance, internal=("127.0.0.1", wire.port))
            entry.redraw(attrs.evolve(direct, epoch=2, instances={0: entry.instance, 1: away}))
            member = Member(entry.connect())
            await member.join()
            await member.sync()
            stream = entry.links[1]._stream
            assert stream is not None
            wire.silence()
            asked = [
                asyncio.create_task(member.heartbeat()),
                asyncio.create_task(
                    entry.groups.check_commit("group", member.member_id, None, member.generation, False)
                ),
            ]
            await stream.ended.wait()
            await until(lambda: wire.made == 2, "the next connection is being made")
            assert not any(each.done() for each in asked)
            entry.links.pop(1).close()  # as if the owner of the next map were another
            entry.redraw(attrs.evolve(direct, epoch=3))
            assert [await each for each in asked] == [ErrorCode.NONE, ErrorCode.NONE]


async def test_a_heartbeat_does_not_wait_for_ever_for_an_owner_that_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "PING_S", 0.05)
    monkeypatch.setattr(request_routing, "LOST_WAIT_S", 0.2)
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER, timeout_s=0.5) as (entry, owner):
        assert owner.instance.internal is not None
        async with Wire.opened(owner.instance.internal[1]) as wire:
            away = attrs.evolve(owner.instance, internal=("127.0.0.1", wire.port))
            entry.redraw(attrs.evolve(entry.map, epoch=2, instances={0: entry.instance, 1: away}))
            member = Member(entry.connect())
            await member.join()
            wire.silence()
            assert await member.heartbeat() == ErrorCode.NOT_COORDINATOR
            assert (await member.sync()).error_code == ErrorCode.NOT_COORDINATOR


async def test_a_heartbeat_is_asked_again_when_its_link_is_lost_and_a_join_is_not(tmp_path: Path) -> None:
    async with neighbours(tmp_path, OWNED_BY_THE_OTHER) as (entry, owner):
        first, second = Member(entry.connect()), Member(entry.connect(), session_timeout_ms=LONG_MS)
        await first.join()
        await first.sync()
        joining = asyncio.create_task(second.join())  # waits for the first
        stream = entry.links[1]._stream
        assert stream is not None
        await until(lambda: not joining.done() and owner.listener.callers, "it is on its way")
        beating = asyncio.create_task(first.heartbeat())
        await asyncio.sleep(0)
        stream.lose("cut by the test")
        assert (await joining).error_code == ErrorCode.NOT_COORDINATOR, "nobody knows whether it was carried out"
        assert await beating in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS), "it may be carried out twice"
