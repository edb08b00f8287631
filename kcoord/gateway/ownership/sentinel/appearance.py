"""The sentinel's appearance: what its protocol type, metadata and assignment tell clients that ask the brokers.

Kafka's tools, lag exporters and web interfaces read a group by its protocol type. Brokers let offsets age by the topics
to which the members of a consumer group subscribe. So the sentinel looks like a member of the group's own kind. Rules
(AD-1 to AD-5):

1. The protocol type is the group's own. The protocol is `kcoord`, which nobody else offers, so nobody else gets in.
2. Type `consumer`: the metadata is a ConsumerProtocolSubscription of version 1, with the topics of all members and
   kcoord's mark as user data, cut off after the user data. The assignment is a ConsumerProtocolAssignment of all
   partitions of these topics, with the upstream generation as user data. The cut, and the user data of the assignment,
   keep a KIP-848 member from converting the group.
3. While the topics are not known, the subscription is cut off before the user data, and the mark stands in the place of
   a topic's name. Brokers cannot read that, so they let no offset age.
4. Every other type: the metadata is the mark (8 bytes), and the assignment is the upstream generation (4 bytes).
5. Release 0.1.0 used the protocol type `kcoord` for every group.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import attrs

__all__ = ["CONNECT", "CONSUMER", "OF_0_1_0", "Appearance", "KnownAppearance", "SeenAppearance", "read_appearance"]

CONSUMER, CONNECT = "consumer", "connect"

MARKED = b"kcoord"
"""The beginning of the subscription's user data, and of the text in the place of a topic's name (rule 3 above)."""
SUBSCRIPTION_VERSION, ASSIGNMENT_VERSION = 1, 0

_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")
_MARK, _GENERATION = struct.Struct(">q"), struct.Struct(">i")


@attrs.frozen
class Appearance:
    """How the sentinel looks, without its mark and its upstream generation."""

    protocol_type: str
    topics: Mapping[str, int] | None = None
    """The number of partitions by topic, 0 if the cluster does not say. Only for consumers; None: not known."""

    def metadata(self, mark: int) -> bytes:
        """The metadata with which the sentinel joins for that mark."""
        told = _MARK.pack(mark)
        if self.protocol_type != CONSUMER:
            return told
        if self.topics is None:
            return _head(SUBSCRIPTION_VERSION, 1) + _string(MARKED + told.hex().encode())
        names = b"".join(_string(topic.encode()) for topic in sorted(self.topics))
        return _head(SUBSCRIPTION_VERSION, len(self.topics)) + names + _bytes(MARKED + told)

    def assignment(self, generation: int) -> bytes:
        """What the sentinel assigns to itself in that upstream generation."""
        told = _GENERATION.pack(generation)
        if self.protocol_type != CONSUMER:
            return told
        assigned = [(topic, count) for topic, count in sorted((self.topics or {}).items()) if count]
        each = (_string(topic.encode()) + struct.pack(f">i{count}i", count, *range(count)) for topic, count in assigned)
        return _head(ASSIGNMENT_VERSION, len(assigned)) + b"".join(each) + _bytes(told)


OF_0_1_0 = Appearance("kcoord")


@attrs.frozen
class KnownAppearance:
    """The appearance that the sentinel of a group must have."""

    appearance: Appearance
    is_settled: bool
    """Whether this holds for the whole generation: False while the group's topics are not known."""


@attrs.frozen
class SeenAppearance:
    """The appearance of a sentinel, with its mark and generation, as a description of its group shows them."""

    appearance: Appearance
    mark: int
    generation: int
    """Upstream's."""


def read_appearance(protocol_type: str, metadata: bytes, assignment: bytes) -> SeenAppearance | None:
    """Read the sentinel, of any release, in the description of its group; None: it cannot be read."""
    try:
        if protocol_type != CONSUMER:
            return SeenAppearance(Appearance(protocol_type), _whole(_MARK, metadata), _whole(_GENERATION, assignment))
        topics, mark = _read_subscription(_Reader(metadata))
        counts, generation = _read_assignment(_Reader(assignment))
    except (struct.error, ValueError):
        return None
    known = None if topics is None else {topic: counts.get(topic, 0) for topic in topics}
    return SeenAppearance(Appearance(CONSUMER, known), mark, generation)


def _read_subscription(reader: _Reader) -> tuple[list[str] | None, int]:
    names = [reader.string() for _ in range(reader.count())]
    if reader.is_at_end and len(names) == 1:
        return None, _whole(_MARK, bytes.fromhex(_behind(MARKED, names[0]).decode()))
    return [name.decode() for name in names], _whole(_MARK, _behind(MARKED, reader.sized()))


def _read_assignment(reader: _Reader) -> tuple[dict[str, int], int]:
    counts = {}
    for _ in range(reader.count()):
        name = reader.string().decode()
        counts[name] = reader.int32()
        reader.take(counts[name] * _INT32.size)
    return counts, _whole(_GENERATION, reader.sized())


class _Reader:
    """Reads the consumer protocol's bytes, from after the version on. Raises ValueError, struct.error."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = _INT16.size

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._data)

    def take(self, length: int) -> bytes:
        if not 0 <= length <= len(self._data) - self._at:
            raise ValueError(f"{length} bytes where {len(self._data) - self._at} are left")
        self._at += length
        return self._data[self._at - length : self._at]

    def int32(self) -> int:
        return int(_INT32.unpack(self.take(_INT32.size))[0])

    def count(self) -> int:
        """The number of elements that follow. Raises ValueError if fewer bytes than that are left."""
        count = self.int32()
        if count > len(self._data) - self._at:
            raise ValueError(f"{count} elements in {len(self._data) - self._at} bytes")
        return count

    def string(self) -> bytes:
        return self.take(_INT16.unpack(self.take(_INT16.size))[0])

    def sized(self) -> bytes:
        return self.take(self.int32())


def _head(version: int, count: int) -> bytes:
    return _INT16.pack(version) + _INT32.pack(count)


def _string(text: bytes) -> bytes:
    return _INT16.pack(len(text)) + text


def _bytes(data: bytes) -> bytes:
    return _INT32.pack(len(data)) + data


def _whole(number: struct.Struct, data: bytes) -> int:
    return int(number.unpack(data)[0])


def _behind(start: bytes, data: bytes) -> bytes:
    if not data.startswith(start):
        raise ValueError("not a sentinel's")
    return data[len(start) :]
