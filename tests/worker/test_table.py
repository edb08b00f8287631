"""The state table of a worker: every cell is reached, and does what stands here."""

from __future__ import annotations

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.worker import phase_table
from kcoord.worker.actions import Abandon, Gone, Grant, Joined, Overrun, Revoke, Seek, Send, Told
from kcoord.worker.state import Phase
from kcoord.worker.transitions import unreachable
from tests.watched_row import watch_row
from tests.worker.driver import INTERVAL, SETUP, Driver

ROWS = {name: row for name, row in vars(phase_table).items() if isinstance(row, phase_table.Row)}
ERRORS = {
    "OK": ErrorCode.NONE,
    "COMPUTE": ErrorCode.COMPUTE_ASSIGNMENT,
    "LATER": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    "ELSE": ErrorCode.NOT_COORDINATOR,
    "FENCED": ErrorCode.FENCED_MEMBER_EPOCH,
    "FATAL": ErrorCode.GROUP_AUTHORIZATION_FAILED,
}


def idle() -> Driver:
    return Driver()


def joining() -> Driver:
    return Driver().start()


def member() -> Driver:
    driver = joining()
    driver.answer(1, "a b")
    for kind in (Joined, Told, Grant):
        driver.take(kind)
    return driver.later(INTERVAL)


def abandoning() -> Driver:
    driver = member()
    driver.answer(error=ErrorCode.FENCED_MEMBER_EPOCH)
    return driver


def leaving() -> Driver:
    driver = member()
    driver.actions.clear()
    driver.answer(1, number=last(driver))
    driver.leave()
    driver.take(Revoke)
    return driver.later(INTERVAL)


def parting() -> Driver:
    driver = leaving()
    (number,) = driver.worker._state.revoking
    driver.actions.clear()
    driver.released(number)
    return driver


def gone() -> Driver:
    driver = parting()
    driver.answer(-1)
    driver.take(Gone)
    return driver


COMES_TO = {
    "idle": idle,
    "joining": joining,
    "member": member,
    "abandoning": abandoning,
    "leaving": leaving,
    "parting": parting,
    "gone": gone,
}

# (row, phase): the phase that follows, and what is to be done
CELLS: dict[tuple[str, str], tuple[Phase, list[type]]] = {
    ("OK", "joining"): (Phase.MEMBER, [Joined, Told]),
    ("OK", "member"): (Phase.MEMBER, [Told]),
    ("OK", "leaving"): (Phase.LEAVING, []),
    ("OK", "parting"): (Phase.GONE, [Gone]),
    ("COMPUTE", "joining"): (Phase.MEMBER, [Joined, Told, Send]),
    ("COMPUTE", "member"): (Phase.MEMBER, [Told, Send]),
    ("COMPUTE", "leaving"): (Phase.LEAVING, []),
    ("COMPUTE", "parting"): (Phase.GONE, [Gone]),
    ("LATER", "joining"): (Phase.JOINING, []),
    ("LATER", "member"): (Phase.MEMBER, []),
    ("LATER", "leaving"): (Phase.LEAVING, []),
    ("LATER", "parting"): (Phase.PARTING, []),
    ("ELSE", "joining"): (Phase.JOINING, [Seek]),
    ("ELSE", "member"): (Phase.MEMBER, [Seek]),
    ("ELSE", "leaving"): (Phase.LEAVING, [Seek]),
    ("ELSE", "parting"): (Phase.PARTING, [Seek]),
    ("FENCED", "joining"): (Phase.JOINING, [Seek]),
    ("FENCED", "member"): (Phase.ABANDONING, [Abandon]),
    ("FENCED", "leaving"): (Phase.ABANDONING, [Abandon]),
    ("FENCED", "parting"): (Phase.GONE, [Gone]),
    ("FATAL", "joining"): (Phase.GONE, [Gone]),
    ("FATAL", "member"): (Phase.ABANDONING, [Abandon]),
    ("FATAL", "leaving"): (Phase.ABANDONING, [Abandon]),
    ("FATAL", "parting"): (Phase.GONE, [Gone]),
    ("STOP", "member"): (Phase.ABANDONING, [Abandon]),
    ("STOP", "leaving"): (Phase.ABANDONING, [Abandon]),
    ("ENDED", "abandoning"): (Phase.ABANDONING, [Overrun]),
    ("NO_BYE", "parting"): (Phase.GONE, [Gone]),
    ("REFUSED", "idle"): (Phase.IDLE, []),
    ("REFUSED", "joining"): (Phase.GONE, [Gone]),
    ("REFUSED", "member"): (Phase.ABANDONING, [Abandon]),
    ("REFUSED", "abandoning"): (Phase.ABANDONING, []),
    ("REFUSED", "leaving"): (Phase.ABANDONING, [Abandon]),
    ("REFUSED", "parting"): (Phase.GONE, [Gone]),
    ("REFUSED", "gone"): (Phase.GONE, []),
    ("START", "idle"): (Phase.JOINING, [Seek]),
    ("START", "joining"): (Phase.JOINING, []),
    ("START", "member"): (Phase.MEMBER, []),
    ("START", "abandoning"): (Phase.ABANDONING, []),
    ("START", "leaving"): (Phase.LEAVING, []),
    ("START", "parting"): (Phase.PARTING, []),
    ("START", "gone"): (Phase.GONE, []),
    ("LEAVE", "idle"): (Phase.GONE, [Gone]),
    ("LEAVE", "joining"): (Phase.PARTING, [Send]),
    ("LEAVE", "member"): (Phase.LEAVING, [Revoke]),
    ("LEAVE", "abandoning"): (Phase.ABANDONING, []),
    ("LEAVE", "leaving"): (Phase.LEAVING, []),
    ("LEAVE", "parting"): (Phase.PARTING, []),
    ("LEAVE", "gone"): (Phase.GONE, []),
    ("GIVE_UP", "idle"): (Phase.GONE, [Gone]),
    ("GIVE_UP", "joining"): (Phase.PARTING, [Send]),
    ("GIVE_UP", "member"): (Phase.ABANDONING, [Abandon]),
    ("GIVE_UP", "abandoning"): (Phase.ABANDONING, []),
    ("GIVE_UP", "leaving"): (Phase.ABANDONING, [Abandon]),
    ("GIVE_UP", "parting"): (Phase.PARTING, []),
    ("GIVE_UP", "gone"): (Phase.GONE, []),
    ("FREED", "joining"): (Phase.JOINING, []),
    ("FREED", "member"): (Phase.MEMBER, []),
    ("FREED", "abandoning"): (Phase.ABANDONING, []),
    ("FREED", "leaving"): (Phase.PARTING, [Send]),
    ("FREED", "parting"): (Phase.PARTING, []),
    ("FREED", "gone"): (Phase.GONE, []),
    ("STOPPED", "joining"): (Phase.JOINING, []),
    ("STOPPED", "member"): (Phase.MEMBER, []),
    ("STOPPED", "abandoning"): (Phase.JOINING, [Send]),
    ("STOPPED", "leaving"): (Phase.LEAVING, []),
    ("STOPPED", "parting"): (Phase.PARTING, []),
    ("STOPPED", "gone"): (Phase.GONE, []),
}


def test_every_cell_is_told_of() -> None:
    reachable = {
        (name, phase) for name, row in ROWS.items() for phase in row._fields if getattr(row, phase) is not unreachable
    }
    assert reachable == CELLS.keys()


@pytest.mark.parametrize(("row", "phase"), CELLS, ids=["-".join(cell) for cell in CELLS])
def test_a_cell_does_what_stands_here(row: str, phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = COMES_TO[phase]()
    assert driver.worker.phase.name.lower() == phase
    reached = watch_row(monkeypatch, phase_table, row, ("_ROWS",))
    driver.actions = []
    happens(row, driver)
    after, actions = CELLS[row, phase]
    assert (driver.worker.phase, [type(each) for each in driver.actions]) == (after, actions)
    assert reached == [phase]


def happens(row: str, driver: Driver) -> None:
    """The event of a row."""
    worker, now = driver.worker, driver.now
    if row in ERRORS:
        epoch, assigned = (2, "a b") if worker.phase is Phase.MEMBER else (1, "")
        driver.answer(epoch, assigned, error=ERRORS[row], number=last(driver))
    elif row == "STOP":
        driver.now = worker.stop_at_ms or 0
        driver.put(worker.poll(driver.now))
    elif row == "ENDED":
        driver.now = worker.session_ends_ms or 0
        driver.put(worker.poll(driver.now))
    elif row == "NO_BYE":
        driver.now += SETUP.leave_timeout_ms
        driver.put(worker.poll(driver.now))
    elif row == "REFUSED":
        driver.put(worker.refused(now, ErrorCode.GROUP_AUTHORIZATION_FAILED, "no"))
    elif row == "START":
        driver.put(worker.start(now))
    elif row == "LEAVE":
        driver.put(worker.leave(now))
    elif row == "GIVE_UP":
        driver.put(worker.give_up(now, "closed"))
    else:
        numbers = [*worker._state.revoking, -1]
        driver.put(getattr(worker, "released" if row == "FREED" else "abandoned")(now, numbers[0]))


def last(driver: Driver) -> int:
    """The number of the last request under way."""
    return [*driver.worker._state.under_way][-1]


def test_who_a_worker_is_does_not_change() -> None:
    """CG-31"""
    driver = member()
    with pytest.raises(AssertionError):
        driver.update(member_id="another")
    assert attrs.asdict(driver.worker.setup)["member_id"] == "w1"
