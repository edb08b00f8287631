"""What happens to a worker with an InstanceId that leaves for a while, and comes back under another member id?
(CG-28)
"""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.group.connect.computing import AssignmentError
from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import DELAY_MS, SESSION_MS, World, assignor, text

FENCED_INSTANCE = ErrorCode.FENCED_INSTANCE_ID
UNRELEASED = ErrorCode.UNRELEASED_INSTANCE_ID


def static() -> World:
    """W1 of instance i1 and W2 of instance i2 have converged; W1 computed."""
    world = World()
    world.join("W1", instance_id="i1")
    world.join("W2", connection=2, instance_id="i2")
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "AC0", "W2": "BC0"})
    world.beat("W1", 0)
    world.beat("W2", 0, connection=2)
    return world


def away(member: str = "W2") -> World:
    """It has left and means to come back."""
    world = static()
    told = world.beat(member, -2, connection=int(member[1]), instance_id=f"i{member[1]}")
    assert (told.error, told.epoch) == (ErrorCode.NONE, -2)
    return world


def test_leaving_for_a_while_frees_all_and_bumps_nothing() -> None:
    """CG-28: its target is kept, and nobody else gets its work."""
    world = away()
    assert world.table() == (2, 2, {"W1": "AC0", "W2": "BC0"}, {"W1": (2, "AC0"), "W2": (-2, "")})
    assert world.describe().members[1].state == "Away"
    world.restart()
    assert world.currents()["W2"] == (-2, "")


def test_who_is_away_computes_no_more() -> None:
    """CG-28"""
    world = static()
    world.beat("W1", 2, client_assignors=[assignor(data=b"x")])
    world.prepare("W1", 2)
    world.beat("W1", -2, instance_id="i1")
    assert world.chosen() == "W2"
    world.restart()
    assert world.chosen() == "W2"


@pytest.mark.parametrize("member", ["W1", "W7"])
@pytest.mark.parametrize("loaded", [False, True])
def test_who_alone_can_compute_is_waited_for_while_it_is_away(member: str, loaded: bool) -> None:
    """CG-14, CG-16, CG-28: its return bumps nothing, so what was to be assigned must still be."""
    world = World.settled({"W1": "AC0"}, instance_id="i1")
    world.beat("W1", 1, client_assignors=[assignor(data=b"x")])
    world.beat("W1", -2, instance_id="i1")
    assert (world.chosen(), world.group.error, world.group.assignment_epoch) == (None, 0, 1)
    if loaded:
        world.restart()
    told = world.join(member, connection=5, instance_id="i1", client_assignors=[assignor(data=b"x")])
    assert (told.error, told.brief) == (ErrorCode.COMPUTE_ASSIGNMENT, (1, "AC0"))
    world.compute(member, 1, {member: "AC0 BC0"}, connection=5)
    assert world.beat(member, 1, connection=5).brief == (2, "AC0 BC0")


def test_who_alone_can_compute_and_does_not_come_back_is_given_up_with_its_session() -> None:
    """CG-16, CG-28"""
    world = World()
    world.join("W1", instance_id="i1", client_assignors=[assignor(low=0, high=5)])
    world.join("W2", connection=2)
    world.join("W3", connection=3, client_assignors=[assignor(low=4, high=5)])
    world.beat("W1", -2, instance_id="i1")
    assert (world.chosen(), world.group.error) == (None, 0)
    world.live(SESSION_MS, "W2", "W3")
    assert world.group.error == AssignmentError.NO_WORKER_QUALIFIES


@pytest.mark.parametrize("epoch", [0, 1, 2])
@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_a_heartbeat_of_before_it_went_is_fenced(epoch: int, loaded: bool, again: bool) -> None:
    """CG-5, CG-28: also when it went right after a load, or before one."""
    world = static()
    if loaded:
        world.restart()
    world.beat("W2", -2, connection=2, instance_id="i2")
    if again:
        world.restart()
    with world.nothing_changes():
        assert world.beat("W2", epoch, connection=2).error is ErrorCode.FENCED_MEMBER_EPOCH


@pytest.mark.parametrize("member", ["W2", "W7"])
@pytest.mark.parametrize("loaded", [False, True])
def test_its_return_bumps_nothing(member: str, loaded: bool) -> None:
    """CG-13, CG-28: under its old id, or under another one in one write."""
    world = away()
    if loaded:
        world.restart()
    assert world.join(member, connection=5, instance_id="i2").brief == (2, "BC0")
    assert world.group.epoch == 2
    assert world.targets() == {"W1": "AC0", member: "BC0"}
    assert set(world.group.members) == {"W1", member}
    assert world.beat("W1", 2).error is ErrorCode.NONE


def test_its_return_with_other_metadata_bumps() -> None:
    """CG-13"""
    world = away()
    world.join("W7", connection=5, instance_id="i2", client_assignors=[assignor(data=b"new")])
    assert (world.group.epoch, world.group.reason) == (3, "static worker replaced: W7")


def test_who_computed_computes_again_under_its_new_id() -> None:
    """CG-16, CG-28"""
    world = away("W1")
    world.join("W7", connection=5, instance_id="i1")
    world.beat("W2", 2, connection=2, client_assignors=[assignor(data=b"x")])
    assert world.chosen() == "W7"


def test_an_assignment_for_its_old_id_is_for_its_new_one() -> None:
    """CG-18, CG-28: the input was frozen before it came back."""
    world = static()
    world.beat("W1", 2, client_assignors=[assignor(data=b"x")])
    world.prepare("W1", 2)
    world.beat("W2", -2, connection=2, instance_id="i2")
    world.join("W7", connection=5, instance_id="i2")
    assert world.install("W1", 2, 3, {"W1": "", "W2": "AC0 BC0"}) is ErrorCode.NONE
    assert world.targets() == {"W1": "", "W7": "AC0 BC0"}


def test_who_does_not_come_back_goes_with_its_session() -> None:
    """CG-8, CG-22, CG-28: then what it had waits for the delay."""
    world = away()
    world.live(SESSION_MS, "W1")
    assert set(world.group.members) == {"W1"}
    assert world.group.reason == "session expired: W2"
    world.beat("W1", 2)
    given = world.compute("W1", 2, {"W1": "AC0"}, delay_ms=DELAY_MS)
    assert [(each.member_id, each.instance_id) for each in given.departed] == [("W2", "i2")]
    assert world.join("W7", connection=5, instance_id="i2").owned == "BC0"


@pytest.mark.parametrize("member", ["W7", "W1"])
def test_an_instance_that_is_there_is_not_given_away(member: str) -> None:
    """CG-28: UNRELEASED_INSTANCE_ID to another member id, as long as the old one's session lasts."""
    world = static()
    expected = UNRELEASED if member == "W7" else ErrorCode.INVALID_REQUEST
    with world.nothing_changes():
        assert world.join(member, connection=9, instance_id="i2").error is expected


@pytest.mark.parametrize("loaded", [False, True])
def test_the_replaced_one_is_fenced(loaded: bool) -> None:
    """CG-28: FENCED_INSTANCE_ID for whatever it asks; after a load known by its InstanceId alone."""
    world = away()
    world.join("W7", connection=5, instance_id="i2")
    unknown = FENCED_INSTANCE
    if loaded:
        world.restart()
        unknown = ErrorCode.UNKNOWN_MEMBER_ID
    with world.nothing_changes():
        for fields in ({"instance_id": "i2"}, {"instance_id": "i2", "owned": "BC0"}):
            assert world.beat("W2", 2, connection=6, **fields).error is FENCED_INSTANCE  # type: ignore[arg-type]
        assert world.beat("W2", 2, connection=6).error is unknown
        assert world.beat("W2", -2, connection=6, instance_id="i2").error is FENCED_INSTANCE
        assert world.beat("W2", -1, connection=6, instance_id="i2").error is FENCED_INSTANCE
        joins = world.join("W2", connection=6, instance_id="i2").error
        assert joins is (UNRELEASED if loaded else FENCED_INSTANCE)


def test_nobody_is_fenced_for_ever() -> None:
    """CG-28: the replaced one may take its place again when the successor is away, or gone."""
    for epoch in (-2, -1):
        world = away()
        world.join("W7", connection=5, instance_id="i2")
        world.beat("W7", epoch, connection=5, instance_id="i2")
        assert world.join("W2", connection=6, instance_id="i2").owned == "BC0"
        for _ in range(2):
            assert world.beat("W2", world.member("W2").epoch, connection=6).error is ErrorCode.NONE
        assert world.beat("W2", -1, connection=6).error is ErrorCode.NONE
        assert world.beat("W2", 3, connection=6).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_leaving_for_good_frees_the_instance() -> None:
    """CG-28: -1 removes, also one that is away."""
    world = away()
    assert world.beat("W2", -1, connection=2).error is ErrorCode.NONE
    assert (set(world.group.members), world.group.epoch) == ({"W1"}, 3)
    told = world.join("W7", connection=5, instance_id="i2")
    assert (told.owned, world.group.epoch) == ("BC0", 4)


@pytest.mark.parametrize(
    ("member", "fields"), [("W1", {"instance_id": "i9"}), ("W1", {"instance_id": "i9", "owned": "AC0"})]
)
def test_an_instance_id_does_not_change(member: str, fields: dict[str, Any]) -> None:
    """InstanceId is who the worker is: another one in a heartbeat is INVALID_REQUEST."""
    world = static()
    with world.nothing_changes():
        assert world.beat(member, 2, **fields).error is ErrorCode.INVALID_REQUEST


def test_a_static_worker_that_dies_without_a_word_joins_again_under_its_id() -> None:
    """CG-6, CG-28: it has let go, its target is granted again."""
    world = static()
    assert world.join("W2", connection=5, instance_id="i2").brief == (2, "BC0")
    assert world.group.epoch == 2
    assert text(world.member("W2").current) == "BC0"
