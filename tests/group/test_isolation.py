"""A step that cannot be carried out costs its request, or its group at most: another group in the same shard shows it.

"g" is the group in trouble, "h" the one that must not notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest

from kcoord.group import isolation, shard
from kcoord.group.state.bounded_text import NAME_CHARS, TEXT_CHARS, bounded_name
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.quarantine import LONGEST_MS, SHORTEST_MS
from kcoord.group.state.settings import GroupLimits, GroupSettings
from kcoord.group.state.step import Step
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatResponse,
    JoinGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
)
from tests.group.clients import Client, Phase
from tests.group.connect.world import SESSION_MS as CONNECT_SESSION_MS
from tests.group.connect.world import World as ConnectWorld
from tests.group.world import World

SETTINGS = GroupSettings(initial_rebalance_delay_ms=0)
SESSION_MS = 10_000


class Broken(Exception):
    """A fault of kcoord's own, made for a test."""


class TroubledWorld(World):
    """A world in which steps may break off; their faults are kept."""

    def __init__(self, settings: GroupSettings = SETTINGS) -> None:
        self.faults: list[Any] = []
        super().__init__(settings)

    def _take(self, step: Step) -> Any:
        self.faults += step.faults
        for ticket in self.open:
            ticket.lost = ticket.lost or any(token is ticket for token in step.refused)
        self.open = [ticket for ticket in self.open if not ticket.lost]
        return super()._take(attrs.evolve(step, faults=[]))


def member(world: World, name: str, group: str = "g", **fields: Any) -> Client:
    """A client that has joined, synced and heartbeats."""
    client = Client(name, group, session_timeout_ms=SESSION_MS, **fields)
    while client.phase is not Phase.BEAT:
        assert client.act(world), "it waits for nothing"
    return client


def beats(world: World, client: Client) -> ErrorCode:
    """What a heartbeat of it is answered."""
    ticket, _ = world.call(client.heartbeat_request(), 4, client.name)
    assert isinstance(ticket.response, HeartbeatResponse)
    return ErrorCode(ticket.response.error_code)


def described(world: World, group: str) -> Any:
    """DescribeGroups of it."""
    ticket, _ = world.call(DescribeGroupsRequest([group]), 6, "admin")
    assert isinstance(ticket.response, DescribeGroupsResponse)
    return ticket.response.groups[0]


@contextmanager
def breaking(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, group: str = "g") -> Iterator[None]:
    """Within this block that function breaks off for that group."""
    real = getattr(where, name)

    def broken(transition: Transition, each: ClassicGroup) -> Any:
        if each.group_id == group:
            raise Broken("made for a test")
        return real(transition, each)

    with monkeypatch.context() as patched:
        patched.setattr(where, name, broken)
        yield


# -- composed texts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [11_000, 32_760])
def test_sessions_of_members_with_the_longest_ids_end_together(length: int) -> None:
    """Three ids of 11,000 bytes made the timer's step fail at every restart, one of 32,760 unloaded the partition. A
    log of 0.1.0 may hold such ids.
    """
    world = ConnectWorld(limits=GroupLimits(id_length=32_767))
    for at, letter in enumerate("abcd", 1):
        world.join(letter * length, connection=at)
    world.pass_ms(CONNECT_SESSION_MS)
    assert not world.group.members
    assert len(world.group.reason) <= TEXT_CHARS
    world.restart()
    assert not world.group.members


def test_a_bounded_name_keeps_both_of_its_ends() -> None:
    assert bounded_name("short") == "short"
    cut = bounded_name("a" * 20_000 + "-unique")
    assert len(cut) == NAME_CHARS
    assert cut.startswith("aaaa")
    assert cut.endswith("a-unique")
    assert 4 * TEXT_CHARS < 32_767, "it fits a string of the wire, whatever the characters"


# -- what does not fit ------------------------------------------------------------------------------------------------


def test_a_generation_that_the_log_does_not_take_costs_those_who_wait_for_it() -> None:
    """Its partition was dropped, and again with each try of the client's."""
    world = TroubledWorld()
    stays = member(world, "stays", "h")
    first = member(world, "first")
    world.shard._fits = lambda key, value: len(value or b"") < 10_000
    large = Client("large", "g", protocols=(("range", b"m" * 20_000),), join_version=3)
    large.act(world)
    first.act(world)
    assert beats(world, first) == ErrorCode.REBALANCE_IN_PROGRESS
    first.phase = Phase.JOIN
    ticket, _ = world.call(first.join_request(), first.join_version, first.name)
    assert isinstance(ticket.response, JoinGroupResponse)
    assert ticket.response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert [type(fault.error) for fault in world.faults] == [isolation.TooLarge]
    assert large.ticket is not None
    assert large.ticket.lost, "told to ask again"
    assert beats(world, stays) == ErrorCode.NONE
    assert [each.member_id for each in described(world, "g").members] == [first.member_id]
    assert beats(world, first) == ErrorCode.NONE, "the generation of before goes on"


def test_an_offset_that_cannot_be_encoded_is_answered_with_an_error() -> None:
    world = TroubledWorld()
    partition = OffsetCommitRequestPartition(0, 5)
    commit = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=[partition])])
    world.shard._fits = lambda key, value: False
    ticket, _ = world.call(commit, 2)
    assert isinstance(ticket.response, OffsetCommitResponse)
    assert ticket.response.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert not world.state.groups, "nothing is left of it"
    assert not world.log


# -- quarantine -------------------------------------------------------------------------------------------------------


def test_a_group_whose_look_breaks_off_is_quarantined_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """It lost its partition, at every restart again, and meanwhile nobody's death in that partition was noticed."""
    world = TroubledWorld()
    first, second = member(world, "first"), member(world, "dead", "h")
    with breaking(monkeypatch, shard, "sweep_classic"):
        world.advance_to(world.now_ms + SESSION_MS)
        assert [(fault.group_id, type(fault.error)) for fault in world.faults] == [("g", Broken)]
        assert world.faults[0].quarantined_ms == SHORTEST_MS
        assert not described(world, "h").members, f"the death of {second.name} is noticed"
        assert beats(world, first) == ErrorCode.NONE, "its own members go on"
        note = described(world, "g").error_message
        assert "in quarantine" in note
        assert "made for a test" in note
        assert world.shard.metrics().quarantined == 1
        assert world.shard.metrics().connect.faults == {"a look at the group": 1}
        for _ in range(30):
            world.advance_to(world.now_ms + SESSION_MS)
        lengths = [fault.quarantined_ms for fault in world.faults]
        assert lengths == sorted(lengths), "each failure in a row waits longer"
        assert lengths[-1] == LONGEST_MS
    world.advance_to(world.now_ms + LONGEST_MS + SESSION_MS)
    assert not described(world, "g").members, "when it goes well again, who is dead is noticed"
    assert described(world, "g").error_message is None
    assert world.shard.metrics().quarantined == 0


def test_a_group_that_cannot_be_opened_is_closed_and_the_others_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in the load of one group made its partition unreadable."""
    world = TroubledWorld()
    first, stays = member(world, "first"), member(world, "stays", "h")
    with breaking(monkeypatch, isolation, "open_sessions"):
        world.shard.drop()
        world.shard = shard.Shard(world.settings, world._make_id)
        monkeypatch.setattr(world, "_check", lambda: None)  # a second shard would be closed too
        world._load()
        assert {fault.group_id for fault in world.faults} == {"g"}
        assert world.faults[-1].closed
        assert beats(world, stays) == ErrorCode.NONE
        assert beats(world, first) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        refused = described(world, "g")
        assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert "not served" in refused.error_message
        assert world.shard.facts("g").has_members, "who asks whether the group may be given up is told no"
        assert world.shard.check_delete("g") == ErrorCode.COORDINATOR_NOT_AVAILABLE
        world.advance_to(world.now_ms + SHORTEST_MS)
        assert beats(world, first) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.advance_to(world.now_ms + 2 * SHORTEST_MS)
    assert beats(world, first) == ErrorCode.NONE
    assert described(world, "g").error_message is None


def test_a_request_that_breaks_off_leaves_the_group_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    world = TroubledWorld()
    first, stays = member(world, "first"), member(world, "stays", "h")
    log = list(world.log)

    def broken(*_: Any) -> None:
        raise Broken

    with monkeypatch.context() as patched:
        patched.setitem(shard.HANDLERS, type(first.leave_request()), broken)
        ticket, _ = world.call(first.leave_request(), 5, first.name)
    assert ticket.response is not None
    assert getattr(ticket.response, "error_code", None) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.log == log
    assert beats(world, first) == ErrorCode.NONE
    assert beats(world, stays) == ErrorCode.NONE
