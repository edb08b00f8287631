"""Are what consumers say in JoinGroup and are told in SyncGroup the bytes that other libraries write and read?"""

from __future__ import annotations

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment, ConsumerProtocolMemberMetadata

from kcoord.protocol.consumer_embedded import (
    Subscription,
    as_of,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
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


@pytest.mark.parametrize(
    ("version", "assignor", "data", "at"),
    [
        (0, "range", None, ()),
        (1, "range", None, ()),
        (1, "cooperative-sticky", 4, ("data",)),
        (2, "range", 4, ("end",)),
        (3, "cooperative-sticky", 4, ("data", "end")),
        (3, "sticky", 4, ("end",)),
        (4, "cooperative-sticky", 4, ("data", "end")),
        (3, "cooperative-sticky", 1, ("data", "end")),
        (3, "cooperative-sticky", None, ("end",)),
    ],
)
def test_a_generation_is_replaced_where_a_subscription_has_one(
    version: int, assignor: str, data: int | None, at: tuple[str, ...]
) -> None:
    """`data`: the generation in user data; `at`: where it is replaced. Only the generations 3 to 8 are."""

    def said(generation: int, in_data: int | None) -> bytes:
        user_data = None if in_data is None else in_data.to_bytes(4)
        return subscription("AB", {"A": [0, 2], "B": []}, version, generation, user_data)

    replaces_data = "data" in at and data is not None and data >= 3
    expected = said(9 if "end" in at else 5, 9 if replaces_data else data)
    assert as_of(said(5, data), assignor, range(3, 9), 9) == expected
    assert as_of(said(2, 2), assignor, range(3, 9), 9) == said(2, 2)


def test_bytes_that_end_too_early_are_refused() -> None:
    whole = subscription("AB", {"A": [0, 2]}, 3)
    for length in range(len(whole)):
        with pytest.raises(EmbeddedError):
            decode_subscription(whole[:length])
    for length in range(len(whole) - 2):  # without the rack
        with pytest.raises(EmbeddedError):
            as_of(whole[:length], "range", range(9), 9)
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
