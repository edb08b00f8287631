"""Sliced encoding: a large message is encoded some elements at a time, so that other clients have their turn between.

A struct with large arrays is encoded once without them, and once for each slice of their elements. The bytes before and
after the slice are cut off. An element that is large itself is encoded in the same way. All pieces together are the
bytes of the whole message. A `DeferredArray` is made only when its slices are encoded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import attrs

from kcoord.protocol.element_walk import ElementCount, step_of, walk
from kcoord.protocol.layout import regular_fields
from kcoord.protocol.message_base import Message
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

__all__ = [
    "ELEMENTS_AT_ONCE",
    "LARGE_ARRAYS",
    "Arrays",
    "DeferredArray",
    "count_elements",
    "encode_in_slices",
    "large_arrays",
]

E = TypeVar("E")

ELEMENTS_AT_ONCE = 500
"""The number of elements that are encoded at once."""
UNBOUNDED = 1 << 62

Arrays = Mapping[str, "Arrays"]
"""The attributes of a struct that are arrays, each with the arrays in its elements."""


class DeferredArray(Sequence[E]):
    """An array of a message whose elements are made when they are first used.

    `elements` is the number of all its elements, nested ones included.
    """

    __slots__ = ("_elements", "_made", "_make")

    def __init__(self, elements: int, make: Callable[[], list[E]]) -> None:
        self._elements = elements
        self._make = make
        self._made: list[E] | None = None

    @property
    def elements(self) -> int:
        return self._elements

    @overload
    def __getitem__(self, at: int) -> E: ...
    @overload
    def __getitem__(self, at: slice) -> list[E]: ...
    def __getitem__(self, at: int | slice) -> E | list[E]:
        return self._all()[at]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[E]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, DeferredArray) else other)

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> list[E]:
        if self._made is None:
            self._made = self._make()
        return self._made


_NO_ARRAYS: Arrays = {}
_PARTITIONS: Arrays = {"topics": {"partitions": _NO_ARRAYS}}
_RESOURCES: Arrays = {"connectors": _NO_ARRAYS, "tasks": _NO_ARRAYS}

LARGE_ARRAYS: dict[type[Message], Arrays] = {
    ConnectGroupPrepareAssignmentResponse: {"members": {"connectors_and_tasks": _RESOURCES}},
    ConnectGroupDescribeResponse: {
        "groups": {
            "members": {
                "owned": _RESOURCES,
                "target": _RESOURCES,
                "waiting_for": _RESOURCES,
                "to_release": _RESOURCES,
            },
            "configured": _RESOURCES,
            "departed": {"connectors_and_tasks": _RESOURCES},
            "history": {"moves": {"connectors_and_tasks": _RESOURCES}},
        }
    },
    DescribeConfigsResponse: {"results": {"configs": _NO_ARRAYS}},
    DescribeGroupsResponse: {"groups": {"members": _NO_ARRAYS}},
    JoinGroupResponse: {"members": _NO_ARRAYS},
    LeaveGroupResponse: {"members": _NO_ARRAYS},
    ListGroupsResponse: {"groups": _NO_ARRAYS},
    MetadataResponse: {"topics": _NO_ARRAYS},
    OffsetCommitResponse: _PARTITIONS,
    OffsetDeleteResponse: _PARTITIONS,
    OffsetFetchResponse: {**_PARTITIONS, "groups": _PARTITIONS},
    TxnOffsetCommitResponse: _PARTITIONS,
}
"""The responses that may have very many elements, and the arrays that hold them."""


def large_arrays(message: Message) -> Arrays | None:
    """The arrays of `message` if they have more elements than are encoded at once; None for small messages."""
    arrays = LARGE_ARRAYS.get(type(message))
    return arrays if arrays is not None and count_elements(message, arrays) > ELEMENTS_AT_ONCE else None


def count_elements(owner: Any, arrays: Arrays) -> int:
    """The number of all elements in these arrays of a struct, nested ones included."""
    return sum([_count_in(getattr(owner, name), inner) for name, inner in arrays.items()])


def _count_in(elements: Sequence[Any] | None, inner: Arrays) -> int:
    if isinstance(elements, DeferredArray):
        return elements.elements
    if elements is None:
        return 0
    return len(elements) + (sum([count_elements(each, inner) for each in elements]) if inner else 0)


def encode_in_slices(message: Message, version: int, arrays: Arrays) -> Iterator[bytes]:
    """The bytes of `message` in pieces of `ELEMENTS_AT_ONCE` elements of these arrays. The arrays must be regular (not
    tagged) fields in the versions that have them. Raises EncodeError.
    """

    def encode(whole: Any) -> bytes:
        written: bytes = whole.encode(version)
        return written

    return _pieces(message, arrays, encode, _Place(version, version >= type(message).FLEXIBLE_FROM, 0, 0))


@attrs.frozen
class _Place:
    """The place of a struct in the bytes of its message, when the message holds no other element around it."""

    version: int
    flexible: bool
    begin: int
    behind: int
    """The number of bytes in the message after the struct."""


def _pieces(owner: Any, arrays: Arrays, encode: Callable[[Any], bytes], place: _Place) -> Iterator[bytes]:
    """The bytes of one struct, `owner`, in pieces. `encode` encodes the whole message with another struct in
    its place.
    """
    fields = list(regular_fields(owner.FIELDS, place.version))
    filled = [
        (at, field.attribute, inner)
        for at, field in enumerate(fields)
        if (inner := arrays.get(field.attribute)) is not None and _count_in(getattr(owner, field.attribute), inner)
    ]
    without = attrs.evolve(owner, **{name: [] for _, name, _ in filled})
    empty = encode(without)
    done = place.begin
    for at, name, inner in filled:
        compact = place.flexible and not fields[at].never_flexible
        plan = tuple(step_of(field, place.version, place.flexible) for field in fields[:at])
        count_at = walk(plan, empty, place.begin, ElementCount(UNBOUNDED))
        elements = getattr(owner, name)
        yield empty[done:count_at] + _count(len(elements), compact)
        done = count_at + len(_count(0, compact))
        for some in _slices(elements, inner):
            first, behind = count_at + len(_count(len(some), compact)), len(empty) - done
            if len(some) == 1 and inner and count_elements(some[0], inner) > ELEMENTS_AT_ONCE:
                there = attrs.evolve(place, begin=first, behind=behind)
                yield from _pieces(some[0], inner, _encoder_of_one(without, name, encode), there)
            else:
                written = encode(attrs.evolve(without, **{name: some}))
                yield written[first : len(written) - behind]
    yield empty[done : len(empty) - place.behind]


def _encoder_of_one(owner: Any, name: str, encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """A function that encodes the message with one element in this array of `owner`."""
    return lambda one: encode(attrs.evolve(owner, **{name: [one]}))


def _slices(elements: Sequence[Any], inner: Arrays) -> Iterator[Sequence[Any]]:
    """Runs of elements that are encoded at once. An element that is too large for that is a run of its own."""
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
