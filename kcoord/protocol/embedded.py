"""The embedded protocol of Connect's workers: metadata in JoinGroup and assignments in SyncGroup, in three versions.

| version | protocol | metadata | assignment |
| --- | --- | --- | --- |
| 0 | `default` (eager) | url, config offset | everything that the worker must run |
| 1 | `compatible` (incremental cooperative) | and what it runs, as an assignment | what to start, to stop, a delay |
| 2 | `sessioned` | the same | the same; requests between workers are signed |

Numbers are big-endian. A string has an int16 length, an array an int32 length, bytes an int32 length, which is -1 for
null. An assignment is: version, error, leader, the leader's url, config offset, the assigned connectors, and from
version 1 on the revoked connectors and the delay. A connector is listed with its tasks; task -1 is the connector
itself. Every message begins with its version.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from typing import NoReturn

from kcoord.protocol.frozen_class import frozen
from kcoord.resource import Resource, new

EAGER, COMPATIBLE, SESSIONED = 0, 1, 2
NAMES = ("default", "compatible", "sessioned")
"""The protocols' names in JoinGroup, by version."""

CONFIG_MISMATCH = 1
"""The error of an assignment if the leader had not read all configurations that another worker had read."""

NOTHING: frozenset[Resource] = frozenset()

_INT16, _INT32, _INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")


class EmbeddedError(ValueError):
    """Bytes that are not what the embedded protocol has there: Connect's, or the consumers' own."""


@frozen(slots=True)
class WorkerAssignment:
    """What a leader assigns to a worker, or what a worker runs."""

    version: int
    error: int = 0
    leader: str = ""
    leader_url: str = ""
    config_offset: int = -1
    assigned: frozenset[Resource] = NOTHING
    revoked: frozenset[Resource] = NOTHING
    delay_ms: int = 0


@frozen(slots=True)
class WorkerState:
    """What a worker tells the leader."""

    version: int
    url: str
    config_offset: int
    allocation: WorkerAssignment | None = None
    """What the worker runs, from version 1 on; None if nothing has been assigned to it yet."""


def encode_state(state: WorkerState) -> bytes:
    """A member's metadata as bytes."""
    head = struct.pack(">h", state.version) + _string(state.url) + struct.pack(">q", state.config_offset)
    if state.version == EAGER:
        return head
    if state.allocation is None:
        return head + struct.pack(">i", -1)
    allocation = encode_assignment(state.allocation)
    return head + struct.pack(">i", len(allocation)) + allocation


def decode_state(data: bytes) -> WorkerState:
    """A member's metadata from bytes. Raises EmbeddedError. Bytes after the known fields are ignored, as in Connect."""
    reader = _Reader(data)
    version, url, offset = reader.int16(), reader.string(), reader.int64()
    if version == EAGER:
        return WorkerState(version, url, offset)
    allocation = reader.nullable_bytes()
    return WorkerState(version, url, offset, decode_assignment(allocation) if allocation else None)


def encode_assignment(assignment: WorkerAssignment) -> bytes:
    """A member's assignment as the bytes in SyncGroup."""
    parts = [
        struct.pack(">hh", assignment.version, assignment.error),
        _string(assignment.leader),
        _string(assignment.leader_url),
        struct.pack(">q", assignment.config_offset),
        _resources(assignment.assigned),
    ]
    if assignment.version > EAGER:
        parts += [_resources(assignment.revoked), struct.pack(">i", assignment.delay_ms)]
    return b"".join(parts)


def decode_assignment(data: bytes) -> WorkerAssignment:
    """A member's assignment from bytes. Raises EmbeddedError."""
    reader = _Reader(data)
    version, error = reader.int16(), reader.int16()
    leader, leader_url, offset = reader.string(), reader.string(), reader.int64()
    assigned = reader.resources()
    if version == EAGER:
        return WorkerAssignment(version, error, leader, leader_url, offset, assigned)
    return WorkerAssignment(version, error, leader, leader_url, offset, assigned, reader.resources(), reader.int32())


def resources_in_state(data: bytes, most: int) -> int:
    """The number of connectors and tasks in a member's metadata, counted without reading them. Counting stops above
    `most`. 0 if the metadata cannot be read; `decode_state` then says why.
    """
    try:
        reader = _Reader(data)
        if reader.int16() == EAGER:
            return 0
        reader.skip(reader.int16())
        reader.int64()
        return resources_in_assignment(reader.nullable_bytes() or b"", most)
    except EmbeddedError:
        return 0


def resources_in_assignment(data: bytes, most: int) -> int:
    """The number of connectors and tasks in an assignment, counted without reading them. Counting stops above `most`. 0
    if the assignment cannot be read; `decode_assignment` then says why.
    """
    try:
        reader = _Reader(data)
        version, _ = reader.int16(), reader.int16()
        reader.skip(reader.int16())
        reader.skip(reader.int16())
        reader.int64()
        assigned = reader.count_resources(most)
        return assigned if version == EAGER or assigned > most else assigned + reader.count_resources(most)
    except EmbeddedError:
        return 0


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def _resources(resources: Collection[Resource]) -> bytes:
    tasks: dict[str, list[int]] = {}
    for connector, task in sorted(resources):
        tasks.setdefault(connector, []).append(task)
    parts = [struct.pack(">i", len(tasks))]
    for connector, numbers in tasks.items():
        parts += [_string(connector), struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)]
    return b"".join(parts)


class _Reader:
    """Reads values one after the other. Raises EmbeddedError past the end, and for impossible lengths."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._pos = 0

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def int64(self) -> int:
        return self._number(_INT64)

    def string(self) -> str:
        try:
            return self._bytes(self._number(_INT16)).decode()
        except UnicodeDecodeError:
            raise EmbeddedError(f"a name in {len(self._data)} bytes is no UTF-8") from None

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size == -1 else self._bytes(size)

    def skip(self, size: int) -> None:
        if size < 0 or self._pos + size > len(self._data):
            self._fail(size)
        self._pos += size

    def count_resources(self, most: int) -> int:
        """Counts resources and stops above `most`. A connector without tasks counts as one: it takes as long to
        read.
        """
        total = 0
        for _ in range(max(0, self.int32())):
            self.skip(self.int16())
            count = max(0, self.int32())
            self.skip(4 * count)
            total += count or 1
            if total > most:
                break
        return total

    def resources(self) -> frozenset[Resource]:
        found: list[Resource] = []
        for _ in range(max(0, self.int32())):
            connector = self.string()
            count = max(0, self.int32())
            found += [new(Resource, (connector, task)) for (task,) in _INT32.iter_unpack(self._bytes(4 * count))]
        return frozenset(found)

    def _number(self, form: struct.Struct) -> int:
        try:
            (number,) = form.unpack_from(self._data, self._pos)
        except struct.error:
            self._fail(form.size)
        self._pos += form.size
        return number  # type: ignore[no-any-return]  # all formats are one integer

    def _bytes(self, size: int) -> bytes:
        begin, end = self._pos, self._pos + size
        if size < 0 or end > len(self._data):
            self._fail(size)
        self._pos = end
        return self._data[begin:end]

    def _fail(self, size: int) -> NoReturn:
        raise EmbeddedError(f"cut short: {len(self._data)} bytes, and {size} more are said to follow {self._pos}")
