"""Which topics do the members of a consumer group subscribe to?

The metadata of protocol type "consumer" is ConsumerProtocolSubscription: a version (int16), then, in every version,
the topics ([]string) and the user data (bytes, nullable). Later versions append to that, so its beginning can
always be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, error

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_SMALLEST_TOPIC = _INT16.size


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """All topics of all members; None when one of them cannot be read."""
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


def _slice(data: bytes, at: int, length: int) -> bytes:
    if not 0 <= length <= len(data) - at:
        raise ValueError(f"{length} bytes where {len(data) - at} are left")
    return data[at : at + length]
