"""One worker by hand: what it says when, and what an answer means.

CG-1 to CG-7, CG-9, CG-12, CG-15, CG-26, CG-28, CG-31.
"""

from __future__ import annotations

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.resources import unpack
from kcoord.worker.actions import Abandon, Gone, Grant, Joined, Revoke, Seek, Send, Told
from kcoord.worker.membership import Membership
from kcoord.worker.setup import Offer
from tests.worker.driver import INTERVAL, MARGIN, SESSION, SETUP, Driver, member, owned_in, resources, told

HELD = attrs.evolve(SETUP, max_wait_ms=60_000)


# What it says


def test_a_join_says_all_and_owns_nothing() -> None:
    """CG-6"""
    setup = attrs.evolve(
        SETUP,
        instance_id="i1",
        offers=(Offer("eager", 0, 2, 1, 2, b"m"),),
        configured=resources("a a-0"),
        config_offset=7,
    )
    _, request = Driver(setup).start().heartbeat()
    assert (request.group_id, request.member_id, request.member_epoch) == ("g", "w1", 0)
    assert (request.instance_id, request.rebalance_timeout_ms, request.url) == ("i1", 60_000, "http://w1")
    assert request.server_assignor is None
    assert request.client_assignors is not None
    assert [(each.name, each.metadata) for each in request.client_assignors] == [("eager", b"m")]
    assert owned_in(request) == ""
    assert (request.config_offset, unpack(request.configured_connectors_and_tasks or [])) == (7, resources("a a-0"))
    assert request.max_wait_ms == 0


def test_a_heartbeat_says_only_what_has_changed() -> None:
    driver = member("a")
    _, request = driver.later(INTERVAL).heartbeat()
    assert (request.member_epoch, request.rebalance_timeout_ms, request.url) == (1, -1, None)
    assert (request.client_assignors, owned_in(request), request.config_offset) == (None, None, -1)


def test_what_is_granted_is_said_with_the_next_heartbeat() -> None:
    """CG-1: what was granted counts from its receipt, and is said as well."""
    driver = member()
    driver.later(INTERVAL).answer(1, "a b-0")
    assert driver.take(Grant).resources == resources("a b-0")
    driver.nothing()
    assert owned_in(driver.later(INTERVAL).heartbeat()[1]) == "a b-0"


def test_after_an_error_all_is_said_again() -> None:
    driver = member("a")
    driver.later(INTERVAL).take(Send)
    driver.disconnect()
    driver.connect()
    _, request = driver.heartbeat()
    assert (request.member_epoch, request.rebalance_timeout_ms, owned_in(request)) == (1, 60_000, "a")


def test_what_has_changed_is_said_at_once() -> None:
    driver = member("a")
    driver.update(configured=resources("a b"), config_offset=9)
    number, request = driver.heartbeat()
    assert (request.config_offset, unpack(request.configured_connectors_and_tasks or [])) == (9, resources("a b"))
    driver.answer(1, number=number)
    driver.update(configured=resources("a b"), config_offset=9)
    driver.nothing()


def test_one_kind_of_assignor_takes_the_place_of_the_other() -> None:
    """CG-15"""
    offers = (Offer("eager"),)
    driver = member(setup=attrs.evolve(SETUP, offers=offers))
    driver.update(offers=(), server_assignor="uniform")
    number, request = driver.heartbeat()
    assert (request.server_assignor, request.client_assignors) == ("uniform", None)
    driver.answer(1, number=number)
    driver.update(offers=offers, server_assignor=None)
    _, request = driver.heartbeat()
    assert request.server_assignor is None
    assert request.client_assignors is not None


# Towards the assignment


def test_it_owns_until_on_revoked_has_returned_and_then_says_so_at_once() -> None:
    """CG-3; meanwhile it heartbeats on"""
    driver = member("a b")
    driver.later(INTERVAL).answer(1, "a")
    revoke = driver.take(Revoke)
    assert revoke.resources == resources("b")
    for _ in range(20):  # many sessions long
        driver.later(INTERVAL)
        number, request = driver.heartbeat()
        assert owned_in(request) is None
        assert told(driver.worker.owned) == "a b"
        driver.answer(1, "a", number=number)
    driver.nothing()
    driver.released(revoke.number)
    _, request = driver.heartbeat()
    assert owned_in(request) == "a"


def test_what_comes_back_while_it_is_revoked_is_started_anew_behind_the_revocation() -> None:
    """CG-3: every revoke and grant keeps its order; the coordinator never saw it let go."""
    driver = member("a b")
    driver.later(INTERVAL).answer(1, "a")
    revoke = driver.take(Revoke)
    driver.later(INTERVAL).answer(1, "a b")
    assert driver.take(Grant).resources == resources("b")
    driver.released(revoke.number)
    driver.nothing()
    assert told(driver.worker.owned) == "a b"


def test_a_release_that_was_taken_for_the_previous_epochs_is_said_again() -> None:
    """CG-12: a request at the previous epoch releases nothing."""
    driver = member("a b")
    driver.later(INTERVAL).answer(1, "a")
    driver.released(driver.take(Revoke).number)
    assert driver.heartbeat()[1].member_epoch == 1
    driver.answer(2, number=last_number(driver))
    _, request = driver.later(INTERVAL).heartbeat()
    assert (request.member_epoch, owned_in(request)) == (2, "a")
    driver.answer(2, number=last_number(driver))
    assert owned_in(driver.later(INTERVAL).heartbeat()[1]) is None


def test_what_comes_back_after_a_release_that_was_not_confirmed_is_said_again() -> None:
    """The coordinator may know it or not: who says nothing means that nothing has changed since it was heard."""
    driver = member("a b")
    driver.later(INTERVAL).answer(1, "a")
    driver.released(driver.take(Revoke).number)
    driver.answer(2, "a b")
    driver.take(Told)
    driver.take(Grant)
    assert owned_in(driver.later(INTERVAL).heartbeat()[1]) == "a b"


def test_the_assignor_is_told_once_an_epoch_and_before_the_listener() -> None:
    """CG-31"""
    driver = member()
    driver.later(INTERVAL).answer(2, "a")
    assert driver.take(Told).assignment.resources == resources("a")
    driver.take(Grant)
    driver.later(INTERVAL).answer(2, "a b")
    driver.take(Grant)
    driver.later(INTERVAL).answer(3, "a b")
    assert driver.take(Told).epoch == 3
    driver.nothing()


# Held answers


def test_held_answers_are_asked_for_one_after_the_other() -> None:
    """CG-26"""
    driver = member("a", HELD)
    number, request = driver.heartbeat()
    assert request.max_wait_ms == INTERVAL
    driver.later(INTERVAL).answer(1, number=number)
    number, request = driver.heartbeat()
    assert owned_in(request) is None
    driver.answer(2, "a b", number=number)
    driver.take(Told)
    driver.take(Grant)
    assert owned_in(driver.heartbeat()[1]) == "a b"


def test_answers_that_come_early_and_say_nothing_do_not_make_it_spin() -> None:
    driver = member("a", HELD)
    driver.answer(1)
    driver.answer(1)
    driver.nothing()
    driver.later(INTERVAL).heartbeat()


def test_while_it_revokes_nothing_is_held_so_that_the_release_comes_behind_no_answer() -> None:
    """CG-3: a release counts only where the worker had the answers before it."""
    driver = member("a b", HELD)
    driver.answer(1, "a")
    revoke = driver.take(Revoke)
    driver.later(INTERVAL - 1).nothing()
    number, request = driver.later(1).heartbeat()
    assert (request.max_wait_ms, owned_in(request)) == (0, None)
    driver.answer(1, "a", number=number)
    driver.nothing()
    driver.released(revoke.number)
    number, request = driver.heartbeat()
    assert (request.max_wait_ms, owned_in(request)) == (INTERVAL, "a")
    driver.answer(2, "a", number=number)
    driver.take(Told)
    driver.heartbeat()


def overtaken(driver: Driver) -> tuple[int, int]:
    """Something new is said while an answer is held; the numbers of both heartbeats."""
    held, _ = driver.heartbeat()
    driver.update(url="http://elsewhere")
    number, _ = driver.heartbeat()
    return held, number


def test_what_overtakes_a_held_heartbeat_names_what_is_owned() -> None:
    """CG-12: else it would be fenced if the other's answer moves the epoch."""
    driver = member("a b", HELD)
    driver.answer(1, "a b")
    driver.later(INTERVAL)
    held, _ = driver.heartbeat()
    driver.update(url="http://elsewhere")
    _, request = driver.heartbeat()
    assert (owned_in(request), request.url, request.member_epoch) == ("a b", "http://elsewhere", 1)
    driver.answer(2, number=held)
    third, request = driver.heartbeat()
    assert (request.url, request.member_epoch) == ("http://elsewhere", 2)
    assert third


def test_an_answer_to_a_heartbeat_from_before_a_release_grants_nothing() -> None:
    """CG-3: what the later request gives back must not be started by the earlier one's answer."""
    driver = member("a b", HELD)
    first, second = overtaken(driver)
    driver.answer(1, "a", number=first)
    driver.released(driver.take(Revoke).number)
    third, request = driver.heartbeat()
    assert owned_in(request) == "a"
    driver.answer(2, "a b", number=second)
    fourth, request = driver.heartbeat()
    assert (request.member_epoch, request.max_wait_ms, owned_in(request)) == (1, 0, "a")
    driver.nothing()
    assert told(driver.worker.owned) == "a"
    driver.answer(2, "a b", number=third)
    driver.take(Told)
    assert driver.take(Grant).resources == resources("b")
    driver.heartbeat()
    driver.answer(2, "a b", number=fourth)


def test_a_release_that_had_to_be_said_behind_another_heartbeat_is_said_again_at_once() -> None:
    """CG-3: it counts only in a request read after the answers that the worker has."""
    driver = member("a b", HELD)
    first, second = overtaken(driver)
    driver.answer(1, "a", number=first)
    driver.released(driver.take(Revoke).number)
    third, request = driver.heartbeat()
    assert (request.max_wait_ms, owned_in(request)) == (0, "a")
    driver.answer(1, "a", number=second)
    driver.nothing()
    driver.answer(1, "a", number=third)
    _, request = driver.heartbeat()
    assert (request.max_wait_ms, owned_in(request)) == (INTERVAL, "a")


def test_at_epoch_0_no_heartbeat_overtakes_another() -> None:
    """CG-12: epoch 0 is never a previous epoch."""
    driver = Driver(HELD).start()
    driver.answer(0, "a b")
    driver.take(Joined)
    driver.take(Told)
    driver.take(Grant)
    number, request = driver.heartbeat()
    assert request.max_wait_ms == INTERVAL
    driver.update(url="http://elsewhere")
    driver.nothing()
    driver.answer(0, "a", number=number)
    driver.take(Revoke)
    _, request = driver.heartbeat()
    assert (request.url, request.max_wait_ms) == ("http://elsewhere", 0)


# Fenced


def test_fenced_it_abandons_all_and_only_then_joins_with_epoch_0_and_the_same_member_id() -> None:
    """CG-5"""
    for error in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
        driver = member("a b")
        driver.later(INTERVAL).answer(error=error)
        abandon = driver.take(Abandon)
        assert (abandon.resources, abandon.why) == (resources("a b"), error.name)
        driver.later(SESSION - 2 * INTERVAL - MARGIN).nothing()
        assert told(driver.worker.owned) == "a b"
        driver.abandoned(abandon.number)
        _, request = driver.heartbeat()
        assert (request.member_epoch, request.member_id, owned_in(request)) == (0, "w1", "")
        assert request.rebalance_timeout_ms == 60_000


def test_fenced_while_revoking_it_abandons_that_too() -> None:
    """CG-5, CG-7"""
    driver = member("a b")
    driver.later(INTERVAL).answer(1, "a")
    revoke = driver.take(Revoke)
    driver.later(INTERVAL).answer(error=ErrorCode.FENCED_MEMBER_EPOCH)
    abandon = driver.take(Abandon)
    assert abandon.resources == resources("a b")
    driver.released(revoke.number)
    driver.nothing()
    assert told(driver.worker.owned) == "a b"
    driver.abandoned(abandon.number)
    assert owned_in(driver.heartbeat()[1]) == ""


def test_fenced_at_its_join_it_comes_by_a_new_connection() -> None:
    """CG-4"""
    driver = Driver().start()
    driver.answer(error=ErrorCode.FENCED_MEMBER_EPOCH)
    driver.connect()
    assert driver.heartbeat()[1].member_epoch == 0


def test_epoch_0_with_something_owned_of_a_member_that_was_forgotten_is_fenced_too() -> None:
    """CG-6: for an unknown member, owned given is INVALID_REQUEST."""
    driver = Driver().start()
    driver.answer(0, "a")
    driver.take(Joined)
    driver.take(Told)
    driver.take(Grant)
    driver.later(INTERVAL).answer(error=ErrorCode.INVALID_REQUEST)
    driver.take(Abandon)


# The way to the coordinator


def waits_of(random: float) -> list[int]:
    """How long a worker waits before each look for its coordinator, in ms."""
    driver = Driver(random=random)
    driver.put(driver.worker.start(0))
    waits = []
    for _ in range(7):
        driver.take(Seek)
        before = driver.now
        driver.put(driver.worker.unreachable(driver.now))
        while not driver.actions:
            wake = driver.worker.wake_at()
            assert wake is not None
            driver.at(wake)
        waits.append(driver.now - before)
    return waits


def test_a_coordinator_is_sought_with_back_off_and_jitter() -> None:
    assert waits_of(0.0) == [0, 80, 160, 320, 640, 800, 800]
    assert waits_of(0.5) == [50, 100, 200, 400, 800, 1000, 1000]
    assert waits_of(0.99) == [99, 119, 239, 478, 956, 1196, 1196]


def test_another_coordinator_is_told_all() -> None:
    driver = member("a")
    driver.later(INTERVAL).answer(error=ErrorCode.NOT_COORDINATOR)
    driver.connect()
    assert owned_in(driver.heartbeat()[1]) == "a"


def test_a_coordinator_that_wants_no_pause_gets_one() -> None:
    driver = member("a")
    driver.later(INTERVAL).answer(1, interval=0)
    driver.nothing()


def test_a_request_without_an_answer_ends_the_connection_and_late_answers_are_ignored() -> None:
    driver = member("a")
    number, _ = driver.later(INTERVAL).heartbeat()
    driver.later(SETUP.request_timeout_ms)
    driver.connect()
    again, request = driver.heartbeat()
    assert owned_in(request) == "a"
    driver.answer(2, "a b", number=number)
    driver.nothing()
    assert driver.worker.epoch == 1
    driver.answer(1, number=again)


def test_a_coordinator_that_loads_is_asked_again_on_the_same_connection() -> None:
    driver = member("a")
    driver.later(INTERVAL).answer(error=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    driver.nothing()
    driver.later(150)
    _, request = driver.heartbeat()
    assert (request.member_epoch, owned_in(request), request.url) == (1, "a", "http://w1")


# The end


def test_it_leaves_when_all_has_stopped() -> None:
    """CG-9, CG-28: -1; -2 for a static member that will be back"""
    for instance, permanent, epoch in ((None, False, -1), ("i1", False, -2), ("i1", True, -1)):
        driver = member("a b", attrs.evolve(SETUP, instance_id=instance))
        driver.leave(permanent=permanent)
        revoke = driver.take(Revoke)
        assert revoke.resources == resources("a b")
        driver.later(INTERVAL).answer(1, "a b c")
        driver.nothing()
        driver.released(revoke.number)
        number, request = driver.heartbeat()
        assert (request.member_epoch, request.instance_id) == (epoch, instance)
        driver.answer(epoch, number=number)
        assert driver.take(Gone).error_code == 0


def test_a_leave_that_nobody_answers_ends_too() -> None:
    driver = member()
    driver.leave()
    driver.take(Send)
    driver.later(SETUP.leave_timeout_ms)
    driver.take(Gone)


def test_who_never_joined_leaves_at_once() -> None:
    driver = Driver()
    driver.put(driver.worker.start(0))
    driver.take(Seek)
    driver.leave()
    driver.take(Gone)


def test_a_close_that_takes_too_long_abandons() -> None:
    driver = member("a b")
    driver.leave()
    driver.take(Revoke)
    driver.put(driver.worker.give_up(driver.now, "closed"))
    abandon = driver.take(Abandon)
    assert (abandon.resources, abandon.why) == (resources("a b"), "closed")
    driver.abandoned(abandon.number)
    assert driver.heartbeat()[1].member_epoch == -1


def test_errors_that_end_a_worker() -> None:
    """KIP-848: what a member can do nothing about; CG-28 for the replaced static member"""
    for error in (
        ErrorCode.UNRELEASED_INSTANCE_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNSUPPORTED_ASSIGNOR,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ):
        driver = Driver().start()
        driver.answer(error=error)
        assert driver.take(Gone).error_code == error
        driver.later(SESSION).nothing()

        driver = member("a")
        driver.later(INTERVAL).answer(error=error)
        abandon = driver.take(Abandon)
        driver.nothing()
        driver.abandoned(abandon.number)
        assert driver.take(Gone).error_code == error
        assert driver.worker.owned == frozenset()


def test_what_it_owns_is_never_more_than_was_granted_and_not_stopped() -> None:
    """CG-1, over a life"""
    worker = Membership(SETUP)
    assert worker.owned == frozenset()
    driver = member("a b")
    assert told(driver.worker.owned) == "a b"
    assert told(driver.worker.assigned) == "a b"


def last_number(driver: Driver) -> int:
    """The number of the only request under way."""
    (number,) = driver.worker._state.under_way
    return number


def test_what_reads_like_a_join_says_all() -> None:
    """CG-6: at epoch 0, with a rebalance timeout and nothing owned, all fields are due (found by
    simulation: the assignors were left out, and so forgotten).
    """
    driver = Driver(attrs.evolve(SETUP, offers=(Offer("eager"),))).start()
    driver.answer(0, error=ErrorCode.COMPUTE_ASSIGNMENT)
    driver.take(Joined)
    driver.prepare()
    driver.update(rebalance_timeout_ms=5_000)
    _, request = driver.heartbeat()
    assert (request.member_epoch, owned_in(request), request.rebalance_timeout_ms) == (0, "", 5_000)
    assert request.client_assignors is not None


def test_no_more_than_two_heartbeats_are_under_way() -> None:
    """CG-3: of three, the last could be read after the answer that withdraws what an answer on its way
    grants, and would be taken for a release (found by simulation: the resource ran twice).
    """
    driver = member("a")
    for timeout_ms in (5_000, 6_000, 7_000, 8_000):
        driver.update(rebalance_timeout_ms=timeout_ms)
    sent = [action for action in driver.actions if isinstance(action, Send)]
    assert len(sent) == 2
