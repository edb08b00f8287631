"""Are what consumers say in JoinGroup and are told in SyncGroup the bytes that other libraries write and read?"""

from __future__ import annotations

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment, ConsumerProtocolMemberMetadata

from kcoord.protocol.consumer_embedded import Subscription, decode_assignment, decode_subscription, encode_assignment
from kcoord.protocol.embedded import EmbeddedError
from tests.group.consumer.classic_sides import subscription

TOPICS = [("orders", [0, 1, 5]), ("äöü", [3])]
FLAT = (("orders", 0), ("orders", 1), ("orders", 5), ("äöü", 3))


def test_what_aiokafka_says_is_read() -> None:
    said = ConsumerProtocolMemberMetadata(0, [name for name, _ in TOPICS], b"data").encode()
    assert decode_subscription(said) == Subscription(0, ("orders", "äöü"), frozenset(), None)


def test_what_is_assigned_is_read_by_aiokafka() -> None:
    told = ConsumerProtocolMemberAssignment.decode(encode_assignment(0, dict(TOPICS)))
    assert [(name, list(numbers)) for name, numbers in told.assignment] == TOPICS


def test_what_aiokafka_assigns_is_read() -> None:
    told = decode_assignment(ConsumerProtocolMemberAssignment(0, TOPICS, b"data").encode())
    assert (told.partitions, told.user_data) == (FLAT, b"data")
    assert decode_assignment(b"").partitions == ()


@pytest.mark.parametrize("version", range(5))
def test_every_version_says_as_much_as_it_can(version: int) -> None:
    """A version that is not known is read as the highest that is."""
    read = decode_subscription(subscription("AB", {"A": [0, 2], "B": [1]}, version))
    assert read.topics == ("A", "B")
    assert read.owned == (frozenset({("A", 0), ("A", 2), ("B", 1)}) if version else frozenset())
    assert decode_assignment(encode_assignment(version, dict(TOPICS))).partitions == FLAT


def test_bytes_that_end_too_early_are_refused() -> None:
    whole = subscription("AB", {"A": [0, 2]}, 3)
    for length in range(len(whole)):
        with pytest.raises(EmbeddedError):
            decode_subscription(whole[:length])
    assigned = encode_assignment(1, dict(TOPICS))
    for length in range(1, len(assigned)):
        with pytest.raises(EmbeddedError):
            decode_assignment(assigned[:length])


@pytest.mark.parametrize(
    "bad",
    [
        b"\0\3\x7f\xff\xff\xff",  # as many topics as an int32 can say
        b"\0\3\xff\xff\xff\xff",  # fewer than none
        b"\0\3\0\0\0\1\xff\xff",  # a topic without a name
        b"\0\3\0\0\0\1\0\1\xff",  # not UTF-8
        b"\0\3\0\0\0\0\x7f\xff\xff\xff",  # more data than there is
    ],
)
def test_what_claims_too_much_is_refused(bad: bytes) -> None:
    with pytest.raises(EmbeddedError):
        decode_subscription(bad)
