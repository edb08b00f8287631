"""Sliced encoding: a large message is written some elements at a time, so that others have their turn in between.

The message is written once for each slice, with some elements of one array only (or of an array within one element of
another), and what stands before and behind these elements is cut off. All pieces together are the bytes of the whole.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from kcoord.protocol.element_walk import ElementCount, step_of, walk
from kcoord.protocol.layout import regular_fields
from kcoord.protocol.message import Message
from kcoord.protocol.messages import (
    ConnectGroupDescribeResponse,
    ConnectGroupPrepareAssignmentResponse,
    DescribeConfigsResponse,
    DescribeGroupsResponse,
    JoinGroupResponse,
    LeaveGroupResponse,
    ListGroupsResponse,
    MetadataResponse,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    TxnOffsetCommitResponse,
)
from kcoord.protocol.primitives import write_uvarint

__all__ = ["ELEMENTS_AT_ONCE", "Path", "count_elements", "encode_in_slices", "large_array"]

ELEMENTS_AT_ONCE = 500
"""Elements that are written in one go."""
UNBOUNDED = 1 << 62

Path = Sequence[str]
"""The attribute of an array, the one of an array within its elements, and so on."""


LARGE_ARRAYS: dict[type[Message], Path] = {
    ConnectGroupPrepareAssignmentResponse: ("members",),
    ConnectGroupDescribeResponse: ("groups", "members"),
    DescribeConfigsResponse: ("results", "configs"),
    DescribeGroupsResponse: ("groups", "members"),
    JoinGroupResponse: ("members",),
    LeaveGroupResponse: ("members",),
    ListGroupsResponse: ("groups",),
    MetadataResponse: ("topics",),
    OffsetCommitResponse: ("topics", "partitions"),
    OffsetDeleteResponse: ("topics", "partitions"),
    OffsetFetchResponse: ("topics", "partitions"),
    TxnOffsetCommitResponse: ("topics", "partitions"),
}
"""The answers that may have very many elements, and where."""


def large_array(message: Message) -> Path | None:
    """Where `message` has more elements than are written in one go; None for all that are small."""
    path = LARGE_ARRAYS.get(type(message))
    if path is None:
        return None
    if isinstance(message, OffsetFetchResponse) and message.groups:
        path = ("groups", *path)
    return path if count_elements(message, path) > ELEMENTS_AT_ONCE else None


def count_elements(value: Any, path: Path) -> int:
    """How many elements the arrays at `path` have in all."""
    elements = getattr(value, path[0]) or ()
    if len(path) == 1:
        return len(elements)
    return len(elements) + sum([count_elements(each, path[1:]) for each in elements])


def encode_in_slices(message: Message, version: int, path: Path) -> Iterator[bytes]:
    """The bytes of `message` in pieces of `ELEMENTS_AT_ONCE` elements of the arrays at `path`, which must be regular
    fields of that version. Raises EncodeError.
    """

    def encode(whole: Any) -> bytes:
        written: bytes = whole.encode(version)
        return written

    return _pieces(message, path, encode, _Place(version, version >= type(message).FLEXIBLE_FROM, 0, 0))


@attrs.frozen
class _Place:
    """Where a struct stands within the bytes of the message that has no other element around it."""

    version: int
    flexible: bool
    begin: int
    behind: int
    """Bytes of the message that follow the struct."""


def _pieces(owner: Any, path: Path, encode: Callable[[Any], bytes], place: _Place) -> Iterator[bytes]:
    """The bytes of one struct, `owner`. `encode` writes the whole message with another struct in its place."""
    name, inner = path[0], path[1:]
    elements: list[Any] = getattr(owner, name)
    fields = list(regular_fields(owner.FIELDS, place.version))
    at = next(at for at, field in enumerate(fields) if field.attribute == name)
    compact = place.flexible and not fields[at].never_flexible
    plan = tuple(step_of(field, place.version, place.flexible) for field in fields[:at])
    empty = encode(attrs.evolve(owner, **{name: []}))
    count_at = walk(plan, empty, place.begin, ElementCount(UNBOUNDED))
    behind = len(empty) - count_at - len(_count(0, compact))
    yield empty[place.begin : count_at] + _count(len(elements), compact)
    for some in _slices(elements, inner):
        first = count_at + len(_count(len(some), compact))
        if inner and len(some) == 1 and count_elements(some[0], inner) > ELEMENTS_AT_ONCE:
            there = attrs.evolve(place, begin=first, behind=behind)
            yield from _pieces(some[0], inner, lambda one: encode(attrs.evolve(owner, **{name: [one]})), there)
        else:
            written = encode(attrs.evolve(owner, **{name: some}))
            yield written[first : len(written) - behind]
    yield empty[len(empty) - behind : len(empty) - place.behind]


def _slices(elements: list[Any], inner: Path) -> Iterator[list[Any]]:
    """Runs of elements that are written in one go; one that is too large for that stands alone."""
    if not inner:
        for at in range(0, len(elements), ELEMENTS_AT_ONCE):
            yield elements[at : at + ELEMENTS_AT_ONCE]
        return
    some: list[Any] = []
    room = ELEMENTS_AT_ONCE
    for each in elements:
        weight = 1 + count_elements(each, inner)
        if some and weight > room:
            yield some
            some, room = [], ELEMENTS_AT_ONCE
        some.append(each)
        room -= weight
    if some:
        yield some


def _count(count: int, compact: bool) -> bytes:
    return write_uvarint(count + 1) if compact else struct.pack(">i", count)
