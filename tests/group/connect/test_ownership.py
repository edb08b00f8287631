"""Does a resource ever have two owners? What a worker may be running shrinks only by proof (CG-1 to CG-9).

In most stories W1 owns AC0 and AT1 and must let go of AT1, which W2's target names.
"""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, SESSION_MS, World, text

FENCED = ErrorCode.FENCED_MEMBER_EPOCH


def handing_over(told: bool = True) -> World:
    """W1 must let go of AT1 for W2; `told`: it has been told so."""
    world = World.settled({"W1": "AC0 AT1"})
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "AC0", "W2": "AT1"})
    if told:
        assert world.beat("W1", 1).brief == (1, "AC0")
    return world


def owns(world: World, member: str) -> str:
    return text(world.member(member).current)


# -- CG-1 and CG-2 ----------------------------------------------------------------------------------------------------


def test_what_was_granted_is_reserved_until_it_is_released() -> None:
    """CG-1, CG-2: a grant counts from before its answer leaves; nobody else gets it meanwhile."""
    world = handing_over()
    assert owns(world, "W1") == "AC0 AT1"
    for _ in range(3):
        assert world.beat("W2", 0, connection=2).brief == (0, "")
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0")
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")


def test_what_must_be_given_up_is_derived() -> None:
    """CG-1: a newer target that gives back what was withdrawn needs no release."""
    world = handing_over()
    world.beat("W2", -1, connection=2)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "AC0 AT1"})
    assert world.beat("W1", 1).brief == (3, "AC0 AT1")
    assert owns(world, "W1") == "AC0 AT1"


def test_a_report_does_not_grow_what_it_may_run() -> None:
    """CG-1, CG-6: whoever owns what it was not granted is fenced, and nothing changes."""
    world = World.settled({"W1": "AC0"})
    with world.nothing_changes():
        assert world.beat("W1", 1, "AC0 BC0").error is FENCED


# -- CG-3 -------------------------------------------------------------------------------------------------------------


def test_a_list_without_it_before_it_was_withdrawn_is_no_release() -> None:
    """CG-3"""
    world = handing_over(told=False)
    assert world.beat("W1", 1, "AC0").brief == (1, "AC0")
    assert owns(world, "W1") == "AC0 AT1", "the request was written before W1 was told"
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0")
    assert owns(world, "W1") == "AC0"


def test_a_list_that_was_under_way_while_it_was_withdrawn_is_no_release() -> None:
    """CG-3: read before the withdrawing answer had been sent."""
    world = handing_over()
    assert world.beat("W1", 1, "AC0", pipelined=True).brief == (1, "AC0")
    assert owns(world, "W1") == "AC0 AT1"
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0")


def test_a_list_by_another_connection_than_the_withdrawing_answer_is_no_release() -> None:
    """CG-3: nobody knows whether the answer arrived that the older connection carried."""
    world = handing_over()
    assert world.beat("W1", 1, "AC0", connection=3).brief == (1, "AC0")
    assert owns(world, "W1") == "AC0 AT1"
    assert world.beat("W1", 1, "AC0", connection=3).brief == (2, "AC0")
    assert owns(world, "W1") == "AC0"


def test_a_list_with_it_is_no_release_and_without_a_list_the_last_one_holds() -> None:
    """CG-3"""
    world = handing_over()
    for owned in ("AC0 AT1", None, None):
        assert world.beat("W1", 1, owned).brief == (1, "AC0")
        assert owns(world, "W1") == "AC0 AT1"
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0")


def test_leaving_the_list_out_says_what_the_last_list_said() -> None:
    """CG-3: the list was of before the answer, but "unchanged" is of after it."""
    world = handing_over(told=False)
    world.beat("W1", 1, "AC0")
    assert world.beat("W1", 1).brief == (2, "AC0")
    assert owns(world, "W1") == "AC0"


def test_a_list_of_before_a_grant_counts_for_nothing() -> None:
    """CG-3: a delayed heartbeat of before a grant looks like a release of what was granted."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    assert world.beat("W1", 2, "AC0").epoch == 2
    world.beat("W2", -1, connection=2)
    world.beat("W1", 2)
    world.compute("W1", 2, {"W1": "AC0 BC0"})
    assert world.beat("W1", 2).brief == (3, "AC0 BC0")
    world.join("W2", connection=2)
    world.beat("W1", 3)
    world.compute("W1", 3, {"W1": "AC0", "W2": "BC0"})
    assert world.beat("W1", 3).brief == (3, "AC0")
    assert world.beat("W1", 3).brief == (3, "AC0"), "the last list was AC0, but of before the grant"
    assert owns(world, "W1") == "AC0 BC0"


def test_a_release_may_be_partial() -> None:
    """CG-3, CG-10: each released resource is free at once, and goes to who waits for it."""
    world = World.settled({"W1": "AC0 AT1 AT2"})
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "AC0", "W2": "AT1 AT2"})
    assert world.beat("W1", 1).brief == (1, "AC0")
    assert world.beat("W1", 1, "AC0 AT2").brief == (1, "AC0")
    assert world.beat("W2", 0, connection=2).brief == (0, "AT1")
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0")
    assert world.beat("W2", 0, "AT1", connection=2).brief == (2, "AT1 AT2")


# -- CG-4 and CG-5 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epoch", [0, 1, -1])
def test_an_older_connection_is_fenced(epoch: int) -> None:
    """CG-4: a heartbeat, a join or a leave of an older connection changes nothing."""
    world = World.settled({"W1": "AC0 AT1"})
    world.beat("W1", 1, connection=5)
    with world.nothing_changes():
        if epoch:
            assert world.beat("W1", epoch, "AC0", connection=4).error is FENCED
        else:
            assert world.join("W1", connection=4).error is FENCED
    assert world.beat("W1", 1, connection=5).error is ErrorCode.NONE


def test_prepare_and_install_by_an_older_connection_are_fenced() -> None:
    """CG-4, CG-19"""
    world = World()
    world.join("W1", connection=1)
    world.beat("W1", 0, connection=2)
    with world.nothing_changes():
        assert world.prepare("W1", 0, connection=1).error_code == FENCED
        assert world.install("W1", 0, 1, {"W1": "AC0"}, connection=1) is FENCED


@pytest.mark.parametrize("epoch", [2, 7, 0])
def test_a_wrong_epoch_fences_and_does_not_remove(epoch: int) -> None:
    """CG-5: a stray frame must not evict a healthy worker."""
    world = World.settled({"W1": "AC0"})
    with world.nothing_changes():
        assert world.beat("W1", epoch, "AC0").error is FENCED
        assert world.beat("W1", epoch).error is FENCED
    assert world.beat("W1", 1).error is ErrorCode.NONE


# -- CG-6 -------------------------------------------------------------------------------------------------------------


def test_a_member_that_joins_again_has_let_go_and_gets_its_target_again() -> None:
    """CG-6: no bump when it brings what it brought before."""
    world = handing_over()
    assert world.join("W1", connection=3).brief == (2, "AC0")
    assert world.group.epoch == 2
    assert owns(world, "W1") == "AC0"
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")


def test_what_a_member_lets_go_by_joining_is_free_for_who_waits() -> None:
    """CG-6, CG-26: the step that frees it also answers who waits for it."""
    world = handing_over()
    waiting = world.send_beat("W2", 0, connection=2, max_wait_ms=900)
    waiting = world.send_beat("W2", 0, connection=2, max_wait_ms=900)
    assert waiting not in world.answers
    world.join("W1", connection=3)
    assert world.told(waiting).brief == (2, "AT1")


def test_a_join_behind_an_unanswered_request_does_not_release_what_that_may_have_granted() -> None:
    """CG-1, CG-3, CG-6: it was written before the last answer was there."""
    world = World.settled({"W1": "AC0"})
    with world.nothing_changes():
        request = world.send_beat(
            "W1", 0, "", pipelined=True, client_assignors=[], server_assignor="uniform", rebalance_timeout_ms=1_000
        )
        assert world.told(request).error is FENCED
    assert world.join("W1").brief == (1, "AC0")


TIMEOUT = {"rebalance_timeout_ms": REBALANCE_MS}


def growing() -> World:
    """W2 is at epoch 0 and owns BC0 of its target AT1 BC0."""
    world = World.settled({"W1": "AC0 AT1"})
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "AC0", "W2": "AT1 BC0"})
    assert world.beat("W2", 0, connection=2).brief == (0, "BC0")
    return world


@pytest.mark.parametrize(
    ("owned", "fields", "error", "after"),
    [
        (None, {}, ErrorCode.NONE, "BC0"),
        ("", {}, ErrorCode.NONE, "BC0"),
        ("BC0", {}, ErrorCode.NONE, "BC0"),
        ("BC0", TIMEOUT, ErrorCode.NONE, "BC0"),
        (None, TIMEOUT, ErrorCode.NONE, "BC0"),
        ("AT1", {}, FENCED, "BC0"),
        ("AT1 BC0", TIMEOUT, FENCED, "BC0"),
    ],
)
def test_epoch_0_of_a_member_that_is_at_0(
    owned: str | None, fields: dict[str, Any], error: ErrorCode, after: str
) -> None:
    """CG-6: an ordinary heartbeat with fields left out, or with no more than it may own."""
    world = growing()
    assert world.beat("W2", 0, owned, connection=2, **fields).error is error
    assert owns(world, "W2") == after
    assert world.member("W2").epoch == 0


@pytest.mark.parametrize(
    ("owned", "fields", "error"),
    [
        ("AC0", TIMEOUT, ErrorCode.INVALID_REQUEST),
        ("AC0", {}, ErrorCode.INVALID_REQUEST),
        (None, {}, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", {}, ErrorCode.UNKNOWN_MEMBER_ID),
        (None, TIMEOUT, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", TIMEOUT, ErrorCode.NONE),
    ],
)
@pytest.mark.parametrize("exists", [False, True])
def test_epoch_0_of_an_unknown_member(
    exists: bool, owned: str | None, fields: dict[str, Any], error: ErrorCode
) -> None:
    """CG-6"""
    world = World.settled({"W1": "AC0"}) if exists else World()
    if not error:
        assert world.beat("W9", 0, owned, connection=9, **fields).error in (error, ErrorCode.COMPUTE_ASSIGNMENT)
        return
    with world.nothing_changes():
        assert world.beat("W9", 0, owned, connection=9, **fields).error is error


# -- CG-7 -------------------------------------------------------------------------------------------------------------


def overdue() -> World:
    """W1 has kept AT1 for its whole rebalance timeout."""
    world = handing_over()
    world.live(REBALANCE_MS - INTERVAL_MS, "W2", W1="AC0 AT1")
    assert not world.member("W1").evicted
    world.pass_ms(INTERVAL_MS)
    assert world.member("W1").evicted
    return world


def test_who_does_not_let_go_in_time_is_out_and_what_it_runs_stays_reserved() -> None:
    """CG-7"""
    world = overdue()
    assert world.group.reason == "rebalance timeout: W1"
    with world.nothing_changes():
        assert world.beat("W1", 1, "AC0").error is FENCED
    assert world.chosen() == "W2"
    world.beat("W2", 0, connection=2)
    prepared = world.compute("W2", 0, {"W2": "AC0 AT1"}, connection=2)
    assert [each.member_id for each in prepared.members] == ["W2"]
    assert [each.member_id for each in prepared.departed] == ["W1"], "its target waits, as that of a departed one"
    assert world.beat("W2", 0, connection=2).brief == (0, ""), "W1 may be running all of it"


def test_who_was_put_out_frees_all_when_it_joins_again() -> None:
    """CG-7, CG-13"""
    world = overdue()
    epoch = world.group.epoch
    assert world.join("W1", connection=3).brief == (2, "AC0")
    assert (world.group.epoch, world.group.reason) == (epoch + 1, "worker joined: W1")
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")


def test_who_was_put_out_frees_all_when_its_session_ends() -> None:
    """CG-7, CG-8: its heartbeats are refused, so they do not prolong its session."""
    world = overdue()
    for _ in range(SESSION_MS // INTERVAL_MS):
        world.pass_ms(INTERVAL_MS)
        world.beat("W2", 0, connection=2)
        world.beat("W1", 1, "AC0 AT1")
    assert list(world.group.members) == ["W2"]
    assert owns(world, "W2") == "AT1"


def test_a_load_keeps_who_was_put_out_and_arms_the_others_anew() -> None:
    """CG-7"""
    world = overdue()
    world.restart()
    assert world.member("W1").evicted
    assert owns(world, "W1") == "AC0 AT1"
    assert world.beat("W1", 1, "AC0", connection=9).error is FENCED

    world = handing_over()
    world.live(REBALANCE_MS - INTERVAL_MS, "W2", W1="AC0 AT1")
    world.restart()
    for member in ("W1", "W2"):
        world.beat(member, 1 if member == "W1" else 0, connection=10)
    world.live(REBALANCE_MS - INTERVAL_MS, "W2", W1="AC0 AT1")
    assert not world.member("W1").evicted
    world.pass_ms(INTERVAL_MS)
    assert world.member("W1").evicted


def test_the_timeout_runs_from_the_withdrawing_answer() -> None:
    """CG-7: not from the install."""
    world = handing_over(told=False)
    world.pass_ms(SESSION_MS - 1)
    world.beat("W2", 0, connection=2)
    world.beat("W1", 1)
    world.live(REBALANCE_MS - INTERVAL_MS, "W2", W1="AC0 AT1")
    assert not world.member("W1").evicted
    world.pass_ms(INTERVAL_MS)
    assert world.member("W1").evicted


def test_what_a_newer_target_gives_back_need_not_be_let_go() -> None:
    """CG-1, CG-7: also when the worker has not heard of it yet."""
    world = handing_over()
    world.live(REBALANCE_MS - INTERVAL_MS, "W2", W1="AC0 AT1")
    world.beat("W2", -1, connection=2)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "AC0 AT1"})
    world.pass_ms(INTERVAL_MS)
    assert not world.member("W1").evicted
    assert world.beat("W1", 1).brief == (3, "AC0 AT1")


def test_what_was_put_out_is_not_lost_where_nobody_says_what_exists() -> None:
    """CG-7, CG-21: nobody but W1's target knows of BC0."""
    world = handing_over(told=False)
    world.beat("W1", 1)
    world.join("W3", connection=3)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "BC0", "W2": "AT1", "W3": "AC0"})
    world.beat("W1", 1)
    world.live(REBALANCE_MS - INTERVAL_MS, "W2", "W3", W1="AC0 AT1")
    world.pass_ms(INTERVAL_MS)
    assert world.member("W1").evicted
    assert [text(each) for each in (world.group.departed()[0][1].resources,)] == ["BC0"]


# -- CG-8 and CG-9 ----------------------------------------------------------------------------------------------------


def test_a_session_ends_and_all_is_free() -> None:
    """CG-8"""
    world = handing_over()
    world.pass_ms(SESSION_MS - 1)
    assert world.beat("W2", 0, connection=2).brief == (0, "")
    world.pass_ms(1)
    assert list(world.group.members) == ["W2"]
    assert world.group.reason == "session expired: W1"
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")


def test_every_answer_tells_the_session_timeout() -> None:
    """CG-8"""
    world = World()
    assert world.join("W1").response.session_timeout_ms == SESSION_MS
    assert world.beat("W1", 0).response.session_timeout_ms == SESSION_MS


def test_a_lower_timeout_does_not_bind_before_the_longer_session_has_ended() -> None:
    """CG-8: the answer that told it may be lost, and a request that is read later may have been
    written before it arrived.
    """
    elsewhere: dict[str, Any]
    for elsewhere in ({}, {"connection": 2}, {"pipelined": True}):
        world = World.settled({"W1": "AC0"})
        world.configure(session_timeout_ms="5000")
        assert world.beat("W1", 1).response.session_timeout_ms == 5_000
        world.beat("W1", 1, **elsewhere)
        world.pass_ms(SESSION_MS - 1)
        assert "W1" in world.group.members
        world.pass_ms(1)
        assert not world.group.members


def test_a_lower_timeout_binds_when_the_longer_session_must_have_ended() -> None:
    """CG-8"""
    world = World.settled({"W1": "AC0"})
    world.configure(session_timeout_ms="5000")
    for _ in range(3):
        world.beat("W1", 1)
        world.pass_ms(4_000)
    world.beat("W1", 1)
    world.pass_ms(4_999)
    assert "W1" in world.group.members
    world.pass_ms(1)
    assert not world.group.members


def test_a_higher_timeout_binds_at_once_and_outlives_a_load() -> None:
    """CG-8: the record tells the longest that the worker was ever told."""
    world = World.settled({"W1": "AC0"})
    world.configure(session_timeout_ms="20000")
    assert world.beat("W1", 1).response.session_timeout_ms == 20_000
    world.restart()
    world.pass_ms(19_999)
    assert "W1" in world.group.members
    world.pass_ms(1)
    assert not world.group.members


def test_after_a_load_every_session_is_fresh() -> None:
    """CG-8"""
    world = World.settled({"W1": "AC0"})
    world.pass_ms(SESSION_MS - 1)
    world.restart()
    world.pass_ms(SESSION_MS - 1)
    assert "W1" in world.group.members
    world.pass_ms(1)
    assert not world.group.members


def test_leaving_frees_all() -> None:
    """CG-9"""
    world = handing_over()
    told = world.beat("W1", -1)
    assert (told.error, told.epoch) == (ErrorCode.NONE, -1)
    assert list(world.group.members) == ["W2"]
    assert world.group.reason == "worker left: W1"
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")
