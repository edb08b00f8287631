"""What has been assigned to a member? Its assignment's bytes, for people to read.

Two protocols embed theirs in a format that is public: consumers (ConsumerProtocolAssignment: version, topics with
partitions, user data) and Connect's workers (version, error, leader, its url, config offset, connectors with tasks; -1
stands for the connector itself). What is neither is told by its size.
"""

import struct
from collections.abc import Iterator


def assignment_text(protocol_type: str, data: bytes) -> str:
    """`orders: 0-2, 5` for a consumer, `files: connector, 0-3` for a worker."""
    if not data:
        return "nothing"
    read = {"consumer": _consumer, "connect": _connect}.get(protocol_type)
    try:
        return ("; ".join(read(_Reader(data))) or "nothing") if read else f"{len(data)} bytes"
    except (struct.error, UnicodeDecodeError, ValueError):
        return f"{len(data)} bytes"


def _consumer(reader: "_Reader") -> Iterator[str]:
    reader.int16()
    for _ in range(reader.count()):
        topic = reader.string()
        yield f"{topic}: {ranges([reader.int32() for _ in range(reader.count())])}"


def _connect(reader: "_Reader") -> Iterator[str]:
    reader.int16()  # version
    reader.int16()  # error
    reader.string()  # leader
    reader.string()  # its url
    reader.int64()  # config offset
    for _ in range(reader.count()):
        connector = reader.string()
        yield f"{connector}: {ranges([reader.int32() for _ in range(reader.count())])}"


def ranges(numbers: list[int]) -> str:
    """`connector, 0-3, 7`; -1 is the connector."""
    parts = ["connector"] if -1 in numbers else []
    start = before = None
    for number in [*sorted(number for number in numbers if number >= 0), None]:
        if start is not None and before is not None and number != before + 1:
            parts.append(f"{start}" if start == before else f"{start}-{before}")
            start = number
        start = number if start is None else start
        before = number
    return ", ".join(parts)


class _Reader:
    """Reads big-endian values in a row; raises struct.error behind the end."""

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
        """An array's length; ValueError where it is more than can follow."""
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
