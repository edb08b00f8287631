"""Is the classic worker a good one where the coordinator manages each on its own (individual mode, mixed groups),
and beside Java workers, whose configurations it reads? What Java's do there is in the CM rules (docs/rules).
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import pytest

from kcoord.protocol.embedded import (
    CONFIG_MISMATCH,
    EAGER,
    NOTHING,
    SESSIONED,
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    decode_state,
    encode_assignment,
    encode_state,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.worker.actions import Abandon, Assign, Grant, Joined, Revoke, Seek, Send, Told
from kcoord.worker.classic.phase_table import ROWS
from kcoord.worker.classic.phases import Kind, Phase
from tests.worker.driver import resources, told
from tests.worker.test_classic import ME, OTHER, SETUP, TIMING, Driver, held, member

BUSY = ErrorCode.REBALANCE_IN_PROGRESS


def brought(driver: Driver) -> dict[str, WorkerAssignment]:
    """What the SyncGroup under way brings."""
    send = driver.actions[0]
    assert isinstance(send, Send)
    assert isinstance(send.request, SyncGroupRequest)
    return {each.member_id: decode_assignment(each.assignment) for each in send.request.assignments}


def news(driver: Driver, configured: str, offset: int, **revisions: int) -> None:
    """What the configuration topic says now."""
    changes = {"configured": resources(configured), "config_offset": offset, "revisions": revisions, "of_topic": True}
    driver.put(driver.worker.update(driver.now, **changes))


def reader(revisions: Mapping[str, int] | None = None, assigned: str = "") -> Driver:
    """A follower that reads the topic, and runs this."""
    driver = Driver.start(attrs.evolve(SETUP, of_topic=True, revisions=revisions or {"a": 1, "b": 1}))
    driver.join(1)
    driver.sync(assigned)
    driver.actions.clear()
    return driver


def test_the_table_has_a_row_for_each_kind_of_answer() -> None:
    assert list(ROWS) == [Kind.OK, Kind.ROUND, Kind.LATER, Kind.ELSEWHERE, Kind.NAMED, Kind.LOST, Kind.FATAL]


# -- rounds that are no rounds of everybody ---------------------------------------------------------------------------


def test_a_join_that_comes_between_two_rounds_is_made_again_after_a_while() -> None:
    """Parked JoinGroups are answered so when a group is converted; in a circle without a pause nobody would get in."""
    driver = Driver.start()
    for _ in range(3):
        number, _ = driver.sent(JoinGroupRequest)
        driver.give(number, JoinGroupResponse(error_code=BUSY))
        driver.nothing()
        driver.later(1_200)
    driver.join(9)
    driver.sync("a")
    driver.take(Joined)


def test_a_sync_that_comes_too_late_is_followed_by_a_join_at_once() -> None:
    driver = member("a b")
    driver.later(3_000).beat(BUSY)
    driver.join(2)
    number, _ = driver.sent(SyncGroupRequest)
    driver.give(number, SyncGroupResponse(error_code=BUSY))
    own = driver.join(3)
    assert own.allocation is not None
    assert told(own.allocation.assigned) == "a b"


@pytest.mark.parametrize("states", [{}, {OTHER: held("a")}])
def test_who_is_named_leader_without_being_shown_brings_nothing(states: dict[str, WorkerState]) -> None:
    """CM-3: no coordinator may do that, and none shall have this worker compute for others than itself."""
    driver = Driver.start()
    number, _ = driver.sent(JoinGroupRequest)
    members = [] if not states else [_shown(OTHER, states[OTHER])]
    driver.give(
        number,
        JoinGroupResponse(generation_id=4, protocol_name="sessioned", leader=ME, member_id=ME, members=members),
    )
    assert brought(driver) == {}
    driver.sync("a")
    driver.take(Joined)


def _shown(name: str, state: WorkerState) -> JoinGroupResponseMember:
    return JoinGroupResponseMember(name, None, encode_state(state))


def test_generations_jump_and_what_was_given_before_stays() -> None:
    """CM-2, CM-5: increments on what it holds, one worker at a time"""
    driver = member("a")
    for generation, assigned, revoked, holds in ((17, "b", "", "a b"), (90, "", "", "a b"), (91, "a-0", "b", "a a-0")):
        driver.later(3_000).beat(BUSY)
        driver.join(generation)
        driver.sync(assigned, revoked)
        for action in driver.actions[:]:
            if isinstance(action, Revoke):
                driver.put(driver.worker.released(driver.now, action.number))
        assert told(driver.worker.assigned) == holds
        driver.actions = [each for each in driver.actions if isinstance(each, Send)]
    assert driver.join(95).allocation is not None, "it rejoins by itself when what was revoked has stopped"


def test_a_leader_remembers_over_generations_that_jump() -> None:
    """CM-2: what is between two of its rounds are others' joins"""
    driver = Driver.start()
    driver.join(3, {OTHER: held("a a-0")})
    assert driver.lead()[ME].assigned == resources("a-1 b")
    driver.sync("a-1 b")
    driver.actions.clear()
    driver.later(3_000).beat(BUSY)
    driver.join(40, {})
    assert driver.lead()[ME].delay_ms == 20_000, "the work of who has gone waits for it"


def test_a_leader_whose_group_has_moved_on_brings_its_assignment_all_the_same() -> None:
    """CM-8"""
    driver = Driver.start()
    driver.join(1, {OTHER: held("a a-0 a-1 b")})
    assign = driver.actions.pop(0)
    assert isinstance(assign, Assign)
    driver.later(3_000).beat(BUSY)
    driver.put(driver.worker.computed(driver.now, assign.number, None))
    assert brought(driver).keys() == {ME, OTHER}


def test_a_delay_is_the_leaders_alone() -> None:
    """CM-9"""
    driver = Driver.start()
    driver.join(1, {OTHER: held("a a-0")})
    driver.lead()
    driver.sync("a-1 b")
    driver.actions.clear()
    driver.later(3_000).beat(BUSY)
    driver.join(2, {"other-2": WorkerState(SESSIONED, "http://else", 5)})
    assert {name: each.delay_ms for name, each in driver.lead().items()} == {ME: 20_000, "other-2": 0}


def test_with_default_in_the_group_all_stops_before_each_join() -> None:
    """CM-16: the group's protocol is the lowest that all have"""
    driver = Driver.start()
    driver.join(1, version=EAGER)
    driver.sync("a b", version=EAGER)
    driver.actions.clear()
    driver.later(3_000).beat(BUSY)
    revoke = driver.take(Revoke)
    driver.nothing()
    driver.put(driver.worker.released(driver.now, revoke.number))
    driver.join(2, version=SESSIONED)
    driver.sync("a")
    driver.take(Told)
    assert driver.take(Grant).resources == resources("a")


# -- losing less ------------------------------------------------------------------------------------------------------


def test_after_an_outage_it_joins_under_its_name_with_nothing() -> None:
    """As Java's do: a null allocation, which its coordinator answers with what it had."""
    driver = member("a b")
    driver.put(driver.worker.disconnected(driver.now))
    driver.take(Seek)
    driver.later(11_000)
    abandon = driver.take(Abandon)
    driver.put(driver.worker.abandoned(driver.now, abandon.number))
    driver.put(driver.worker.connected(driver.now))
    _, request = driver.sent(JoinGroupRequest)
    assert request.member_id == ME
    assert decode_state(request.protocols[0].metadata).allocation is None


def test_a_heartbeat_that_is_held_back_keeps_no_join_waiting_and_its_answer_is_old() -> None:
    """The coordinator lets it go when the JoinGroup comes, with 0, 27, or worse: that must not undo the join."""
    driver = reader(assigned="a")
    driver.later(3_000)
    number, _ = driver.sent(HeartbeatRequest)
    news(driver, "a b c", 9)
    _, request = driver.sent(JoinGroupRequest)
    assert decode_state(request.protocols[0].metadata).config_offset == 9
    for error in (ErrorCode.NONE, BUSY, ErrorCode.ILLEGAL_GENERATION):
        driver.give(number, HeartbeatResponse(error_code=error))
    driver.nothing()
    assert driver.worker.phase is Phase.JOINING


def test_a_heartbeat_may_be_held_for_half_a_session() -> None:
    driver = member("a")
    driver.later(3_000)
    number, _ = driver.sent(HeartbeatRequest)
    driver.later(5_900).nothing()
    driver.give(number, HeartbeatResponse())
    driver.sent(HeartbeatRequest)


def test_it_says_that_it_has_stopped_when_it_has() -> None:
    """CM-13: the words by which Connect's own workers tell that all has stopped"""
    driver = member("a b")
    driver.put(driver.worker.leave(driver.now))
    revoke = driver.take(Revoke)
    driver.later(2_000).nothing()
    driver.put(driver.worker.released(driver.now, revoke.number))
    _, request = driver.sent(LeaveGroupRequest)
    assert [each.reason for each in request.members] == ["the consumer is being closed"]


# -- configurations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [2, 5, 80])
def test_what_offset_an_answer_names_makes_nobody_join_again(offset: int) -> None:
    """CM-7: Java's join again at once for a lower one; this worker goes by what has changed, so it never does
    so without end."""
    driver = Driver.start(attrs.evolve(SETUP, of_topic=True))
    driver.join(1)
    number, _ = driver.sent(SyncGroupRequest)
    answer = WorkerAssignment(SESSIONED, 0, OTHER, "", offset, resources("a"))
    driver.give(number, SyncGroupResponse(assignment=encode_assignment(answer)))
    driver.actions.clear()
    driver.later(2_999).nothing()


def test_the_offset_alone_is_no_news() -> None:
    """The session key moves it too; with the next join it is told."""
    driver = reader(assigned="a")
    news(driver, "a a-0 a-1 b", 9, a=1, b=1)
    driver.nothing()
    driver.later(3_000).beat(BUSY)
    assert driver.join(2).config_offset == 9


def test_tasks_that_are_configured_anew_stop_before_the_join_and_start_with_the_assignment() -> None:
    """Configuration changes keep a bounded barrier: all stops come before all starts."""
    driver = reader(assigned="a a-0 a-1 b")
    news(driver, "a a-0 a-1 b", 9, a=2, b=1)
    revoke = driver.take(Revoke)
    assert revoke.resources == resources("a-0 a-1")
    driver.later(1_000).nothing()
    driver.put(driver.worker.released(driver.now, revoke.number))
    own = driver.join(2)
    assert own.allocation is not None
    assert (own.config_offset, told(own.allocation.assigned)) == (9, "a a-0 a-1 b")
    driver.later(4_000).sync()
    driver.take(Told)
    assert driver.take(Grant).resources == resources("a-0 a-1")
    driver.nothing()


def test_what_is_configured_anew_and_taken_away_at_once_is_stopped_once() -> None:
    driver = reader(assigned="a a-0")
    news(driver, "a a-0 a-1 b", 9, a=2, b=1)
    driver.put(driver.worker.released(driver.now, driver.take(Revoke).number))
    driver.join(2)
    driver.sync("b", "a-0")
    driver.take(Told)
    assert driver.take(Grant).resources == resources("b")
    own = driver.join(3)
    assert own.allocation is not None
    assert told(own.allocation.assigned) == "a b"


@pytest.mark.parametrize("at", ["joining", "syncing"])
def test_news_that_come_within_a_round_make_another_and_start_nothing_before_it(at: str) -> None:
    driver = reader(assigned="a a-0")
    driver.later(3_000).beat(BUSY)
    if at == "joining":
        join = driver.take(Send)
        news(driver, "a a-0 a-1 b", 9, a=2, b=1)
        driver.actions.insert(0, join)
        driver.join(2)
        sync = driver.actions.pop()
    else:
        driver.join(2)
        sync = driver.take(Send)
        news(driver, "a a-0 a-1 b", 9, a=2, b=1)
    revoke = driver.take(Revoke)
    driver.actions.insert(0, sync)
    driver.sync("a-1")
    driver.take(Told)
    assert driver.take(Grant).resources == resources("a-1"), "not what was configured anew"
    driver.nothing()
    driver.put(driver.worker.released(driver.now, revoke.number))
    assert driver.join(3).config_offset == 9
    driver.sync()
    driver.take(Told)
    assert driver.take(Grant).resources == resources("a-0")


def test_a_leader_that_has_read_less_than_others_waits_until_it_has() -> None:
    """CM-6; then it tells the offset of what it computed with"""
    driver = Driver.start(attrs.evolve(SETUP, of_topic=True))
    driver.join(1, {OTHER: attrs.evolve(held("a"), config_offset=7)})
    driver.nothing()
    driver.later(1_000)
    news(driver, "a a-0 c", 8)
    shares = driver.lead()
    assert shares[ME].assigned | shares[OTHER].assigned | resources("a") == resources("a a-0 c")
    assert shares[ME].config_offset == 8
    driver.sync("c")
    for kind in (Joined, Told, Grant):
        driver.take(kind)
    assert driver.join(2).config_offset == 8, "and tells what it has read"


def test_a_leader_that_does_not_come_to_read_what_others_have_says_so() -> None:
    """As Connect's: nobody starts or stops anything, all join again."""
    driver = Driver.start(attrs.evolve(SETUP, of_topic=True))
    driver.join(1, {OTHER: attrs.evolve(held("a"), config_offset=7)})
    driver.later(3_000).beat()
    driver.later(2_000)
    for told_to_one in brought(driver).values():
        assert (told_to_one.error, told_to_one.config_offset) == (CONFIG_MISMATCH, 7)
        assert (told_to_one.assigned, told_to_one.revoked) == (NOTHING, NOTHING)
    driver.sync(error=CONFIG_MISMATCH)
    driver.later(1_000)
    driver.join(2, {OTHER: attrs.evolve(held("a"), config_offset=7)})


def test_offsets_that_are_not_the_topics_are_not_compared() -> None:
    driver = Driver.start(timing=TIMING)
    driver.join(1, {OTHER: attrs.evolve(held("a"), config_offset=7)})
    assert driver.lead()[OTHER].config_offset == 7
