"""The partition of a group id, by Kafka's own hash, so that kcoord and a broker agree on it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from operator import mul

_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_POWERS = [pow(31, exponent, 1 << 32) for exponent in range(256)]
"""The weight of a code unit in the hash, by its distance from the end of the text."""


def java_hash(text: str) -> int:
    """`String.hashCode` of `text`: over UTF-16 code units, as a signed 32-bit number."""
    units: Sequence[int]
    units = text.encode() if text.isascii() else memoryview(text.encode(_UTF_16, "surrogatepass")).cast("H")
    while len(_POWERS) < len(units):
        _POWERS.append(_POWERS[-1] * 31 & 0xFFFFFFFF)
    value: int = sum(map(mul, reversed(units), _POWERS)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def partition_of(group_id: str, partitions: int) -> int:
    """The partition (0 to `partitions` - 1) of `group_id`. As in Kafka: the absolute value of the hash (0 for the
    smallest int) modulo `partitions`.
    """
    value = java_hash(group_id)
    return (0 if value == -(1 << 31) else abs(value)) % partitions
