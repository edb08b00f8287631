"""A batch: a request that names several groups, split by its bytes, so that it is never decoded as a whole.

Such a request has one array (of groups, resources or keys) among a few other fields. Its answer has an array with one
element for each of them, in order. `RequestBatch` first walks over the elements, in slices, so that a batch that cannot
be decoded or names too many touches nothing. Then it yields requests of the same kind for a few elements each.
`kcoord.group.multi_group_requests` merges their answers.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

from kcoord.protocol.element_walk import (
    ElementCount,
    Plan,
    TooManyElements,
    element_plan,
    plan_of,
    read_count,
    step_of,
    walk,
)
from kcoord.protocol.layout import Field, regular_fields
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import DecodeError, Malformed, write_uvarint
from kcoord.protocol.undecoded_call import Call

__all__ = ["WALKED_AT_ONCE", "RequestBatch", "has_too_many_elements"]

WALKED_AT_ONCE = 256
"""The number of elements that one slice walks over."""


class _Shape:
    """The place of the elements in a request of one version."""

    __slots__ = ("after", "before", "compact", "element", "width")

    def __init__(self, kind: type[Request], version: int, batched: Field) -> None:
        flexible = version >= kind.FLEXIBLE_FROM
        fields = list(regular_fields(kind.FIELDS, version))
        at = fields.index(batched)
        self.before = _plan(fields[:at], version, flexible)
        self.compact = flexible
        self.element = element_plan(batched, version, flexible)
        self.after = plan_of(kind, version, flexible)[-1:] if flexible else ()
        self.after = (*_plan(fields[at + 1 :], version, flexible), *self.after)


def _plan(fields: list[Field], version: int, flexible: bool) -> Plan:
    return tuple(step_of(field, version, flexible) for field in fields)


_shapes: dict[tuple[type[Request], int, str], _Shape | None] = {}


def _shape(kind: type[Request], version: int, field: str) -> _Shape | None:
    """The shape of this kind and version; None if this version does not have the field that names several."""
    key = kind, version, field
    if key not in _shapes:
        batched = next((each for each in regular_fields(kind.FIELDS, version) if each.attribute == field), None)
        _shapes[key] = None if batched is None else _Shape(kind, version, batched)
    return _shapes[key]


def has_too_many_elements(kind: type[Request], call: Call, most: int) -> bool:
    """Whether the arrays of a request have more than `most` elements in all, tagged fields included.

    False for a request that cannot be decoded: decoding it will say what is wrong.
    """
    if len(call.frame) - call.body_pos <= most or not kind.MIN_VERSION <= call.header.api_version <= kind.MAX_VERSION:
        return False  # each element has at least one byte
    version = call.header.api_version
    try:
        walk(plan_of(kind, version, version >= kind.FLEXIBLE_FROM), call.frame, call.body_pos, ElementCount(most))
    except TooManyElements:
        return True
    except (IndexError, struct.error, Malformed):
        return False
    return False


class RequestBatch:
    """One request that names several. Make it with `of`, call `walk_on` until it returns True, then take `slices`."""

    def __init__(self, kind: type[Request], call: Call, shape: _Shape, count_at: int, first: int, count: int) -> None:
        self.kind = kind
        self.call = call
        self.count = count
        """The number of elements."""
        self._version = call.header.api_version
        self._shape = shape
        self._count_at = count_at
        self._first = first
        self._ends = array("Q")
        self._weights = array("Q")
        self._pos = first

    @classmethod
    def of(cls, kind: type[Request], field: str, call: Call, least: int) -> RequestBatch | None:
        """The batch in `call`, if its array `field` has at least `least` elements. None for everything else, also for
        what cannot be decoded.
        """
        if not kind.MIN_VERSION <= call.header.api_version <= kind.MAX_VERSION:
            return None
        shape = _shape(kind, call.header.api_version, field)
        if shape is None:
            return None
        try:
            count_at = walk(shape.before, call.frame, call.body_pos, ElementCount(0))
            count, first = read_count(call.frame, count_at, shape.compact)
        except (IndexError, struct.error, Malformed, TooManyElements):
            return None
        if count < least or count > len(call.frame):
            return None
        return cls(kind, call, shape, count_at, first, count)

    def walk_on(self, most: int) -> bool:
        """Walk over the next elements. Returns True when all are done. Each element may have `most` elements of its
        own. Raises DecodeError, TooManyElements.
        """
        stop = min(self.count, len(self._ends) + WALKED_AT_ONCE)
        frame, pos = self.call.frame, self._pos
        walked = 0
        try:
            while len(self._ends) < stop and walked < WALKED_AT_ONCE:
                elements = ElementCount(most)
                pos = walk(self._shape.element, frame, pos, elements)
                weight = 1 + most - elements.left
                walked += weight
                self._ends.append(pos)
                self._weights.append(weight)
            self._pos = pos
            if len(self._ends) < self.count:
                return False
            pos = walk(self._shape.after, frame, pos, ElementCount(most))
            if pos != len(frame):
                raise Malformed(f"{len(frame) - pos} bytes too many behind the last field")
        except (IndexError, struct.error, Malformed) as fault:
            text = f"{self.kind.NAME} v{self._version}: at byte {pos}, element {len(self._ends)}: {fault}"
            raise DecodeError(text) from None
        return True

    def slices(self, size: int, weight: int) -> Iterator[Request]:
        """Requests for at most `size` elements each, in order. A request takes no further element when its elements
        have `weight` elements of their own. Raises DecodeError.
        """
        frame, shape = self.call.frame, self._shape
        before, after = frame[self.call.body_pos : self._count_at], frame[self._pos :]
        begin, at = self._first, 0
        while at < self.count:
            stop, weighs = at, 0
            while stop < self.count and stop - at < size and weighs < weight:
                weighs += self._weights[stop]
                stop += 1
            end = self._ends[stop - 1]
            prefix = write_uvarint(stop - at + 1) if shape.compact else struct.pack(">i", stop - at)
            yield self.kind.decode(before + prefix + frame[begin:end] + after, self._version)
            begin, at = end, stop
