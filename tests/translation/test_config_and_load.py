"""What are workers told while the configuration changes (CM-25), and after a load (CM-28)? Request by request, on a
shard driven by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.translation.translated_world import AGAIN, ALL, OFFSET, OK, TranslatedWorld, one_gives, three

# -- a change of configuration -----------------------------------------------------------------------------------------


def test_a_config_round_keeps_all_answers_until_all_have_stopped_what_is_reconfigured() -> None:
    world = three()
    new = OFFSET + 3
    world.come("W2", "AT1", offset=new)
    second = world.send_sync("W2")
    assert second not in world.answers, "W1 and W3 run the old configuration"
    world.come("W1", "AC0 AT0", offset=new)
    first = world.send_sync("W1", {"W1": "", "W2": "", "W3": ""}, offset=new)
    assert first not in world.answers
    world.come("W3", "AT2", offset=new)
    assert world.synced(second).offset == world.synced(first).offset == new
    assert list(world.answers).index(first) < list(world.answers).index(second), "the leader first"
    assert world.fetch("W3").offset == new


def test_a_config_round_is_bounded() -> None:
    world = three()
    world.come("W2", "AT1", offset=OFFSET + 3)
    token = world.send_sync("W2")
    world.keep_alive(9_000, "W1", "W3")
    assert token not in world.answers
    world.keep_alive(1_000, "W1", "W3")
    assert world.synced(token).error is OK


def test_a_config_round_calls_those_that_do_not_come() -> None:
    """CM-22."""
    world = three()
    world.come("W2", "AT1", offset=OFFSET + 3)
    world.send_sync("W2")
    assert [world.beats("W1"), world.beats("W3")] == [OK, OK]
    world.pass_ms(700)
    assert [world.beats("W1"), world.beats("W3")] == [AGAIN, AGAIN]


@pytest.mark.parametrize("is_told", [False, True])
def test_who_was_called_by_no_answer_comes_by_itself(is_told: bool) -> None:
    """Plans 701564, 759492, 762543. W3 is to be called for a newcomer, and has read a change."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT3", "W3": "AT2 AT4"})
    world.come("W4")
    assert not is_told or world.beats("W3") is AGAIN
    world.come("W3", "AT2 AT4", offset=OFFSET + 1)
    token = world.send_sync("W3")
    config_round = world.group.classic.round
    assert config_round is not None
    assert config_round.is_certain is not is_told
    world.pass_ms(1_000)
    assert (token in world.answers) is is_told, "others run what was changed as it was before"


@pytest.mark.parametrize("loads", [False, True])
def test_who_came_with_news_before_a_load_waits_for_those_that_have_read_less(loads: bool) -> None:
    """Plan 715220. Any answer makes W3 start again what it has stopped, which W1 runs as it was before."""
    world = three()
    world.come("W2", "AT1", offset=OFFSET + 2)
    world.come("W3", "AT2", offset=OFFSET + 1)
    if loads:
        world.restart()
    token = world.send_sync("W3")
    assert token not in world.answers
    assert world.come("W1", "AC0 AT0", offset=OFFSET + 1).leads
    assert token in world.answers


def test_a_worker_that_runs_nothing_is_not_waited_for_in_a_config_round() -> None:
    world = TranslatedWorld.fleet({"W1": "AC0", "W2": "AT0", "W3": ""})
    new = OFFSET + 3
    world.come("W2", "AT0", offset=new)
    token = world.send_sync("W2")
    assert world.led("W1", "AC0 AT0", "AC0", offset=new).error is OK
    assert world.synced(token).error is OK


def test_who_has_to_read_on_is_not_blocked_by_the_round() -> None:
    """A deletion writes two records: workers come with the offset of the first, or of both."""
    world = three()
    world.come("W1", "AC0 AT0", offset=OFFSET + 2)
    world.send_sync("W1", {"W1": "", "W2": "", "W3": ""}, offset=OFFSET + 2)
    world.come("W3", "AT2", offset=OFFSET + 1)
    token = world.send_sync("W3")
    world.come("W2", "AT1", offset=OFFSET + 2)
    world.send_sync("W2")
    told = world.synced(token)
    assert (told.error, told.brief) == (OK, ("", "")), "its herder must be free to read on"
    assert told.offset == OFFSET + 1, "told of more it would start as of there what it has stopped"
    world.come("W3", "AT2", offset=OFFSET + 2)
    assert world.fetch("W3").offset == OFFSET + 2
    assert world.group.classic.round is None


@pytest.mark.parametrize("comes", [True, False])
def test_who_has_to_read_on_waits_for_those_that_have_read_less(comes: bool) -> None:
    """Seed 4111. An answer, whatever it says, makes Connect start again what it has stopped: as of what it has read."""
    world = TranslatedWorld.fleet({"W1": "AC0", "W2": "AT0", "W3": "AT1", "W4": ""})
    world.come("W2", "AT0", offset=OFFSET + 2)
    world.send_sync("W2")
    world.come("W3", "AT1", offset=OFFSET + 1)
    token = world.send_sync("W3")
    world.come("W4", "", offset=OFFSET + 3)
    world.send_sync("W4")
    assert token not in world.answers, "W1 may run what W3 would start, as it was before"
    if comes:
        assert world.come("W1", "AC0", offset=OFFSET + 1).leads
        assert world.synced(token).brief == ("", "")
        assert world.group.classic.round is not None
    else:
        world.keep_alive(9_000, "W1")
        assert token not in world.answers
        world.keep_alive(2_000, "W1")
        assert world.synced(token).error is OK, "it is bounded, also if another round follows"
        assert world.group.classic.round is not None


def called_before_the_round() -> tuple[TranslatedWorld, object, str]:
    """W3 was called for a newcomer, and had read a change. Its SyncGroup waits: others may come by themselves. Then W2
    opens a round for the next change.
    """
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT3", "W3": "AT2 AT4"})
    world.come("W4")
    assert world.beats("W3") is AGAIN
    world.come("W3", "AT2 AT4", offset=OFFSET + 1)
    token = world.send_sync("W3")
    world.come("W2", "AT1 AT3", offset=OFFSET + 2)
    return world, token, "W1"


def in_the_round_before() -> tuple[TranslatedWorld, object, str]:
    """W2 has opened a round, W3 has read further than that, and W4 further still. W1 comes too, so the round ends, and
    the next one opens for what W4 has read.
    """
    world = TranslatedWorld.fleet({"W1": "AC0", "W2": "AT0", "W3": "AT1", "W4": "AT2"})
    for name, runs, read in (("W2", "AT0", 1), ("W3", "AT1", 2), ("W4", "AT2", 3)):
        world.come(name, runs, offset=OFFSET + read)
    second, token = world.send_sync("W2"), world.send_sync("W3")
    world.led("W1", ALL, "AC0", offset=OFFSET + 1)
    assert world.synced(second).offset == OFFSET + 1
    return world, token, "W2"


@pytest.mark.parametrize("waits", [called_before_the_round, in_the_round_before], ids=lambda each: each.__name__)
def test_who_waited_before_it_had_to_read_on_waits_until_the_round_ends(
    waits: Callable[[], tuple[TranslatedWorld, object, str]],
) -> None:
    """Plans 249239, 246795: W3 has to read on for a round that was opened after its SyncGroup had come. It was answered
    after 4 s, as if no round were open, and started what a slower worker ran as it was before.
    """
    world, token, slow = waits()
    assert world.group.classic.round is not None
    world.keep_alive(9_000, slow)
    assert token not in world.answers, f"{slow} may run what W3 would start, as it was before"
    world.keep_alive(2_000, slow)
    assert world.synced(token).error is OK


def test_who_has_to_read_on_waits_for_those_that_have_read_less_though_it_comes_with_no_news() -> None:
    """CM-22. It may have stopped since then what was reconfigured, and any answer starts that again."""
    world = w3_gives()
    world.come("W3", "AT2", offset=OFFSET + 1)
    assert world.fetch("W3").error is OK, "no round: it comes because it has stopped AT4"
    world.come("W2", "AT1 AT3", offset=OFFSET + 2)
    world.send_sync("W2")
    assert world.group.classic.round is not None
    world.pass_ms(1_000)
    assert [world.beats("W1"), world.beats("W3")] == [AGAIN, AGAIN]
    world.come("W3", "AT2", offset=OFFSET + 1)
    token = world.send_sync("W3")
    assert token not in world.answers
    assert world.come("W1", "AC0 AT0", offset=OFFSET + 2).leads
    assert world.synced(token).brief == ("", "")


@pytest.mark.parametrize("is_called", [False, True])
def test_who_has_to_read_on_is_told_of_no_more_than_it_has_read(is_called: bool) -> None:
    """CM-22. Plans 1148992, 1175277: W3 has read no more than when it came last, but it acts on that only now:
    it has stopped AT2, and comes by itself. Whether it was called meanwhile, by an answer that it had not got yet, says
    nothing. Told of more it would read on and start AT2 as of there, while W2 runs AT1 as it was before.
    """
    world = three()
    token = world.look("W1", ALL, "AC0 AT0", offset=OFFSET + 2)
    assert world.group.computed_offset == OFFSET + 2
    if is_called:
        world.pass_ms(700)
        assert world.beats("W3") is AGAIN
    world.come("W3", "AT2")
    assert world.fetch("W3").offset == OFFSET
    assert token not in world.answers


def w3_gives() -> TranslatedWorld:
    """A fourth worker has come, and W3 has been told to stop AT4."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT3", "W3": "AT2 AT4"})
    world.come("W4")
    world.come("W3", "AT2 AT4")
    assert world.fetch("W3").revoked == "AT4"
    return world


def called_leader() -> TranslatedWorld:
    """The leader comes because it has stopped something, just when it has read a change; it is asked as of that."""
    world, gives = one_gives()
    assert gives == "W1"
    configured = "AC0 AT0 AT1 AT2 AT3 AT4 AT5"
    assert world.led("W1", configured, "AC0 AT0 AT3").revoked == "AT3"
    world.led("W1", configured, "AC0 AT0", offset=OFFSET + 1)
    assert world.fetch("W4").assigned == "AT3"
    assert world.group.classic.round is None
    assert world.group.computed_offset == OFFSET + 1
    return world


def test_a_round_opens_for_those_that_are_slower_than_the_leader() -> None:
    """Seed 11987: there one of the new protocol leads. The installed assignment is as of the change by then."""
    world = called_leader()
    world.come("W2", "AT1 AT4", offset=OFFSET + 1)
    token = world.send_sync("W2")
    world.come("W4", "AT3", offset=OFFSET + 1)
    world.send_sync("W4")
    assert token not in world.answers, "W3 runs what it runs as of before"
    world.come("W3", "AT2 AT5", offset=OFFSET + 1)
    assert world.fetch("W3").brief == world.synced(token).brief == ("", "")
    assert world.group.classic.round is None
    world.come("W4", "AT3", offset=OFFSET + 1)
    assert world.group.classic.round is None, "nobody is slower that runs anything"


def test_no_round_opens_for_one_that_was_away() -> None:
    """It has stopped everything because it found no coordinator: that is why it comes."""
    world = called_leader()
    world.come("W2", None, offset=OFFSET + 1)
    assert world.group.classic.round is None


def test_an_offset_after_its_own_revocation_opens_no_round() -> None:
    world = w3_gives()
    world.come("W3", "AT2", offset=OFFSET + 1)
    assert world.group.classic.round is None


def test_who_was_called_when_it_had_read_a_change_opens_a_round_when_it_comes_for_that() -> None:
    """Seed 22141: W3 stops what is reconfigured only then, and would start it again while others run it as before."""
    world = w3_gives()
    world.come("W3", "AT2", offset=OFFSET + 1)
    assert world.fetch("W3").error is OK
    world.come("W3", "AT2", offset=OFFSET + 1)
    assert world.group.classic.round is not None
    assert world.send_sync("W3") not in world.answers


@pytest.mark.parametrize("others_come", [True, False])
def test_a_leader_that_was_called_for_a_newcomer_may_have_read_a_change(others_come: bool) -> None:
    """CM-22, seed 145019: the newcomer has read further, so the leader is called, and starts with its answer
    what it had stopped. If nobody else comes by itself it was a session key.
    """
    world = three()
    world.pass_ms(3_000)
    world.come("W4", None, offset=OFFSET + 1)
    assert world.beats("W1") is AGAIN
    token = world.look("W1", ALL, "AC0 AT0", offset=OFFSET + 1)
    assert token not in world.answers
    if others_come:
        world.come("W2", "AT1", offset=OFFSET + 1)
        world.send_sync("W2")
        world.pass_ms(700)
        assert token not in world.answers, "W3 runs what it runs as of before"
        assert world.beats("W3") is AGAIN
        world.come("W3", "AT2", offset=OFFSET + 1)
        world.send_sync("W3")
    else:
        world.pass_ms(700)
        assert [world.beats("W2"), world.beats("W3")] == [OK, OK]
    assert world.synced(token).brief == ("", "")


@pytest.mark.parametrize("others_come", [True, False])
def test_one_that_was_called_to_be_given_more_may_have_read_a_change(others_come: bool) -> None:
    """Mixed seed 5987: it stops what is reconfigured, is called before it has asked to join, and would start that again
    with its answer.
    """
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2", "W4": "AT3"})
    world.configure(rebalance_delay_ms="0")
    world.leaves("W4")
    assert world.beats("W2") is AGAIN
    world.come("W2", "AT1", offset=OFFSET + 1)
    token = world.send_sync("W2")
    assert token not in world.answers
    if others_come:
        world.come("W3", "AT2", offset=OFFSET + 1)
        world.pass_ms(700)
        assert token not in world.answers, "W1 runs what it runs as of before"
        assert world.beats("W1") is AGAIN
        world.led("W1", "AC0 AT0 AT1 AT2 AT3", "AC0 AT0", offset=OFFSET + 1)
    else:
        world.pass_ms(700)
    assert world.synced(token).brief == ("AT3", "")


# -- after a load ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compacted", [False, True])
def test_after_a_load_nobody_is_disturbed(compacted: bool) -> None:
    world = three()
    world.restart(lose_ms=2_000, compacted=compacted)
    assert [world.beats(each, connection=20 + at) for at, each in enumerate(("W1", "W2", "W3"))] == [OK, OK, OK]
    assert world.group.epoch == world.group.assignment_epoch


def test_after_a_load_the_leader_is_shown_the_group_anew() -> None:
    world = three()
    world.come("W1", "AC0 AT0")
    world.restart()
    assert world.synced(world.send_sync("W1", {"W1": "", "W2": "-AT1", "W3": ""}, connection=21)).error is AGAIN
    assert world.come("W1", "AC0 AT0", connection=21).leads


def test_after_a_long_outage_each_gets_its_own_back_in_one_join() -> None:
    """CM-29: a worker that cannot find its coordinator stops all, and reports a null allocation under the same member
    id.
    """
    world = three()
    world.restart(lose_ms=9_000)
    for at, (name, had) in enumerate((("W2", "AT1"), ("W3", "AT2"))):
        assert world.come(name, None, connection=30 + at).error is OK
        assert world.fetch(name, connection=30 + at).brief == (had, ""), name
    assert world.come("W1", None, connection=40).shown == {
        "W1": (OFFSET, "AC0 AT0"),
        "W2": (OFFSET, "AT1"),
        "W3": (OFFSET, "AT2"),
    }
    assert world.led("W1", ALL, None, connection=40).brief == ("AC0 AT0", "")


def test_a_coordinator_that_knows_nobody_adopts_what_it_hears() -> None:
    """CM-28, a cold start: all come as strangers, with what they run; nobody stops anything."""
    world = TranslatedWorld(gather_ms=100)
    tokens = {name: world.send_join(name, runs) for name, runs in (("W1", "AC0 AT0"), ("W2", "AT1"))}
    world.pass_ms(3_000)
    tokens["W3"] = world.send_join("W3", "AT2")
    assert not [token for token in tokens.values() if token in world.answers], "longer than a heartbeat interval"
    world.pass_ms(2_000)
    joined = {name: world.joined(token) for name, token in tokens.items()}
    leader = next(name for name, each in joined.items() if each.leads)
    assert joined[leader].shown == {"W1": (OFFSET, "AC0 AT0"), "W2": (OFFSET, "AT1"), "W3": (OFFSET, "AT2")}
    assert world.fetch(leader, {"W1": "", "W2": "", "W3": ""}).brief == ("", "")
    for name in joined:
        if name != leader:
            assert world.fetch(name).brief == ("", "")


def test_a_newcomer_that_comes_first_to_a_coordinator_that_knows_nobody_waits_for_the_others() -> None:
    """Else it would be given what the others run."""
    world = TranslatedWorld(gather_ms=1_000)
    new = world.send_join("W9")
    world.pass_ms(500)
    predecessor = world.send_join("W1", "AC0 AT0")
    world.pass_ms(3_000)
    late = world.send_join("W2", "AT1")
    assert not [token for token in (new, predecessor, late) if token in world.answers]
    world.pass_ms(3_000)
    assert [world.joined(token).error for token in (new, predecessor, late)] == [OK, OK, OK]
