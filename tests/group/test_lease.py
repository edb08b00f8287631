"""Does time stand still for a shard that cannot prove that it is the coordinator, and is a load late enough?

CG-27, GW-21: the elder may still have answered a member for a lease's length when its
successor has loaded the group; so the member's first session there is longer by that.
"""

from __future__ import annotations

import pytest

from kcoord.group.state.settings import GroupSettings
from tests.group.clients import Client, Phase
from tests.group.connect.workers import Worker
from tests.group.connect.workers import settle as settle_workers
from tests.group.connect.world import SESSION_MS
from tests.group.connect.world import World as ConnectWorld
from tests.group.world import World

LEASE_MS = 5_000


def classic() -> tuple[World, Client]:
    """A group of one that is stable."""
    world, client = World(GroupSettings(initial_rebalance_delay_ms=0)), Client("A")
    while client.phase is not Phase.BEAT or client.ticket is not None:
        if not client.act(world):
            world.advance_to(world.now_ms + 1_000)
    return world, client


def connect() -> tuple[ConnectWorld, Worker]:
    """A connect group of one that is stable."""
    world = ConnectWorld()
    worker = Worker(world, "W1", "AC0 AT1")
    settle_workers(world, [worker])
    return world, worker


@pytest.mark.parametrize("lease_ms", [0, LEASE_MS])
def test_rule_27_after_a_load_a_session_is_longer_by_the_lease(lease_ms: int) -> None:
    world, client = classic()
    world.crash(lease_ms=lease_ms)
    ends_ms = world.now_ms + client.session_timeout_ms + lease_ms
    world.advance_to(ends_ms - 1)
    assert world.shard.facts("g").has_members
    world.advance_to(ends_ms)
    assert not world.shard.facts("g").has_members


def test_rule_27_the_next_sign_of_life_counts_afresh() -> None:
    world, client = classic()
    world.crash(lease_ms=LEASE_MS)
    world.advance_to(world.now_ms + 100)
    assert client.act(world)
    assert client.act(world)
    ends_ms = world.now_ms + client.session_timeout_ms
    world.advance_to(ends_ms - 1)
    assert world.shard.facts("g").has_members
    world.advance_to(ends_ms)
    assert not world.shard.facts("g").has_members


@pytest.mark.parametrize("lease_ms", [0, LEASE_MS])
def test_rule_27_a_worker_that_the_elder_still_answered_has_stopped_before_its_work_is_given_away(
    lease_ms: int,
) -> None:
    world, _ = connect()
    world.restart(lease_ms=lease_ms)
    world.pass_ms(SESSION_MS + lease_ms - 1)
    assert world.shard.facts(world.group_id).has_members
    world.pass_ms(1)
    assert not world.shard.facts(world.group_id).has_members


def test_sessions_begin_afresh_when_time_goes_on() -> None:
    world, client = classic()
    world.now_ms += client.session_timeout_ms + 30_000  # nothing was done meanwhile, and nobody answered
    world.shard.go_on(30_000, world.now_ms)
    world.advance_to(world.now_ms + client.session_timeout_ms - 1)
    assert world.shard.facts("g").has_members
    world.advance_to(world.now_ms + 1)
    assert not world.shard.facts("g").has_members


def test_a_connect_groups_sessions_too() -> None:
    world, _ = connect()
    world.now_ms += SESSION_MS + 30_000
    world.shard.go_on(30_000, world.now_ms)
    world.pass_ms(SESSION_MS - 1)
    assert world.shard.facts(world.group_id).has_members
    world.pass_ms(1)
    assert not world.shard.facts(world.group_id).has_members


def test_a_rebalance_has_as_much_time_left_as_it_had() -> None:
    world, predecessor = classic()
    predecessor.rebalance_timeout_ms = 8_000
    newcomer = Client("B", rebalance_timeout_ms=8_000)
    assert newcomer.act(world)
    world.advance_to(world.now_ms + 1)
    if newcomer.ticket is not None and not newcomer.ticket.is_open:  # it was given its member id, and comes with it
        assert newcomer.act(world)
        assert newcomer.act(world)
    [group] = world.state.groups.values()
    assert group.rebalance is not None
    left_ms = group.rebalance.due_ms - world.now_ms
    world.now_ms += 60_000
    world.shard.go_on(60_000, world.now_ms)
    assert group.rebalance.due_ms - world.now_ms == left_ms
    world.advance_to(world.now_ms + 1)
    assert len(group.members) == 2, "nobody is put out for what happened in between"
