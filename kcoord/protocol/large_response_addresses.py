"""The tail of a large response, which holds node addresses: finding and rewriting it while the frame streams by.

Produce, Fetch and the share responses carry up to 100 MB of records, and after them the addresses of new leaders
(``NodeEndpoints``, KIP-951). Such frames are never collected. The *tail* of such a response goes from its first
top-level field that can name nodes to its end; if that field is a tagged one, the tail is the tagged section.
``TailFinder`` walks over a frame chunk by chunk, by the schema, and skips records without touching them. So its cost
depends on the number of elements, not on the bytes. ``rewrite_tail`` puts new addresses into a tail.

The size of a frame is sent before its tail is known. So ``rewrite_tail`` can fill the tail up to a promised size, with
a tagged field that no reader knows and every reader skips (KIP-482).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kcoord.protocol.frame import response_header_size
from kcoord.protocol.layout import FIXED_WIDTHS, Field, regular_fields
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import RESPONSES
from kcoord.protocol.node_addresses import NODE_ADDRESSES, AddressMapper, names_nodes, rewrite_addresses
from kcoord.protocol.primitives import DecodeError, EncodeError, write_uvarint

__all__ = ["PADDING_TAG", "TailFinder", "has_tail", "rewrite_tail"]

PADDING_TAG = 9_999
"""The tag of the field that fills up a tail. Kafka's own tags are small numbers."""

# The operations of a skip plan. All those from SIZED to RAW_LOOP begin with a varint.
_SKIP = 0  # skip this many bytes
_SIZED = 1  # a length plus one, or 0 for null: skip that many bytes
_RAW_SIZED = 2  # a length: skip that many bytes
_VARINT = 3  # a number that does not matter here
_FIXED_ARRAY = 4  # a count plus one: skip that many elements of a fixed width
_LOOP = 5  # a count plus one: repeat what follows that often; if 0, jump to the argument
_RAW_LOOP = 6  # the same with a plain count
_NEXT = 7  # the end of a loop's body: back to the argument, or go on
_FOUND = 8

_Plan = tuple[tuple[int, int], ...]
Chunk = bytes | bytearray | memoryview


def has_tail(api_key: int, version: int) -> bool:
    """Whether a response of this API and version has a tail that ``TailFinder`` finds: it carries records or
    partitions, and may name nodes after them.
    """
    response = RESPONSES.get(api_key)
    if response is None or not names_nodes(api_key, version) or version < response.FLEXIBLE_FROM:
        return False
    fields = list(regular_fields(response.FIELDS, version))
    return any(field.is_array for field in fields[: _tail_index(response, version)])


class TailFinder:
    """Finds the tail of one response frame as its bytes stream by.

    Feed it the frame without its size but with its header, in chunks of any length. Raises DecodeError for a varint
    that is too long. For a frame with other wrong lengths, the tail is beyond the frame's end or is not found.
    """

    __slots__ = ("_base", "_loops", "_pc", "_plan", "_shift", "_skip", "_value", "offset")

    def __init__(self, api_key: int, version: int) -> None:
        """Raises KeyError or ValueError if ``has_tail`` is False."""
        self._plan = _plan(api_key, version)
        self._pc = 0
        self._loops: list[int] = []
        self._skip = 0
        self._base = 0
        self._value = 0
        self._shift = 0
        self.offset: int | None = None
        """Where the tail begins, in bytes after the frame's size; None until it has been found."""

    def feed(self, chunk: Chunk) -> int | None:
        """Walk over the next bytes of the frame; return ``offset``."""
        if self.offset is not None:
            return self.offset
        end = len(chunk)
        pos = self._skip
        if pos < end or not end:
            pos = self._walk(chunk, pos, end)
        self._skip = max(pos - end, 0)
        self._base += end
        return self.offset

    def _walk(self, chunk: Chunk, pos: int, end: int) -> int:
        """Follow the plan from ``pos`` while there are bytes; return the position, which may be beyond the chunk."""
        plan, loops, pc = self._plan, self._loops, self._pc
        value, shift = self._value, self._shift
        while True:
            operation, argument = plan[pc]
            if operation == _SKIP:
                pos += argument
                pc += 1
                continue
            if operation == _NEXT:
                loops[-1] -= 1
                if loops[-1]:
                    pc = argument
                else:
                    loops.pop()
                    pc += 1
                continue
            if operation == _FOUND:
                self.offset = self._base + pos
                break
            if pos >= end:
                break
            n = chunk[pos]
            pos += 1
            if n > 127 or shift:
                if shift > 28:
                    raise DecodeError(f"a varint of more than 5 bytes at byte {self._base + pos - 1}")
                value |= (n & 127) << shift
                shift += 7
                if n > 127:
                    continue
                n, value, shift = value, 0, 0
            pc += 1
            if operation == _SIZED:
                pos += n - 1 if n else 0
            elif operation == _RAW_SIZED:
                pos += n
            elif operation == _FIXED_ARRAY:
                pos += (n - 1) * argument if n else 0
            elif operation != _VARINT:
                count = n if operation == _RAW_LOOP else n - 1
                if count > 0:
                    loops.append(count)
                else:
                    pc = argument
        self._pc, self._value, self._shift = pc, value, shift
        return pos


def rewrite_tail(api_key: int, version: int, tail: bytes, mapper: AddressMapper, size: int | None = None) -> bytes:
    """The tail with ``mapper``'s addresses; with ``size``, filled up to exactly that many bytes.

    Raises DecodeError for bytes that are not a tail. Raises EncodeError if the new tail is larger than ``size``, or
    smaller by one or two bytes: a filling field takes three. So promise at least the size of the old tail, and for each
    node that can be named, the growth of its host name and three bytes.
    """
    response, front = _front(api_key, version)
    message = response.decode(front + tail, version)
    rewrite_addresses(message, version, mapper)
    new = message.encode(version)[len(front) :]
    if size is None or len(new) == size:
        return new
    kept: tuple[tuple[int, bytes], ...] = getattr(message, _UNKNOWN)
    setattr(message, _UNKNOWN, (*kept, *_padding(size - len(new))))
    filled = message.encode(version)[len(front) :]
    if len(filled) != size:
        raise EncodeError(f"a tail of {len(new)} bytes cannot be made {size} bytes long")
    return filled


_UNKNOWN = "unknown_tagged_fields"


def _padding(gap: int) -> list[tuple[int, bytes]]:
    """Tagged fields that take ``gap`` bytes together; none if that is impossible."""
    tag = len(write_uvarint(PADDING_TAG))
    least = tag + 1
    for length in range(gap - least, max(gap - least - 5, -1), -1):
        if tag + len(write_uvarint(length)) + length == gap:
            return [(PADDING_TAG, bytes(length))]
    if gap < 2 * least:
        return []
    return [(PADDING_TAG, b""), *((tag + 1, data) for tag, data in _padding(gap - least))]


@cache
def _front(api_key: int, version: int) -> tuple[type[Response], bytes]:
    """The body of an empty response up to its tail. With a tail after it, it is a whole response."""
    response = RESPONSES[api_key]
    body = response().encode(version)
    header = bytes(response_header_size(api_key, version))
    offset = TailFinder(api_key, version).feed(header + body)
    assert offset is not None
    return response, body[: offset - len(header)]


# --- the plan


@cache
def _plan(api_key: int, version: int) -> _Plan:
    if not has_tail(api_key, version):
        raise ValueError(f"API {api_key} v{version} has no tail to find")
    response = RESPONSES[api_key]
    steps: list[tuple[int, int]] = [(_SKIP, 4)]
    _plan_tagged(steps)
    for field in list(regular_fields(response.FIELDS, version))[: _tail_index(response, version)]:
        _plan_field(field, version, steps)
    steps.append((_FOUND, 0))
    return tuple(steps)


def _tail_index(response: type[Response], version: int) -> int:
    """The number of regular fields before the tail."""
    starts = {node_path.path[0] for node_path in NODE_ADDRESSES[response.API_KEY] if node_path.path}
    in_line = [field.attribute for field in regular_fields(response.FIELDS, version)]
    return next((i for i, attribute in enumerate(in_line) if attribute in starts), len(in_line))


def _plan_field(field: Field, version: int, steps: list[tuple[int, int]]) -> None:
    if field.is_array:
        if field.kind in FIXED_WIDTHS:
            steps.append((_FIXED_ARRAY, FIXED_WIDTHS[field.kind]))
        else:
            _plan_loop(_LOOP, steps, lambda: _plan_value(field, version, steps))
    elif field.kind == "struct" and field.is_nullable(version):
        raise ValueError(f"{field.name}: a nullable struct before the tail")
    else:
        _plan_value(field, version, steps)


def _plan_value(field: Field, version: int, steps: list[tuple[int, int]]) -> None:
    if field.kind in FIXED_WIDTHS:
        width = FIXED_WIDTHS[field.kind]
        if steps[-1][0] == _SKIP:
            width += steps.pop()[1]
        steps.append((_SKIP, width))
    elif field.kind == "struct":
        for inner in regular_fields(field.struct.FIELDS, version):
            _plan_field(inner, version, steps)
        _plan_tagged(steps)
    else:
        steps.append((_SIZED, 0))


def _plan_tagged(steps: list[tuple[int, int]]) -> None:
    _plan_loop(_RAW_LOOP, steps, lambda: steps.extend([(_VARINT, 0), (_RAW_SIZED, 0)]))


def _plan_loop(kind: int, steps: list[tuple[int, int]], body: Callable[[], None]) -> None:
    start = len(steps)
    steps.append((kind, 0))
    body()
    steps.append((_NEXT, start + 1))
    steps[start] = (kind, len(steps))
