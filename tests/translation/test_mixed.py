"""What happens where workers of both protocols are in one group? Who computes, what is told whom, and in which order,
request by request.
"""

from __future__ import annotations

import pytest

from kcoord.group.connect.computing import PATIENCE
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.protocol.embedded import decode_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.resources import unpack
from tests.group.connect.world import Told, assignor, packed, res, text
from tests.translation.test_storms import Nonsense, Worker
from tests.translation.translated_world import AGAIN, OFFSET, OK, TranslatedWorld

COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT
READS_ALL = assignor("connect", -1, 0, version=0)
READS_NEW = assignor("connect", 0, 0)
ALL = "AC0 AT0 AT1 AT2"
NEW = 50
"""The connection of the worker of the new protocol."""


def two() -> TranslatedWorld:
    """Two classic workers at rest."""
    return TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 AT2"})


def beside(world: TranslatedWorld, reads_all: bool) -> Told:
    """A worker of the new protocol joins."""
    return world.join(
        "N1",
        NEW,
        client_assignors=[READS_ALL if reads_all else READS_NEW],
        url="http://N1",
        config_offset=OFFSET,
        configured_connectors_and_tasks=packed(ALL),
    )


def handed_over() -> TranslatedWorld:
    """The new worker has taken the lead."""
    world = two()
    beside(world, reads_all=True)
    waits = world.send_join("W1", "AC0 AT0")
    assert world.beat("N1", 0, connection=NEW).error is COMPUTE
    ids = world.known
    world.compute("N1", 0, {ids["W1"]: "AC0 AT0", ids["W2"]: "AT1", "N1": "AT2"}, connection=NEW)
    assert world.joined(waits).leader == "N1"
    assert world.fetch("W1").leader == "N1"
    return world


# -- a classic worker leads -------------------------------------------------------------------------------------------


def test_a_new_worker_that_does_not_read_theirs_leaves_the_lead_to_a_classic_one() -> None:
    world = two()
    assert beside(world, reads_all=False).error is OK
    assert [world.beats("W1"), world.beats("W2")] == [OK, AGAIN], "CM-33: W2 gives, and W1 is asked nothing"
    assert world.targets()["N1"] == "AT2"
    joined = world.come("W1", "AC0 AT0")
    assert joined.shown == {"W1": (OFFSET, "AC0 AT0"), "W2": (OFFSET, "AT1"), "N1": (OFFSET, "AT2")}
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")


def test_what_moves_to_a_new_worker_moves_when_the_classic_one_has_stopped_it() -> None:
    """CG-2 across both protocols."""
    world = two()
    beside(world, reads_all=False)
    world.lead("W1", {"W1": "", "W2": "-AT1", "N1": "+AT1"}, "AC0 AT0")
    assert world.beat("N1", 0, "", connection=NEW).owned == ""
    world.come("W2", "AT1 AT2")
    revoked = world.fetch("W2").revoked
    assert revoked
    assert world.beat("N1", 0, "", connection=NEW).owned == ""
    world.come("W2", text(unpack(packed("AT1 AT2")) - unpack(packed(revoked))))
    assert world.beat("N1", 0, "", connection=NEW).owned == revoked


def test_what_moves_to_a_classic_worker_moves_when_the_new_one_has_released_it() -> None:
    """CG-3 across both protocols."""
    world = handed_over()
    assert world.beat("N1", 0, "", connection=NEW).owned == ""
    world.come("W2", "AT1 AT2")
    assert world.fetch("W2").brief == ("", "AT2")
    world.come("W2", "AT1")
    world.fetch("W2")
    told = world.beat("N1", 0, "", connection=NEW)
    assert told.owned == "AT2"
    world.come("W3")
    parked = world.send_sync("W3")
    assert world.beat("N1", told.epoch, "AT2", connection=NEW).error is COMPUTE
    ids = world.known
    world.compute("N1", told.epoch, {ids["W1"]: "AC0 AT0", ids["W2"]: "AT1", ids["W3"]: "AT2"}, connection=NEW)
    assert parked not in world.answers
    told = world.beat("N1", told.epoch, "AT2", connection=NEW)
    assert told.owned == ""
    assert parked not in world.answers, "it was told, and has not said that it stopped"
    world.beat("N1", told.epoch, "", connection=NEW)
    assert world.synced(parked).brief == ("AT2", "")


def test_when_the_classic_leader_goes_another_classic_one_leads() -> None:
    world = two()
    beside(world, reads_all=False)
    world.lead("W1", {"W1": "", "W2": "", "N1": ""}, "AC0 AT0")
    world.leaves("W1")
    world.pass_ms(5_000)
    world.beats("W2")
    world.keep_alive(9_000, "W2")
    assert world.keep_alive(2_000, "W2")["W2"] is AGAIN, "it might have been back"
    assert world.come("W2", "AT1 AT2").leads


def test_a_leader_that_has_not_seen_before_what_a_new_worker_has_added_does_not_say_that_it_was_deleted() -> None:
    """Plan 240260: N1 had read of connector B, and ran it, before W1 was asked again. By then B was deleted. W1 had
    never been shown B, and said that AC0 was deleted instead: what it sees for the first time it takes for good. So it
    is asked twice, as a leader that remembers nothing (CM-52).
    """
    world = two()
    beside(world, reads_all=False)
    world.lead("W1", {"W1": "", "W2": "", "N1": ""}, "AC0 AT0")
    added = packed(f"{ALL} BC0")
    assert world.beat("N1", 0, "", NEW, config_offset=OFFSET + 1, configured_connectors_and_tasks=added).owned == "BC0"
    assert world.beats("W1") is OK, "it has got its last answer, and remembers that"
    looks = world.looks
    world.look("W1", ALL, "AC0 AT0", offset=OFFSET + 2)
    assert world.targets() == {world.known["W1"]: "AC0 AT0", world.known["W2"]: "AT1", "N1": "AT2"}
    assert world.looks == looks + 2


def test_what_a_new_worker_says_of_a_second_change_is_waited_for_after_the_first() -> None:
    """Plan 387750: a round was open when N1 had read of the next change. No round followed, and what that change had
    added was started while a slower worker ran its tasks as of before.
    """
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"})
    beside(world, reads_all=False)
    world.lead("W1", {"W1": "", "W2": "", "W3": "", "N1": ""}, "AC0 AT0")
    world.come("W2", "AT1", offset=OFFSET + 1)
    waits = [world.send_sync("W2")]
    added, epoch = packed(f"{ALL} BC0"), world.member("N1").epoch
    told = world.beat("N1", epoch, "", NEW, config_offset=OFFSET + 2, configured_connectors_and_tasks=added)
    assert told.error is OK
    world.pass_ms(1_000)
    assert world.beats("W3") is AGAIN, "so it opens no round by its own JoinGroup"
    world.come("W3", "AT2", offset=OFFSET + 2)
    waits.append(world.send_sync("W3"))
    world.keep_alive(10_000, "W1")
    assert world.answers.keys().isdisjoint(waits), "W1 may run what they would start, as it was before"
    world.keep_alive(10_000, "W1")
    assert [world.synced(each).error for each in waits] == [OK, OK], "each round is bounded"


# -- the new worker leads ----------------------------------------------------------------------------------------------


def test_the_classic_leader_gives_way_before_the_new_worker_computes() -> None:
    """CM-14: its JoinGroup is parked first."""
    world = two()
    assert beside(world, reads_all=True).error is OK, "W1 leads yet"
    assert [world.beats("W1"), world.beats("W2")] == [AGAIN, OK]
    assert world.beat("N1", 0, connection=NEW).error is OK
    waits = world.send_join("W1", "AC0 AT0")
    assert waits not in world.answers
    assert world.beat("N1", 0, connection=NEW).error is COMPUTE
    prepared = world.prepare("N1", 0, NEW)
    shown = {
        each.member_id: (each.assignor.version, text(unpack(each.connectors_and_tasks))) for each in prepared.members
    }
    ids = world.known
    assert shown == {ids["W1"]: (-1, "AC0 AT0"), ids["W2"]: (-1, "AT1 AT2"), "N1": (0, "")}
    states = [decode_state(each.assignor.metadata) for each in prepared.members if each.assignor.version == -1]
    assert {(state.url, state.config_offset) for state in states} == {("http://W1", OFFSET), ("http://W2", OFFSET)}
    targets = {ids["W1"]: "AC0 AT0", ids["W2"]: "AT1", "N1": "AT2"}
    assert world.install("N1", 0, prepared.group_epoch, targets, connection=NEW) is OK
    joined = world.joined(waits)
    assert (joined.leads, joined.leader, joined.shown) == (False, "N1", {})
    told = world.fetch("W1")
    assert (told.leader, told.leader_url, told.brief, told.offset) == ("N1", "http://N1", ("", ""), OFFSET)
    assert world.beats("W2") is AGAIN, "it knows another leader, and has something to stop"


def test_the_others_come_once_when_the_lead_goes_to_the_new_worker() -> None:
    """CM-11."""
    world = handed_over()
    world.come("W2", "AT1 AT2")
    assert world.fetch("W2").leader == "N1"
    world.come("W2", "AT1")
    assert world.fetch("W2").brief == ("", "")
    assert [world.beats("W1"), world.beats("W2")] == [OK, OK]


def test_a_classic_leader_that_does_not_give_way_is_out_after_its_rebalance_timeout() -> None:
    """CM-14."""
    world = two()
    beside(world, reads_all=True)
    for _ in range(59):
        world.pass_ms(1_000)
        assert world.beat("N1", 0, connection=NEW).error is OK
        world.beats("W1")
        world.beats("W2")
    world.pass_ms(2_000)
    assert world.beats("W1") is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.beat("N1", 0, connection=NEW).error is COMPUTE


def test_the_classic_leader_is_asked_nothing_while_the_new_worker_computes_yet() -> None:
    """Plan 167828: with N2, which lists no assignor, the choice went over to the classic leader while N1 computed. That
    leader was asked what exists, and again after each answer, since nobody leads while another computes: a storm of
    JoinGroups. It is asked when N1 has installed.
    """
    world = handed_over()
    world.come("W3")
    assert world.beat("N1", 0, connection=NEW).error is COMPUTE
    prepared = world.prepare("N1", 0, NEW)
    world.join("N2", NEW + 1, client_assignors=[], url="http://N2")
    assert world.beats("W1") is OK
    assert not world.come("W1", "AC0 AT0").leads, "nor if it joins by itself"
    assert world.fetch("W1").leader == "N1"
    ids = world.known
    targets = {ids["W1"]: "AC0 AT0", ids["W2"]: "AT1", ids["W3"]: "", "N1": "AT2"}
    assert world.install("N1", 0, prepared.group_epoch, targets, connection=NEW) is OK
    assert world.beats("W1") is AGAIN
    assert world.led("W1", ALL, "AC0 AT0").leader == "W1"


def test_when_the_new_leader_dies_a_classic_worker_leads() -> None:
    world = handed_over()
    world.keep_alive(11_000, "W1", "W2")
    assert "N1" not in world.group.members
    assert world.come("W1", "AC0 AT0").leads
    assert world.led("W1", ALL, "AC0 AT0").brief == ("", "")


def test_a_leader_that_has_followed_a_new_worker_remembers_nothing() -> None:
    """Plan 417192: W1 followed N1, so its assignor forgot its own last picture, and was believed to remember it. When a
    connector was deleted then, it took real tasks away to balance what was left, and these were taken for deleted.
    """
    world = handed_over()
    world.keep_alive(2_000, "W1")
    world.configure(migration_policy="upgrade")
    assert world.beat("N1", -1, connection=NEW).error is OK
    looks = world.looks
    world.look("W1", ALL, "AC0 AT0")
    assert world.looks == looks + 2


def test_when_the_new_leader_leaves_a_classic_worker_leads_and_sees_all_that_there_is() -> None:
    world = handed_over()
    world.configure(migration_policy="upgrade")
    assert world.beat("N1", -1, connection=NEW).error is OK
    joined = world.come("W1", "AC0 AT0")
    assert joined.leads
    assert {name: held for name, (_, held) in joined.shown.items()} == {
        "W1": "AC0 AT0",
        "W2": "AT1",
        "W1-1#absent#0": "AT2",
    }


@pytest.mark.parametrize("how", ["nonsense", "error", "silence"])
def test_a_new_worker_that_fails_again_and_again_leaves_it_to_a_classic_one(how: str) -> None:
    """CG-20; and the group goes on."""
    world = two()
    beside(world, reads_all=True)
    classic = [Worker(world, name, Nonsense(), runs=res(world.holds(name))) for name in ("W1", "W2")]
    computes = 0
    for _ in range(200):
        for each in classic:
            each.tick()
        told = world.beat("N1", world.member("N1").epoch, connection=NEW)
        if told.error is COMPUTE and how != "silence":
            prepared = world.prepare("N1", told.epoch, NEW)
            targets = {"nobody": "AT2"} if how == "nonsense" else {}
            world.install(
                "N1", told.epoch, prepared.group_epoch, targets, error=1 if how == "error" else 0, connection=NEW
            )
            computes += 1
        world.pass_ms(1_000)
    assert computes == (0 if how == "silence" else PATIENCE)
    assert world.group.computed_by == world.known["W1"]
    assert world.group.epoch == world.group.assignment_epoch
    assert world.targets()["N1"] == "AT2", "the coordinator places, whoever leads"


def test_an_offset_is_told_to_classic_workers_that_is_not_below_their_own() -> None:
    """CM-7."""
    world = handed_over()
    world.beats("W2")  # it is called
    world.come("W2", "AT1 AT2", offset=OFFSET + 7)
    token = world.send_sync("W2")
    world.pass_ms(10_000)
    assert world.synced(token).offset == OFFSET + 7


# -- default (eager) beside the new protocol ---------------------------------------------------------------------------


def test_with_default_the_classic_workers_stop_all_before_any_starts_anew() -> None:
    """CM-16: the full barrier among them, beside workers of the new protocol too."""
    world = two()
    beside(world, reads_all=False)
    world.lead("W1", {"W1": "", "W2": "", "N1": "+AT2"}, "AC0 AT0")
    eager = world.send_join("W3", protocol=0)
    assert eager not in world.answers
    assert [world.beats("W1"), world.beats("W2")] == [AGAIN, AGAIN]
    assert world.beat("N1", 0, connection=NEW).error is OK, "it is not of the barrier"
    world.send_join("W1", "AC0 AT0")
    assert eager not in world.answers, "not before all have come"
    assert world.phase("W2") is Phase.PREPARING


def test_a_worker_that_joins_late_in_the_barrier_has_time_to_stop_what_it_runs() -> None:
    """Plan 3510: told at the last moment to stop everything and come once more, it was put out before it could."""
    world = two()
    eager = world.send_join("W3", protocol=0)
    world.keep_alive(59_000, "W1", "W2")
    assert world.come("W1", "AC0 AT0").error is OK
    assert world.fetch("W1").brief == ("", "AC0 AT0")
    world.keep_alive(5_000, "W1", "W2")
    assert not world.member(world.known["W1"]).evicted
    assert world.member(world.known["W2"]).evicted, "which has not come at all"
    assert eager not in world.answers
    world.send_join("W1", "")
    assert world.joined(eager).error is OK, "all have come"


def test_workers_that_never_stop_keep_a_barrier_up_once_only() -> None:
    world = two()
    eager = world.send_join("W3", protocol=0)
    world.keep_alive(50_000, "W1", "W2")
    for name, runs in (("W1", "AC0 AT0"), ("W2", "AT1 AT2")):
        assert world.come(name, runs).error is OK
        assert world.fetch(name).brief == ("", runs)
        world.keep_alive(5_000, "W1", "W2")
    world.keep_alive(40_000, "W1", "W2")
    assert world.come("W1", "AC0 AT0").error is OK, "it says that it has not stopped"
    assert world.fetch("W1").brief == ("", "AC0 AT0")
    world.keep_alive(14_000, "W1", "W2")
    assert eager not in world.answers, "W2 was told 59 s ago"
    world.keep_alive(2_000, "W1", "W2")
    assert [world.member(world.known[name]).evicted for name in ("W1", "W2")] == [True, True]
    assert world.joined(eager).error is OK


def test_what_was_stopped_under_default_is_not_run_again_when_the_protocol_changes() -> None:
    """Plan 3510: W2 has stopped what it lists. The last worker that speaks only `default` goes while the JoinGroup of
    W2 waits, and by an answer in `sessioned` Connect runs on what that does not take away.
    """
    world = two()
    beside(world, reads_all=False)
    world.lead("W1", {"W1": "", "W2": "", "N1": ""}, "AC0 AT0")
    eager = world.send_join("W3", protocol=0)
    for name, runs in (("W1", "AC0 AT0"), ("W2", "AT1 AT2")):
        assert world.come(name, runs).error is OK
        assert world.fetch(name).brief == ("", runs)
    for joins in [eager, *[world.send_join(name, "") for name in ("W1", "W2")]]:
        assert world.joined(joins).protocol == "default"
    second = world.send_sync("W2", protocol="default")
    world.fetch("W1", {"W1": "+AC0 +AT0", "W2": "+AT1", "W3": "", "N1": "+AT2"}, protocol="default")
    assert world.synced(second).brief == ("AT1", "")
    world.close(1)  # the leader cannot be asked: nobody is given anything
    waits = world.send_join("W2", "AT1")
    assert waits not in world.answers
    assert world.holds("W2") == ""
    world.leaves("W3")
    assert world.joined(waits).protocol == "sessioned"
    told = world.send_sync("W2")
    world.pass_ms(4_000)
    assert world.synced(told).brief == ("", "AT1")
    assert world.beats("W2") is OK


def test_a_leader_that_was_to_stop_everything_under_default_is_not_told_that_it_leads() -> None:
    """Plan 218890: a worker that has to stop everything before it speaks `default` is answered as a follower, the
    leader too. Then W3 left, and `default` was no longer spoken: the SyncGroup of W1 told it that it leads, though it
    had not been shown who runs what.
    """
    world = two()
    world.send_join("W3", protocol=0)
    assert not world.come("W1", "AC0 AT0").leads
    world.leaves("W3")
    assert world.fetch("W1").error is AGAIN
    told = world.led("W1", ALL, "AC0 AT0")
    assert (told.leader, told.brief) == ("W1", ("", ""))


def test_with_default_all_start_as_of_the_newest_configuration_that_any_has_read() -> None:
    """Seeds 17043, 20735: nobody computes for a change of task configurations alone, or the leader has read less."""
    world = TranslatedWorld()
    beside(world, reads_all=True)
    assert world.come("W1", protocol=0).error is OK
    world.send_sync("W1", protocol="default")
    world.send_join("W2", protocol=0)
    world.compute("N1", 0, {world.known["W1"]: "AC0 AT0", world.known["W2"]: "AT1", "N1": "AT2"}, connection=NEW)
    newer = world.send_join("W2", protocol=0, offset=OFFSET + 4)
    assert newer not in world.answers
    assert world.beats("W1") is AGAIN
    assert world.come("W1", protocol=0).error is OK
    assert world.joined(newer).error is OK
    told = [world.fetch(name, protocol="default") for name in ("W1", "W2")]
    assert [(each.assigned, each.offset) for each in told] == [("AC0 AT0", OFFSET + 4), ("AT1", OFFSET + 4)]


def test_who_could_not_be_told_of_the_new_leader_is_told_once_the_looks_of_others_are_over() -> None:
    """CM-11; plans 1730922, 1808440. W1 leads and leaves, W2 is asked in its place, joins and dies; the new
    worker takes the lead meanwhile. While W2 may be back with its answer nobody relies on the new leader, so W4 was not
    called. When W2's session had ended W3 was asked instead, and told who leads; and nobody looked at W4 again: it took
    W1 for the leader for good.
    """
    world = TranslatedWorld.fleet({"W1": "AC0", "W2": "AT0", "W3": "", "W4": ""})
    world.configure(rebalance_delay_ms="0")
    assert world.leaves("W1") is OK
    assert world.beats("W2") is AGAIN
    assert world.come("W2", "AT0").leads
    named = {"config_offset": OFFSET, "configured_connectors_and_tasks": packed("AC0 AT0")}
    told = world.join("N1", NEW, client_assignors=[READS_ALL], url="http://N1", **named)
    while "W2" in map(world.name, world.group.members):
        told = led_by_new_worker(world, told)
        world.keep_alive(1_000, "W4")
        world.beats("W3")
    world.come("W3", "")
    waits = world.send_sync("W3")
    for _ in range(3):
        told = led_by_new_worker(world, told)
    assert world.synced(waits).leader == "N1"
    assert world.beats("W4") is AGAIN
    world.come("W4", "")
    assert world.fetch("W4").leader == "N1"


def test_a_group_that_was_loaded_before_its_next_leader_led_is_assigned_anew() -> None:
    """Plan 2160833. N1 led and is gone. N2 failed to compute, so that W1 was to lead in its place; what exists was
    placed, and the group was loaded before W1 had answered. Then N2 was to lead again, but nobody asked it: the leader
    of the installed assignment was N1 for good, and nobody was given what it had yet to start.
    """
    world = handed_over()
    named = {"config_offset": OFFSET, "configured_connectors_and_tasks": packed(ALL)}
    world.join("N2", NEW + 1, client_assignors=[READS_ALL], url="http://N2", **named)
    assert world.beat("N1", -1, connection=NEW).error is OK
    failed = 0
    while failed < PATIENCE:
        epoch = world.member("N2").epoch
        if world.beat("N2", epoch, connection=NEW + 1).error is COMPUTE:
            prepared = world.prepare("N2", epoch, NEW + 1)
            world.install("N2", epoch, prepared.group_epoch, {}, error=1, connection=NEW + 1)
            failed += 1
        world.keep_alive(1_000, "W1", "W2")
    leader = Worker(world, "W1", Nonsense(), runs=res("AC0 AT0"))
    while world.group.error:
        leader.tick()
        world.pass_ms(100)
    assert world.group.classic.look is not None, "W1 has yet to be told that it leads"
    world.restart()
    assert world.group.computed_by not in world.group.members
    assert world.beat("N2", world.member("N2").epoch, connection=NEW + 2).error is COMPUTE


def led_by_new_worker(world: TranslatedWorld, told: Told) -> Told:
    """The new worker beats; it computes if it is asked to, and runs all."""
    if told.error is COMPUTE:
        given = {each: "AC0 AT0" if each == "N1" else "" for each in world.group.members}
        world.compute("N1", told.epoch, given, connection=NEW)
    return world.beat("N1", told.epoch, connection=NEW)
