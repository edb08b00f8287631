"""The state table of a consumer: every cell is reached, and does what stands here."""

from __future__ import annotations

import pytest

from kcoord.consumer import phase_table
from kcoord.consumer.actions import Gone, Grant, Joined, Lose, Revoke, Seek, Send
from kcoord.consumer.state import Call, Phase
from kcoord.consumer.transitions import never
from kcoord.protocol.errors import ErrorCode
from tests.consumer import hand as by_hand
from tests.consumer.hand import INTERVAL, SETUP, STATIC, Hand
from tests.watched_row import watch_row

ROWS = {name: row for name, row in vars(phase_table).items() if isinstance(row, phase_table.Row)}
ERRORS = {
    "OK": ErrorCode.NONE,
    "COMPUTE": ErrorCode.NONE,
    "LATER": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    "ELSE": ErrorCode.NOT_COORDINATOR,
    "FENCED": ErrorCode.FENCED_MEMBER_EPOCH,
    "UNRELEASED": ErrorCode.UNRELEASED_INSTANCE_ID,
    "FATAL": ErrorCode.GROUP_AUTHORIZATION_FAILED,
    "LEFT": ErrorCode.NONE,
    "LEFT_LATER": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    "LEFT_ELSE": ErrorCode.NOT_COORDINATOR,
}
"""By row of an answer, an error that leads to it."""


def idle() -> Hand:
    return Hand()


def joining() -> Hand:
    """It has just said that it is away, since an earlier join was not answered: both answers are awaited."""
    hand = Hand(STATIC).start()
    hand.take(Send)
    hand.reconnect()
    hand.answer(error=ErrorCode.UNRELEASED_INSTANCE_ID)
    return hand


def member() -> Hand:
    return by_hand.member("a0 a1").later(INTERVAL)


def losing() -> Hand:
    """Because the application does not poll: it has said farewell."""
    hand = by_hand.member("a0 a1")
    hand.polls(waits=False)
    hand.now += SETUP.max_poll_ms
    hand.put(hand.consumer.poll(hand.now))
    return hand


def away() -> Hand:
    hand = losing()
    hand.lost(hand.take(Lose).number)
    return hand


def leaving() -> Hand:
    hand = by_hand.member("a0 a1")
    hand.leave()
    return hand.later(INTERVAL)


def parting() -> Hand:
    hand = by_hand.member("a0 a1")
    hand.leave()
    hand.released(hand.take(Revoke).number)
    return hand


def gone() -> Hand:
    hand = parting()
    hand.answer(-1)
    return hand


COMES_TO = {each.__name__: each for each in (idle, joining, member, losing, away, leaving, parting, gone)}

# (row, phase): the phase that follows, and what is to be done
CELLS: dict[tuple[str, str], tuple[Phase, list[type]]] = {
    ("OK", "joining"): (Phase.MEMBER, [Joined, Grant, Send]),
    ("OK", "member"): (Phase.MEMBER, [Revoke, Grant, Send]),
    ("OK", "leaving"): (Phase.LEAVING, []),
    ("COMPUTE", "joining"): (Phase.MEMBER, [Joined, Grant, Send, Send]),
    ("COMPUTE", "member"): (Phase.MEMBER, [Revoke, Grant, Send, Send]),
    ("COMPUTE", "leaving"): (Phase.LEAVING, []),
    ("LATER", "joining"): (Phase.JOINING, []),
    ("LATER", "member"): (Phase.MEMBER, []),
    ("LATER", "leaving"): (Phase.LEAVING, []),
    ("ELSE", "joining"): (Phase.JOINING, []),
    ("ELSE", "member"): (Phase.MEMBER, []),
    ("ELSE", "leaving"): (Phase.LEAVING, []),
    ("FENCED", "joining"): (Phase.JOINING, []),
    ("FENCED", "member"): (Phase.LOSING, [Lose]),
    ("FENCED", "leaving"): (Phase.LOSING, [Lose]),
    ("UNRELEASED", "joining"): (Phase.GONE, [Gone]),
    ("UNRELEASED", "member"): (Phase.LOSING, [Lose]),
    ("UNRELEASED", "leaving"): (Phase.LOSING, [Lose]),
    ("FATAL", "joining"): (Phase.GONE, [Gone]),
    ("FATAL", "member"): (Phase.LOSING, [Lose]),
    ("FATAL", "leaving"): (Phase.LOSING, [Lose]),
    ("LEFT", "joining"): (Phase.JOINING, []),
    ("LEFT", "losing"): (Phase.LOSING, []),
    ("LEFT", "away"): (Phase.AWAY, []),
    ("LEFT", "parting"): (Phase.GONE, [Gone]),
    ("LEFT_LATER", "joining"): (Phase.JOINING, []),
    ("LEFT_LATER", "losing"): (Phase.LOSING, []),
    ("LEFT_LATER", "away"): (Phase.AWAY, []),
    ("LEFT_LATER", "parting"): (Phase.PARTING, []),
    ("LEFT_ELSE", "joining"): (Phase.JOINING, []),
    ("LEFT_ELSE", "losing"): (Phase.LOSING, []),
    ("LEFT_ELSE", "away"): (Phase.AWAY, []),
    ("LEFT_ELSE", "parting"): (Phase.PARTING, []),
    ("DISOWNED", "joining"): (Phase.JOINING, []),
    ("DISOWNED", "member"): (Phase.LOSING, [Lose]),
    ("DISOWNED", "losing"): (Phase.LOSING, []),
    ("DISOWNED", "away"): (Phase.AWAY, []),
    ("DISOWNED", "leaving"): (Phase.LOSING, [Lose]),
    ("DISOWNED", "parting"): (Phase.PARTING, []),
    ("DISOWNED", "gone"): (Phase.GONE, []),
    ("REFUSED", "idle"): (Phase.IDLE, []),
    ("REFUSED", "joining"): (Phase.GONE, [Gone]),
    ("REFUSED", "member"): (Phase.LOSING, [Lose]),
    ("REFUSED", "losing"): (Phase.LOSING, []),
    ("REFUSED", "away"): (Phase.GONE, [Gone]),
    ("REFUSED", "leaving"): (Phase.LOSING, [Lose]),
    ("REFUSED", "parting"): (Phase.GONE, [Gone]),
    ("REFUSED", "gone"): (Phase.GONE, []),
    ("NO_BYE", "parting"): (Phase.GONE, [Gone]),
    ("OVERDUE", "joining"): (Phase.AWAY, [Send]),
    ("OVERDUE", "member"): (Phase.LOSING, [Lose, Send]),
    ("POLLED", "idle"): (Phase.IDLE, []),
    ("POLLED", "joining"): (Phase.JOINING, []),
    ("POLLED", "losing"): (Phase.LOSING, []),
    ("POLLED", "away"): (Phase.JOINING, [Send]),
    ("POLLED", "leaving"): (Phase.LEAVING, []),
    ("POLLED", "parting"): (Phase.PARTING, []),
    ("POLLED", "gone"): (Phase.GONE, []),
    ("START", "idle"): (Phase.JOINING, [Seek]),
    ("LEAVE", "idle"): (Phase.GONE, [Gone]),
    ("LEAVE", "joining"): (Phase.PARTING, [Send]),
    ("LEAVE", "member"): (Phase.LEAVING, [Revoke]),
    ("LEAVE", "losing"): (Phase.LOSING, []),
    ("LEAVE", "away"): (Phase.GONE, [Gone]),
    ("LEAVE", "leaving"): (Phase.LEAVING, []),
    ("LEAVE", "parting"): (Phase.PARTING, []),
    ("LEAVE", "gone"): (Phase.GONE, []),
    ("GIVE_UP", "idle"): (Phase.GONE, [Gone]),
    ("GIVE_UP", "joining"): (Phase.PARTING, [Send]),
    ("GIVE_UP", "member"): (Phase.LOSING, [Lose]),
    ("GIVE_UP", "losing"): (Phase.LOSING, []),
    ("GIVE_UP", "away"): (Phase.GONE, [Gone]),
    ("GIVE_UP", "leaving"): (Phase.LOSING, [Lose]),
    ("GIVE_UP", "parting"): (Phase.PARTING, []),
    ("GIVE_UP", "gone"): (Phase.GONE, []),
    ("FREED", "joining"): (Phase.JOINING, []),
    ("FREED", "member"): (Phase.MEMBER, []),
    ("FREED", "losing"): (Phase.LOSING, []),
    ("FREED", "away"): (Phase.AWAY, []),
    ("FREED", "leaving"): (Phase.PARTING, [Send]),
    ("FREED", "parting"): (Phase.PARTING, []),
    ("FREED", "gone"): (Phase.GONE, []),
    ("STOPPED", "joining"): (Phase.JOINING, []),
    ("STOPPED", "member"): (Phase.MEMBER, []),
    ("STOPPED", "losing"): (Phase.AWAY, []),
    ("STOPPED", "away"): (Phase.AWAY, []),
    ("STOPPED", "leaving"): (Phase.LEAVING, []),
    ("STOPPED", "parting"): (Phase.PARTING, []),
    ("STOPPED", "gone"): (Phase.GONE, []),
}


def test_every_cell_is_told_of() -> None:
    reachable = {(name, phase) for name, row in ROWS.items() for phase in row._fields if getattr(row, phase) != never}
    assert reachable == CELLS.keys()


@pytest.mark.parametrize(("row", "phase"), CELLS, ids=["-".join(cell) for cell in CELLS])
def test_a_cell_does_what_stands_here(row: str, phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hand = COMES_TO[phase]()
    assert hand.consumer.phase.name.lower() == phase
    reached = watch_row(monkeypatch, phase_table, row, ("_HEARTBEATS", "_FAREWELLS"))
    hand.actions = []
    happens(row, hand)
    after, actions = CELLS[row, phase]
    assert (hand.consumer.phase, [type(each) for each in hand.actions]) == (after, actions)
    assert reached == [phase]


def happens(row: str, hand: Hand) -> None:
    """The event of a row."""
    consumer, now = hand.consumer, hand.now
    if row in ERRORS:
        call = Call.FAREWELL if row.startswith("LEFT") else Call.HEARTBEAT
        hand.answer(2, "a0 b0", error=ERRORS[row], number=last(hand, call), computes=row == "COMPUTE")
    elif row == "NO_BYE":
        hand.now += SETUP.leave_timeout_ms
        hand.put(consumer.poll(hand.now))
    elif row == "OVERDUE":
        consumer._state.polled_ms = now - SETUP.max_poll_ms  # no answer is late
        hand.put(consumer.poll(now))
    elif row == "POLLED":
        hand.polls(waits=True)
    elif row == "DISOWNED":
        hand.put(consumer.disowned(now, ErrorCode.UNKNOWN_MEMBER_ID))
    elif row == "REFUSED":
        hand.put(consumer.refused(now, ErrorCode.GROUP_AUTHORIZATION_FAILED, "no"))
    elif row == "START":
        hand.put(consumer.start(now))
    elif row == "LEAVE":
        hand.leave()
    elif row == "GIVE_UP":
        hand.put(consumer.give_up(now, "closed"))
    else:
        numbers = [*consumer._state.revoking, -1]
        hand.put(getattr(consumer, "released" if row == "FREED" else "lost")(now, numbers[0]))


def last(hand: Hand, call: Call) -> int:
    """The number of the last request of that kind under way."""
    return [number for number, each in hand.consumer._state.under_way.items() if each.call is call][-1]
