"""The element walk: it counts the elements in a message's arrays and finds where they end, without decoding them.

Decoding makes an object of each element, so a request of some megabytes can take seconds and gigabytes. The walk goes
over the bytes by the schema and counts. A message with more elements than a limit is refused before any object is made.
Unknown tagged fields count as elements too.
"""

from __future__ import annotations

import struct
from typing import Any

from kcoord.protocol.layout import FIXED_WIDTHS, Field, regular_fields, tagged_fields
from kcoord.protocol.message_base import Struct
from kcoord.protocol.primitives import Malformed, read_uvarint

__all__ = [
    "MOST_TAGS",
    "ElementCount",
    "Plan",
    "TooManyElements",
    "element_plan",
    "plan_of",
    "read_count",
    "step_of",
    "walk",
]

_SHORT, _INT = struct.Struct(">h"), struct.Struct(">i")

FIXED, STRING, BYTES, COMPACT, ARRAY, NULLABLE, TAGS = range(7)
"""The steps of a plan: a known number of bytes; a length (16 bits, 32 bits or varint) and that many bytes; a count and
elements; a struct that may be null; tagged fields."""

MOST_TAGS = 1000
"""The most tagged fields in one struct. Kafka's structs have a few."""

Plan = tuple[tuple[int, Any], ...]
"""The steps over a struct of one version, in order."""


class TooManyElements(Exception):
    """The arrays of a message have more elements than allowed."""


class ElementCount:
    """Counts elements up to a limit."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    def take(self, count: int) -> None:
        """Count `count` more elements. Raises TooManyElements."""
        self.left -= count
        if self.left < 0:
            raise TooManyElements


_plans: dict[tuple[type[Struct], int], Plan] = {}


def plan_of(kind: type[Struct], version: int, flexible: bool) -> Plan:
    """The plan for walking over a struct of this version."""
    plan = _plans.get((kind, version))
    if plan is None:
        plan = _plans[kind, version] = _plan_of(kind, version, flexible)
    return plan


def _plan_of(kind: type[Struct], version: int, flexible: bool) -> Plan:
    steps: list[tuple[int, Any]] = []
    for field in regular_fields(kind.FIELDS, version):
        step = step_of(field, version, flexible)
        if step[0] == FIXED and steps and steps[-1][0] == FIXED:
            steps[-1] = (FIXED, steps[-1][1] + step[1])
        else:
            steps.append(step)
    if flexible:
        known = {
            tag: (step_of(field, version, flexible),) for tag, field in tagged_fields(kind.FIELDS, version).items()
        }
        steps.append((TAGS, known))
    return tuple(steps)


def step_of(field: Field, version: int, flexible: bool) -> tuple[int, Any]:
    """The step for walking over one field."""
    if field.is_array:
        width = FIXED_WIDTHS.get(field.kind, 0)
        return ARRAY, (flexible and not field.never_flexible, width, element_plan(field, version, flexible))
    return _value_step(field, version, flexible, field.is_nullable(version))


def element_plan(field: Field, version: int, flexible: bool) -> Plan:
    """The plan for walking over one element of an array."""
    if field.kind == "struct":
        return plan_of(field.struct, version, flexible)
    return (_value_step(field, version, flexible, False),)


def _value_step(field: Field, version: int, flexible: bool, nullable: bool) -> tuple[int, Any]:
    if field.kind in FIXED_WIDTHS:
        return FIXED, FIXED_WIDTHS[field.kind]
    if field.kind == "struct":
        plan = plan_of(field.struct, version, flexible)
        return NULLABLE if nullable else ARRAY, plan if nullable else (None, 0, plan)
    if flexible and not field.never_flexible:
        return COMPACT, None
    return STRING if field.kind == "string" else BYTES, None


def read_count(data: bytes, pos: int, compact: bool) -> tuple[int, int]:
    """An array's count (null: 0) and the position after it. Raises Malformed, IndexError, struct.error."""
    if compact:
        count, pos = read_uvarint(data, pos)
        return max(0, count - 1), pos
    count = _INT.unpack_from(data, pos)[0]
    if count < -1:
        raise Malformed(f"an array of {count} elements")
    return max(0, count), pos + _INT.size


def walk(plan: Plan, data: bytes, pos: int, elements: ElementCount) -> int:
    """Walk over what `plan` describes, from `pos` on. Returns the position after it.

    Raises TooManyElements; Malformed, IndexError or struct.error for bytes that do not fit.
    """
    for kind, detail in plan:
        if kind == FIXED:
            pos += detail
        elif kind == COMPACT:
            size, pos = (data[pos], pos + 1) if data[pos] < 0x80 else read_uvarint(data, pos)
            pos += size - 1 if size else 0
        elif kind == STRING:
            pos += _SHORT.size + max(0, _SHORT.unpack_from(data, pos)[0])
        elif kind == BYTES:
            pos += _INT.size + max(0, _INT.unpack_from(data, pos)[0])
        elif kind == ARRAY:
            compact, width, inner = detail
            count = 1
            if compact is not None:
                count, pos = read_count(data, pos, compact)
                elements.take(count)
            if width:
                pos += count * width
            else:
                for _ in range(count):
                    pos = walk(inner, data, pos, elements)
        elif kind == NULLABLE:
            is_there, pos = data[pos] < 0x80, pos + 1
            if is_there:
                pos = walk(detail, data, pos, elements)
        else:
            pos = _walk_tags(detail, data, pos, elements)
    if pos > len(data):
        raise Malformed("the data ends within it")
    return pos


def _walk_tags(known: dict[int, Plan], data: bytes, pos: int, elements: ElementCount) -> int:
    count, pos = read_uvarint(data, pos)
    if count > MOST_TAGS:
        raise TooManyElements
    elements.take(count)
    for _ in range(count):
        tag, pos = read_uvarint(data, pos)
        size, pos = read_uvarint(data, pos)
        if tag in known:
            walk(known[tag], data, pos, elements)
        pos += size
    return pos
