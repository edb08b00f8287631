"""Is the protocol inside of JoinGroup and SyncGroup that of Connect's own workers? Their classes read and write it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from kcoord.assign import Resource, tell
from kcoord.protocol.embedded import (
    COMPATIBLE,
    EAGER,
    SESSIONED,
    EmbeddedError,
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    decode_state,
    encode_assignment,
    encode_state,
)
from kcoord.resource import task
from tests.kafka.java import Java
from tests.worker.driver import resources

PROGRAM = Path(__file__).with_name("EmbeddedProtocol.java")
NONE = frozenset[Resource]()
SOME = resources("a a-0 a-1 files-200 files-70000") | {task("ünïcode", 3)}

ASSIGNMENTS = [
    WorkerAssignment(
        version, error, leader, url, offset, assigned, revoked if version else NONE, delay if version else 0
    )
    for version, (error, leader, url, offset, delay), (assigned, revoked) in itertools.product(
        (EAGER, COMPATIBLE, SESSIONED),
        ((0, "leader-1", "http://one:8083/", 7, 0), (1, "l", "u", -1, 300_000)),
        ((SOME, NONE), (NONE, SOME), (resources("b b-0"), resources("c")), (NONE, NONE)),
    )
]
STATES = [
    WorkerState(EAGER, "http://two:8083/", 2**40),
    WorkerState(COMPATIBLE, "http://two:8083/", 2**40),
    WorkerState(COMPATIBLE, "http://two:8083/", 0, WorkerAssignment(COMPATIBLE, 0, "l", "u", 5, SOME)),
    WorkerState(SESSIONED, "http://two:8083/", -1),
    WorkerState(SESSIONED, "http://two:8083/", 1, WorkerAssignment(SESSIONED, 0, "l", "u", 5, SOME)),
]


def shown(names: frozenset[Resource]) -> str:
    return f"[{','.join(sorted(map(tell, names)))}]"


def assignment_shown(each: WorkerAssignment) -> str:
    told = f"{each.error} {each.leader} {each.leader_url} {each.config_offset} {shown(each.assigned)}"
    return told if each.version == EAGER else f"{told} {shown(each.revoked)} {each.delay_ms}"


def state_shown(each: WorkerState) -> str:
    if each.version == EAGER:
        return f"{each.url} {each.config_offset}"
    nothing = WorkerAssignment(each.version, -1, "null", "null", -1)
    return f"{each.url} {each.config_offset} {assignment_shown(each.allocation or nothing)}"


def test_connects_own_classes_read_what_we_write_and_we_read_what_they_write(java: Java) -> None:
    lines = [f"assignment {encode_assignment(each).hex()}" for each in ASSIGNMENTS]
    lines += [f"state {encode_state(each).hex()}" for each in STATES]
    answers = java.tool(str(PROGRAM), stdin="\n".join(lines)).splitlines()
    assert len(answers) == len(lines)
    for each, answer in zip(ASSIGNMENTS, answers, strict=False):
        read, _, written = answer.partition("\t")
        assert read == assignment_shown(each)
        assert decode_assignment(bytes.fromhex(written)) == each
    for state, answer in zip(STATES, answers[len(ASSIGNMENTS) :], strict=True):
        read, _, written = answer.partition("\t")
        if state.allocation is not None or state.version == EAGER:
            assert read == state_shown(state)
        assert decode_state(bytes.fromhex(written)) == state


@pytest.mark.parametrize("cut", range(1, 40))
def test_bytes_that_are_cut_are_refused(cut: int) -> None:
    data = encode_assignment(ASSIGNMENTS[-4])
    with pytest.raises(EmbeddedError):
        decode_assignment(data[:-cut])


def test_what_claims_more_than_it_has_takes_no_memory() -> None:
    data = encode_state(WorkerState(SESSIONED, "u", 1))[:-4] + (2**31 - 1).to_bytes(4, "big")
    with pytest.raises(EmbeddedError, match=re.escape("cut short")):
        decode_state(data)
