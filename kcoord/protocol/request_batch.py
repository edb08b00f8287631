"""A batch: a request that names several groups, taken apart in its bytes, so that nobody decodes it whole.

Such a request has one array, of groups, resources or keys, among a few other fields, and its answer one with an element
for each, in order. `RequestBatch` walks over the elements first, in slices, so that a batch that does not decode or
names too many touches nothing; then it gives requests of the same kind for some elements each. Their answers are put
together by `kcoord.group.batch`.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

from kcoord.protocol.call import Call
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
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    OffsetFetchRequest,
    Request,
)
from kcoord.protocol.primitives import DecodeError, Malformed, write_uvarint

__all__ = ["BATCHED", "WALKED_AT_ONCE", "RequestBatch", "has_too_many_elements"]

WALKED_AT_ONCE = 256
"""Elements that are walked over in one go."""

BATCHED: dict[type[Request], str] = {
    DescribeGroupsRequest: "groups",
    ConnectGroupDescribeRequest: "group_ids",
    DeleteGroupsRequest: "groups_names",
    OffsetFetchRequest: "groups",
    DescribeConfigsRequest: "resources",
    IncrementalAlterConfigsRequest: "resources",
    FindCoordinatorRequest: "coordinator_keys",
}
"""The requests that may name several, and the field that does."""


class _Shape:
    """Where the elements are in a request of one version."""

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


_shapes: dict[tuple[type[Request], int], _Shape | None] = {}


def _shape(kind: type[Request], version: int) -> _Shape | None:
    """None: requests of that kind and version name one at most."""
    key = kind, version
    if key not in _shapes:
        name = BATCHED.get(kind)
        batched = next((each for each in regular_fields(kind.FIELDS, version) if each.attribute == name), None)
        _shapes[key] = None if batched is None else _Shape(kind, version, batched)
    return _shapes[key]


def has_too_many_elements(kind: type[Request], call: Call, most: int) -> bool:
    """Whether the arrays of a request have more than `most` elements in all, tagged fields too.

    What does not decode has not: decoding says what is wrong with it.
    """
    if len(call.frame) - call.body_pos <= most or not kind.MIN_VERSION <= call.header.api_version <= kind.MAX_VERSION:
        return False  # an element has a byte at least
    version = call.header.api_version
    try:
        walk(plan_of(kind, version, version >= kind.FLEXIBLE_FROM), call.frame, call.body_pos, ElementCount(most))
    except TooManyElements:
        return True
    except (IndexError, struct.error, Malformed):
        return False
    return False


class RequestBatch:
    """One request that names several. Make it by `of`, walk it by `walk_on` until that is True, then take `slices`."""

    def __init__(self, kind: type[Request], call: Call, shape: _Shape, count_at: int, first: int, count: int) -> None:
        self.kind = kind
        self.call = call
        self.count = count
        """How many it names."""
        self._version = call.header.api_version
        self._shape = shape
        self._count_at = count_at
        self._first = first
        self._ends = array("Q")
        self._weights = array("Q")
        self._pos = first

    @classmethod
    def of(cls, kind: type[Request], call: Call, least: int) -> RequestBatch | None:
        """The batch that `call` is, if it names `least` at least. None for all else, what does not decode too."""
        if not kind.MIN_VERSION <= call.header.api_version <= kind.MAX_VERSION:
            return None
        shape = _shape(kind, call.header.api_version)
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
        """Walk over the next elements; True when all are walked over. Each of what is named may have `most` elements of
        its own. Raises DecodeError, TooManyElements.
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
        """Requests for `size` elements each at most, which have not many more than `weight` elements of their own, in
        order. Raises DecodeError.
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
