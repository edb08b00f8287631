"""Reading a consumer's metadata: the topics that it subscribes to, and the metadata without its generation.

The metadata of protocol type "consumer" is ConsumerProtocolSubscription: a version (int16), then, in every version, the
topics ([]string) and the user data (bytes, nullable). Later versions append to that, so its beginning can always be
read.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, error

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_SMALLEST_TOPIC = _INT16.size
_OWNED_VERSION, _GENERATION_VERSION = 1, 2
STICKY = ("sticky", "cooperative-sticky")
"""Consumers' assignors whose user data names the generation, and repeats what the consumer owns."""


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """All topics of all members; None if one of the subscriptions cannot be read."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            topics.update(_topics(subscription))
    except (error, ValueError):
        return None
    return frozenset(topics)


def _topics(subscription: bytes) -> list[str]:
    _INT16.unpack_from(subscription)
    (count,) = _INT32.unpack_from(subscription, _INT16.size)
    at = _INT16.size + _INT32.size
    if not 0 <= count <= (len(subscription) - at) // _SMALLEST_TOPIC:
        raise ValueError(f"{count} topics in {len(subscription)} bytes")
    topics = []
    for _ in range(count):
        (length,) = _INT16.unpack_from(subscription, at)
        at += _INT16.size
        topics.append(_slice(subscription, at, length).decode())
        at += length
    (length,) = _INT32.unpack_from(subscription, at)
    if length != -1:
        _slice(subscription, at + _INT32.size, length)
    return topics


def without_generation(assignor: str, subscription: bytes) -> bytes:
    """The metadata of a consumer without the generation in which it was last assigned; unchanged if it cannot be
    read.
    """
    try:
        topics_end = _after_topics(subscription)
        owned_at = _after_bytes(subscription, topics_end)
        (version,) = _INT16.unpack_from(subscription)
        user_data = b"" if assignor in STICKY else subscription[topics_end:owned_at]
        if version < _OWNED_VERSION:
            return subscription[:topics_end] + user_data
        generation_at = _after_owned(subscription, owned_at)
        rest = subscription[generation_at + _INT32.size :] if version >= _GENERATION_VERSION else b""
        return subscription[:topics_end] + user_data + subscription[owned_at:generation_at] + rest
    except (error, ValueError):
        return subscription


def _after_topics(data: bytes) -> int:
    (count,) = _INT32.unpack_from(data, _INT16.size)
    at = _INT16.size + _INT32.size
    if not 0 <= count <= (len(data) - at) // _SMALLEST_TOPIC:
        raise ValueError(f"{count} topics in {len(data)} bytes")
    for _ in range(count):
        at = _after(data, at + _INT16.size, _INT16.unpack_from(data, at)[0])
    return at


def _after_owned(data: bytes, at: int) -> int:
    """The position after the owned partitions: by topic, their numbers."""
    (count,) = _INT32.unpack_from(data, at)
    at += _INT32.size
    if not 0 <= count <= (len(data) - at) // _SMALLEST_TOPIC:
        raise ValueError(f"{count} topics in {len(data)} bytes")
    for _ in range(count):
        at = _after(data, at + _INT16.size, _INT16.unpack_from(data, at)[0])
        (partitions,) = _INT32.unpack_from(data, at)
        at = _after(data, at + _INT32.size, partitions * _INT32.size)
    return at


def _after_bytes(data: bytes, at: int) -> int:
    """The position after bytes that may be null."""
    (length,) = _INT32.unpack_from(data, at)
    at += _INT32.size
    return at if length == -1 else _after(data, at, length)


def _after(data: bytes, at: int, length: int) -> int:
    """The position after `length` bytes. Raises ValueError if fewer are left."""
    if not 0 <= length <= len(data) - at:
        raise ValueError(f"{length} bytes where {len(data) - at} are left")
    return at + length


def _slice(data: bytes, at: int, length: int) -> bytes:
    return data[at : _after(data, at, length)]
