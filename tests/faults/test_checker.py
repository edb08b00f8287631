"""Does the checker find what it is for? Handmade histories: one that is well, and one for each thing that is not."""

from __future__ import annotations

import pytest

from kcoord.resource import task
from tests.faults.checker import check
from tests.faults.history import Answered, Event, Kind, Outcome, Ran, Read, Register, Told, Wrote

URL = Register(Kind.URL, "g", "w1")
OFFSET = Register(Kind.OFFSET, "g", "t-0")
EPOCH = Register(Kind.GROUP_EPOCH, "g")
GENERATION = Register(Kind.GENERATION, "g")
A = task("a", 0)


def wrote(register: Register, value: int, sent: int, ended: int | None, outcome: Outcome = Outcome.DONE) -> Wrote:
    return Wrote(register, value, "w1", sent, ended, outcome)


def read(register: Register, value: int | None, sent: int, ended: int, at_least: bool = False) -> Read:
    return Read(register, value, "reader", sent, ended, at_least)


def answered(call: str, error: str, alive: bool = True) -> Answered:
    return Answered("g", "w1", call, error, alive, 10, 20, "127.0.0.1:1")


WELL: dict[str, list[Event]] = {
    "nothing happened": [],
    "one after the other": [Ran("g", A, "w1", 0, 10), Ran("g", A, "w2", 10, 20), Ran("g", A, "w1", 20, None)],
    "the same in two groups": [Ran("g", A, "w1", 0, 10), Ran("h", A, "w2", 5, 20)],
    "a process goes on": [Ran("g", A, "w1", 0, 10), Ran("g", A, "w1", 5, 20)],
    "epochs grow, and a join begins anew": [
        Told("g", "w1", 0, True, 1),
        Told("g", "w1", 3, False, 2),
        Told("g", "w1", 3, False, 3),
        Told("g", "w1", 0, True, 4),
    ],
    "what is read is what was written": [wrote(URL, 1, 0, 10), read(URL, 1, 11, 12)],
    "a read beside a write may see either": [
        wrote(URL, 1, 0, 10),
        wrote(URL, 2, 20, 30),
        read(URL, 1, 15, 25),
        read(URL, 2, 21, 25),
        read(URL, 1, 25, 40),
    ],
    "a write without an answer may have happened": [
        wrote(URL, 1, 0, 10),
        wrote(URL, 2, 20, None, Outcome.UNKNOWN),
        read(URL, 2, 30, 31),
    ],
    "or not": [wrote(URL, 1, 0, 10), wrote(URL, 2, 20, None, Outcome.UNKNOWN), read(URL, 1, 30, 31)],
    "a commit without an answer may come late": [
        wrote(OFFSET, 1, 0, 10),
        wrote(OFFSET, 2, 20, None, Outcome.UNKNOWN),
        wrote(OFFSET, 3, 30, 40),
        read(OFFSET, 2, 50, 51),
    ],
    "nothing was written and nothing is there": [read(URL, None, 0, 1)],
    "counters grow": [read(EPOCH, 3, 0, 10), read(EPOCH, 3, 11, 12), read(EPOCH, 5, 13, 14)],
    "two that ask at the same time": [read(EPOCH, 5, 0, 10), read(EPOCH, 4, 1, 11)],
    "a member may be behind": [read(EPOCH, 5, 0, 10), read(EPOCH, 3, 11, 12, at_least=True)],
    "errors that pass": [answered("heartbeat", "NOT_COORDINATOR"), answered("commit", "COORDINATOR_NOT_AVAILABLE")],
    "errors of the protocol": [
        answered("classic heartbeat", "REBALANCE_IN_PROGRESS"),
        answered("prepare", "UNKNOWN_MEMBER_ID"),
    ],
    "whose session is over is not known": [answered("heartbeat", "UNKNOWN_MEMBER_ID", alive=False)],
}

# "rule n" in a name: rule n in the docstring of checker.py.
WRONG: dict[str, tuple[str, list[Event]]] = {
    "rule 1: two at a time": ("runs it from 9", [Ran("g", A, "w1", 0, 10), Ran("g", A, "w2", 9, 20)]),
    "rule 1: within a longer one": (
        "runs it from 50",
        [Ran("g", A, "w1", 0, 100), Ran("g", A, "w1", 1, 2), Ran("g", A, "w2", 50, 60)],
    ),
    "rule 1: one that never stopped": ("still does", [Ran("g", A, "w1", 0, None), Ran("g", A, "w2", 900, 901)]),
    "rule 2: an epoch goes back": (
        "was told epoch 4",
        [Told("g", "w1", 0, True, 1), Told("g", "w1", 4, False, 2), Told("g", "w1", 3, False, 3)],
    ),
    "rule 3: an acknowledged change is lost": (
        "lost: the url",
        [wrote(URL, 1, 0, 10), wrote(URL, 2, 20, 30), read(URL, 1, 31, 32)],
    ),
    "rule 3: all of it is lost": ("lost: the url", [wrote(URL, 1, 0, 10), read(URL, None, 31, 32)]),
    "rule 3: a member's elder url comes back": (
        "lost: the url",
        [wrote(URL, 2, 20, None, Outcome.UNKNOWN), wrote(URL, 3, 30, 40), read(URL, 2, 50, 51)],
    ),
    "rule 3: an acknowledged offset comes back": (
        "lost: a committed offset",
        [wrote(OFFSET, 2, 20, 25), wrote(OFFSET, 3, 30, 40), read(OFFSET, 2, 50, 51)],
    ),
    "rule 3: a refused change": ("nobody was allowed", [wrote(URL, 7, 0, 10, Outcome.REFUSED), read(URL, 7, 11, 12)]),
    "rule 3: from the future": ("nobody was allowed", [wrote(URL, 7, 20, 30), read(URL, 7, 11, 12)]),
    "rule 4: the group epoch goes back": ("was 5 before", [read(EPOCH, 5, 0, 10), read(EPOCH, 4, 11, 12)]),
    "rule 4: below what a member was told": (
        "was 5 before",
        [read(EPOCH, 5, 0, 10, at_least=True), read(EPOCH, 4, 11, 12)],
    ),
    "rule 4: a superseded generation is answered": (
        "was 8 before",
        [read(GENERATION, 8, 0, 10), read(GENERATION, 7, 11, 12)],
    ),
    "rule 5: a member is forgotten": ("answered UNKNOWN_MEMBER_ID", [answered("heartbeat", "UNKNOWN_MEMBER_ID")]),
    "rule 5: a classic member is forgotten": (
        "answered UNKNOWN_MEMBER_ID",
        [answered("classic heartbeat", "UNKNOWN_MEMBER_ID")],
    ),
    "rule 5: an error that passes elsewhere": (
        "classic sync at 10 was answered COORDINATOR_LOAD_IN_PROGRESS",
        [answered("classic sync", "COORDINATOR_LOAD_IN_PROGRESS")],
    ),
    "rule 5: an error that does not pass": (
        "answered UNKNOWN_SERVER_ERROR",
        [answered("join", "UNKNOWN_SERVER_ERROR", alive=False)],
    ),
}


@pytest.mark.parametrize("story", WELL)
def test_nothing_is_said_of_what_is_well(story: str) -> None:
    assert check(WELL[story]) == []


@pytest.mark.parametrize("story", WRONG)
def test_what_is_wrong_is_found(story: str) -> None:
    said, events = WRONG[story]
    [complaint] = check(events)
    assert said in complaint
