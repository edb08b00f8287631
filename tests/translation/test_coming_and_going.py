"""What are workers told that come, go, come back, or are slow? Request by request, on a shard driven by hand."""

from __future__ import annotations

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import DELAY_MS, SETTINGS, res, text
from tests.translation.translated_world import (
    AGAIN,
    ALL,
    OFFSET,
    OK,
    REBALANCE_MS,
    Synced,
    TranslatedWorld,
    one_gives,
    three,
)

# -- strangers, and those that left without having stopped -------------------------------------------------------------


NINE = {"W1": "AC0 AT0 AT3 AT6", "W2": "AT1 AT4 AT7", "W3": "AT2 AT5 AT8"}
"""What three workers run; the first leads."""


def test_a_stranger_gives_up_what_others_are_to_have_and_nobody_else_does() -> None:
    """CM-12."""
    world = three()
    world.pass_ms(1)
    stranger = world.come("W4", "AT1 AT9")
    assert stranger.error is OK
    assert world.is_to_run("W4") == "", "AT9 is not configured (any more)"
    told = world.synced(world.send_sync("W4"))
    assert told.brief == ("", "AT1 AT9")
    assert world.is_to_run("W2") == "AT1"
    assert world.beats("W2") is OK
    shown = world.come("W1", "AC0 AT0").shown
    assert (shown["W2"][1], shown["W4"][1]) == ("AT1", ""), "shown to two, it would be taken from both"


def test_a_stranger_does_not_bring_back_what_was_deleted() -> None:
    """Seed 11019: who runs what does not exist is told to stop it, however it came by it."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT2"})
    world.come("W2", "AT1 AT2", offset=OFFSET + 1)
    told = world.send_sync("W2")
    world.led("W1", "AC0 AT0 AT1", "AC0 AT0", offset=OFFSET + 1)
    assert world.synced(told).brief == ("", "AT2")
    world.come("W4", "AT2", offset=OFFSET + 1)
    assert world.is_to_run("W4") == ""
    assert world.synced(world.send_sync("W4")).brief == ("", "AT2")


def test_what_a_stranger_may_run_is_given_to_nobody() -> None:
    """CM-5, CM-12."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1"})
    world.come("W4", "AT1")
    assert world.fetch("W4").brief == ("", "AT1")
    world.come("W2", "")
    parked = world.send_sync("W2")
    assert parked not in world.answers, "W4 may be running it"
    world.come("W4", "")
    assert world.synced(parked).brief == ("AT1", "")


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_stranger_starts_once_more_what_it_is_to_have_of_what_others_run(is_loaded: bool) -> None:
    """CM-12. With exactly-once sources the other's start has fenced its task, which is dead. Found with a real
    worker that had been frozen: its task ran nowhere for good.
    """
    world = TranslatedWorld.fleet({"W1": "AC0 AT0 AT1 AT2"})
    world.come("W4", "AT1 AT2")
    if is_loaded:
        world.restart()
        world.come("W4", "AT1 AT2")
    assert world.fetch("W4").brief == ("", "AT1 AT2")
    share = world.is_to_run("W4")
    assert world.beats("W1") is AGAIN
    left = " ".join(sorted({"AC0", "AT0", "AT1", "AT2"} - set(share.split())))
    world.look("W1", ALL, "AC0 AT0 AT1 AT2")
    world.led("W1", ALL, left)
    world.come("W4", "")
    assert world.fetch("W4").brief == (share, "")


@pytest.mark.parametrize("loads", ["", "in between", "compacted"])
def test_a_stranger_starts_once_more_what_nobody_runs_any_more(loads: str) -> None:
    """CM-12, seed 890953. W1 had started it when W4 was frozen, and has gone. What a stranger came with and
    others may have started stands in the log: nobody else runs it, so who runs what does not tell after a load.
    """
    world = TranslatedWorld.fleet({"W1": "AC0 AT0"})
    world.leaves("W1")
    world.send_join("W4", "AC0 AT0")
    world.pass_ms(6_000)
    if loads:
        world.restart(compacted=loads == "compacted")
    assert world.led("W4", "AC0 AT0", "AC0 AT0", connection=14).brief == ("", "AC0 AT0")
    assert world.led("W4", "AC0 AT0", "", connection=14).brief == ("AC0 AT0", "")
    world.restart()
    world.come("W4", "AC0 AT0", connection=24)
    assert world.led("W4", "AC0 AT0", "AC0 AT0", connection=24).brief == ("", ""), "it is its own by now"


def test_strangers_that_run_the_same_stop_it_all_and_one_starts_it_once_more() -> None:
    """The group is new, as where its log is lost: nobody knows which of them has started AT0 last."""
    world = TranslatedWorld(gather_ms=100)
    joins = [world.send_join("W1", "AC0 AT0"), world.send_join("W2", "AT0 AT1")]
    while joins[-1] not in world.answers:
        world.pass_ms(100)
    assert world.joined(joins[0]).leads
    world.joined(joins[1])
    waits = world.send_sync("W2")
    assert world.led("W1", "AC0 AT0 AT1", "AC0 AT0").brief == ("", "AT0"), "it is to have it, and stops it"
    assert world.synced(waits).brief == ("", "AT0")
    world.led("W1", "AC0 AT0 AT1", "AC0")
    world.come("W2", "AT1")
    world.fetch("W2")
    world.keep_alive(4_000, "W1", "W2")
    assert "AT0" in world.led("W1", "AC0 AT0 AT1", "AC0").assigned


def test_a_stranger_that_is_back_with_nothing_gets_all_of_its_own() -> None:
    """CM-12, CM-18: mixed seeds 304, 565. It runs none of what others may have started meanwhile."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0 AT1 AT2"})
    world.come("W4", "AT1 AT2")
    world.fetch("W4")
    share = world.is_to_run("W4")
    assert share
    world.close(4)
    world.known.pop("W4")
    world.come("W4", offset=OFFSET + 1, connection=14)  # nothing is placed before the leader has read that
    assert world.is_to_run("W4") == share


@pytest.mark.parametrize(
    ("reason", "stopped"),
    [
        ("the consumer is being closed", True),
        ("worker poll timeout has expired.", False),
        ("taking too long to read the log", False),
        (None, False),
    ],
)
def test_who_leaves_has_stopped_only_if_it_says_so(reason: str | None, stopped: bool) -> None:
    """CM-13: what it had waits for the group's delay; if it may run on, for its whole back-off."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"})
    world.leaves("W2", reason)
    assert world.keep_alive(DELAY_MS - 1_000, "W1", "W3") == {"W1": OK, "W3": OK}
    assert world.keep_alive(2_000, "W1", "W3")["W3"] is (AGAIN if stopped else OK)
    if not stopped:
        assert world.keep_alive(8_000, "W1", "W3")["W3"] is OK
        assert world.keep_alive(2_000, "W1", "W3")["W3"] is AGAIN


def test_who_leaves_without_having_stopped_runs_on_for_longer_the_longer_its_delay_is() -> None:
    """CM-45: 0.228 of it."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"})
    world.configure(rebalance_delay_ms="1000")
    world.leaves("W2", None)
    assert world.keep_alive(69_000, "W1", "W3")["W3"] is OK
    assert world.keep_alive(2_000, "W1", "W3")["W3"] is AGAIN
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"}, asks_delay=True)
    world.leaders["W1"].max_delay_ms = 400_000
    assert world.keep_alive(60_000, "W1", "W2", "W3")["W1"] is AGAIN
    world.led("W1", ALL, "AC0 AT0")
    world.configure(rebalance_delay_ms="1000")
    world.leaves("W2", None)
    assert world.keep_alive(91_000, "W1", "W3")["W3"] is OK
    assert world.keep_alive(3_000, "W1", "W3")["W3"] is AGAIN


def test_who_left_without_having_stopped_is_waited_for_after_a_load_too() -> None:
    """CM-13: it may run on for its whole back-off."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"})
    world.leaves("W2", "taking too long to read the log")
    world.keep_alive(20_000, "W1", "W3")
    world.restart()
    assert world.keep_alive(45_000, "W1", "W3")["W3"] is OK


# -- time --------------------------------------------------------------------------------------------------------------


def test_who_is_called_and_does_not_come_is_out_after_its_rebalance_timeout() -> None:
    world, gives = one_gives()
    told = world.keep_alive(REBALANCE_MS - 1_000, "W1", "W2", "W3")
    assert told == {"W1": OK, "W2": OK, "W3": OK, gives: AGAIN}
    world.pass_ms(2_000)
    assert world.beats(gives) is ErrorCode.UNKNOWN_MEMBER_ID


def test_who_stops_for_too_long_what_it_was_told_to_is_out() -> None:
    world, gives = one_gives()
    has = world.holds(gives)
    world.come(gives, has)
    assert world.fetch(gives).revoked
    assert world.keep_alive(REBALANCE_MS - 1_000, "W1", "W2", "W3")[gives] is OK
    world.pass_ms(2_000)
    assert world.beats(gives) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_brings_nothing_is_replaced_after_its_rebalance_timeout() -> None:
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.keep_alive(REBALANCE_MS - 1_000, "W1", "W2", "W3") == {"W1": OK, "W2": OK, "W3": OK}
    world.pass_ms(2_000)
    assert world.beats("W1") is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.beats("W2") is AGAIN
    assert world.come("W2", "AT1").leads


def test_a_session_that_ends_is_a_departure() -> None:
    world = three()
    assert world.keep_alive(11_000, "W1", "W2") == {"W1": OK, "W2": OK}, "what it had waits, and nobody is called"
    assert world.beats("W3") is ErrorCode.UNKNOWN_MEMBER_ID
    assert sorted(world.come("W1", "AC0 AT0").shown) == ["W1", "W1-1#absent#0", "W2"], "CM-42"


def test_a_worker_whose_sync_group_waits_does_not_expire() -> None:
    """CM-27: a parked member sends no heartbeat, as far as anybody can rely on it."""
    world, _ = one_gives()
    parked = world.send_sync("W4")
    world.keep_alive(3_000, "W1", "W2", "W3")
    assert parked not in world.answers
    world.keep_alive(1_000, "W1", "W2", "W3")
    assert world.synced(parked).brief == ("", ""), "4 s at most: it blocks the worker's REST interface"
    world.keep_alive(9_000, "W1", "W2", "W3")
    assert world.beats("W4") is OK


def two_give() -> TranslatedWorld:
    """A fourth worker has come, and is to get a task of W1, which leads, and one of W3."""
    world = TranslatedWorld.fleet(NINE)
    world.come("W4")
    assert [world.is_to_run(name) == world.holds(name) for name in NINE] == [False, True, False]
    return world


def stops(world: TranslatedWorld, name: str) -> str:
    """It comes, is told what to stop, and comes without that."""
    revoked = _comes(world, name, world.holds(name)).revoked
    assert revoked
    _comes(world, name, text(res(world.holds(name)) - res(revoked)))
    return revoked


def _comes(world: TranslatedWorld, name: str, runs: str) -> Synced:
    if name == "W1":
        return world.led(name, " ".join(NINE.values()), runs)
    world.come(name, runs)
    return world.fetch(name)


def test_what_is_free_waits_half_a_second_for_the_rest() -> None:
    """CM-27: in a rolling restart by drains six tasks of real workers ran nowhere for four seconds: a worker that was
    back had to wait for what one of the others had not been told yet to stop. CM-43: W1 leads, and gives like the rest.
    """
    world = two_give()
    parked = world.send_sync("W4")
    first = stops(world, "W3")
    world.pass_ms(499)
    assert parked not in world.answers, "one JoinGroup for both, if that takes no time"
    world.pass_ms(1)
    assert world.synced(parked).assigned == first
    second = stops(world, "W1")
    assert world.beats("W4") is AGAIN
    world.come("W4", first)
    assert world.fetch("W4").assigned == second


def test_so_does_what_a_worker_at_rest_is_to_get() -> None:
    world = two_give()
    parked = world.send_sync("W4")
    world.keep_alive(4_000, "W2")
    assert world.synced(parked).brief == ("", "")
    first = stops(world, "W3")
    assert world.beats("W4") is OK
    world.pass_ms(500)
    assert world.beats("W4") is AGAIN
    world.come("W4", "")
    parked = world.send_sync("W4")
    world.pass_ms(500)
    assert world.synced(parked).assigned == first


def test_a_worker_that_is_to_get_nothing_does_not_wait() -> None:
    world = TranslatedWorld.fleet({"W1": "AC0", "W2": "AT0", "W3": ""})
    world.come("W3", "")
    assert world.fetch("W3").brief == ("", "")


def test_a_worker_that_has_work_is_never_kept_waiting() -> None:
    """CM-24."""
    world, gives = one_gives()
    keeps = next(name for name in ("W2", "W3") if name != gives)
    world.come(keeps, world.holds(keeps))
    assert world.fetch(keeps).brief == ("", "")
    world.come("W1", world.holds("W1"))
    world.come(keeps, world.holds(keeps))
    assert world.fetch(keeps).brief == ("", ""), "nor while the leader is asked"


# -- held heartbeats ---------------------------------------------------------------------------------------------------


def held() -> TranslatedWorld:
    """Two workers at rest, whose heartbeats are kept back for up to 2.5 s."""
    return TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT2"}, wait_ms=2_500)


def test_a_heartbeat_by_an_old_connection_is_not_kept_back_once_its_worker_syncs_by_another() -> None:
    """Seed 1542296. After a load nobody knows which connection is the newer one until both have brought something: the
    heartbeat that was under way by the old one is taken for the worker's. What its worker sends next ends the wait.
    """
    world = held()
    world.restart()
    waits = world.send_heartbeat("W2", connection=12)
    assert waits not in world.answers
    world.send_sync("W2", connection=22)
    assert world.beaten(waits) is OK


def test_a_heartbeat_is_kept_back_and_given_at_once_when_there_is_something_to_say() -> None:
    """CM-26."""
    world = held()
    token = world.send_heartbeat("W2")
    world.pass_ms(1_000)
    assert token not in world.answers
    world.come("W3")
    assert world.is_to_run("W2") != world.holds("W2")
    assert token not in world.answers, "W3 cannot be told yet to start it"
    world.send_sync("W3")
    world.pass_ms(1)
    assert world.beaten(token) is AGAIN


def test_it_is_given_after_the_wait_in_any_case() -> None:
    world = held()
    token = world.send_heartbeat("W2")
    world.pass_ms(2_499)
    assert token not in world.answers
    world.pass_ms(1)
    assert world.beaten(token) is OK


def test_the_next_request_of_the_connection_lets_it_go_and_it_is_never_illegal() -> None:
    """CM-26."""
    world = held()
    token = world.send_heartbeat("W2")
    joined = world.send_join("W2", "AT1 AT2")
    assert list(world.answers).index(token) < list(world.answers).index(joined), "answers are in order"
    assert world.beaten(token) is OK


def test_a_join_group_by_another_connection_answers_it_as_well() -> None:
    world = held()
    token = world.send_heartbeat("W2")
    world.send_join("W2", "AT1 AT2", connection=12)
    assert world.beaten(token) in (OK, AGAIN)


def test_a_worker_that_is_put_out_hears_of_it_by_the_heartbeat_that_waits() -> None:
    world = held()
    token = world.send_heartbeat("W2")
    world.leaves("W2", connection=12)
    assert world.beaten(token) is ErrorCode.UNKNOWN_MEMBER_ID


# -- who comes back ----------------------------------------------------------------------------------------------------


def test_who_comes_back_to_its_place_gets_its_own_without_waiting_for_the_leader() -> None:
    """CM-18, CM-19."""
    world = three()
    world.close(3)
    world.known.pop("W3")
    joined = world.come("W3", connection=13)
    assert joined.leader == "W1"
    assert world.fetch("W3", connection=13).brief == ("AT2", "")
    assert world.come("W1", "AC0 AT0").shown["W3"] == (OFFSET, "AT2")


def test_one_whose_connection_is_open_may_live_and_keeps_its_place() -> None:
    """CM-19."""
    world = three()
    predecessor = world.known.pop("W3")
    world.come("W3", connection=13)
    assert predecessor in world.group.members
    assert world.is_to_run("W3") == ""


def test_who_led_leads_again_at_once_and_nobody_else_need_come() -> None:
    """CM-20."""
    world = three()
    world.close(1)
    world.known.pop("W1")
    world.leaders.pop("W1")
    assert world.led("W1", ALL, connection=11).brief == ("AC0 AT0", "")
    assert [world.beats("W2"), world.beats("W3")] == [OK, OK]


def test_what_a_change_of_configuration_has_touched_is_not_given_back() -> None:
    """CM-21."""
    world = three()
    world.leaves("W3")
    world.come("W2", "AT1", offset=OFFSET + 3)
    token = world.send_sync("W2")
    world.led("W1", "AC0 AT0 AT1", "AC0 AT0", offset=OFFSET + 3)
    assert world.synced(token).error is OK
    world.known.pop("W3")
    world.come("W3", connection=13)
    assert world.is_to_run("W3") == ""


def test_who_comes_back_has_a_place_in_a_full_group() -> None:
    """Its elder is dead, and makes room: GROUP_MAX_SIZE_REACHED would end the process."""
    world = TranslatedWorld.fleet(
        {"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"}, settings=attrs.evolve(SETTINGS, max_size=3)
    )
    assert world.come("W4").error is ErrorCode.GROUP_MAX_SIZE_REACHED
    world.close(3)
    world.known.pop("W3")
    assert world.come("W3", connection=13).error is OK
    assert world.fetch("W3", connection=13).brief == ("AT2", "")


@pytest.mark.parametrize("url", ["http://W3", "NOTUSED"])
def test_a_url_that_several_have_says_nothing_of_who_comes(url: str) -> None:
    """CM-46: a dedicated MirrorMaker 2 without a REST interface advertises one for all its workers."""
    world = TranslatedWorld(gather_ms=100)
    for name in ("W1", "W2", "W3"):
        world.send_join(name, url=None if name == "W1" else url)
    world.pass_ms(100)
    world.led("W1", ALL)
    world.close(3)
    old = world.known.pop("W3")
    world.come("W3", connection=13, url=url)
    assert old in world.group.members, "it is not known whether this is the one that is away"
    assert world.is_to_run("W3") == ""


def test_one_that_has_gone_is_not_known_by_a_url_that_none_has() -> None:
    world = TranslatedWorld(gather_ms=100)
    for name in ("W1", "W2"):
        world.send_join(name, url=None if name == "W1" else "NOTUSED")
    world.pass_ms(100)
    world.led("W1", ALL)
    world.leaves("W2")
    world.known.pop("W2")
    world.come("W2", connection=12, url="NOTUSED")
    assert world.is_to_run("W2") == ""
