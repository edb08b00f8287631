"""The assignment of a classic member, decoded for people to read.

Two protocols embed assignments in a public format: consumers (ConsumerProtocolAssignment: version, topics with
partitions, user data) and Connect workers (`protocol/embedded.py`). For anything else, the text is the size in bytes.
"""

import struct
from collections.abc import Iterator

from kcoord.cli.output.resource_texts import ranges, resources_text
from kcoord.protocol.embedded import EAGER, decode_assignment, decode_state
from kcoord.resource import Resource


def assignment_text(protocol_type: str, data: bytes, metadata: bytes = b"") -> str:
    """`orders: 0-2, 5` for a consumer, `files: connector, 0-3` for a worker. `metadata` says what the worker ran
    before.
    """
    if not data:
        return "nothing"
    try:
        if protocol_type == "connect":
            return resources_text(_run_by(data, metadata), "nothing")
        if protocol_type == "consumer":
            return "; ".join(_consumer(_Reader(data))) or "nothing"
    except (struct.error, UnicodeDecodeError, ValueError):
        pass
    return f"{len(data)} bytes"


def _consumer(reader: "_Reader") -> Iterator[str]:
    reader.int16()
    for _ in range(reader.count()):
        topic = reader.string()
        yield f"{topic}: {ranges([reader.int32() for _ in range(reader.count())])}"


def _run_by(data: bytes, metadata: bytes) -> frozenset[Resource]:
    """What a worker runs with this assignment. From `compatible` on, an assignment contains only the changes."""
    told = decode_assignment(data)
    if told.version == EAGER or not metadata:
        return told.assigned
    allocation = decode_state(metadata).allocation
    reported = frozenset[Resource]() if allocation is None else allocation.assigned
    return (reported - told.revoked) | told.assigned


class _Reader:
    """Reads big-endian values one after another. Raises struct.error past the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._pos = 0

    def int16(self) -> int:
        return self._number(">h")

    def int32(self) -> int:
        return self._number(">i")

    def int64(self) -> int:
        return self._number(">q")

    def count(self) -> int:
        """The length of an array. Raises ValueError if it is more than the rest can hold."""
        count = self.int32()
        if count > len(self._data) - self._pos:
            raise ValueError(f"{count} elements in {len(self._data) - self._pos} bytes")
        return max(count, 0)

    def string(self) -> str:
        size = max(self.int16(), 0)
        if self._pos + size > len(self._data):
            raise ValueError(f"a string of {size} bytes")
        self._pos += size
        return self._data[self._pos - size : self._pos].decode()

    def _number(self, form: str) -> int:
        (number,) = struct.unpack_from(form, self._data, self._pos)
        self._pos += struct.calcsize(form)
        return int(number)
