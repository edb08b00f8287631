"""What is the worker told that leads, and what the others by it? Request by request, on a shard driven by hand."""

from __future__ import annotations

import pytest

from kcoord.protocol.errors import ErrorCode
from tests.translation.legacy_world import AGAIN, OFFSET, OK, LegacyWorld, three

# -- generations -------------------------------------------------------------------------------------------------------


def test_generations_are_one_counter_that_outlives_the_coordinator() -> None:
    """Legacy rule 2."""
    world = three()
    generations = [world.generations["W1"]]
    for _ in range(3):
        world.lead("W1", {"W1": "", "W2": "", "W3": ""}, "AC0 AT0")
        generations.append(world.generations["W1"])
        world.restart()
    assert generations == sorted(set(generations)), "no generation is used twice"


def test_a_worker_that_nothing_concerns_keeps_its_generation() -> None:
    """Legacy rules 2, 8: the group moves on, the worker need not."""
    world = three()
    known = world.generations["W3"]
    world.come("W4")
    world.lead("W1", {"W1": "", "W2": "-AT1", "W3": "", "W4": ""}, "AC0 AT0")
    assert world.group.epoch > known
    assert world.beats("W3") is OK
    assert world.beats("W2") is AGAIN


@pytest.mark.parametrize(
    ("generation", "error"), [(-1, ErrorCode.ILLEGAL_GENERATION), (0, OK), (1, ErrorCode.ILLEGAL_GENERATION)]
)
def test_a_generation_that_the_worker_was_not_told_is_refused(generation: int, error: ErrorCode) -> None:
    world = three()
    world.lead("W1", {"W1": "", "W2": "", "W3": ""}, "AC0 AT0")
    world.lead("W1", {"W1": "", "W2": "", "W3": ""}, "AC0 AT0")
    known = world.generations["W1"]
    assert world.beats("W1", known + (generation if generation >= 0 else -2)) is error
    assert world.synced(world.send_sync("W2", generation=world.group.epoch + 1)).error is ErrorCode.ILLEGAL_GENERATION


def test_a_heartbeat_on_its_way_when_its_worker_joined_is_good() -> None:
    """The one before the last generation: ILLEGAL_GENERATION would reset the client."""
    world = three()
    before = world.generations["W1"]
    world.come("W1", "AC0 AT0")
    assert world.beats("W1", before) is OK


# -- the leader --------------------------------------------------------------------------------------------------------


def test_every_join_group_of_the_leader_is_a_round() -> None:
    """Legacy rule 3: never answered as a follower, never with an empty list."""
    world = three()
    for _ in range(3):
        joined = world.come("W1", "AC0 AT0")
        assert joined.leads
        assert sorted(joined.shown) == ["W1", "W2", "W3"]
        assert world.fetch("W1", {"W1": "", "W2": "", "W3": ""}).error is OK


def test_a_leader_that_joins_twice_before_it_brings_anything_is_shown_the_group_twice() -> None:
    world = three()
    assert world.come("W1", "AC0 AT0").leads
    assert world.come("W1", "AC0 AT0").leads
    assert world.fetch("W1", {"W1": "", "W2": "", "W3": ""}).error is OK


def test_the_leader_is_shown_targets_and_not_what_is_run() -> None:
    """Legacy rule 4."""
    world = three()
    world.lead("W1", {"W1": "", "W2": "-AT1 +AT2", "W3": "-AT2 +AT1"}, "AC0 AT0")
    assert (world.holds("W2"), world.holds("W3")) == ("AT1", "AT2")
    joined = world.come("W1", "AC0 AT0")
    assert joined.shown == {"W1": (OFFSET, "AC0 AT0"), "W2": (OFFSET, "AT2"), "W3": (OFFSET, "AT1")}


def test_targets_become_increments_and_nothing_is_given_before_it_is_free() -> None:
    """Legacy rules 4, 5."""
    world = three()
    world.lead("W1", {"W1": "", "W2": "-AT1", "W3": "+AT1"}, "AC0 AT0")
    assert world.beats("W3") is OK, "it waits until there is something for it"
    assert world.beats("W2") is AGAIN
    world.come("W2", "AT1")
    assert world.fetch("W2").brief == ("", "AT1")
    assert world.beats("W3") is OK, "W2 may be stopping it yet"
    assert world.holds("W2") == "AT1", "it shrinks by a JoinGroup that does not list it"
    world.come("W2", "")
    assert world.beats("W3") is AGAIN
    world.come("W3", "AT2")
    assert world.fetch("W3").brief == ("AT1", "")
    assert world.fetch("W2").brief == ("", "")
    assert world.holds("W3") == "AT1 AT2"


def test_the_leaders_own_answer_is_an_increment_too() -> None:
    """Legacy rule 4."""
    world = three()
    told = world.lead("W1", {"W1": "-AT0 +AT1", "W2": "-AT1 +AT0", "W3": ""}, "AC0 AT0")
    assert told.brief == ("", "AT0"), "AT1 is run by W2 yet"


def test_what_was_assigned_counts_as_held_before_it_is_reported() -> None:
    """Legacy rule 5."""
    world = LegacyWorld.fleet({"W1": "AC0", "W2": "AT1"})
    world.lead("W1", {"W1": "", "W2": "+AT2"}, "AC0")
    world.come("W2", "AT1")
    assert world.fetch("W2").brief == ("AT2", "")
    assert world.holds("W2") == "AT1 AT2"
    world.lead("W1", {"W1": "+AT2", "W2": "-AT2"}, "AC0")
    assert world.holds("W1") == "AC0", "W2 has not reported that it stopped it"


def test_config_offsets_of_others_are_shown_no_higher_than_the_leaders() -> None:
    """Legacy rule 6: else the leader finds CONFIG_MISMATCH."""
    world = three()
    world.come("W2", "AT1", offset=OFFSET + 4)
    joined = world.come("W1", "AC0 AT0", offset=OFFSET + 2)
    assert {name: offset for name, (offset, _) in joined.shown.items()} == {
        "W1": OFFSET + 2,
        "W2": OFFSET + 2,
        "W3": OFFSET,
    }


@pytest.mark.parametrize(("own", "installed", "told"), [(5, 9, 9), (9, 5, 9), (7, 7, 7)])
def test_the_offset_that_is_told_is_not_below_the_workers_own_nor_above_what_is_known(
    own: int, installed: int, told: int
) -> None:
    """Legacy rules 7, 17: a lower one makes it join at once, one above the topic's end can never be read."""
    world = LegacyWorld(gather_ms=0)
    world.come("W1", offset=installed)
    world.fetch("W1", {"W1": "+AC0"}, offset=installed)
    world.come("W2", offset=own)
    token = world.send_sync("W2")
    world.lead("W1", {"W1": "", "W2": "+AT0"}, "AC0", offset=installed)
    assert world.synced(token).offset == told


def test_a_worker_that_joins_without_end_is_slowed_down() -> None:
    """Legacy rule 7: 15,500 JoinGroups in 8 s were seen."""
    world = three()
    tokens = [world.send_join("W3", "AT2") for _ in range(200)]
    given = sum(token in world.answers and world.joined(token).error is OK for token in tokens)
    assert given < 50
    world.pass_ms(2_000)
    assert world.joined(tokens[-1]).error is OK, "it gets its answer, later"
    assert world.fetch("W3").error is OK


def test_the_leaders_sync_group_counts_though_somebody_has_joined_meanwhile() -> None:
    """Legacy rule 8."""
    world = three()
    world.come("W1", "AC0 AT0")
    world.come("W4")
    parked = world.send_sync("W4")
    told = world.fetch("W1", {"W1": "-AT0", "W2": "+AT0", "W3": ""})
    assert (told.error, told.brief) == (OK, ("", "AT0"))
    assert world.is_to_run("W2") == "AT0 AT1"
    assert world.beats("W1") is AGAIN, "the next round follows"
    assert parked not in world.answers


def test_the_leaders_sync_group_counts_though_somebody_has_gone_meanwhile() -> None:
    """Legacy rule 8."""
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.leaves("W3") is OK
    assert world.fetch("W1", {"W1": "", "W2": ""}, raw={}).error is OK
    assert world.beats("W1") is AGAIN


def test_a_delay_is_told_to_the_leader_only() -> None:
    """Legacy rule 9: it comes by itself when it is over, the others would all come."""
    world = three()
    world.leaves("W3")
    told = world.lead("W1", {"W1": "", "W2": ""}, "AC0 AT0", delay_ms=20_000)
    assert told.delay_ms == 20_000
    world.come("W2", "AT1")
    assert world.fetch("W2").delay_ms == 0
    world.keep_alive(19_000, "W1", "W2")
    assert world.come("W1", "AC0 AT0").leads
    assert world.fetch("W1", {"W1": "", "W2": "+AT2"}).delay_ms == 0
    assert world.beats("W2") is AGAIN


def test_a_leader_that_does_not_come_when_the_delay_is_over_is_called() -> None:
    world = three()
    world.leaves("W3")
    world.lead("W1", {"W1": "", "W2": ""}, "AC0 AT0", delay_ms=20_000)
    assert world.keep_alive(19_000, "W1", "W2") == {"W1": OK, "W2": OK}
    assert world.keep_alive(5_000, "W1", "W2") == {"W1": AGAIN, "W2": OK}


def test_what_was_taken_and_given_to_nobody_is_handed_out_when_it_is_free() -> None:
    """Legacy rule 10."""
    world = LegacyWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT2", "W3": ""})
    world.lead("W1", {"W1": "", "W2": "-AT1", "W3": ""}, "AC0 AT0")
    world.come("W2", "AT1 AT2")
    assert world.fetch("W2").revoked == "AT1"
    assert world.beats("W1") is OK
    world.come("W2", "AT2")
    assert world.beats("W1") is AGAIN
    assert world.fetch("W2").brief == ("", "")
    world.lead("W1", {"W1": "", "W2": "", "W3": "+AT1"}, "AC0 AT0")
    assert world.beats("W3") is AGAIN


# -- another leader ----------------------------------------------------------------------------------------------------


def test_when_the_leader_is_gone_the_new_one_computes_first_and_the_others_come_once() -> None:
    """Legacy rule 11."""
    world = three()
    assert world.leaves("W1") is OK
    assert world.beats("W2") is AGAIN
    assert world.beats("W3") is OK, "not before there is something to tell"
    joined = world.come("W2", "AT1")
    assert (joined.leads, joined.shown) == (True, {"W2": (OFFSET, "AT1"), "W3": (OFFSET, "AT2")})
    told = world.fetch("W2", {"W2": "+AC0 +AT0", "W3": ""})
    assert (told.leader, told.leader_url, told.brief) == ("W2", "http://W2", ("AC0 AT0", ""))
    assert world.beats("W3") is AGAIN
    world.come("W3", "AT2")
    told = world.fetch("W3")
    assert (told.leader, told.brief) == ("W2", ("", ""))
    assert [world.beats("W2"), world.beats("W3")] == [OK, OK]


def test_a_new_leader_computes_once_more_if_the_configuration_has_changed() -> None:
    """Legacy rule 11: its assignor remembers nothing, and takes what was deleted meanwhile for good."""
    world = three()
    world.leaves("W1")
    world.come("W2", "AT1", offset=OFFSET + 2)
    token = world.send_sync("W2", {"W2": "+AC0 +AT0", "W3": ""}, offset=OFFSET + 2)
    world.come("W3", "AT2", offset=OFFSET + 2)
    assert world.synced(token).error is OK
    assert world.fetch("W3").error is OK
    assert world.beats("W2") is AGAIN
    world.lead("W2", {"W2": "", "W3": "-AT2"}, "AC0 AT0 AT1", offset=OFFSET + 2)
    assert [world.beats("W2"), world.beats("W3")] == [OK, AGAIN]


def test_what_was_deleted_is_looked_for_also_by_the_leader_after_the_next() -> None:
    """Seed 14555: a new leader dies before it has computed once more. The offset is that of the assignment by then."""
    world = LegacyWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2", "W4": ""})
    new = OFFSET + 2
    world.leaves("W1")
    world.come("W2", "AT1", offset=new)
    token = world.send_sync("W2", {"W2": "+AC0 +AT0", "W3": "", "W4": ""}, offset=new)
    for name, runs in (("W3", "AT2"), ("W4", "")):
        world.come(name, runs, offset=new)
        world.send_sync(name)
    assert world.synced(token).error is OK
    world.leaves("W2")
    world.lead("W3", {"W3": "+AC0 +AT0 +AT1", "W4": ""}, "AT2", offset=new)
    assert world.beats("W3") is AGAIN
    assert world.come("W3", "AC0 AT0 AT1 AT2", offset=new).shown["W3"][1] == "AC0 AT0 AT1 AT2", "seed 10915: all of it"
    world.fetch("W3", {"W3": "-AT2", "W4": ""}, offset=new)
    world.come("W3", "AC0 AT0 AT1", offset=new)
    world.fetch("W3", {"W3": "", "W4": ""}, offset=new)
    assert world.beats("W3") is OK


def test_a_leader_that_never_got_what_it_computed_remembers_nothing_and_computes_once_more() -> None:
    """Legacy rule 11, mixed seed 3633: its connection ended while its SyncGroup waited for a config round. Connect's
    leader forgets what it computed then, so the next round is not yet the one in which it notices what was deleted.
    """
    world = LegacyWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2", "W4": "AT3"})
    new = OFFSET + 2
    world.leaves("W1")
    world.come("W3", "AT2", offset=new)
    waits = world.send_sync("W3")
    world.come("W2", "AT1", offset=new)
    lost = world.send_sync("W2", {"W2": "+AC0 +AT0", "W3": "", "W4": ""}, offset=new)
    assert lost not in world.answers, "W4 has not read so far"
    assert world.come("W2", "AT1", offset=new).shown["W3"][1] == "AT2"
    assert world.synced(lost).error is AGAIN
    token = world.send_sync("W2", {"W2": "", "W3": "", "W4": ""}, offset=new)
    world.come("W4", "AT3", offset=new)
    assert world.fetch("W4").error is OK
    assert [world.synced(each).error for each in (token, waits)] == [OK, OK]
    assert world.beats("W2") is AGAIN, "this was its first round that ended"
    world.lead("W2", {"W2": "", "W3": "-AT2", "W4": ""}, "AC0 AT0 AT1", offset=new)
    assert [world.beats("W2"), world.beats("W3")] == [OK, AGAIN]


def test_after_a_load_the_next_leader_computes_once_more() -> None:
    """Mixed seed 3633: whether the one before it had done so is not in the log."""
    world = three()
    world.leaves("W1")
    world.come("W2", "AT1", offset=OFFSET + 2)
    world.restart()
    world.come("W2", "AT1", offset=OFFSET + 2)
    token = world.send_sync("W2", {"W2": "+AC0 +AT0", "W3": ""}, offset=OFFSET + 2)
    world.come("W3", "AT2", offset=OFFSET + 2)
    assert world.synced(token).error is OK
    assert world.fetch("W3").error is OK
    world.leaves("W2")
    world.restart()
    world.lead("W3", {"W3": "+AC0 +AT0 +AT1"}, "AT2", offset=OFFSET + 2)
    assert world.beats("W3") is AGAIN


def test_a_leader_that_lives_gives_way_before_another_computes() -> None:
    """Legacy rule 14: never two leaders. It has brought nonsense; somebody else is to compute, and it waits."""
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", raw={"W1": b"\x00"}).error is AGAIN
    assert world.beats("W2") is OK, "W1 may believe that it leads"
    waits = world.send_join("W1", "AC0 AT0")
    assert waits not in world.answers
    assert world.beats("W2") is AGAIN
    world.lead("W2", {"W1": "", "W2": "", "W3": ""}, "AT1")
    joined = world.joined(waits)
    assert (joined.leads, joined.leader) == (False, "W2")
    assert world.fetch("W1").leader == "W2"


def test_nothing_new_is_given_before_the_leader_has_its_assignment() -> None:
    """Legacy rules 15, 23: a starting task asks the leader to fence."""
    world = three()
    world.leaves("W1")
    world.come("W2", "AT1")
    world.come("W3", "AT2")
    assert world.fetch("W3").brief == ("", "")
    told = world.fetch("W2", {"W2": "", "W3": "+AC0 +AT0"})
    assert told.error is OK
    assert world.beats("W3") is AGAIN
    world.come("W3", "AT2")
    assert world.fetch("W3").brief == ("AC0 AT0", "")


def test_nothing_new_is_given_while_the_leader_cannot_be_reached() -> None:
    """Legacy rules 15, 23; and it is given when the leader is back."""
    world = LegacyWorld.fleet({"W1": "AC0", "W2": "AT1 AT2", "W3": "AT3"})
    world.lead("W1", {"W1": "", "W2": "-AT1", "W3": "+AT1"}, "AC0")
    world.close(1)
    world.come("W2", "AT1 AT2")
    world.fetch("W2")
    world.come("W2", "AT2")
    world.fetch("W2")
    assert world.beats("W3") is OK
    world.come("W3", "AT3")
    assert world.fetch("W3").brief == ("", "")
    world.beats("W1", connection=11)
    world.pass_ms(10)
    assert world.beats("W3") is AGAIN
    world.come("W3", "AT3")
    assert world.fetch("W3").brief == ("AT1", "")
