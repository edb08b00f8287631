"""The address prefix: the front of a response up to its last node address, so that kcoord need not decode the rest.

Metadata begins with the brokers. The topics follow, and may be megabytes. The fields of the schema say how to step over
the front of a response. The code here knows no response by name.
"""

from __future__ import annotations

from functools import cache

from kcoord.protocol.layout import FIXED_WIDTHS, Field, regular_fields
from kcoord.protocol.messages import RESPONSES
from kcoord.protocol.node_addresses import NODE_ADDRESSES
from kcoord.protocol.primitives import DecodeError, Malformed, read_tagged, read_uvarint

__all__ = ["behind_addresses", "empty_behind_addresses"]


def behind_addresses(api_key: int, version: int, frame: bytes, pos: int) -> int:
    """The position after the last field with addresses. The response's body begins at `pos` in `frame`.

    Raises DecodeError.
    """
    flexible = version >= RESPONSES[api_key].FLEXIBLE_FROM
    try:
        for field in _front(api_key, version):
            pos = _after_field(field, version, flexible, frame, pos)
    except (IndexError, Malformed):
        raise DecodeError(f"{RESPONSES[api_key].NAME} v{version} is cut or malformed at byte {pos}") from None
    if pos > len(frame):
        raise DecodeError(f"{RESPONSES[api_key].NAME} v{version} ends before its addresses do")
    return pos


@cache
def empty_behind_addresses(api_key: int, version: int) -> bytes:
    """The bytes after the addresses of an empty response. With a front before them they are a whole response."""
    body = RESPONSES[api_key]().encode(version)
    return body[behind_addresses(api_key, version, body, 0) :]


@cache
def _front(api_key: int, version: int) -> tuple[Field, ...]:
    """The response's fields up to the last one that can hold addresses."""
    fields = tuple(regular_fields(RESPONSES[api_key].FIELDS, version))
    last = {path.path[0] if path.path else path.port for path in NODE_ADDRESSES[api_key] if path.is_in(version)}
    return fields[: max(at for at, field in enumerate(fields) if field.attribute in last) + 1]


def _after_field(field: Field, version: int, flexible: bool, frame: bytes, pos: int) -> int:
    if not field.is_array:
        return _after_value(field, version, flexible, frame, pos)
    count, pos = _length(frame, pos, flexible, 4)
    if count > len(frame) - pos:
        raise Malformed("more elements than bytes")
    for _ in range(count):
        pos = _after_value(field, version, flexible, frame, pos)
    return pos


def _after_value(field: Field, version: int, flexible: bool, frame: bytes, pos: int) -> int:
    if field.kind in FIXED_WIDTHS:
        return pos + FIXED_WIDTHS[field.kind]
    if field.kind != "struct":
        size, pos = _length(frame, pos, flexible, 2 if field.kind == "string" else 4)
        return pos + max(size, 0)
    for inner in regular_fields(field.struct.FIELDS, version):
        pos = _after_field(inner, version, flexible, frame, pos)
    if flexible:
        count, pos = read_uvarint(frame, pos)
        pos = read_tagged(frame, pos, count)[1]
    return pos


def _length(frame: bytes, pos: int, flexible: bool, width: int) -> tuple[int, int]:
    """A length or count, with -1 for null, and the position after it."""
    if flexible:
        length, pos = read_uvarint(frame, pos)
        return length - 1, pos
    if pos + width > len(frame):
        raise Malformed("cut short")
    return int.from_bytes(frame[pos : pos + width], "big", signed=True), pos + width
