"""Is a classic group converted in whichever state it is? What each worker may be running, what it is to run, and who is
called, for each embedded protocol; by a worker of the new protocol that joins, and by the mode.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kcoord.protocol.embedded import NAMES, SESSIONED, WorkerAssignment, WorkerState, encode_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as heartbeat_request
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.resources import pack
from tests.conversion.hand import GROUP, REBALANCE_MS, Hand
from tests.group.connect.world import res

REJOIN = ErrorCode.REBALANCE_IN_PROGRESS
DONE, CALLED = "Stable", "PreparingRebalance"


def gathered(hand: Hand) -> list[object]:
    """A (the leader) runs A's connector already, B nothing: both join, within the initial delay."""
    tokens = [hand.join("A", "AC0"), hand.join("B")]
    hand.note_ids()
    return tokens


def completing(hand: Hand) -> list[object]:
    """The leader has yet to bring its assignment; B waits for it."""
    tokens = gathered(hand)
    hand.pass_ms(5_000)
    hand.joined(*tokens)
    return [hand.sync("B")]


def unsynced(hand: Hand) -> list[object]:
    """A has assigned, and B has not fetched its part."""
    tokens = gathered(hand)
    hand.pass_ms(5_000)
    hand.joined(*tokens)
    hand.sync("A", A="AT1" if hand.version else "AC0 AT1", B="BC0 BT1")
    return []


def stable(hand: Hand) -> list[object]:
    """Both have their assignments."""
    unsynced(hand)
    hand.sync("B")
    return []


def joined_again(hand: Hand) -> list[object]:
    """B has lost the answer that had its assignment, has joined again and was told the generation as it is."""
    stable(hand)
    assert hand.error(hand.join("B")) is ErrorCode.NONE
    return []


def revoked(hand: Hand) -> list[object]:
    """A was told to stop its connector, and has not said yet that it has."""
    tokens = gathered(hand)
    hand.pass_ms(5_000)
    hand.joined(*tokens)
    hand.sync("A", A="AT1 -AC0" if hand.version else "AT1", B="BC0 BT1")
    hand.sync("B")
    return []


def preparing(hand: Hand) -> list[object]:
    """C has come; B has joined again, and runs only one of its two, A has not yet."""
    stable(hand)
    newcomer = hand.join("C")
    again = hand.join("B", "BC0" if hand.version else "")
    hand.note_ids()
    return [newcomer, again]


def preparing_from_unsynced(hand: Hand) -> list[object]:
    """C has come before B has fetched its part."""
    unsynced(hand)
    newcomer = hand.join("C")
    hand.note_ids()
    return [newcomer]


def preparing_from_completing(hand: Hand) -> list[object]:
    """C has come before the leader has assigned."""
    tokens = completing(hand)
    newcomer = hand.join("C")
    assert hand.error(tokens[0]) is REJOIN
    hand.note_ids()
    return [newcomer]


Owned = dict[str, tuple[str, str]]

# the state, what is owned under default, what under the others, whom it calls, the epoch above the generation
REVOKES = "Stable, one revokes"
CASES: dict[str, tuple[Callable[[Hand], list[object]], Owned, Owned, set[str], int]] = {
    "Stable": (
        stable,
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        set(),
        0,
    ),
    REVOKES: (
        revoked,
        {"A": ("AT1", "AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        {"A": ("AC0 AT1", "AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        {"A"},
        1,
    ),
    "Stable, one has not synced": (
        unsynced,
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        {"B"},
        0,
    ),
    "Stable, one has joined again": (
        joined_again,
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1")},
        {"B"},
        0,
    ),
    "CompletingRebalance": (
        completing,
        {"A": ("", ""), "B": ("", "")},
        {"A": ("AC0", "AC0"), "B": ("", "")},
        {"A", "B"},
        1,
    ),
    "PreparingRebalance": (
        preparing,
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("", ""), "C": ("", "")},
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0", "BC0"), "C": ("", "")},
        {"A", "B", "C"},
        1,
    ),
    "PreparingRebalance, one has not synced": (
        preparing_from_unsynced,
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1"), "C": ("", "")},
        {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1"), "C": ("", "")},
        {"A", "B", "C"},
        1,
    ),
    "PreparingRebalance, before anything was assigned": (
        preparing_from_completing,
        {"A": ("", ""), "B": ("", ""), "C": ("", "")},
        {"A": ("AC0", "AC0"), "B": ("", ""), "C": ("", "")},
        {"A", "B", "C"},
        1,
    ),
    "PreparingRebalance, the first": (
        gathered,
        {"A": ("", ""), "B": ("", "")},
        {"A": ("AC0", "AC0"), "B": ("", "")},
        {"A", "B"},
        1,
    ),
}
STATES = pytest.mark.parametrize("state", CASES)
VERSIONS = pytest.mark.parametrize("version", [0, 1, 2], ids=["default", "compatible", "sessioned"])


def in_state(state: str, version: int) -> tuple[Hand, list[object], int]:
    hand = Hand(version=version)
    waiting = CASES[state][0](hand)
    assert all(hand.error(token) is None for token in waiting)
    generation = hand.shard.facts(GROUP).generation
    assert generation is not None
    return hand, waiting, generation


@VERSIONS
@STATES
def test_a_worker_of_the_new_protocol_converts_the_group_in_any_state(state: str, version: int) -> None:
    hand, waiting, generation = in_state(state, version)
    _, eager, incremental, called, above = CASES[state]
    before = len(hand.steps)
    answer = hand.start_new()
    assert answer.error_code == ErrorCode.NONE
    assert len(hand.steps) == before + 1, "one step"
    assert hand.owned() == (incremental if version else eager)
    assert [hand.error(token) for token in waiting] == [REJOIN] * len(waiting)
    if state == REVOKES and not version:
        above = 0  # `default` takes nothing away: all is told to each in every round
    assert hand.group.epoch == generation + above + 1, "and one for the worker that joined"
    if version:
        asked = set() if hand.group.classic.look is None else {hand.group.classic.look.leader.partition("-")[0]}
        assert {who for who, phase in hand.phases().items() if phase == CALLED} == called | asked


@pytest.mark.parametrize("version", [1, 2], ids=["compatible", "sessioned"])
@STATES
def test_the_mode_converts_the_group_in_any_state(state: str, version: int) -> None:
    hand, waiting, generation = in_state(state, version)
    _, _, incremental, called, above = CASES[state]
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    assert hand.owned() == incremental
    assert [hand.error(token) for token in waiting] == [REJOIN] * len(waiting)
    assert hand.group.epoch == generation + above
    assert {who for who, phase in hand.phases().items() if phase == CALLED} == called
    for who in hand.generations:
        assert hand.beat(who) == (REJOIN if who in called else ErrorCode.NONE), "the generation that it knows is valid"


@pytest.mark.parametrize("is_loaded", [False, True], ids=["at once", "after a load"])
@pytest.mark.parametrize("version", [1, 2], ids=["compatible", "sessioned"])
@pytest.mark.parametrize("state", [each for each in CASES if each != REVOKES])
def test_who_has_not_said_what_it_runs_is_given_nothing_before_it_has_joined(
    state: str, version: int, is_loaded: bool
) -> None:
    """Seeds 2446111 and 2962168: B had not heard what it was to run, and the group took it to run that. What B was
    given then was the difference to what it never started. The order to join is lost with a load, the rule is not.
    """
    hand, _, _ = in_state(state, version)
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    hand = hand.reloaded() if is_loaded else hand
    called = {who for who in CASES[state][3] & hand.generations.keys() if hand.owned()[who][0]}
    for who in called:
        assert hand.error(hand.sync(who)) is REJOIN
    if "B" in called and "Stable" in state:
        hand.joined(hand.join("B"))  # it runs nothing
        assert hand.told(hand.sync("B")) == ("BC0 BT1", "")


def test_rules_have_the_leader_of_a_converted_group_asked_what_exists_at_once() -> None:
    """Nothing can be placed before."""
    hand, _, _ = in_state("Stable", SESSIONED)
    hand.configure(classic_mode="individual")
    assert CALLED not in hand.phases().values(), "nobody need know"
    hand.configure(classic_mode="individual", placement='{"cordon":[{"worker":"http://B"}]}')
    assert hand.group.epoch > hand.group.assignment_epoch
    assert hand.group.classic.look is not None
    assert hand.phases() == {"A": CALLED, "B": DONE}


@STATES
def test_default_has_its_barrier_whatever_the_mode(state: str) -> None:
    hand, waiting, generation = in_state(state, 0)
    hand.configure(classic_mode="individual")
    assert GROUP in hand.state.groups
    assert [hand.error(token) for token in waiting] == [None] * len(waiting)
    assert hand.shard.facts(GROUP).generation == generation


@VERSIONS
@STATES
def test_a_crash_anywhere_finds_one_group_or_the_other(state: str, version: int) -> None:
    hand, _, _ = in_state(state, version)
    steps_before = len(hand.steps)
    hand.start_new()
    after = hand.steps[-1]
    for position in hand.steps:
        for compact in (False, True):
            found = hand.reloaded(position, compact)
            assert (GROUP in found.state.connect) == (position == after)
            if position == after:
                assert found.owned() == hand.owned()
                assert found.group.epoch >= hand.group.epoch
                for who in hand.generations:
                    assert found.beat(who) in (ErrorCode.NONE, REJOIN)
    assert len(hand.steps) == steps_before + 1


@VERSIONS
@STATES
def test_and_back_again(state: str, version: int) -> None:
    """Whoever knew a generation before is told to join, also after a load, and never reset."""
    hand, _, _ = in_state(state, version)
    hand.start_new()
    ran = {who: current for who, (current, _) in hand.owned().items()}
    epoch = hand.group.epoch
    hand.stop_new()
    reloads = [hand.reloaded(), hand.reloaded(compact=True)]
    for found in (hand, *reloads):
        classic = found.state.groups[GROUP]
        assert GROUP not in found.state.connect
        assert classic.state.label == "PreparingRebalance"
        assert classic.generation > epoch
        assert {each.partition("-")[0] for each in classic.members} == ran.keys()
        for who, known in found.generations.items():
            assert found.beat(who) is REJOIN
            assert found.beat(who, classic.generation) is REJOIN
            assert found.error(found.sync(who)) is REJOIN
            assert found.beat(who, classic.generation + 1) is ErrorCode.ILLEGAL_GENERATION
            assert known < classic.generation
        tokens = [found.join(who, ran[who] if version else "") for who in ran]
        assert all(found.error(token) is ErrorCode.NONE for token in tokens), "all are there"
        found.joined(*tokens)
        assert set(found.generations.values()) == {classic.generation}
        first = next(iter(found.generations))
        assert found.beat(first, classic.generation - 1) is ErrorCode.ILLEGAL_GENERATION, "as ever, from now on"


def test_a_group_that_was_converted_back_puts_out_who_does_not_come() -> None:
    hand, _, _ = in_state("Stable", 2)
    hand.start_new()
    hand.stop_new()
    hand.join("A", "AC0 AT1")
    while GROUP in hand.state.groups and len(hand.state.groups[GROUP].members) > 1:
        hand.pass_ms(1_000)
    assert [each.partition("-")[0] for each in hand.state.groups[GROUP].members] == ["A"]


@pytest.mark.parametrize("how", ["a new worker", "the mode"])
def test_back_and_forth_before_anybody_has_joined_again(how: str) -> None:
    """Each worker knows a generation of its own yet; none is reset for it, nor after a load."""
    hand, _, _ = in_state("Stable", 2)
    hand.configure(classic_heartbeat_wait_ms="0")
    hand.start_new()
    hand.stop_new()
    assert hand.state.groups[GROUP].was_converted
    if how == "the mode":
        hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    else:
        hand.start_new()
    assert hand.owned() == {"A": ("AC0 AT1", "AC0 AT1"), "B": ("BC0 BT1", "BC0 BT1")}
    for found in (hand.reloaded(), hand.reloaded(compact=True), hand):
        for who in found.generations:
            assert found.beat(who) in (ErrorCode.NONE, REJOIN)
            assert found.beat(who, found.group.epoch + 1) is ErrorCode.ILLEGAL_GENERATION
    hand.stop_new()
    assert (GROUP in hand.state.groups) == (how != "the mode")


def configured(resources: str) -> list[heartbeat_request.ConnectorsAndTasks]:
    return pack(res(resources), heartbeat_request.ConnectorsAndTasks, heartbeat_request.ConnectorTaskId)


@pytest.mark.parametrize("version", [1, 2], ids=["compatible", "sessioned"])
@pytest.mark.parametrize("state", [state for state, (*_, called, _) in CASES.items() if "B" in called])
def test_whoever_the_conversion_has_called_is_called_after_a_load_too(state: str, version: int) -> None:
    """CM-28, plan 3810176: the coordinator was restarted before those who were called had heard of it. The next one
    called the others only when their leader was ready, and it called the leader never: all of them stood still.
    """
    hand, _, _ = in_state(state, version)
    hand.start_new(configured_connectors_and_tasks=configured("AC0 AT1 BC0 BT1"), config_offset=7)
    called = {who for who, phase in hand.phases().items() if phase == CALLED}
    ran = {who: current for who, (current, _) in hand.owned().items()}
    hand = hand.reloaded()
    assert (hand.phases()["A"] == CALLED) == ("A" in called)
    for _ in range(4):  # it is asked what exists, more than once, and gives all what they have
        if hand.phases()["A"] == CALLED:
            hand.joined(hand.join("A", ran["A"]))
            hand.sync("A", **dict.fromkeys(ran, ""))
    assert {who for who, phase in hand.phases().items() if phase == CALLED} == called - {"A"}


@pytest.mark.parametrize("is_loaded", [False, True])
def test_what_a_stranger_brings_and_others_were_given_since_only_the_stranger_stops(is_loaded: bool) -> None:
    """CM-12, seeds 1104610 and 1147550: C had left the classic group without having stopped, and B was given
    its work. The group is converted while C joins, and some of that work is to be C's again: B stops it first. If C ran
    on, both would run it until then; with exactly-once sources C's tasks are dead, since B has started them.
    """
    hand, all_of_b = Hand(version=SESSIONED), "BC0 BT1 BT2 BT3"
    gathered(hand)
    hand.pass_ms(5_000)
    hand.joined(*hand.answers)
    hand.sync("A", A="AT1", B=all_of_b)
    hand.sync("B")
    hand.join("C", all_of_b)
    hand.note_ids()
    hand.start_new(configured_connectors_and_tasks=configured("AC0 AT1 " + all_of_b), config_offset=7)
    brought = {who: current for who, (current, _) in hand.owned().items()}
    assert brought == {"A": "AC0 AT1", "B": all_of_b, "C": all_of_b}
    hand = hand.reloaded() if is_loaded else hand
    hand.joined(hand.join("C", all_of_b))
    waits = hand.sync("C")
    hand.joined(hand.join("B", all_of_b))
    assert hand.told(waits) == ("", all_of_b)
    assert hand.owned()["C"][1] == "BT1", "which it starts once more, when B has stopped it"
    assert hand.owned()["B"][1] == "BC0 BT2"
    assert hand.told(hand.sync("B")) == ("", "BT1 BT3"), "what it is to keep it keeps"


@pytest.mark.parametrize("is_loaded", [False, True])
def test_what_several_bring_and_the_leader_has_not_assigned_all_of_them_stop(is_loaded: bool) -> None:
    """CM-12, plan 3734897: C had left the classic group without having stopped, and B was given its work. C came back,
    and the group was converted before the leader had assigned. Nobody knows then who of them was there before. C was to
    keep a task that it had never started, and started it while B ran it.
    """
    hand, all_of_b = Hand(version=SESSIONED), "BC0 BT1 BT2 BT3"
    gathered(hand)
    hand.pass_ms(5_000)
    hand.joined(*hand.answers)
    hand.sync("A", A="AT1", B=all_of_b)
    hand.sync("B")
    tokens = [hand.join("C", "BT1 BT2"), hand.join("A", "AT1"), hand.join("B", all_of_b)]
    hand.note_ids()
    hand.joined(*tokens)
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    runs = {"A": "AT1", "B": all_of_b, "C": "BT1 BT2"}
    assert {who: current for who, (current, _) in hand.owned().items()} == runs
    hand = hand.reloaded() if is_loaded else hand
    for _ in range(2):  # the leader is asked twice, since it was never asked before
        for who in runs:
            hand.joined(hand.join(who, runs[who]))
        waits = {who: hand.sync(who) for who in "CB"}
        hand.sync("A", A="", B="", C="")
    assert hand.told(waits["C"]) == ("", "BT1 BT2")
    assert hand.told(waits["B"])[0] == ""
    assert "BT1 BT2" in hand.told(waits["B"])[1]


@pytest.mark.parametrize("read", [7, 9])
def test_a_barrier_for_a_change_of_configuration_goes_on_as_a_config_round(read: int) -> None:
    """Seed 13955: B has joined with what it has read, A may run on as of before. An offset alone is no reason."""
    hand, _, _ = in_state("Stable", 2)
    runs = WorkerAssignment(SESSIONED, assigned=res("BC0 BT1"))
    metadata = encode_state(WorkerState(SESSIONED, "http://B", read, runs))
    hand.join("B", protocols=[JoinGroupRequestProtocol(NAMES[SESSIONED], metadata)])
    hand.start_new()
    config_round = hand.group.classic.round
    assert (config_round is not None) == (read > 7)


@pytest.mark.parametrize("how", ["the mode", "a worker of the new protocol"])
def test_a_config_round_goes_on_though_the_group_was_a_classic_one_meanwhile(how: str) -> None:
    """Plans 5348027, 5353535: the leader had computed as of the change, A had yet to come, and stopped the task of
    before. Converted to classic and back before A came, the group had forgotten the round, since the assignment was as
    new as the change: B was told at once to start the task as of the change.
    """
    hand, _, _ = in_state("Stable", 2)
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    leader, follower = ("A", "B") if hand.group.computed_by == hand.member_ids["A"] else ("B", "A")
    runs = {"A": "AC0 AT1", "B": "BC0 BT1"}
    hand.offset = 9
    for _ in range(2):  # it was never asked before
        hand.joined(hand.join(leader, runs[leader]))
        hand.sync(leader, A="", B="")
    assert hand.group.computed_offset == 9
    assert hand.group.classic.round is not None, "the follower has not come with the change"
    hand.configure(classic_mode="barrier")
    assert GROUP in hand.state.groups
    if how == "the mode":
        hand.configure(classic_mode="individual")
    else:
        hand.start_new()
    for _ in range(2):
        hand.joined(hand.join(leader, runs[leader]))
        waits = hand.sync(leader, A="", B="")
    assert hand.error(waits) is None, "the follower may run what the change has configured anew"
    hand.joined(hand.join(follower, runs[follower]))
    hand.sync(follower)
    assert hand.error(waits) is ErrorCode.NONE


def test_who_has_to_read_on_waits_in_a_config_round_that_goes_on_too() -> None:
    """CM-22. Plan 1109096: the follower has read one change and stopped what that reconfigures, the leader has
    read two by now, a third worker none. The follower comes once more because the group was converted: answered at
    once, it would start again what the third one may run as it was before.
    """
    hand, _, _ = in_state("Stable", 2)
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    leader, follower = ("A", "B") if hand.group.computed_by == hand.member_ids["A"] else ("B", "A")
    runs = {"A": "AC0 AT1", "B": "BC0 BT1"}
    hand.joined(hand.join("C", "CC0"))
    hand.offset = 9
    hand.joined(hand.join(follower, runs[follower]))
    hand.configure(classic_mode="barrier")
    hand.join(follower, runs[follower])
    hand.offset = 11
    hand.join(leader, runs[leader])
    hand.configure(classic_mode="individual")
    assert hand.group.classic.round is not None
    hand.offset = 9
    hand.joined(hand.join(follower, runs[follower]))
    waits = hand.sync(follower)
    assert hand.error(waits) is None, "C may still run the task as it was before the first change"
    hand.joined(hand.join("C", "CC0"))
    assert hand.error(waits) is ErrorCode.NONE


def test_no_worker_is_put_out_for_time_in_which_nobody_was_answered() -> None:
    """A worker that was called has its rebalance timeout, not counting what the coordinator stood still."""
    hand, _, _ = in_state("Stable, one has not synced", 2)
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    assert hand.beat("B") is REJOIN
    hand.now_ms += 2 * REBALANCE_MS
    hand.shard.go_on(2 * REBALANCE_MS, hand.now_ms)
    hand.pass_ms(1_000)
    assert set(hand.owned()) == {"A", "B"}
    assert hand.beat("B") is REJOIN
    assert hand.error(hand.join("B", "BC0 BT1")) is ErrorCode.NONE


def test_what_lay_in_a_connection_that_a_worker_has_left_does_not_say_what_it_runs() -> None:
    """Mixed seed 251127: a JoinGroup of before it had anything, read after the worker had joined by a newer one."""
    hand, _, _ = in_state("Stable", 2)
    assert hand.error(hand.join("B", client="A")) is REJOIN
    assert hand.beat("B") is ErrorCode.NONE, "the group has not begun to rebalance"
    hand.start_new()
    assert hand.owned()["B"] == ("BC0 BT1", "BC0 BT1")


@pytest.mark.parametrize("is_back", [False, True], ids=["converted", "and back"])
def test_what_lay_in_a_connection_frees_nothing_in_a_group_that_was_converted(is_back: bool) -> None:
    """Plan 271120: B had joined by a newer connection when the group was a classic one. After the conversion the group
    did not know of that connection, and the old JoinGroup, of before B had anything, freed what B runs.
    """
    hand, _, _ = in_state("Stable", 2)
    hand.start_new()
    if is_back:
        hand.stop_new()
    assert hand.error(hand.join("B", client="A")) is REJOIN
    if is_back:
        hand.start_new()
    assert hand.owned()["B"] == ("BC0 BT1", "BC0 BT1")


@pytest.mark.parametrize("how", ["it fetches its assignment", "the old connection's SyncGroup comes first"])
def test_who_lost_its_assignment_and_joined_again_is_given_it_after_the_conversion(how: str) -> None:
    """Seed 2446111: B had joined again, and was told the generation as it is. Converted then, the group took B to run
    what it had been assigned, and never told B to start it.
    """
    hand, _, _ = in_state("Stable, one has joined again", 2)
    if how != "it fetches its assignment":
        hand.sync("B", client="A")
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    assert hand.error(hand.sync("B")) is REJOIN
    hand.joined(hand.join("B"))
    assert hand.told(hand.sync("B")) == ("BC0 BT1", "")
