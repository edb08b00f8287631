"""Does what the simulator once found stay mended? Each story by hand, as short as it can be told."""

from __future__ import annotations

from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, World, assignor


def test_the_time_to_compute_runs_from_when_the_worker_was_told() -> None:
    """CG-20: a rebalance timeout below the heartbeat interval must not exclude everybody for ever."""
    world = World()
    world.join("W1", rebalance_timeout_ms=INTERVAL_MS // 2)
    world.compute("W1", 0, {"W1": "AC0"})
    world.beat("W1", 0)
    world.join("W2", connection=2)
    assert world.chosen() == "W1"
    world.pass_ms(INTERVAL_MS)
    assert world.beat("W1", 1).error is ErrorCode.COMPUTE_ASSIGNMENT
    world.pass_ms(INTERVAL_MS // 2)
    assert world.chosen() == "W2", "it was told, and has not installed within its rebalance timeout"


def evict(member: str) -> World:
    """A static worker that did not let go in time."""
    world = World()
    world.join(member, instance_id="i")
    world.compute(member, 0, {member: "AC0 AT1"})
    world.beat(member, 0)
    world.join("W2", connection=2)
    world.beat(member, 1)
    world.compute(member, 1, {member: "AC0", "W2": "AT1"})
    world.beat(member, 1)
    for _ in range(REBALANCE_MS // INTERVAL_MS):
        world.pass_ms(INTERVAL_MS)
        world.beat("W2", 0, connection=2)
        world.beat(member, 1, "AC0 AT1")
    assert world.member(member).evicted
    return world


def test_a_static_worker_that_was_put_out_takes_no_part_while_it_is_away_and_takes_part_when_it_is_back() -> None:
    """CG-7, CG-13, CG-28"""
    world = evict("W1")
    epoch = world.group.epoch
    assert world.beat("W1", -2, instance_id="i").error is ErrorCode.NONE
    assert world.member("W1").evicted
    assert world.group.epoch == epoch
    assert world.join("W1b", connection=3, instance_id="i").error in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT)
    assert (world.group.epoch, world.group.reason) == (epoch + 1, "worker joined: W1b")


def test_what_was_given_back_and_is_withdrawn_once_more_is_due_once_more() -> None:
    """CG-7: a revocation that hangs must not stop the group for ever."""
    world = World()
    world.join("W1")
    world.compute("W1", 0, {"W1": "AC0 AT1"})
    world.beat("W1", 0)
    world.join("W2", connection=2)
    world.beat("W1", 1, "AC0 AT1")
    world.compute("W1", 1, {"W1": "AC0", "W2": "AT1"})
    world.beat("W1", 1, "AC0 AT1")
    for _ in range(REBALANCE_MS // INTERVAL_MS - 1):
        world.pass_ms(INTERVAL_MS)
        world.beat("W1", 1, "AC0 AT1")
        world.beat("W2", 0, connection=2)
    for targets in ({"W1": "AC0 AT1", "W2": ""}, {"W1": "AC0", "W2": "AT1"}):
        world.beat("W2", 0, connection=2, client_assignors=[assignor(data=bytes(len(targets["W1"])))])
        world.compute("W1", 1, targets)
        world.pass_ms(INTERVAL_MS)
    for _ in range(REBALANCE_MS // INTERVAL_MS + 1):
        if world.member("W1").evicted:
            return
        world.beat("W1", 1, "AC0 AT1")
        world.beat("W2", 0, connection=2)
        world.pass_ms(INTERVAL_MS)
    raise AssertionError("it was never put out")


def test_after_a_load_within_the_process_a_member_must_come_by_a_newer_connection() -> None:
    """CG-4: a late join on an elder connection would release what the worker runs."""
    world = World()
    world.join("W1", connection=1)
    world.compute("W1", 0, {"W1": "AC0"})
    world.beat("W1", 0, "", connection=2)
    predecessor = world.shard
    world.restart()
    world.shard.state.predecessor_connection = predecessor.state.newest_connection
    for connection in (1, 2):
        assert world.beat("W1", 0, "", connection, rebalance_timeout_ms=1_000).error is ErrorCode.NOT_COORDINATOR
    assert world.prepare("W1", 1, connection=2).error_code == ErrorCode.NOT_COORDINATOR
    assert world.currents() == {"W1": (1, "AC0")}
    assert world.beat("W1", 1, "AC0", connection=3).brief == (1, "AC0")
