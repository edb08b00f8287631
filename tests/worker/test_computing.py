"""A worker that is chosen to compute: what it asks, assigns and installs (CG-17 to CG-20)."""

from __future__ import annotations

from kcoord.assign import Assignment, MemberAssignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.resources import unpack
from kcoord.worker.actions import Assign, Grant, Refused, Told
from kcoord.worker.state import Phase
from tests.worker.driver import INTERVAL, Driver, member, resources

ASSIGNMENT = Assignment((MemberAssignment("w1", resources("a")),))


def chosen(driver: Driver, epoch: int = 1) -> int:
    """The coordinator asks it to compute; the number of its Prepare."""
    driver.later(INTERVAL).answer(epoch, error=ErrorCode.COMPUTE_ASSIGNMENT)
    number, request = driver.prepare()
    assert (request.group_id, request.member_id, request.member_epoch) == ("g", "w1", epoch)
    return number


def repeat(driver: Driver) -> None:
    """The choice is repeated in the next answer, and nothing happens."""
    driver.later(INTERVAL).answer(1, error=ErrorCode.COMPUTE_ASSIGNMENT)
    driver.nothing()


def test_a_chosen_worker_prepares_assigns_and_installs_and_ignores_repeats() -> None:
    """CG-17, CG-18"""
    driver = member()
    prepare = chosen(driver)
    repeat(driver)
    driver.prepared(prepare, group_epoch=4)
    assign = driver.take(Assign)
    assert assign.assignor == "eager"
    repeat(driver)
    driver.computed(assign.number, ASSIGNMENT)
    number, request = driver.install()
    assert (request.group_epoch, request.member_epoch, request.error) == (4, 1, 0)
    assert [(each.member_id, unpack(each.connectors_and_tasks)) for each in request.members] == [("w1", resources("a"))]
    repeat(driver)
    driver.installed(number)
    driver.nothing()
    chosen(driver)


def test_beside_the_choice_an_answer_is_an_answer() -> None:
    """CG-17"""
    driver = member()
    driver.later(INTERVAL).answer(2, "a", error=ErrorCode.COMPUTE_ASSIGNMENT)
    driver.take(Told)
    driver.take(Grant)
    assert driver.prepare()[1].member_epoch == 2


def test_a_prepare_that_is_refused_ends_nobodys_membership() -> None:
    """CG-19"""
    for error in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND):
        driver = member("a")
        driver.prepared(chosen(driver), error=error)
        driver.nothing()
        assert driver.worker.phase is Phase.MEMBER
        chosen(driver)


def test_an_install_with_an_old_epoch_is_repeated_with_the_next_answers() -> None:
    """CG-19"""
    driver = member()
    driver.prepared(chosen(driver))
    driver.computed(driver.take(Assign).number, ASSIGNMENT)
    number, _ = driver.install()
    driver.installed(number, error=ErrorCode.FENCED_MEMBER_EPOCH)
    driver.nothing()
    driver.later(INTERVAL).answer(2, "", error=ErrorCode.COMPUTE_ASSIGNMENT)
    driver.take(Told)
    _, request = driver.install()
    assert request.member_epoch == 2


def test_an_install_that_waits_for_its_epoch_is_forgotten_when_others_compute() -> None:
    """CG-18, CG-19: brought later it would be of an old input, and have this worker excluded."""
    driver = member()
    driver.prepared(chosen(driver))
    driver.computed(driver.take(Assign).number, ASSIGNMENT)
    number, _ = driver.install()
    driver.installed(number, error=ErrorCode.FENCED_MEMBER_EPOCH)
    driver.later(INTERVAL).answer(1)
    driver.nothing()
    chosen(driver)


def test_an_assignor_that_fails_is_told_so_that_another_worker_computes() -> None:
    """CG-20"""
    driver = member()
    driver.prepared(chosen(driver))
    driver.computed(driver.take(Assign).number, None)
    number, request = driver.install()
    assert (request.error, request.members) == (1, [])
    driver.installed(number, error=ErrorCode.INVALID_ASSIGNMENT)
    assert driver.take(Refused).error_code == ErrorCode.INVALID_ASSIGNMENT


def test_a_lost_connection_ends_the_computation() -> None:
    """CG-18: the frozen input dies with the shard; the choice is repeated."""
    driver = member()
    driver.prepared(chosen(driver))
    assign = driver.take(Assign)
    driver.disconnect()
    driver.connect()
    number, _ = driver.heartbeat()
    driver.computed(assign.number, ASSIGNMENT)
    driver.nothing()
    driver.answer(1, number=number, error=ErrorCode.COMPUTE_ASSIGNMENT)
    driver.prepare()
