"""The end of a session: when a worker stops by itself, and what a late answer counts (CG-8)."""

from __future__ import annotations

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.worker.actions import Abandon, Joined, Overrun, Revoke, Seek, Send
from kcoord.worker.state import Phase
from tests.worker.driver import INTERVAL, MARGIN, SESSION, SETUP, Driver, member, owned_in, resources, told


def test_it_stops_a_margin_before_the_session_that_began_with_the_sending_must_have_ended() -> None:
    """CG-8"""
    driver = member("a b")
    sent = driver.now + INTERVAL
    number, _ = driver.at(sent).heartbeat()
    driver.later(3_000).answer(1, number=number)
    while driver.now < sent + SESSION - MARGIN - 1:
        driver.later(1)
        if driver.actions and isinstance(driver.actions[0], Seek):
            driver.connect()
        driver.actions = [each for each in driver.actions if not isinstance(each, Send)]
        driver.nothing()
    driver.later(1)
    abandon = driver.take(Abandon)
    assert (abandon.resources, abandon.stop_by_ms) == (resources("a b"), sent + SESSION)


def test_it_stops_in_time_while_on_revoked_hangs_and_the_coordinator_is_away() -> None:
    """CG-8"""
    driver = member("a b")
    driver.later(INTERVAL).answer(1, "a")
    driver.take(Revoke)
    driver.disconnect()
    driver.take(Seek)
    ends = driver.worker.session_ends_ms
    assert ends is not None
    driver.at(ends - MARGIN - 1).nothing()
    driver.at(ends - MARGIN)
    abandon = driver.take(Abandon)
    assert (abandon.resources, abandon.stop_by_ms) == (resources("a b"), ends)
    driver.at(ends - 1).nothing()
    driver.at(ends)
    assert driver.take(Overrun).resources == resources("a b")
    driver.later(60_000).nothing()
    driver.abandoned(abandon.number)
    assert driver.worker.phase is Phase.JOINING


def test_an_answer_that_it_reads_late_counts_from_its_sending() -> None:
    """CG-8: frozen between sending and reading, it stops before it does anything else."""
    driver = member("a")
    number, _ = driver.later(INTERVAL).heartbeat()
    driver.now += SESSION
    driver.answer(2, "a b", number=number)
    assert driver.take(Abandon).resources == resources("a")
    driver.take(Overrun)
    driver.nothing()


def test_the_session_goes_by_what_the_answers_say() -> None:
    """CG-8: a lower timeout binds when the longer session, told before, would have ended."""
    driver = member("a")
    before = driver.worker.stop_at_ms
    assert before is not None
    driver.later(INTERVAL)
    driver.answer(1, session=9_000)
    assert driver.worker.stop_at_ms == before
    while driver.now + 9_000 - 1_500 <= before:
        driver.later(INTERVAL)
        sent = driver.now
        driver.answer(1, session=9_000)
    assert driver.worker.stop_at_ms == sent + 9_000 - 1_500


def test_errors_do_not_keep_the_session() -> None:
    """CG-8"""
    driver = member("a")
    stop = driver.worker.stop_at_ms
    driver.later(INTERVAL).answer(error=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    assert driver.worker.stop_at_ms == stop


def test_a_join_that_is_answered_after_its_session_must_have_ended_grants_nothing() -> None:
    """CG-8: the clock runs from the sending (found by simulation)"""
    driver = Driver(attrs.evolve(SETUP, request_timeout_ms=2 * SESSION)).start()
    number, _ = driver.heartbeat()
    driver.later(SESSION)
    driver.answer(1, "a", number=number)
    assert driver.worker.owned == frozenset()
    _, again = driver.heartbeat()
    assert (again.member_epoch, owned_in(again)) == (0, "")
    driver.nothing()


def test_a_shorter_session_that_is_told_late_does_not_cut_short_the_longer_one() -> None:
    """CG-8: the coordinator lets the longer one run to its end (found by simulation)"""
    driver = member("a")
    ends_ms = driver.worker.session_ends_ms
    number, _ = driver.later(INTERVAL).heartbeat()
    driver.later(8_000)
    driver.answer(1, session=6_000, number=number)
    assert driver.worker.session_ends_ms == ends_ms
    assert driver.worker.owned == resources("a")


@pytest.mark.parametrize(("session", "granted"), [(6_000, ""), (SESSION, "a")])
def test_a_join_that_is_answered_late_grants_what_the_session_covers_that_it_tells(session: int, granted: str) -> None:
    """CG-8: the session of a join before, which was never assigned anything, does not (found by
    simulation: frozen for longer than the new session, and not yet at the end of the old one's margin, it started what
    may have been another's).
    """
    driver = Driver(attrs.evolve(SETUP, request_timeout_ms=2 * SESSION)).start()
    driver.answer(0)
    driver.take(Joined)
    number, _ = driver.later(INTERVAL).heartbeat()
    driver.now += SESSION - MARGIN - 1  # it was frozen, and reads the answer first
    driver.answer(1, "a", session=session, number=number)
    assert told(driver.worker.owned) == granted
