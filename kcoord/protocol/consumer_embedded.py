"""Kafka's consumer protocol: what a classic consumer says in its JoinGroup, and what it is told in its SyncGroup.

ConsumerProtocolSubscription and ConsumerProtocolAssignment begin with a version (int16) and are the same in all of them
but for what later versions append. A version that is not known here is read as the highest that is.

From version 2 on a subscription says in which generation its sender got what it has (KIP-792). Java's
CooperativeStickyAssignor has said that since 2.8.1 in user data of its own, four bytes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from struct import Struct, error, pack

from kcoord.protocol.embedded import EmbeddedError
from kcoord.protocol.frozen_class import frozen

_INT16, _INT32 = Struct(">h"), Struct(">i")
_OWNED_VERSION, _RACK_VERSION, _HIGHEST_VERSION = 1, 3, 3
_GENERATION_VERSION = 2
_COOPERATIVE_STICKY = "cooperative-sticky"


@frozen(slots=True)
class Subscription:
    """What a consumer says of itself."""

    version: int
    topics: tuple[str, ...]
    owned: frozenset[tuple[str, int]]
    """What it goes on consuming: topics by name, and partitions. A version that does not say means nothing."""
    rack_id: str | None


@frozen(slots=True)
class Assignment:
    """What a consumer was told by the leader of its classic group."""

    partitions: tuple[tuple[str, int], ...]
    """Topics by name, and partitions, in the order in which they were told."""
    user_data: bytes


def decode_subscription(data: bytes) -> Subscription:
    """The subscription in a JoinGroup. Raises EmbeddedError."""
    reader = _Reader(data)
    version = reader.int16()
    topics = tuple(reader.string() for _ in range(reader.count(_INT16.size)))
    reader.nullable_bytes()
    owned = frozenset(reader.partitions()) if version >= _OWNED_VERSION else frozenset()
    if version >= _GENERATION_VERSION:
        reader.int32()
    return Subscription(version, topics, owned, reader.nullable_string() if version >= _RACK_VERSION else None)


def has_user_data(data: bytes) -> bool:
    """Whether a subscription has data that only its assignor can read. Raises EmbeddedError."""
    reader = _Reader(data)
    reader.int16()
    for _ in range(reader.count(_INT16.size)):
        reader.string()
    return bool(reader.nullable_bytes())


def as_of(data: bytes, assignor: str, generations: Container[int], generation: int) -> bytes:
    """The subscription for that assignor, with `generation` where it has one of `generations`. Raises EmbeddedError."""
    reader = _Reader(data)
    version = reader.int16()
    for _ in range(reader.count(_INT16.size)):
        reader.string()
    places = []
    if len(reader.nullable_bytes()) == _INT32.size and assignor == _COOPERATIVE_STICKY:
        places.append(reader.position - _INT32.size)
    if version >= _GENERATION_VERSION:
        reader.partitions()
        places.append(reader.position)
    changed = bytearray(data)
    for at in places:
        if _Reader(data, at).int32() in generations:
            _INT32.pack_into(changed, at, generation)
    return bytes(changed)


def decode_assignment(data: bytes) -> Assignment:
    """An assignment; empty bytes are an empty one. Raises EmbeddedError."""
    if not data:
        return Assignment((), b"")
    reader = _Reader(data)
    reader.int16()
    return Assignment(reader.partitions(), reader.nullable_bytes())


def encode_assignment(version: int, partitions: Mapping[str, Iterable[int]]) -> bytes:
    """An assignment without user data: partitions by topic."""
    parts = [pack(">hi", max(0, min(version, _HIGHEST_VERSION)), len(partitions))]
    for topic, numbers in partitions.items():
        name, some = topic.encode(), sorted(numbers)
        parts.append(pack(f">h{len(name)}si{len(some)}i", len(name), name, len(some), *some))
    return b"".join([*parts, _INT32.pack(-1)])


class _Reader:
    """Reads from the beginning of bytes on. Raises EmbeddedError where they end too early."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data, self._at = data, position

    @property
    def position(self) -> int:
        """Where what was not read yet begins."""
        return self._at

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def count(self, least_bytes: int) -> int:
        """The length of a list whose elements have so many bytes at least."""
        count = self.int32()
        if not 0 <= count <= (len(self._data) - self._at) // least_bytes:
            raise EmbeddedError(f"{count} elements in {len(self._data) - self._at} bytes")
        return count

    def string(self) -> str:
        found = self.nullable_string()
        if found is None:
            raise EmbeddedError("a name is missing")
        return found

    def nullable_string(self) -> str | None:
        length = self.int16()
        try:
            return None if length == -1 else self._take(length).decode()
        except UnicodeDecodeError as wrong:
            raise EmbeddedError("a name is not UTF-8") from wrong

    def nullable_bytes(self) -> bytes:
        """Bytes; none where they are null."""
        length = self.int32()
        return b"" if length == -1 else self._take(length)

    def partitions(self) -> tuple[tuple[str, int], ...]:
        found: list[tuple[str, int]] = []
        for _ in range(self.count(_INT16.size + _INT32.size)):
            topic = self.string()
            found += [(topic, self.int32()) for _ in range(self.count(_INT32.size))]
        return tuple(found)

    def _number(self, kind: Struct) -> int:
        try:
            (number,) = kind.unpack_from(self._data, self._at)
        except error as wrong:
            raise EmbeddedError(str(wrong)) from wrong
        self._at += kind.size
        return int(number)

    def _take(self, length: int) -> bytes:
        if not 0 <= length <= len(self._data) - self._at:
            raise EmbeddedError(f"{length} bytes where {len(self._data) - self._at} are left")
        self._at += length
        return self._data[self._at - length : self._at]
