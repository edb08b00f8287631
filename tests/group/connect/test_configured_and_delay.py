"""Which resources exist, and whose work waits for whose return? (CG-21, CG-22)"""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.resources import unpack
from tests.group.connect.world import DELAY_MS, INTERVAL_MS, SESSION_MS, SETTINGS, World, assignor, packed, text

COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT
INVALID = ErrorCode.INVALID_ASSIGNMENT

# -- CG-21 ------------------------------------------------------------------------------------------------------------


def configured(world: World) -> tuple[int, str] | None:
    known = world.group.configured
    return None if known is None else (known.offset, text(known.resources))


def says(world: World, offset: int, resources: str | None) -> int:
    """W1 tells what exists; by how much the group epoch moves."""
    before = world.group.epoch
    listed = None if resources is None else packed(resources)
    world.beat("W1", world.member("W1").epoch, config_offset=offset, configured_connectors_and_tasks=listed)
    return world.group.epoch - before


@pytest.mark.parametrize(
    ("said", "known", "bumps"),
    [
        ([(4, "AC0")], (4, "AC0"), [0]),
        ([(4, "AC0 BC0")], (4, "AC0 BC0"), [1]),
        ([(4, "AC0"), (3, "BC0")], (4, "AC0"), [0, 0]),
        ([(4, "AC0"), (4, "BC0")], (4, "AC0"), [0, 0]),
        ([(4, "AC0"), (5, "BC0")], (5, "BC0"), [0, 1]),
        ([(4, "AC0"), (5, "AC0")], (5, "AC0"), [0, 0]),
        ([(4, "AC0"), (5, None)], (4, "AC0"), [0, 0]),
        ([(-1, "BC0")], None, [0]),
        ([(0, "")], (0, ""), [1]),
    ],
)
def test_what_exists(said: list[tuple[int, str]], known: tuple[int, str] | None, bumps: list[int]) -> None:
    """CG-13, CG-21: the highest offset wins, at an equal one the first list; kept over a load."""
    world = World.settled({"W1": "AC0"})
    assert [says(world, offset, resources) for offset, resources in said] == bumps
    assert configured(world) == known
    world.restart()
    assert configured(world) == known


def test_an_empty_group_forgets_what_exists() -> None:
    """CG-21: the next worker may come with an older offset, of another configuration topic."""
    world = World.settled({"W1": "AC0"})
    says(world, 9, "AC0 BC0")
    world.beat("W1", -1)
    assert configured(world) is None
    world.join("W1", config_offset=2, configured_connectors_and_tasks=packed("CC0"))
    assert configured(world) == (2, "CC0")


def test_all_that_exists_must_be_assigned_once() -> None:
    """CG-21: unless a delay says that some waits (CG-22)."""
    world = World()
    world.join("W1", config_offset=1, configured_connectors_and_tasks=packed("AC0 BC0"))
    world.prepare("W1", 0)
    assert world.install("W1", 0, 1, {"W1": "AC0"}, delay_ms=5_000) is ErrorCode.NONE
    assert world.beat("W1", 0).brief == (1, "AC0")


def test_where_nobody_says_what_exists_the_install_defines_it() -> None:
    """CG-21: what it leaves out is deleted, what it adds is new."""
    world = World.settled({"W1": "AC0 BC0"})
    world.beat("W1", 1, client_assignors=[assignor(reason=1)])
    world.compute("W1", 1, {"W1": "AC0 CC0"})
    assert world.beat("W1", 1).brief == (1, "AC0")
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0 CC0")
    assert configured(world) is None


def test_what_was_deleted_does_not_come_back_with_who_departed() -> None:
    """CG-18, CG-22: its waiting target loses it, at an install or at its return."""
    for install in (True, False):
        world = World.settled({"W1": "AC0", "W2": "BC0 CC0"})
        says(world, 1, "AC0 BC0 CC0")
        world.beat("W2", -1, connection=2)
        says(world, 2, "AC0 BC0")
        if install:
            world.compute("W1", 2, {"W1": "AC0"}, delay_ms=DELAY_MS)
            assert world.targets()["W2"] == "BC0"
        assert world.join("W2", connection=3).owned == "BC0"


# -- CG-22: the delay -------------------------------------------------------------------------------------------------


def waiting(delay_ms: int = DELAY_MS, **fields: Any) -> World:
    """W2 has left, its BC0 BT1 waits."""
    world = World.settled({"W1": "AC0", "W2": "BC0 BT1", "W3": "CC0"}, **fields)
    world.beat("W2", -1, connection=2)
    world.beat("W1", 3)
    world.compute("W1", 3, {"W1": "AC0", "W3": "CC0"}, delay_ms=delay_ms)
    world.beat("W1", 3)
    world.beat("W3", 3, connection=3)
    return world


def remaining(world: World) -> int:
    return world.describe().remaining_delay_ms


def test_a_delay_runs_and_bumps_when_it_is_over() -> None:
    """CG-22: 0 is over, -1 is none; a new install replaces it."""
    world = waiting()
    assert remaining(world) == DELAY_MS
    world.live(DELAY_MS - INTERVAL_MS, "W1", "W3")
    assert (remaining(world), world.group.epoch) == (INTERVAL_MS, 4)
    world.pass_ms(INTERVAL_MS)
    assert (remaining(world), world.group.epoch, world.group.reason) == (0, 5, "rebalance delay over")
    world.beat("W1", 4)
    assert world.prepare("W1", 4).remaining_delay_ms == 0
    assert world.install("W1", 4, 5, {"W1": "AC0 BC0", "W3": "CC0 BT1"}) is ErrorCode.NONE
    assert remaining(world) == -1
    assert world.targets() == {"W1": "AC0 BC0", "W3": "BT1 CC0"}


def test_a_delay_is_kept_over_a_load() -> None:
    """CG-22: one that passed meanwhile is over when everybody has had a session to come back."""
    world = waiting()
    world.pass_ms(INTERVAL_MS)
    world.restart(lose_ms=5_000)
    assert remaining(world) == DELAY_MS - INTERVAL_MS - 5_000

    world = waiting()
    world.restart(lose_ms=DELAY_MS + 5_000)
    assert (remaining(world), world.group.epoch) == (SESSION_MS, 4)
    for each, connection in (("W1", 1), ("W3", 3)):
        world.beat(each, 4, connection=connection)
    world.live(SESSION_MS - INTERVAL_MS, "W1", "W3")
    assert world.group.epoch == 4
    world.pass_ms(INTERVAL_MS)
    assert (world.group.epoch, world.group.reason) == (5, "rebalance delay over")


@pytest.mark.parametrize(
    ("stood_ms", "left_ms"), [(5_000, DELAY_MS - 5_000), (DELAY_MS - 1, SESSION_MS), (DELAY_MS + 5_000, SESSION_MS)]
)
def test_a_delay_counts_on_while_nobody_is_answered(stood_ms: int, left_ms: int) -> None:
    """CG-22: but who wanted to come back meanwhile has a session for it."""
    world = waiting()
    world.now_ms += stood_ms
    world.shard.go_on(stood_ms, world.now_ms)
    assert (remaining(world), world.group.epoch) == (left_ms, 4)
    world.live(left_ms - INTERVAL_MS, "W1", "W3")
    assert world.group.epoch == 4
    world.pass_ms(INTERVAL_MS)
    assert (world.group.epoch, world.group.reason) == (5, "rebalance delay over")


def test_every_install_replaces_the_delay() -> None:
    """CG-22: by a shorter, a longer or none; it counts from the freeze."""
    for delay_ms in (1_000, 2 * DELAY_MS, 0):
        world = waiting()
        world.beat("W1", 4, client_assignors=[assignor(reason=1)])
        prepared = world.prepare("W1", 4)
        assert prepared.remaining_delay_ms == DELAY_MS
        world.pass_ms(INTERVAL_MS // 2)
        world.install("W1", 4, prepared.group_epoch, {"W1": "AC0", "W3": "CC0"}, delay_ms)
        assert remaining(world) == (delay_ms - INTERVAL_MS // 2 if delay_ms else -1)
        world.live(DELAY_MS, "W1", "W3")
        assert (world.group.reason == "rebalance delay over") is (delay_ms == 1_000)


def test_a_delay_has_a_cap() -> None:
    """CG-22: by a setting of the server."""
    settings = attrs.evolve(SETTINGS, max_rebalance_delay_ms=7_000)
    world = World(settings)
    world.join("W1")
    world.compute("W1", 0, {}, delay_ms=DELAY_MS)
    assert remaining(world) == 7_000


def test_the_groups_own_delay_is_what_assignors_are_told() -> None:
    """CG-22, CG-23: connect.rebalance.delay.ms"""
    world = World.settled({"W1": "AC0"})
    world.configure(rebalance_delay_ms="1234")
    world.beat("W1", 1, client_assignors=[assignor(reason=1)])
    assert world.prepare("W1", 1).rebalance_delay_ms == 1_234


def test_an_error_leaves_the_delay_as_it_is() -> None:
    """CG-20, CG-22: the target stays, and with it what waits."""
    world = waiting()
    for member, connection in (("W1", 1), ("W3", 3)):
        world.beat(member, 4, connection=connection, client_assignors=[assignor(data=member.encode())])
    for member, connection in (("W1", 1), ("W3", 3)):
        world.beat(member, 4, connection=connection)
        given = world.prepare(member, 4, connection=connection)
        world.install(member, 4, given.group_epoch, {}, error=1, connection=connection)
    assert world.group.error
    assert world.targets()["W2"] == "BC0 BT1"
    assert remaining(world) == DELAY_MS


# -- CG-22: the return ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "returns", "gets"),
    [
        ({}, {"member": "W2"}, "BC0 BT1"),
        ({}, {"member": "W9"}, ""),
        ({"url": "http://w2"}, {"member": "W9", "url": "http://w2"}, "BC0 BT1"),
        ({"url": "http://w2"}, {"member": "W9", "url": "http://w9"}, ""),
        ({"instance_id": "i2"}, {"member": "W9", "instance_id": "i2"}, "BC0 BT1"),
        ({"instance_id": "i2"}, {"member": "W9", "instance_id": "i9"}, ""),
    ],
)
def test_who_returns_gets_its_target_at_once(first: dict[str, str], returns: dict[str, str], gets: str) -> None:
    """CG-22: known by member id, instance id or url."""
    world = World()
    world.join("W1")
    world.join("W2", connection=2, **first)
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "AC0", "W2": "BC0 BT1"})
    world.beat("W1", 0)
    world.beat("W2", 0, connection=2)
    world.beat("W2", -1, connection=2)
    world.beat("W1", 2)
    world.compute("W1", 2, {"W1": "AC0"}, delay_ms=DELAY_MS)
    member = returns.pop("member")
    assert world.join(member, connection=4, **returns).owned == gets
    assert world.group.epoch == 4, "its return asks for a new assignment all the same"


@pytest.mark.parametrize(
    ("member", "instance", "gets"), [("W2", "i", "AC0"), ("W9", "i", "BC0"), ("W9", None, "CC0"), ("W9", "j", "CC0")]
)
def test_member_id_comes_before_instance_id_before_url(member: str, instance: str | None, gets: str) -> None:
    """CG-22: W2, W3 of instance i, and W4 by its url have departed."""
    world = World()
    world.join("W1")
    known: dict[str, dict[str, str]] = {"W2": {}, "W3": {"instance_id": "i"}, "W4": {"url": "http://w"}}
    for at, (each, fields) in enumerate(known.items(), 2):
        world.join(each, connection=at, **fields)
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "", "W2": "AC0", "W3": "BC0", "W4": "CC0"})
    for at in (2, 3, 4):
        world.beat(f"W{at}", -1, connection=at)
    assert world.join(member, connection=5, instance_id=instance, url="http://w").owned == gets


@pytest.mark.parametrize(
    ("predecessor", "back", "gets", "waits"),
    [
        ({"url": "http://w2"}, {"W9": "http://w2"}, {"W9": "BC0 BT1"}, []),
        ({"url": "http://w2"}, {"W9": "http://w9"}, {}, ["W2"]),
        ({}, {"W9": "http://w2"}, {}, ["W2"]),
        ({"url": "http://w2"}, {"W8": "http://w2", "W9": "http://w2"}, {}, ["W2"]),
        ({"url": "http://w2", "instance_id": "i2"}, {"W9": "http://w2"}, {}, ["W2"]),
    ],
    ids=["its url", "another url", "no url", "two of its url", "one with an instance id"],
)
def test_who_is_back_before_its_session_has_ended_loses_nothing(
    predecessor: dict[str, str], back: dict[str, str], gets: dict[str, str], waits: list[str]
) -> None:
    """CG-22: a process that was killed is back at once, its work does not wait for it any more."""
    world = World()
    world.join("W1")
    world.join("W2", connection=2, **predecessor)
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "AC0", "W2": "BC0 BT1"})
    world.beat("W1", 0)
    world.beat("W2", 0, connection=2)
    for connection, (member, url) in enumerate(back.items(), 3):
        world.join(member, connection=connection, url=url)
    world.beat("W1", 2)
    world.compute("W1", 2, {"W1": "AC0", "W2": "BC0 BT1"})
    while "W2" in world.group.members:
        world.live(1_000, W1="AC0", **dict.fromkeys(back, ""))
    world.beat("W1", world.member("W1").epoch)
    given = world.prepare("W1", world.member("W1").epoch)
    targets = {each.member_id: text(unpack(each.connectors_and_tasks)) for each in given.members}
    assert {member: target for member, target in targets.items() if member != "W1" and target} == gets
    assert [each.member_id for each in given.departed] == waits
    whole = {"W1": "AC0", **gets}
    assert world.install("W1", world.member("W1").epoch, given.group_epoch, whole, DELAY_MS if waits else 0) is (
        ErrorCode.NONE
    )
    assert world.targets() == {"W1": "AC0", **dict.fromkeys(back, ""), **gets, **dict.fromkeys(waits, "BC0 BT1")}
    world.restart()
    assert world.targets()["W1"] == "AC0"


def test_before_the_next_install_it_waits_already() -> None:
    """CG-22: a worker that bounces before anything was computed gets its own back."""
    world = World.settled({"W1": "AC0", "W2": "BC0 BT1"})
    world.beat("W2", -1, connection=2)
    assert world.join("W2", connection=3).owned == "BC0 BT1"


def test_what_was_given_to_others_does_not_come_back() -> None:
    """CG-22: the part that no other target names."""
    world = waiting()
    world.beat("W1", 4, client_assignors=[assignor(reason=1)])
    world.compute("W1", 4, {"W1": "AC0 BC0", "W3": "CC0"}, delay_ms=DELAY_MS)
    assert world.targets()["W2"] == "BT1"
    assert world.join("W2", connection=4).owned == "BT1"


def test_who_returns_while_its_work_is_given_away_loses_it_again() -> None:
    """CG-10, CG-18, CG-22: the install is of an input without it; it lets go as anybody does."""
    world = waiting(delay_ms=1_000)
    world.pass_ms(1_000)
    world.beat("W1", 4)
    assert world.prepare("W1", 4).remaining_delay_ms == 0
    assert world.join("W2", connection=4).owned == "BC0 BT1"
    assert world.install("W1", 4, 5, {"W1": "AC0 BC0", "W3": "BT1 CC0"}) is ErrorCode.NONE
    assert world.beat("W1", 4).brief == (4, "AC0")
    epoch = world.member("W2").epoch
    assert world.beat("W2", epoch, connection=4).owned == ""
    world.beat("W2", epoch, "", connection=4)
    assert world.beat("W1", 4).brief == (5, "AC0 BC0")


def test_an_install_without_delay_forgets_who_departed() -> None:
    """CG-22: but not who departed since it was frozen."""
    world = waiting()
    world.beat("W1", 4, client_assignors=[assignor(reason=1)])
    world.prepare("W1", 4)
    world.beat("W3", -1, connection=3)
    world.install("W1", 4, 5, {"W1": "AC0 BC0 BT1", "W3": "CC0"})
    assert [(member, text(target.resources)) for member, target in world.group.departed()] == [("W3", "CC0")]
    given = world.prepare("W1", 4)
    assert [(each.member_id, text(unpack(each.connectors_and_tasks))) for each in given.departed] == [("W3", "CC0")]


def test_who_came_back_and_left_again_meanwhile_is_waited_for() -> None:
    """CG-22: the input knew another one."""
    world = World()
    world.join("W1")
    world.join("W2", connection=2, url="http://w2")
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "AC0", "W2": "BC0"})
    world.beat("W1", 0)
    world.beat("W2", -1, connection=2)
    world.beat("W1", 2)
    world.prepare("W1", 2)
    world.join("W9", connection=3, url="http://w2")
    world.beat("W9", -1, connection=3)
    world.install("W1", 2, 3, {"W1": "AC0"})
    assert world.targets() == {"W1": "AC0", "W9": "BC0"}


def test_a_group_without_members_waits_for_nobody() -> None:
    """CG-21, CG-22: the next worker gets everything at once."""
    world = waiting()
    world.beat("W1", -1)
    world.pass_ms(SESSION_MS)
    assert world.table() == (6, 6, {}, {})
    assert remaining(world) == -1
    assert world.group.configured is None
    told = world.join("W4", connection=5)
    assert told.error is COMPUTE
    assert world.prepare("W4", 0, connection=5).departed == []
    world.pass_ms(DELAY_MS)
    assert "rebalance delay over" not in [entry.reason for entry in world.group.history.values()]


# -- CG-23: the server's own delay ------------------------------------------------------------------------------------


def test_the_servers_cooperative_assignor_delays_by_itself() -> None:
    """CG-22, CG-23"""
    world = World()
    listed = packed("AC0 BC0")
    world.join("W1", server_assignor="cooperative", config_offset=1, configured_connectors_and_tasks=listed)
    world.join("W2", connection=2, server_assignor="cooperative")
    assert world.beat("W1", 1).owned is not None
    one = next(iter(text(world.group.targets["W1"].resources).split()))
    other = "BC0" if one == "AC0" else "AC0"
    world.beat("W1", 1, one)
    assert world.beat("W2", 0, connection=2).brief == (2, other)
    world.beat("W2", -1, connection=2)
    assert remaining(world) == DELAY_MS
    assert world.targets() == {"W1": one, "W2": other}
    assert world.join("W2", connection=3, server_assignor="cooperative").owned == other
    assert remaining(world) == -1
    world.beat("W2", -1, connection=3)
    world.live(DELAY_MS, "W1")
    assert world.targets() == {"W1": "AC0 BC0"}
    assert world.beat("W1", world.member("W1").epoch).epoch == world.group.epoch
