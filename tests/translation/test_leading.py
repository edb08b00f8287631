"""What is the worker asked that leads, and what are the others told? Request by request, on a shard driven by hand."""

from __future__ import annotations

import pytest

from kcoord.protocol.config_source import FILE_OFFSETS_FROM
from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import text
from tests.translation.translated_world import AGAIN, ALL, OFFSET, OK, TranslatedWorld, three

# -- generations -------------------------------------------------------------------------------------------------------


def test_generations_are_one_counter_that_outlives_the_coordinator() -> None:
    """CM-2; the leader's assignor tells its looks apart by them."""
    world = three()
    generations = [world.generations["W1"]]
    for _ in range(3):
        world.led("W1", ALL, "AC0 AT0")
        generations.append(world.generations["W1"])
        world.restart()
    assert generations == sorted(set(generations)), "no generation is used twice"


def test_a_worker_that_nothing_concerns_keeps_its_generation() -> None:
    """CM-2, CM-8, CM-30: the group moves on, the worker need not."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0 AT3", "W2": "AT1 AT4", "W3": "AT2 AT5"})
    known = world.generations["W3"]
    world.come("W4")
    assert world.group.epoch > known
    called = [name for name in ("W1", "W2", "W3") if world.beats(name) is AGAIN]
    assert len(called) == 1, "the one that gives something up"


@pytest.mark.parametrize(
    ("generation", "error"), [(-1, ErrorCode.ILLEGAL_GENERATION), (0, OK), (1, ErrorCode.ILLEGAL_GENERATION)]
)
def test_a_generation_that_the_worker_was_not_told_is_refused(generation: int, error: ErrorCode) -> None:
    world = three()
    world.led("W1", ALL, "AC0 AT0")
    world.led("W1", ALL, "AC0 AT0")
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


def test_every_join_group_of_the_leader_is_a_look() -> None:
    """CM-3: never answered as a follower, never with an empty list."""
    world = three()
    for _ in range(2):
        joined = world.come("W1", "AC0 AT0")
        assert joined.leads
        assert sorted(joined.shown) == ["W1", "W2", "W3"]
        assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")
        assert [world.beats(name) for name in ("W1", "W2", "W3")] == [OK, OK, OK]


def test_members_come_and_go_and_the_leader_is_asked_nothing() -> None:
    """CM-33."""
    world = three()
    looks = world.looks
    world.come("W4")
    assert world.fetch("W4").brief == ("", "")
    world.leaves("W4")
    world.leaves("W3")
    told = world.keep_alive(40_000, "W1", "W2")
    assert (told["W1"], world.looks) == (OK, looks), "the delay is not over"


def test_when_all_has_been_quiet_for_a_minute_the_leader_is_shown_who_runs_what() -> None:
    """CM-35, CM-49: it forwards REST requests by that."""
    world = three()
    names = ("W1", "W2", "W3")
    assert set(world.keep_alive(59_000, *names).values()) == {OK}
    assert world.keep_alive(1_000, *names) == {"W1": AGAIN, "W2": OK, "W3": OK}
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")
    for _ in range(5):
        assert set(world.keep_alive(60_000, *names).values()) == {OK}, "once, and no more"


def test_the_leader_is_shown_every_worker_in_slices() -> None:
    """CM-37: one connector and one task at most in each."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0 AT2", "W2": "BC0 AT1 BT0"})
    shown = world.come("W1", "AC0 AT0 AT2").shown
    assert sorted(held for _, held in shown.values()) == ["AC0 AT0", "AT1 BC0", "AT2", "BT0"]
    assert {"W1", "W2"} <= shown.keys()
    assert {offset for offset, _ in shown.values()} == {OFFSET}, "CM-6: not above the leader's own"


def test_what_is_new_is_placed_by_the_coordinator() -> None:
    """CM-32: of the leader's answer it counts only what there is."""
    world = three()
    looks = world.looks
    for name, runs in (("W2", "AT1"), ("W3", "AT2")):
        world.come(name, runs, offset=OFFSET + 2)
    tokens = {name: world.send_sync(name) for name in ("W2", "W3")}
    leads = world.look("W1", f"{ALL} BC0 BT0", "AC0 AT0", offset=OFFSET + 2)
    given = {name: world.synced(token).brief for name, token in {**tokens, "W1": leads}.items()}
    assert sum(assigned != "" for assigned, _ in given.values()) == 2, given
    assert not any(revoked for _, revoked in given.values())
    assert world.looks == looks + 1, "it remembers its last look: one is enough"
    assert world.group.configured is not None
    assert world.group.configured.offset == OFFSET + 2


def test_what_was_deleted_is_told_to_who_runs_it_and_then_the_leader_is_asked_once_more() -> None:
    """CM-41: Connect's leader clears the status of deleted tasks when it is assigned."""
    world = three()
    for name, runs in (("W2", "AT1"), ("W3", "AT2")):
        world.come(name, runs, offset=OFFSET + 2)
    tokens = {name: world.send_sync(name) for name in ("W2", "W3")}
    world.look("W1", "AC0 AT0 AT1", "AC0 AT0", offset=OFFSET + 2)
    assert {name: world.synced(token).brief for name, token in tokens.items()} == {"W2": ("", ""), "W3": ("", "AT2")}
    assert world.beats("W1") is OK
    world.come("W3", "", offset=OFFSET + 2)
    assert world.fetch("W3").brief == ("", "")
    assert world.beats("W1") is AGAIN, "it has been stopped"
    assert world.led("W1", "AC0 AT0 AT1", "AC0 AT0", offset=OFFSET + 2).brief == ("", "")
    assert world.beats("W1") is OK


def test_nothing_is_placed_until_the_leader_has_read_as_far_as_others_but_for_ten_seconds() -> None:
    """CM-44: what is to be placed may not exist any more."""
    fleet = {"W1": "AC0 AT0 AT3", "W2": "AT1 AT4", "W3": "AT2 AT5"}
    world = TranslatedWorld.fleet(fleet)
    world.come("W2", "AT1 AT4", offset=OFFSET + 2)
    world.come("W4", offset=OFFSET + 2)
    assert {name: world.is_to_run(name) for name in fleet} == fleet
    world.keep_alive(9_000, *fleet, "W4")
    assert {name: world.is_to_run(name) for name in fleet} == fleet
    world.keep_alive(2_000, *fleet, "W4")
    assert world.is_to_run("W4")


def test_a_fleet_that_reads_a_file_comes_to_rest() -> None:
    """Found with two workers of ours that speak the classic protocol: their leader was asked with each heartbeat, since
    the offset of a file was never one of the topic.
    """
    world = TranslatedWorld(gather_ms=100)
    waits = [world.send_join(name, offset=FILE_OFFSETS_FROM) for name in ("W1", "W2")]
    world.pass_ms(100)
    world.joined(waits[1])
    token = world.send_sync("W2", offset=FILE_OFFSETS_FROM)
    assert world.led("W1", "AC0 AT0", offset=FILE_OFFSETS_FROM).brief == ("AC0", "")
    assert world.synced(token).brief == ("AT0", "")
    assert world.looks == 1
    assert set(world.keep_alive(50_000, "W1", "W2").values()) == {OK}
    world.come("W2", "AT0", offset=FILE_OFFSETS_FROM + 1)
    world.pass_ms(1_000)
    assert world.beats("W1") is AGAIN, "the file has changed"


def test_a_look_with_a_delay_is_void() -> None:
    """CM-39: what is lost may be hidden in it. The leader forgets, and is asked twice. CM-34: what that look takes away
    is not stopped.
    """
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", {"W2": "-AT1"}, delay_ms=300_000).error is AGAIN
    assert world.group.configured is not None
    assert text(world.group.configured.resources) == ALL
    looks = world.looks
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")
    assert world.looks == looks + 2


def test_nothing_is_given_before_it_is_free() -> None:
    """CM-4, CM-5."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0 AT2", "W2": "AT1 AT3"})
    world.come("W3")
    parked = world.send_sync("W3")
    gives = next(name for name in ("W1", "W2") if world.beats(name) is AGAIN)
    has = world.holds(gives)
    world.come(gives, has)
    revoked = world.fetch(gives).revoked
    assert revoked
    assert world.holds(gives) == has, "it shrinks by a JoinGroup that does not list it"
    assert parked not in world.answers, f"{gives} may be stopping it yet"
    world.come(gives, " ".join(each for each in has.split() if each != revoked))
    assert world.synced(parked).brief == (revoked, "")
    assert world.fetch(gives).brief == ("", "")


@pytest.mark.parametrize(("own", "known", "told"), [(5, 9, 9), (9, 5, 9), (7, 7, 7)])
def test_the_offset_that_is_told_is_not_below_the_workers_own_nor_above_what_is_known(
    own: int, known: int, told: int
) -> None:
    """CM-7, CM-17: a lower one makes it join at once, one above the topic's end can never be read."""
    world = TranslatedWorld()
    world.led("W1", "AC0", offset=known)
    world.come("W2", offset=own)
    token = world.send_sync("W2")
    if token not in world.answers:
        world.look("W1", "AC0", "AC0", offset=max(known, own))
    assert world.synced(token).offset == told


def test_a_worker_that_joins_without_end_is_slowed_down() -> None:
    """CM-7: 15,500 JoinGroups in 8 s were seen."""
    world = three()
    tokens = [world.send_join("W3", "AT2") for _ in range(200)]
    given = sum(token in world.answers and world.joined(token).error is OK for token in tokens)
    assert given < 50
    world.pass_ms(2_000)
    assert world.joined(tokens[-1]).error is OK, "it gets its answer, later"
    assert world.fetch("W3").error is OK


def test_what_the_leader_says_counts_though_somebody_has_joined_or_gone_meanwhile() -> None:
    """CM-8."""
    world = three()
    world.come("W1", "AC0 AT0")
    world.come("W4")
    world.leaves("W3")
    assert world.fetch("W1", {"W1": "", "W2": ""}).error is OK
    assert [world.beats("W1"), world.beats("W2")] == [OK, OK]


def test_nobody_is_told_of_a_delay() -> None:
    """CM-9, CM-45: the coordinator knows by itself when it is over."""
    world = three()
    world.leaves("W3")
    assert world.led("W1", ALL, "AC0 AT0").delay_ms == 0
    world.come("W2", "AT1")
    assert world.fetch("W2").delay_ms == 0


def test_a_leader_that_lets_something_wait_is_not_believed() -> None:
    """CM-39: what waits may be hidden in its answer, so it is made to forget, and asked anew."""
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", {"W1": "", "W2": "", "W3": ""}, delay_ms=40).error is AGAIN
    assert world.group.configured is not None
    looks = world.looks
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")
    assert world.looks == looks + 2, "as one that remembers nothing"


# -- another leader ----------------------------------------------------------------------------------------------------


def test_when_the_leader_is_gone_the_next_one_is_asked_and_the_others_come_once() -> None:
    """CM-11, CM-32: it remembers nothing, so it is asked twice; before it starts anything."""
    world = three()
    world.configure(classic_leader_wait_ms="0")
    assert world.leaves("W1") is OK
    assert world.beats("W2") is AGAIN
    assert world.beats("W3") is OK, "not before there is something to tell"
    looks = world.looks
    told = world.led("W2", ALL, "AT1")
    assert world.looks == looks + 2
    assert (told.leader, told.leader_url, told.brief) == ("W2", "http://W2", ("", ""))
    assert world.beats("W3") is AGAIN
    world.come("W3", "AT2")
    told = world.fetch("W3")
    assert (told.leader, told.brief) == ("W2", ("", ""))
    assert [world.beats("W2"), world.beats("W3")] == [OK, OK]


def test_a_new_leader_notices_what_was_deleted_while_nobody_led() -> None:
    """CM-32, CM-52; and a change is not kept waiting for a leader that may be back."""
    world = three()
    world.leaves("W1")
    token = world.look("W3", "AC0 AT0 AT1", "AT2", offset=OFFSET + 2)
    world.come("W2", "AT1", offset=OFFSET + 2)
    assert world.fetch("W2").brief == ("", "")
    assert world.synced(token).revoked == "AT2"


def test_a_leader_that_is_restarted_leads_again_and_has_its_work_back() -> None:
    """CM-20, CM-48: it costs nobody else a JoinGroup."""
    world = three()
    world.leaves("W1")
    world.close(1)
    world.known.pop("W1")
    world.leaders.pop("W1")
    assert set(world.keep_alive(14_000, "W2", "W3").values()) == {OK}
    looks = world.looks
    told = world.led("W1", ALL, connection=11)
    assert (told.brief, told.leader) == (("AC0 AT0", ""), "W1")
    assert world.looks == looks + 2, "a new process, which remembers nothing"
    assert [world.beats("W1", connection=11), world.beats("W2"), world.beats("W3")] == [OK, OK, OK]


def test_a_leader_that_is_not_back_in_time_is_replaced() -> None:
    """CM-48: its work waits on, as any worker's does."""
    world = three()
    world.leaves("W1")
    told = world.keep_alive(16_000, "W2", "W3")
    assert sorted(map(str, told.values())) == sorted(map(str, (AGAIN, OK)))
    assert world.led("W2", ALL, "AT1").brief == ("", "")
    assert world.is_to_run("W3") == "AT2"


def test_a_leader_is_not_waited_for_where_nobody_is() -> None:
    """CM-48: without a delay its work goes to others at once, which need somebody that leads."""
    world = three()
    world.configure(rebalance_delay_ms="0")
    world.leaves("W1")
    assert AGAIN in world.keep_alive(1_000, "W2", "W3").values()


def test_after_a_load_a_leader_counts_as_one_that_remembers_nothing() -> None:
    """Whether it got its last answer is not in the log (CM-40)."""
    world = three()
    world.restart()
    looks = world.looks
    world.led("W1", ALL, "AC0 AT0")
    assert world.looks == looks + 2


def test_a_leader_whose_answer_was_lost_remembers_nothing() -> None:
    """CM-40, mixed seed 266909: what was deleted meanwhile it does not miss at its first look."""
    world = three()
    world.beats("W1")
    world.come("W1", "AC0 AT0")  # and its SyncGroup does not arrive
    looks = world.looks
    world.look("W1", "AC0 AT0 AT1", "AC0 AT0", offset=OFFSET + 1)
    assert world.looks > looks + 1
    assert world.is_to_run("W3") == "", "AT2 was deleted"


def test_a_heartbeat_while_its_syncgroup_waits_does_not_prove_the_answer() -> None:
    """CM-40, mixed seed 3191439: Connect sends heartbeats as soon as it has joined. The leader had lost its memory with
    the answer, and what it took away for balance was taken for deleted.
    """
    world = three()
    world.beats("W1")
    waiting = world.look("W1", f"{ALL} AT3", "AC0 AT0", offset=OFFSET + 1)
    assert waiting not in world.answers, "its SyncGroup waits for the others' joins"
    assert world.beats("W1") is OK
    world.close(1)
    assert world.beats("W1", connection=11) is OK
    looks = world.looks
    world.look("W1", "AC0 AT0 AT1", "AC0 AT0", offset=OFFSET + 2, connection=11)
    assert world.looks > looks + 1, "as one that remembers nothing"


def test_a_leader_that_brings_nonsense_is_asked_again() -> None:
    world = three()
    world.come("W1", "AC0 AT0")
    assert world.fetch("W1", raw={"W1": b"\x00"}).error is AGAIN
    assert world.beats("W2") is OK, "W1 may believe that it leads"
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")


def test_nothing_new_is_given_while_the_leader_cannot_be_reached() -> None:
    """CM-15, CM-23; and it is given when the leader is back."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT3", "W3": "AT2 AT4"})
    world.come("W4")
    gives = next(name for name in ("W2", "W3") if world.beats(name) is AGAIN)
    has = world.holds(gives)
    world.close(1)
    world.come(gives, has, connection=20)
    revoked = world.fetch(gives, connection=20).revoked
    world.come(gives, " ".join(each for each in has.split() if each != revoked), connection=20)
    world.fetch(gives, connection=20)
    parked = world.send_sync("W4")
    world.pass_ms(4_000)
    assert world.synced(parked).brief == ("", "")
    world.beats("W1", connection=11)
    world.pass_ms(10)
    assert world.beats("W4") is AGAIN
    world.come("W4", "")
    assert world.fetch("W4").brief == (revoked, "")


# -- how long what is lost waits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers_ms", [300_000, 60_000, 0])
def test_how_long_lost_work_waits_is_learned_from_the_leader(workers_ms: int) -> None:
    """CM-36: what users have set on their workers goes on to count."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"}, asks_delay=True)
    world.leaders["W1"].max_delay_ms = workers_ms
    names = ("W1", "W2", "W3")
    assert world.keep_alive(60_000, *names)["W1"] is AGAIN
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")
    assert set(world.keep_alive(10_000, *names).values()) == {OK}, "nothing moves by that"
    world.restart()
    assert (world.describe().rebalance_delay_ms, world.describe().rebalance_delay_source) == (workers_ms, 2)
    world.configure(rebalance_delay_ms="7000")
    assert (world.describe().rebalance_delay_ms, world.describe().rebalance_delay_source) == (7_000, 1)


@pytest.mark.parametrize("workers_ms", [300_000, 5_000, 0])
@pytest.mark.parametrize("is_alone", [False, True])
def test_a_worker_that_is_lost_early_waits_for_as_long_as_the_workers_say(workers_ms: int, is_alone: bool) -> None:
    """CM-36: who has set a short delay does not find the coordinator's at the first loss. Found with a real
    fleet, whose dead worker's tasks ran nowhere for 300 s where 5 s were set.
    """
    has = {"W1": "AC0 AT0", "W3": "AT1"} if is_alone else {"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"}
    world = TranslatedWorld.fleet(has, asks_delay=True)
    world.leaders["W1"].max_delay_ms = workers_ms
    *others, lost = has
    told = world.keep_alive(30_000, *others)
    assert told["W1"] is AGAIN
    world.led("W1", " ".join(has.values()), "AC0 AT0")
    assert world.looks == 4, (
        "the first one; one in which the lost worker is missing; one that ends its leader's wait; and one more, since "
        "only a leader that was shown everything before says what was deleted"
    )
    assert (world.describe().rebalance_delay_ms, world.describe().rebalance_delay_source) == (workers_ms, 2)

    def given() -> bool:
        return has[lost] in " ".join(world.is_to_run(name) for name in others)

    assert given() is (workers_ms <= 5_000), "the worker has been away for 20 s"
    world.keep_alive(workers_ms, *others)
    assert given()
