"""The rate at which one connection may create groups: a token bucket for each connection.

Pure: the caller passes the time. A connection that has created nothing has no bucket, and a full bucket is forgotten.
"""

from __future__ import annotations

MS_PER_S = 1_000
SWEPT_AT = 1_024
"""Creations after which full buckets are dropped. If more buckets than that are left, as many creations as buckets."""


class CreationRate:
    """Allows `burst` groups at once, and `per_s` more each second. Not thread-safe."""

    def __init__(self, per_s: int, burst: int) -> None:
        self._per_s = per_s
        self._burst = burst
        self._buckets: dict[int, tuple[float, int]] = {}
        """By connection: how many groups it could still create at its last creation, and the time of that."""
        self._until_sweep = SWEPT_AT

    def take(self, connection: int, now_ms: int) -> bool:
        """Whether `connection` may create a group now. If so, this counts as one creation."""
        left = self._left(connection, now_ms)
        if left < 1:
            return False
        self._buckets[connection] = (left - 1, now_ms)
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._sweep(now_ms)
        return True

    def forget(self, connection: int) -> None:
        """Drop the bucket of a closed connection."""
        self._buckets.pop(connection, None)

    def __len__(self) -> int:
        """The number of connections that have a bucket."""
        return len(self._buckets)

    def _left(self, connection: int, now_ms: int) -> float:
        left, since_ms = self._buckets.get(connection, (self._burst, now_ms))
        return min(self._burst, left + max(0, now_ms - since_ms) * self._per_s / MS_PER_S)

    def _sweep(self, now_ms: int) -> None:
        for connection in [each for each in self._buckets if self._left(each, now_ms) >= self._burst]:
            del self._buckets[connection]
        self._until_sweep = max(SWEPT_AT, len(self._buckets))
