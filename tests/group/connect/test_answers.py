"""When is an answer whole, remembered, or kept back? (CG-24 to CG-26)

The shell keeps most of CG-24; here: what an answer grants is written in its own step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kcoord.group.state.groups.connect_group import Configured, ConnectGroup
from kcoord.group.state.records import connect_records as records
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from kcoord.protocol.records import ConnectWorkerGroupCurrentMemberAssignmentKey, Record
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, SESSION_MS, World, assignor, packed, text

COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT
WAIT_MS = 900

# -- what an answer says ----------------------------------------------------------------------------------------------


def test_what_an_answer_grants_is_written_before_it_leaves() -> None:
    """CG-1, CG-24: in the same step, also when another's request let the answer go."""
    world = World()
    world.join("W1")
    world.compute("W1", 0, {"W1": "AC0"})
    world.beat("W1", 0)
    keys = [each.key for each in world.steps[-1]]
    assert ConnectWorkerGroupCurrentMemberAssignmentKey("g", "W1") in keys


def test_the_assignment_stands_in_the_answer_until_the_member_has_converged() -> None:
    """CG-10: only while the member's epoch is below the assignment epoch; and whenever it says all its fields, or comes
    by another connection.
    """
    world = World.settled({"W1": "AC0 AT1"})
    assert world.beat("W1", 1).owned is None
    assert world.beat("W1", 1, rebalance_timeout_ms=REBALANCE_MS).owned == "AC0 AT1"
    assert world.beat("W1", 1, connection=2).owned == "AC0 AT1"
    world.join("W2", connection=3)
    world.beat("W1", 1, connection=2)
    world.compute("W1", 1, {"W1": "AC0", "W2": "AT1"}, connection=2)
    for _ in range(2):
        assert world.beat("W2", 0, connection=3).owned == ""
        assert world.beat("W1", 1, connection=2).owned == "AC0"


# -- CG-25 ------------------------------------------------------------------------------------------------------------


def is_remembered(world: World, member: str, epoch: int, **how: Any) -> bool:
    how.setdefault("connection", int(member[1]))
    return world.remembered.get(world.send_beat(member, epoch, **how), False)


def test_a_converged_member_is_remembered() -> None:
    """CG-25: from the first answer that says nothing new."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    assert is_remembered(world, "W1", 2)
    assert is_remembered(world, "W1", 2, owned="AC0")
    assert not is_remembered(world, "W1", 2, connection=7), "the first answer by a connection is whole"
    assert is_remembered(world, "W1", 2, connection=7)
    assert not is_remembered(world, "W1", 2, connection=7, max_wait_ms=WAIT_MS)
    assert not is_remembered(world, "W1", 1, connection=7), "fenced"
    assert not is_remembered(world, "W2", 2, rebalance_timeout_ms=REBALANCE_MS), "all its fields: a whole answer"


def test_who_has_something_to_do_is_not_remembered() -> None:
    """CG-25: who computes, waits, or must let go. Others are, while the group assigns too."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.join("W3", connection=3)
    assert not is_remembered(world, "W1", 2)
    assert is_remembered(world, "W2", 2)
    world.compute("W1", 2, {"W1": "", "W2": "BC0", "W3": "AC0"})
    for _ in range(2):
        assert not is_remembered(world, "W1", 2)
        assert not is_remembered(world, "W3", 0)
    assert not is_remembered(world, "W2", 2)
    assert is_remembered(world, "W2", 3)


@pytest.mark.parametrize("owned", [None, "BC0"])
def test_what_is_said_next_is_remembered_with_the_new_epoch(owned: str | None) -> None:
    """CG-10, CG-25: a worker that is told another epoch says the same again, at that one, and learns
    nothing from it. That the answer would be this is checked as any other's is.
    """
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.join("W3", connection=3)
    world.compute("W1", 2, {"W1": "AC0", "W2": "BC0", "W3": ""})
    token = world.send_beat("W2", 2, owned, connection=2)
    assert world.told(token).brief == (3, "BC0")
    assert not world.remembered[token]
    predicted = world.predicted[token]
    listed = None if owned is None else packed(owned)
    assert predicted.request == ConnectGroupHeartbeatRequest("g", "W2", 3, connectors_and_tasks=listed)
    assert world.beat("W2", 3, owned, connection=2).response == predicted.response


@pytest.mark.parametrize(
    "more", [{"rebalance_timeout_ms": 5_000}, {"url": "http://w2"}, {"max_wait_ms": 5}, {"config_offset": 7}]
)
def test_who_says_more_is_not_known_to_repeat_it(more: dict[str, Any]) -> None:
    """CG-25: what else a heartbeat says, the next one leaves out, or not."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.join("W3", connection=3)
    world.compute("W1", 2, {"W1": "AC0", "W2": "BC0", "W3": ""})
    token = world.send_beat("W2", 2, connection=2, **more)
    assert world.told(token).brief[0] == 3
    assert token not in world.predicted


def test_another_list_of_the_same_member_forgets_it() -> None:
    """CG-3, CG-25: else a remembered list would not be taken note of, and a shorter one would stand."""
    world = World.settled({"W1": "AC0 BC0"})
    assert is_remembered(world, "W1", 1, owned="AC0 BC0")
    version = world.member("W1").version
    assert is_remembered(world, "W1", 1, owned="AC0 BC0")
    assert world.member("W1").version == version
    world.beat("W1", 1, "AC0")
    world.beat("W1", 1, "AC0")
    assert world.member("W1").version != version


Act = Callable[[World], object]


THREE = ("W1", "W2", "W3")
ALL, NOBODY = set(THREE), set[str]()


def moved_by(act: Act) -> set[str]:
    """Whose remembered answers end when this happens to a settled group of three, of whom W1 has computed and W3 owns
    nothing.
    """
    world = World.settled({"W1": "AC0", "W2": "BC0", "W3": ""})
    members = {each: world.member(each) for each in THREE}
    for each in THREE:
        assert is_remembered(world, each, 3)
    versions = {each: members[each].version for each in THREE}
    act(world)
    return {each for each in THREE if members[each].version != versions[each]}


@pytest.mark.parametrize(
    ("act", "whose"),
    [
        (lambda world: world.beat("W1", 3), NOBODY),
        (lambda world: world.beat("W2", 3, connection=8), {"W2"}),
        (lambda world: world.beat("W2", 3, connection=2, url="http://w2"), {"W2"}),
        (lambda world: world.beat("W2", -1, connection=2), {"W1", "W2"}),
        (lambda world: world.join("W3", connection=3), {"W3"}),
        (lambda world: world.join("W4", connection=4), {"W1"}),
        (lambda world: world.beat("W2", 3, connection=2, client_assignors=[assignor(reason=1)]), {"W1", "W2"}),
        (lambda world: world.beat("W2", 3, "BC0", config_offset=1, connection=2), NOBODY),
        (lambda world: world.configure(heartbeat_interval_ms="500"), ALL),
        (lambda world: world.pass_ms(SESSION_MS), ALL),
        (lambda world: world.shard.drop(), ALL),
    ],
)
def test_whatever_could_change_an_answer_forgets_it(act: Act, whose: set[str]) -> None:
    """CG-25: the version of those whom it concerns moves, that of others stands: here W1's when it is
    chosen. W3, who is at its epoch without a record, joins anew without a record, too.
    """
    assert moved_by(act) == whose


def test_the_configured_set_alone_concerns_nobody_but_who_computes() -> None:
    """CG-21, CG-25: an older offset is ignored as before, and there is no way back to one."""
    told: dict[str, Any] = {"config_offset": 1, "connection": 2, "configured_connectors_and_tasks": packed("AC0 BC0")}
    assert moved_by(lambda world: world.beat("W2", 3, **told)) == NOBODY
    told["configured_connectors_and_tasks"] = packed("AC0")
    assert moved_by(lambda world: world.beat("W2", 3, **told)) == {"W1"}


def test_an_install_forgets_the_answers_of_all() -> None:
    """CG-10, CG-25: who owns its target moves to the new epoch, also if it is the same target."""
    world = World.settled({"W1": "AC0", "W2": "BC0", "W3": ""})
    world.beat("W1", 3, client_assignors=[assignor(reason=1)])
    versions = {each: world.member(each).version for each in THREE}
    world.compute("W1", 3, {"W1": "AC0", "W2": "BC0", "W3": ""})
    assert all(world.member(each).version != versions[each] for each in THREE)


def _records(world: World) -> dict[int, Record]:
    """One record of each number, of which 5, 7 and 9 are W2's; all say what is known, but for the epoch of 6."""
    group, member = world.group, world.member("W2")
    return {
        3: records.group_epoch(group, group.epoch, "", 0),
        4: records.configured_set(group, Configured(frozenset(), 5)),
        5: records.member_metadata("g", "W2", member.metadata),
        6: records.target_assignment(group, "W1", "", -1, epoch=group.epoch + 1),
        7: records.current_assignment(group, member, member.current, member.epoch, -1),
        8: records.configuration("g", {}),
        9: records.member_target("g", "W2", group.targets["W2"]),
        10: records.history("g", group.epoch, None),
    }


@pytest.mark.parametrize(
    ("number", "whose"),
    [(3, NOBODY), (4, NOBODY), (5, {"W2"}), (6, ALL), (7, {"W2"}), (8, ALL), (9, {"W2"}), (10, NOBODY)],
)
def test_which_records_forget_whose_answers(number: int, whose: set[str]) -> None:
    """CG-25: what a converged member that is not chosen is answered hangs on what it said and owns, on
    its target, the assignment epoch and the configuration, and on nothing else that is recorded.
    """
    assert moved_by(lambda world: world.shard.replay(_records(world)[number])) == whose


def test_a_record_of_the_same_assignment_epoch_forgets_nothing() -> None:
    """CG-22, CG-25: the delay is over, or the one that computed has another id."""
    assert moved_by(lambda world: world.shard.replay(records.delay_over(world.group))) == NOBODY


@pytest.mark.parametrize("end", [lambda group: group.close(), lambda group: group.drop_member("W2", None)])
def test_the_end_forgets_the_answers(end: Callable[[ConnectGroup], None]) -> None:
    """CG-25"""
    assert "W2" in moved_by(lambda world: end(world.group))


# -- CG-26 ------------------------------------------------------------------------------------------------------------


def held(targets: dict[str, str]) -> tuple[World, object]:
    """W1's heartbeat is kept back."""
    world = World.settled(targets)
    token = world.send_beat("W1", len(targets), max_wait_ms=WAIT_MS)
    assert token not in world.answers
    return world, token


@pytest.mark.parametrize(
    ("asked_ms", "held_ms", "settings"),
    [
        (500, 500, {}),
        (60_000, INTERVAL_MS, {}),
        (60_000, 5_000 // 3, {"session_timeout_ms": "5000", "heartbeat_interval_ms": "4000"}),
    ],
)
def test_an_answer_is_kept_back_so_long(asked_ms: int, held_ms: int, settings: dict[str, str]) -> None:
    """CG-26: at most min(MaxWaitMs, interval, session/3)."""
    world = World.settled({"W1": "AC0"})
    world.configure(**settings)
    world.beat("W1", 1)
    token = world.send_beat("W1", 1, max_wait_ms=asked_ms)
    world.pass_ms(held_ms - 1)
    assert token not in world.answers
    world.pass_ms(1)
    told = world.told(token)
    assert (told.error, told.brief) == (ErrorCode.NONE, (1, None))


def test_an_answer_with_news_comes_at_once() -> None:
    """CG-26: what is new since the last answer on this connection."""
    world = World.settled({"W1": "AC0"})
    assert world.beat("W1", 1, connection=2, max_wait_ms=WAIT_MS).owned == "AC0"
    assert world.beat("W1", 1, connection=2, max_wait_ms=WAIT_MS, rebalance_timeout_ms=5_000).owned == "AC0"
    world.configure(heartbeat_interval_ms="500")
    assert world.beat("W1", 1, connection=2, max_wait_ms=WAIT_MS).response.heartbeat_interval_ms == 500
    world.beat("W1", 1, connection=2, client_assignors=[assignor(reason=1)])
    assert world.chosen() == "W1"


def test_it_is_let_go_when_there_is_something_to_let_go_of() -> None:
    """CG-26"""
    world, token = held({"W1": "AC0 BC0", "W2": ""})
    world.beat("W2", 2, connection=2, client_assignors=[assignor(data=b"x")])
    assert world.told(token).error is COMPUTE, "it is chosen"
    token = world.send_beat("W1", 2, max_wait_ms=WAIT_MS)
    assert token not in world.answers, "it has been told"
    world.send(world.install_request("W1", 2, 3, {}), connection=9)
    world.prepare("W1", 2, connection=9)
    world.install("W1", 2, 3, {"W1": "AC0", "W2": "BC0"}, connection=9)
    assert world.told(token).brief == (2, "AC0")


def test_it_is_let_go_with_what_became_free() -> None:
    """CG-10, CG-26: growth is told at once, and in one answer."""
    world = World.settled({"W1": "AC0 BC0 CC0", "W2": ""})
    world.beat("W1", 2, client_assignors=[assignor(data=b"x")])
    world.compute("W1", 2, {"W1": "AC0", "W2": "BC0 CC0"})
    world.beat("W1", 2)
    world.beat("W2", 2, connection=2)
    token = world.send_beat("W2", 2, "", connection=2, max_wait_ms=WAIT_MS)
    world.beat("W1", 2, "AC0")
    assert world.told(token).brief == (3, "BC0 CC0")


def test_an_epoch_alone_does_not_let_it_go() -> None:
    """CG-26: an install must not wake members that nothing happens to; they learn of it in time."""
    world, token = held({"W1": "AC0", "W2": "BC0"})
    world.beat("W2", 2, connection=2, client_assignors=[assignor(data=b"x")])
    token = world.send_beat("W1", 2, max_wait_ms=WAIT_MS)
    world.prepare("W1", 2, connection=9)
    world.install("W1", 2, 3, {"W1": "AC0", "W2": "BC0"}, connection=9)
    told = world.told(token)
    assert (told.error, told.epoch) == (ErrorCode.NONE, 3), "it computes no more: that is news"
    token = world.send_beat("W2", 2, connection=2, max_wait_ms=WAIT_MS)
    assert world.told(token).epoch == 3
    token = world.send_beat("W2", 3, connection=2, max_wait_ms=WAIT_MS)
    world.beat("W1", 3, client_assignors=[assignor(data=b"y")])
    world.compute("W1", 3, {"W1": "AC0", "W2": "BC0"})
    assert token not in world.answers
    world.pass_ms(WAIT_MS)
    assert world.told(token).brief == (4, "BC0")


def test_the_session_counts_from_receipt() -> None:
    """CG-26: not from when the answer leaves."""
    world, token = held({"W1": "AC0"})
    world.pass_ms(SESSION_MS - 1)
    assert token in world.answers
    assert "W1" in world.group.members
    world.pass_ms(1)
    assert not world.group.members


def test_any_other_request_of_the_connection_lets_it_go() -> None:
    """CG-26: of another API, or of another group; also one that is answered elsewhere."""
    world, token = held({"W1": "AC0"})
    world.describe()
    assert token not in world.answers, "that came by another connection"
    world.send(world.asked[token][0])
    assert world.told(token).brief == (1, None)

    world, token = held({"W1": "AC0"})
    step = world.shard.flush_held_reply(1, world.now_ms, world.wall_ms)
    assert [reply.token for reply in step.replies] == [token]
    assert not world.shard.flush_held_reply(1, world.now_ms, world.wall_ms).replies


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda world: world.beat("W1", 2, connection=9), ErrorCode.FENCED_MEMBER_EPOCH),
        (lambda world: world.join("W1", connection=9), ErrorCode.FENCED_MEMBER_EPOCH),
        (lambda world: world.beat("W1", -1, connection=9), ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_it_is_refused_when_it_has_become_pointless(act: Act, error: ErrorCode) -> None:
    """CG-26: the member's heartbeat elsewhere, its removal."""
    world, token = held({"W1": "AC0", "W2": "BC0"})
    act(world)
    assert world.told(token).error is error


def test_a_lost_shard_hands_back_who_waits() -> None:
    """CG-26: the shell answers NOT_COORDINATOR."""
    world, token = held({"W1": "AC0"})
    assert world.restart() == [token]
    assert world.beat("W1", 1, "AC0", connection=9).brief == (1, "AC0")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({}, ErrorCode.NONE),
        ({"session_timeout_ms": "5000"}, ErrorCode.NONE),
        ({"session_timeout_ms": "20000"}, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_while_nothing_can_be_written_it_is_let_go_as_far_as_nothing_need_be(
    settings: dict[str, str], error: ErrorCode
) -> None:
    """A full disk: a session that is longer than any before would have to be written first (CG-8)."""
    world, token = held({"W1": "AC0", "W2": "BC0"})
    world.configure(**settings)
    step = world.shard.give_held(world.now_ms + INTERVAL_MS, world.wall_ms + INTERVAL_MS)
    assert not step.records
    assert [(reply.token, getattr(reply.response, "error_code")) for reply in step.replies] == [(token, error)]  # noqa: B009


def test_while_nothing_can_be_written_nobody_grows() -> None:
    """A full disk: a grant would have to be written."""
    world = World.settled({"W1": "AC0 BC0"})
    world.join("W2", connection=2)
    world.beat("W2", 0, connection=2)
    token = world.send_beat("W2", 0, connection=2, max_wait_ms=WAIT_MS)
    step = world.shard.give_held(world.now_ms + INTERVAL_MS, world.wall_ms + INTERVAL_MS)
    assert not step.records
    assert [reply.token for reply in step.replies] == [token]


def test_a_release_behind_a_kept_answer_counts_from_the_next_request_on() -> None:
    """CG-3, CG-26: the kept answer is let go by the request that brings the list, so its sender cannot
    have known it.
    """
    world = World.settled({"W1": "AC0 BC0"})
    token = world.send_beat("W1", 1, max_wait_ms=WAIT_MS)
    world.join("W2", connection=2)
    assert world.told(token).error is COMPUTE
    world.compute("W1", 1, {"W1": "AC0", "W2": "BC0"})
    world.beat("W1", 1)
    token = world.send_beat("W1", 1, max_wait_ms=WAIT_MS)
    assert world.beat("W1", 1, "AC0", pipelined=True).brief == (1, "AC0")
    assert text(world.member("W1").current) == "AC0 BC0"
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0")
