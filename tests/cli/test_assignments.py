"""How are assignments shown that clients have made?"""

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

from kcoord.cli.output.assignments import assignment_text

CONNECT = bytes.fromhex(
    "0001 0000"  # version 1, no error
    "0003 612d31 0004 687474 70 0000000000000007"  # leader a-1, url http, config offset 7
    "00000002"
    "0005 66696c6573 00000004 00000000 ffffffff 00000001 00000003"
    "0003 7a2d31 00000001 00000002"
    "00000000 00000000"  # nothing revoked, no delay
)


METADATA = bytes.fromhex(
    "0001 0004 687474 70 0000000000000007"  # version 1, url http, config offset 7
    "00000029 0001 0000 0000 0000 ffffffffffffffff"  # it runs, as an assignment of 41 bytes:
    "00000001 0003 7a2d31 00000001 00000009"
    "00000000 00000000"
)


def consumer(assignment: list[tuple[str, list[int]]]) -> bytes:
    encoded: bytes = ConsumerProtocolMemberAssignment(0, assignment, b"").encode()
    return encoded


@pytest.mark.parametrize(
    ("protocol_type", "data", "text"),
    [
        ("consumer", consumer([("orders", [5, 0, 1, 2]), ("logs", [3])]), "orders: 0-2, 5; logs: 3"),
        ("consumer", consumer([]), "nothing"),
        ("connect", CONNECT, "files: connector, 0-1, 3; z-1: 2"),
        ("connect", CONNECT[:40], "40 bytes"),
        ("consumer", b"\0\0\x7f\xff\xff\xff", "6 bytes"),
        ("consumer", b"\0\0\0\0\0\1\x7f\xff", "8 bytes"),
        ("sr", b"opaque", "6 bytes"),
        ("consumer", b"", "nothing"),
    ],
)
def test_an_assignment_is_shown(protocol_type: str, data: bytes, text: str) -> None:
    assert assignment_text(protocol_type, data) == text


def test_what_a_worker_had_before_it_has_still() -> None:
    """From `compatible` on an assignment says only what changes."""
    assert assignment_text("connect", CONNECT, METADATA) == "files: connector, 0-1, 3; z-1: 2, 9"
    assert assignment_text("connect", CONNECT, METADATA[:9]) == f"{len(CONNECT)} bytes"
