"""A group is taken over from the cluster as it stands: what its members notice, and what is refused. AD-7,
AD-12, AD-13.
"""

from __future__ import annotations

import attrs
import pytest

from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.errors import ErrorCode as Err
from kcoord.protocol.generated.adopt_group_request import AdoptedMember
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import (
    AdoptGroupRequest,
    AdoptGroupResponse,
    HeartbeatResponse,
    JoinGroupResponse,
    OffsetCommitRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.group.clients import Client, Phase
from tests.group.sabotage import Saboteur
from tests.group.situations import NO_DELAY
from tests.group.world import World

GENERATION = 7


def member_of(client: Client) -> AdoptedMember:
    """As the cluster describes it."""
    return AdoptedMember(
        member_id=client.member_id,
        group_instance_id=client.instance_id,
        client_id=client.name,
        client_host="/10.0.0.9",
        session_timeout_ms=client.session_timeout_ms,
        rebalance_timeout_ms=client.rebalance_timeout_ms,
        metadata=client.protocols[0][1],
        assignment=client.name.encode(),
    )


def live(name: str, instance_id: str | None = None) -> Client:
    """A member of a stable group at the cluster."""
    return Client(
        name, instance_id=instance_id, member_id=f"{name}-uuid", generation=GENERATION, phase=Phase.BEAT,
        protocols=(("range", b"m"), ("rr", b"m")),
    )  # fmt: skip


def adoption(*clients: Client, leader: Client | None = None) -> AdoptGroupRequest:
    return AdoptGroupRequest(
        group_id="g",
        generation_id=GENERATION,
        protocol_type="consumer",
        protocol_name="range",
        leader=None if leader is None else leader.member_id,
        members=[member_of(each) for each in clients],
    )


def adopt(world: World, request: AdoptGroupRequest) -> Err:
    ticket, others = world.call(request, 0, "kcoord")
    assert isinstance(ticket.response, AdoptGroupResponse)
    assert not others
    return Err(ticket.response.error_code)


def beat(world: World, client: Client) -> Err:
    ticket, _ = world.call(client.heartbeat_request(), 4, client.name)
    assert isinstance(ticket.response, HeartbeatResponse)
    return Err(ticket.response.error_code)


def generation_after(world: World) -> tuple[str, int]:
    group = world.state.groups["g"]
    return group.state.label, group.generation


@pytest.mark.parametrize("is_loaded", [False, True])
def test_its_members_go_on_as_if_nothing_had_happened(is_loaded: bool) -> None:
    """AD-12: the same ids, the same generation, the same assignments; also once the log was loaded again."""
    world = World(NO_DELAY)
    world.saboteur = Saboteur(world.settings)
    one, two = live("A"), live("B", "b1")
    assert adopt(world, adoption(one, two, leader=one)) == Err.NONE
    if is_loaded:
        world.crash()
    assert [beat(world, each) for each in (one, two)] == [Err.NONE, Err.NONE]
    ticket, _ = world.call(SyncGroupRequest("g", GENERATION, two.member_id, "b1", "consumer", "range"), 5, "B")
    assert isinstance(ticket.response, SyncGroupResponse)
    assert ticket.response.assignment == b"B"
    assert world.shard.check_commit("g", one.member_id, None, GENERATION, False, world.now_ms) == Err.NONE
    assert generation_after(world) == ("Stable", GENERATION)
    assert world.group_records()[-1].reason == "adopted from the cluster: A-uuid, B-uuid"


def test_who_falls_silent_is_lost_after_its_session() -> None:
    world = World(NO_DELAY)
    one, two = live("A"), live("B")
    adopt(world, adoption(one, two, leader=one))
    world.advance_to(9_000)
    assert beat(world, one) == Err.NONE
    world.advance_to(10_000)
    assert beat(world, one) == Err.REBALANCE_IN_PROGRESS
    assert beat(world, two) == Err.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("leader", "who", "rebalances"),
    [("A", "A", True), ("A", "B", False), (None, "A", True), (None, "B", True)],
    ids=["the leader", "a follower", "nobody knows who leads, and A asks", "nobody knows who leads, and B asks"],
)
def test_a_member_joins_again(leader: str | None, who: str, rebalances: bool) -> None:
    """A leader that joins again asks for a rebalance. Where the leader is not known, whoever joins again may be it
    (AD-13).
    """
    world = World(NO_DELAY)
    members = {name: live(name) for name in "AB"}
    adopt(world, adoption(*members.values(), leader=members.get(leader or "")))
    ticket, _ = world.call(members[who].join_request(), 9, who)
    assert ticket.is_open == rebalances
    if not rebalances:
        assert isinstance(ticket.response, JoinGroupResponse)
        assert ticket.response.generation_id == GENERATION
        return
    other = "B" if who == "A" else "A"
    last, first = world.call(members[other].join_request(), 9, other)
    leaders = {each.response.leader for each in (last, *first) if isinstance(each.response, JoinGroupResponse)}
    assert len(leaders) == 1
    assert generation_after(world) == ("CompletingRebalance", GENERATION + 1)


def test_a_static_member_that_comes_back_tells_nobody_who_leads() -> None:
    world = World(NO_DELAY)
    one, two = live("A"), live("B", "b1")
    adopt(world, adoption(one, two))
    ticket, _ = world.call(attrs.evolve(two, member_id="").join_request(), 9, "B")
    assert isinstance(ticket.response, JoinGroupResponse)
    assert (ticket.response.error_code, ticket.response.generation_id) == (0, GENERATION)
    world.crash()
    again, _ = world.call(one.join_request(), 9, "A")
    assert again.is_open, "whoever joins again may be the leader"


def commit(group_id: str) -> OffsetCommitRequest:
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5, -1, "")])
    return OffsetCommitRequest(group_id, -1, "", None, topics=[topic])


def test_what_kcoord_knew_of_the_group_before_does_not_matter() -> None:
    """It has offsets, or had a generation that counts for nothing now."""
    world = World(NO_DELAY)
    world.call(commit("g"), 8)
    one = live("A")
    assert adopt(world, adoption(one, leader=one)) == Err.NONE
    assert beat(world, one) == Err.NONE
    assert world.state.offsets.of_group("g")


def test_what_cannot_be_adopted_changes_nothing() -> None:
    world = World(GroupSettings(initial_rebalance_delay_ms=0, max_size=2))
    here = Client("here")
    world.call(here.join_request(), 3, "here")
    one = live("A")
    cases = [
        (adoption(one), Err.NON_EMPTY_GROUP),
        (attrs.evolve(adoption(one), group_id=""), Err.INVALID_GROUP_ID),
        (attrs.evolve(adoption(), group_id="h"), Err.INVALID_REQUEST),
        (attrs.evolve(adoption(one, one), group_id="h"), Err.INVALID_REQUEST),
        (attrs.evolve(adoption(one), group_id="h", generation_id=-1), Err.INVALID_REQUEST),
        (attrs.evolve(adoption(one), group_id="h", protocol_type=""), Err.INVALID_REQUEST),
        (attrs.evolve(adoption(one, live("B"), live("C")), group_id="h"), Err.GROUP_MAX_SIZE_REACHED),
    ]
    before = list(world.log)
    assert [adopt(world, request) for request, _ in cases] == [error for _, error in cases]
    assert world.log == before
