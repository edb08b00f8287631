"""Which epoch is a member at, what moves the group's, and what if an answer is lost? (CG-10 to CG-14)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, SESSION_MS, World, assignor, packed, text

FENCED = ErrorCode.FENCED_MEMBER_EPOCH
COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT

# -- CG-10 and CG-11 --------------------------------------------------------------------------------------------------


def test_a_member_first_lets_go_then_grows_and_moves_with_the_last() -> None:
    """CG-10"""
    world = World.settled({"W1": "AC0 AT1", "W2": "BC0 BT1 CC0"})
    world.beat("W1", 2, server_assignor=None, client_assignors=[assignor(data=b"new")])
    world.compute("W1", 2, {"W1": "AT1 BC0 CC0", "W2": "BT1 AC0"})
    assert world.beat("W1", 2).brief == (2, "AT1"), "it lets go first, and gets nothing new"
    assert world.beat("W2", 2, connection=2).brief == (2, "BT1")
    assert world.beat("W2", 2, "BT1 BC0", connection=2).brief == (2, "BT1"), "it has something to let go yet"
    assert world.beat("W1", 2, "AT1").brief == (2, "AT1 CC0"), "what is free of its target, at its old epoch"
    assert world.beat("W2", 2, "BT1", connection=2).brief == (3, "AC0 BT1")
    assert world.beat("W1", 2, "AT1 CC0").brief == (3, "AT1 BC0 CC0")


def test_growth_is_told_in_one_answer() -> None:
    """CG-10: everything that became free since the last answer."""
    world = World.settled({"W1": "AC0 AT1 AT2"})
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "", "W2": "AC0 AT1 AT2"})
    world.beat("W1", 1)
    world.beat("W1", 1, "AC0 AT1")
    world.beat("W1", 1, "AC0")
    assert world.beat("W2", 0, connection=2).brief == (0, "AT1 AT2")


def test_without_a_change_of_its_own_a_member_moves_without_a_record() -> None:
    """CG-11"""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.join("W3", connection=3)
    world.beat("W1", 2)
    world.compute("W1", 2, {"W1": "AC0", "W2": "BC0"})
    records = len(world.log)
    assert world.beat("W1", 2).brief == (3, "AC0")
    assert world.beat("W2", 2, connection=2).brief == (3, "BC0")
    history = [key for key, _ in world.log[records:] if key.startswith(b"\x00\x0a")]
    assert len(world.log) == records + len(history)
    assert world.member("W1").recorded_epoch < 3


@pytest.mark.parametrize(("epoch", "error"), [(1, FENCED), (2, 0), (3, 0), (4, 0), (5, FENCED)])
def test_after_a_load_any_epoch_that_it_may_have_been_told_is_good(epoch: int, error: int) -> None:
    """CG-11: from the recorded one to the assignment epoch, where it owns no more than it may."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    for group_epoch in (2, 3):
        world.beat("W1", group_epoch, client_assignors=[assignor(data=bytes([group_epoch]))])
        world.compute("W1", group_epoch, {"W1": "AC0", "W2": "BC0"})
        world.beat("W1", group_epoch)
    assert (world.member("W2").recorded_epoch, world.group.assignment_epoch) == (2, 4)
    world.restart()
    with world.nothing_changes():
        assert world.beat("W2", epoch, "AC0 BC0", connection=2).error is FENCED
    told = world.beat("W2", epoch, "BC0", connection=2)
    assert told.error == error
    if not error:
        assert told.brief == (4, "BC0")
        if epoch < 4:
            assert world.beat("W2", epoch, connection=2).error is FENCED, "now it is known where it is"


# -- CG-12 ------------------------------------------------------------------------------------------------------------


def lost() -> World:
    """The answer is lost that told W2 epoch 3 and granted it BC0; it may let go of BT1 meanwhile."""
    world = World.settled({"W1": "AC0 BC0", "W2": "BT1"})
    world.beat("W1", 2, client_assignors=[assignor(data=b"new")])
    world.compute("W1", 2, {"W1": "AC0", "W2": "BC0 BT1"})
    world.beat("W1", 2)
    world.beat("W1", 2, "AC0")
    assert world.beat("W2", 2, connection=2).brief == (3, "BC0 BT1")
    return world


@pytest.mark.parametrize("connection", [2, 7])
@pytest.mark.parametrize("loaded", [False, True])
def test_a_lost_answer_is_given_again(connection: int, loaded: bool) -> None:
    """CG-11, CG-12: to the previous epoch with what is owned, twice if need be."""
    world = lost()
    if loaded:
        world.restart()
    before = len(world.log)
    for _ in range(2):
        assert world.beat("W2", 2, "BT1", connection=connection).brief == (3, "BC0 BT1")
        assert world.member("W2").epoch == 3
    assert text(world.member("W2").current) == "BC0 BT1"
    assert len(world.log) == before
    assert world.beat("W2", 3, "BC0 BT1", connection=connection).epoch == 3


def test_a_lost_answer_of_which_there_is_no_record_is_given_again() -> None:
    """CG-11, CG-12"""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.beat("W1", 2, client_assignors=[assignor(data=b"new")])
    world.compute("W1", 2, {"W1": "AC0", "W2": "BC0"})
    assert world.beat("W2", 2, connection=2).brief == (3, "BC0")
    assert world.beat("W2", 2, "BC0", connection=7).brief == (3, "BC0")
    with world.nothing_changes():
        assert world.beat("W2", 2, connection=7).error is FENCED


def test_a_repeat_releases_and_advances_nothing() -> None:
    """CG-12"""
    world = lost()
    world.beat("W1", 3, client_assignors=[assignor(data=b"newer")])
    world.compute("W1", 3, {"W1": "AC0 BC0", "W2": "BT1"})
    for _ in range(3):
        assert world.beat("W2", 2, "BT1", connection=2).brief == (3, "BT1")
        assert text(world.member("W2").current) == "BC0 BT1"
    assert world.beat("W2", 3, "BT1", connection=2).brief == (4, "BT1")


@pytest.mark.parametrize(("epoch", "owned"), [(2, None), (2, "AC0"), (1, "BT1"), (0, "BT1"), (0, None)])
def test_not_every_old_epoch_is_a_previous_one(epoch: int, owned: str | None) -> None:
    """CG-12: owned must be given, and be its own; epoch 0 is never a previous epoch."""
    world = lost()
    with world.nothing_changes():
        assert world.beat("W2", epoch, owned, connection=2).error is FENCED


def test_who_missed_its_first_assignment_joins_again() -> None:
    """CG-6, CG-12: for epoch 0 the former holds."""
    world = World()
    world.join("W1")
    world.compute("W1", 0, {"W1": "AC0"})
    assert world.beat("W1", 0).brief == (1, "AC0")
    with world.nothing_changes():
        assert world.beat("W1", 0, rebalance_timeout_ms=REBALANCE_MS).error is FENCED
    assert world.join("W1").brief == (1, "AC0")
    assert world.group.epoch == 1


# -- CG-13 ------------------------------------------------------------------------------------------------------------

TARGETS = {"W1": "AC0", "W2": "BC0"}
Act = Callable[[World], object]


def joins(world: World) -> object:
    return world.join("W3", connection=3)


def leaves(world: World) -> object:
    return world.beat("W2", -1, connection=2)


def session_ends(world: World) -> object:
    world.live(SESSION_MS, "W1")
    return None


def keeps_too_long(world: World) -> object:
    world.beat("W1", 2, client_assignors=[assignor(data=b"x")])
    world.compute("W1", 2, {"W1": "AC0 BC0"})
    world.beat("W1", 2)
    world.beat("W2", 2, connection=2)
    world.live(REBALANCE_MS - INTERVAL_MS, "W1", W2="BC0")
    world.pass_ms(INTERVAL_MS)
    return None


def fails_and_waits(world: World) -> object:
    world.beat("W1", 2, client_assignors=[assignor(reason=1)])
    for connection, member in enumerate(TARGETS, 1):
        world.beat(member, 2, connection=connection)
        world.prepare(member, 2, connection)
        world.install(member, 2, 3, {}, error=1, connection=connection)
    assert world.group.error
    world.pass_ms(1_000)
    return None


def delay_over(world: World) -> object:
    world.beat("W1", 2, client_assignors=[assignor(reason=1)])
    world.compute("W1", 2, TARGETS, delay_ms=1_000)
    world.pass_ms(1_000)
    return None


def tells(member: str = "W1", epoch: int = 2, **fields: Any) -> Act:
    return lambda world: world.beat(member, epoch, connection=int(member[1]), **fields)


LISTED = packed("AC0 BC0 CC0")

BUMPS: list[tuple[Act, list[str]]] = [
    (joins, ["worker joined: W3"]),
    (leaves, ["worker left: W2"]),
    (session_ends, ["session expired: W2"]),
    (keeps_too_long, ["assignors changed: W1", "rebalance timeout: W2"]),
    (fails_and_waits, ["assignor asked: W1", "assignment tried again"]),
    (delay_over, ["assignor asked: W1", "rebalance delay over"]),
    (tells(client_assignors=[assignor(), assignor("eager")]), ["assignors changed: W1"]),
    (tells(client_assignors=[assignor(high=2, version=1)]), ["assignors changed: W1"]),
    (tells(client_assignors=[assignor(version=0)]), ["assignors changed: W1"]),
    (tells(client_assignors=[assignor(data=b"x")]), ["assignors changed: W1"]),
    (tells(client_assignors=[assignor(reason=3)]), ["assignor asked: W1"]),
    (tells(client_assignors=[], server_assignor="uniform"), ["assignors changed: W1"]),
    (tells(config_offset=5, configured_connectors_and_tasks=LISTED), ["connectors or tasks changed"]),
]


@pytest.mark.parametrize(("act", "reasons"), BUMPS)
def test_what_bumps_the_group_epoch(act: Act, reasons: list[str]) -> None:
    """CG-13: each bump with its reason and its time."""
    world = World.settled(TARGETS)
    act(world)
    entries = [world.group.history[epoch] for epoch in sorted(world.group.history) if epoch > 2]
    assert [entry.reason for entry in entries] == reasons
    assert world.group.epoch == 2 + len(reasons)
    assert (world.group.reason, world.group.reason_wall_ms) == (reasons[-1], entries[-1].timestamp)
    assert entries[-1].timestamp == world.wall_ms


def same_reason_again(world: World) -> object:
    world.beat("W1", 2, client_assignors=[assignor(reason=3)])
    world.compute("W1", 2, TARGETS)
    return world.beat("W1", 2, client_assignors=[assignor(reason=3)])


def installs(world: World) -> object:
    world.beat("W1", 2, client_assignors=[assignor(reason=3)])
    return world.compute("W1", 2, {"W1": "AC0 BC0"})


def reason_ends(world: World) -> object:
    world.beat("W1", 2, client_assignors=[assignor(reason=3)])
    world.compute("W1", 2, TARGETS)
    return world.beat("W1", 2, client_assignors=[assignor(reason=0)])


NO_BUMPS: list[tuple[Act, int]] = [
    (tells(rebalance_timeout_ms=5_000), 2),
    (tells(url="http://other"), 2),
    (tells(client_assignors=[assignor()]), 2),
    (tells(client_assignors=[assignor()], rebalance_timeout_ms=REBALANCE_MS), 2),
    (tells(config_offset=5, configured_connectors_and_tasks=packed("AC0 BC0")), 2),
    (lambda world: world.join("W2", connection=2), 2),
    (lambda world: world.configure(session_timeout_ms="5000", assignors="cooperative"), 2),
    (installs, 3),
    (same_reason_again, 3),
    (reason_ends, 3),
    (lambda world: world.restart(), 2),
]


@pytest.mark.parametrize(("act", "epoch"), NO_BUMPS)
def test_what_does_not_bump_the_group_epoch(act: Act, epoch: int) -> None:
    """CG-13: timeouts, an install, a heartbeat or a join that repeats what is known, a load."""
    world = World.settled(TARGETS)
    act(world)
    assert world.group.epoch == epoch


def test_the_offset_alone_does_not_bump() -> None:
    """CG-13, CG-21"""
    world = World.settled(TARGETS)
    world.beat("W1", 2, config_offset=1, configured_connectors_and_tasks=LISTED)
    world.compute("W1", 2, {"W1": "AC0 CC0", "W2": "BC0"})
    world.beat("W1", 2, config_offset=2, configured_connectors_and_tasks=LISTED)
    assert world.group.epoch == 3
    assert world.group.configured is not None
    assert world.group.configured.offset == 2


def test_a_different_reason_bumps_again() -> None:
    """CG-13: 3, nothing, 3 is two requests; the order of the list counts too."""
    world = World.settled(TARGETS)
    for at, reason in enumerate((3, 0, 3, 4), 1):
        world.beat("W1", world.member("W1").epoch, client_assignors=[assignor(reason=reason)])
        assert world.group.epoch == 2 + at - (at > 1)
    world.beat("W1", 2, client_assignors=[assignor(), assignor("eager")])
    epoch = world.group.epoch
    world.beat("W1", 2, client_assignors=[assignor("eager"), assignor()])
    assert world.group.epoch == epoch + 1


def test_one_step_bumps_once() -> None:
    """CG-13: a join that brings a configured set, and several sessions that end together."""
    world = World.settled({"W1": "AC0", "W2": "BC0", "W3": "CC0"})
    world.join("W4", connection=4, config_offset=1, configured_connectors_and_tasks=packed("DC0"))
    assert world.group.epoch == 4
    world.pass_ms(SESSION_MS)
    assert world.group.epoch == 5
    assert world.group.reason == "session expired: W1, W2, W3 and 1 more"


# -- CG-14 ------------------------------------------------------------------------------------------------------------


def test_after_a_load_an_unfinished_assignment_is_computed_anew() -> None:
    """CG-14, CG-18: the frozen input dies with the shard."""
    world = World.settled(TARGETS)
    world.join("W3", connection=3)
    world.beat("W1", 2)
    prepared = world.prepare("W1", 2)
    world.restart()
    assert world.chosen() == "W1"
    assert world.beat("W1", 2, "AC0").error is COMPUTE
    assert world.install("W1", 2, prepared.group_epoch, TARGETS) is ErrorCode.INVALID_ASSIGNMENT
    assert world.chosen() == "W1", "it may be of before the load, so it is not held against it"
    world.compute("W1", 2, TARGETS)
    assert world.beat("W1", 2).brief == (3, "AC0")


def test_a_load_changes_no_epoch() -> None:
    """CG-13, CG-14, CG-22: also where a delay was over before, or an assignment had failed for good."""
    world = World.settled(TARGETS)
    world.beat("W1", 2, client_assignors=[assignor(reason=1)])
    world.compute("W1", 2, TARGETS, delay_ms=1_000)
    world.pass_ms(1_000)
    assert world.group.epoch == 4
    for _ in range(3):
        world.restart()
        assert world.prepare("W1", 2).error_code == FENCED
        world.beat("W1", 3, "AC0")
        assert world.prepare("W1", 3).remaining_delay_ms == 0
        world.pass_ms(INTERVAL_MS)
        assert world.group.epoch == 4

    world = World()
    world.join("W1", server_assignor="uniform")
    assert world.group.error
    for _ in range(3):
        world.restart()
        world.beat("W1", 0)
        world.pass_ms(INTERVAL_MS)
    assert world.group.epoch == 1
