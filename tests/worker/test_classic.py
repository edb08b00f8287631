"""One worker of the classic protocol by hand: its rounds, what it runs meanwhile, when it stops, what it computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import attrs

from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.eager import EagerAssignor
from kcoord.assign.policies import DESIGN_2, IncrementalAssignor
from kcoord.protocol.embedded import (
    EAGER,
    NAMES,
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
    LeaveGroupResponse,
    Request,
    Response,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.worker.actions import Abandon, Action, Assign, Gone, Grant, Joined, Overrun, Revoke, Seek, Send, Told
from kcoord.worker.classic.membership import ClassicMembership
from kcoord.worker.classic.phases import Phase, Timing
from kcoord.worker.setup import Setup
from tests.worker.driver import resources, told

A = TypeVar("A")
R = TypeVar("R", bound=Request)

SETUP = Setup(
    "g", "unused", url="http://me", rebalance_timeout_ms=60_000, configured=resources("a a-0 a-1 b"), config_offset=5
)
TIMING = Timing(session_ms=12_000, interval_ms=3_000, delay_ms=20_000)
MARGIN = 2_000
ME, OTHER = "me-1", "other-1"


@attrs.define
class Driver:
    """One worker, its clock, and what it wants done."""

    worker: ClassicMembership
    now: int = 0
    actions: list[Action] = attrs.Factory(list)

    @classmethod
    def start(cls, setup: Setup = SETUP, timing: Timing = TIMING) -> Driver:
        driver = cls(ClassicMembership(setup, timing))
        driver.put(driver.worker.start(0))
        driver.connect()
        return driver

    def put(self, actions: list[Action]) -> None:
        self.actions += actions

    def take(self, kind: type[A]) -> A:
        assert self.actions, f"nothing is to be done, but {kind.__name__} was expected"
        action = self.actions.pop(0)
        assert isinstance(action, kind), f"{action} came where {kind.__name__} was expected"
        return action

    def sent(self, kind: type[R]) -> tuple[int, R]:
        send = self.take(Send)
        assert isinstance(send.request, kind), send
        return send.number, send.request

    def nothing(self) -> None:
        assert not self.actions, self.actions

    def connect(self) -> None:
        self.take(Seek)
        self.put(self.worker.connected(self.now))

    def later(self, ms: int) -> Driver:
        """Time passes in steps of a second at most, as in the shell."""
        end = self.now + ms
        while self.now < end:
            wake = self.worker.wake_at()
            self.now = min(end, self.now + 1_000 if wake is None else max(self.now + 1, min(wake, self.now + 1_000)))
            self.put(self.worker.poll(self.now))
        return self

    def give(self, number: int, response: Response) -> None:
        self.put(self.worker.answered(self.now, number, response))

    def join(
        self, generation: int, states: Mapping[str, WorkerState] | None = None, version: int = SESSIONED
    ) -> WorkerState:
        """Answer JoinGroup, as the leader where the others' states are given; gives what it said of itself."""
        number, request = self.sent(JoinGroupRequest)
        own = {each.name: decode_state(each.metadata) for each in request.protocols}[NAMES[version]]
        shown = {ME: own, **states} if states is not None else {}
        members = [JoinGroupResponseMember(name, None, encode_state(state)) for name, state in shown.items()]
        leader = ME if states is not None else OTHER
        self.give(
            number,
            JoinGroupResponse(
                generation_id=generation, protocol_name=NAMES[version], leader=leader, member_id=ME, members=members
            ),
        )
        return own

    def sync(
        self, assigned: str = "", revoked: str = "", *, version: int = SESSIONED, delay: int = 0, error: int = 0
    ) -> None:
        """Answer SyncGroup."""
        number, _ = self.sent(SyncGroupRequest)
        answer = WorkerAssignment(version, error, OTHER, "", 5, resources(assigned), resources(revoked), delay)
        self.give(number, SyncGroupResponse(assignment=encode_assignment(answer)))

    def beat(self, error: ErrorCode = ErrorCode.NONE) -> None:
        number, _ = self.sent(HeartbeatRequest)
        self.give(number, HeartbeatResponse(error_code=error))

    def lead(self, *, eager: bool = False) -> dict[str, WorkerAssignment]:
        """Let the assignor run; what SyncGroup brings."""
        assign = self.take(Assign)
        assignor = EagerAssignor() if eager else CooperativeAssignor()
        assert assign.assignor == assignor.name
        self.put(self.worker.computed(self.now, assign.number, assignor.assign(assign.group)))
        send = self.actions[0]
        assert isinstance(send, Send)
        assert isinstance(send.request, SyncGroupRequest)
        return {each.member_id: decode_assignment(each.assignment) for each in send.request.assignments}


def member(assigned: str = "a b") -> Driver:
    """A follower that runs this."""
    driver = Driver.start()
    driver.join(1)
    driver.sync(assigned)
    for kind in (Joined, Told, *([Grant] if assigned else [])):
        driver.take(kind)
    driver.nothing()
    return driver


def held(names: str, url: str = "http://other") -> WorkerState:
    """Another member that runs this."""
    return WorkerState(SESSIONED, url, 5, WorkerAssignment(SESSIONED, 0, "", "", 5, resources(names)))


def test_a_join_offers_all_protocols_and_says_what_runs() -> None:
    driver = Driver.start()
    number, request = driver.sent(JoinGroupRequest)
    assert (request.protocol_type, [each.name for each in request.protocols]) == ("connect", list(reversed(NAMES)))
    assert (request.session_timeout_ms, request.rebalance_timeout_ms, request.member_id) == (12_000, 60_000, "")
    assert decode_state(request.protocols[0].metadata) == WorkerState(SESSIONED, "http://me", 5, None)
    driver.give(number, JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=ME))
    _, request = driver.sent(JoinGroupRequest)
    assert request.member_id == ME


def test_what_it_runs_goes_on_through_a_round_and_only_the_difference_moves() -> None:
    driver = member("a b")
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    own = driver.join(2)
    assert own.allocation is not None
    assert told(own.allocation.assigned) == "a b"
    driver.sync("a-0", "b")
    assert driver.take(Revoke).resources == resources("b")
    driver.take(Told)
    assert driver.take(Grant).resources == resources("a-0")
    driver.nothing()
    assert told(driver.worker.owned) == "a a-0 b"


def test_it_joins_again_when_what_was_revoked_has_stopped_and_heartbeats_until_then() -> None:
    driver = member("a b")
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.join(2)
    driver.sync("", "b")
    revoke = driver.take(Revoke)
    driver.take(Told)
    for _ in range(8):
        driver.later(3_000).beat()
    driver.nothing()
    driver.put(driver.worker.released(driver.now, revoke.number))
    own = driver.join(3)
    assert own.allocation is not None
    assert told(own.allocation.assigned) == "a"


def test_a_revocation_that_does_not_end_within_the_rebalance_timeout_is_given_up() -> None:
    """Nobody else ends it: the coordinator hears its heartbeats, and what it is to give up runs nowhere else."""
    driver = member("a b")
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.join(2)
    driver.sync("", "b")
    driver.take(Revoke)
    driver.take(Told)
    began = driver.now
    while driver.now < began + SETUP.rebalance_timeout_ms - 3_000:
        driver.later(3_000).beat()
    driver.nothing()
    driver.later(3_000)
    while isinstance(driver.actions[0], Send):
        driver.actions.pop(0)
    abandon = driver.take(Abandon)
    assert (abandon.resources, abandon.why) == (resources("a b"), "what was revoked has not stopped in time")
    driver.put(driver.worker.abandoned(driver.now, abandon.number))
    assert driver.join(3).allocation is None


def test_with_default_all_stops_before_it_joins() -> None:
    driver = Driver.start(timing=attrs.evolve(TIMING, version=EAGER))
    driver.join(1, version=EAGER)
    driver.sync("a b", version=EAGER)
    for kind in (Joined, Told, Grant):
        driver.take(kind)
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    revoke = driver.take(Revoke)
    assert revoke.resources == resources("a b")
    driver.nothing()
    driver.put(driver.worker.released(driver.now, revoke.number))
    driver.join(2, version=EAGER)
    driver.sync("a", version=EAGER)
    driver.take(Told)
    assert driver.take(Grant).resources == resources("a")


def test_who_is_no_member_any_more_stops_all_and_joins_with_nothing() -> None:
    for error, member_id in ((ErrorCode.UNKNOWN_MEMBER_ID, ""), (ErrorCode.ILLEGAL_GENERATION, ME)):
        driver = member("a b")
        driver.later(3_000).beat(error)
        abandon = driver.take(Abandon)
        assert (abandon.resources, abandon.why) == (resources("a b"), error.name)
        driver.nothing()
        driver.put(driver.worker.abandoned(driver.now, abandon.number))
        _, request = driver.sent(JoinGroupRequest)
        assert request.member_id == member_id
        assert decode_state(request.protocols[0].metadata).allocation is None


def test_it_stops_before_its_session_must_have_ended() -> None:
    """CG-8, as far as this protocol goes"""
    driver = member("a b")
    driver.later(3_000)
    number, _ = driver.sent(HeartbeatRequest)
    sent = driver.now
    driver.give(number, HeartbeatResponse())
    driver.put(driver.worker.disconnected(driver.now))
    driver.take(Seek)
    driver.later(sent + 12_000 - MARGIN - 1 - driver.now).nothing()
    driver.later(1)
    abandon = driver.take(Abandon)
    assert abandon.stop_by_ms == sent + 12_000
    driver.later(MARGIN)
    assert driver.take(Overrun).resources == resources("a b")


def test_a_round_that_waits_for_others_ends_no_session_while_the_connection_stands() -> None:
    driver = member("a b")
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.later(50_000)
    driver.join(2)
    driver.later(20_000)
    looked = driver.now
    driver.now += 700  # perhaps frozen since: the answer may have come at any time after the last look
    driver.sync("")
    driver.take(Told)
    driver.nothing()
    assert driver.worker.stop_at_ms == looked + 12_000 - MARGIN


def test_when_the_connection_breaks_in_a_round_the_session_counts_again() -> None:
    driver = member("a b")
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.later(50_000)
    driver.take(Send)
    driver.put(driver.worker.disconnected(driver.now))
    driver.take(Seek)
    driver.later(12_000)
    driver.take(Abandon)


def test_an_assignment_of_a_leader_that_had_not_read_all_is_asked_for_again() -> None:
    driver = member("a b")
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.join(2)
    driver.sync(error=1)
    driver.nothing()
    assert told(driver.worker.owned) == "a b"
    driver.later(1_000)
    driver.join(3)


def test_another_configured_set_makes_it_join() -> None:
    driver = member("a b")
    driver.put(driver.worker.update(driver.now, configured=resources("a b c"), config_offset=6))
    assert driver.join(2).config_offset == 6


def test_a_leader_takes_from_who_has_too_much_and_gives_what_nobody_runs() -> None:
    driver = Driver.start()
    driver.join(1, {OTHER: held("a a-0 a-1 b")})
    first = driver.lead()
    assert (first[ME].assigned, first[ME].revoked) == (NOTHING, NOTHING)
    taken = first[OTHER].revoked
    assert len(taken) == 2
    driver.sync()
    driver.take(Joined)
    driver.take(Told)
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.join(2, {OTHER: held(told(resources("a a-0 a-1 b") - taken))})
    second = driver.lead()
    assert second[ME].assigned == taken
    assert second[OTHER] == attrs.evolve(second[ME], assigned=NOTHING)
    assert second[ME].config_offset == 5


def test_a_leader_has_both_stop_what_two_say_that_they_run() -> None:
    """Who left and came back may say so, and not run it: it would start at once, and the other has yet to stop."""
    third = "third-1"
    driver = Driver.start()
    driver.join(1, {OTHER: held("a a-0 b"), third: held("a-1 b", "http://third")})
    first = driver.lead()
    assert all(resources("b") <= first[each].revoked for each in (OTHER, third))
    assert not any(resources("b") & each.assigned for each in first.values())


def test_a_leader_keeps_the_work_of_who_has_gone_for_a_while_and_knows_him_by_his_url() -> None:
    def after_a_departure() -> Driver:
        driver = Driver.start()
        driver.join(1, {OTHER: held("a a-0")})
        assert driver.lead()[ME].assigned == resources("a-1 b")
        driver.sync("a-1 b")
        driver.actions.clear()
        driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
        driver.join(2, {})
        gone = driver.lead()
        assert gone == {ME: WorkerAssignment(SESSIONED, 0, ME, "http://me", 5, delay_ms=20_000)}
        driver.sync("", delay=20_000)
        driver.take(Told)
        return driver

    driver = after_a_departure()
    for _ in range(6):
        driver.later(3_000).beat()
    driver.later(2_000)  # the delay is over: it joins by itself
    driver.join(3, {})
    assert driver.lead()[ME].assigned == resources("a a-0")

    driver = after_a_departure()
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.join(3, {"other-2": WorkerState(SESSIONED, "http://other", 5)})
    back = driver.lead()
    assert back["other-2"].assigned == resources("a a-0")
    assert back[ME].delay_ms == 0


def test_a_leader_assigns_by_the_policy_that_it_has_and_all_are_told_of_a_wait() -> None:
    """Design II of docs/assignors.md: so that whoever leads next knows its end."""
    timing = attrs.evolve(TIMING, assignor="design-2", defers=True)
    assignor = IncrementalAssignor(DESIGN_2)

    def lead(driver: Driver) -> dict[str, WorkerAssignment]:
        assign = driver.take(Assign)
        assert assign.assignor == assignor.name
        driver.put(driver.worker.computed(driver.now, assign.number, assignor.assign(assign.group)))
        send = driver.actions[0]
        assert isinstance(send, Send)
        assert isinstance(send.request, SyncGroupRequest)
        return {each.member_id: decode_assignment(each.assignment) for each in send.request.assignments}

    driver = Driver.start(timing=timing)
    driver.join(1)
    driver.sync("a a-0", delay=20_000)
    driver.actions.clear()
    driver.later(3_000).beat(ErrorCode.REBALANCE_IN_PROGRESS)
    assert driver.join(2, {"third": held("b")}).allocation == WorkerAssignment(
        SESSIONED, 0, OTHER, "", 5, resources("a a-0"), delay_ms=20_000
    )
    told = lead(driver)
    assert {each.assigned for each in told.values()} == {NOTHING}, "a-1 waits: somebody ran it"
    assert {each.delay_ms for each in told.values()} == {17_000}, "what is left of it"


def test_a_leader_with_default_deals_everything_anew() -> None:
    driver = Driver.start(timing=attrs.evolve(TIMING, version=EAGER))
    driver.join(1, {OTHER: WorkerState(EAGER, "http://other", 5)}, version=EAGER)
    found = driver.lead(eager=True)
    assert found[ME].assigned | found[OTHER].assigned == resources("a a-0 a-1 b")
    assert {len(found[ME].assigned), len(found[OTHER].assigned)} == {2}


def test_it_leaves_when_all_has_stopped_and_a_static_one_without_a_word() -> None:
    driver = member("a b")
    driver.put(driver.worker.leave(driver.now))
    revoke = driver.take(Revoke)
    driver.nothing()
    driver.put(driver.worker.released(driver.now, revoke.number))
    number, request = driver.sent(LeaveGroupRequest)
    assert [each.member_id for each in request.members] == [ME]
    driver.give(number, LeaveGroupResponse())
    driver.take(Gone)

    driver = Driver.start(attrs.evolve(SETUP, instance_id="i1"))
    driver.join(1)
    driver.sync()
    driver.actions.clear()
    driver.put(driver.worker.leave(driver.now))
    driver.take(Gone)


def test_errors_that_end_a_worker() -> None:
    for error in (
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ):
        driver = Driver.start()
        number, _ = driver.sent(JoinGroupRequest)
        driver.give(number, JoinGroupResponse(error_code=error))
        assert driver.take(Gone).error_code == error
        assert driver.worker.phase is Phase.GONE
        driver.later(60_000).nothing()
