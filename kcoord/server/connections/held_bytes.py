"""Held bytes: the limits on what clients make kcoord keep, which is unfinished requests and answers that are not read.

Rules:

1. A request that has begun must make progress. kcoord closes the connection if fewer bytes have arrived than
   `LEAST_RATE` for each second beyond the first `progress_ms`. Time in which kcoord itself does not read from the
   client does not count. So an honest client with a large request and a slow line survives.
2. kcoord cuts off a client that reads no byte of its answers for `idle_ms`.
3. All connections together hold `limit` bytes at most. Above that, kcoord looks at the connections that hold at least
   the average, and closes the one that has held something for longest. To close one that holds little would free
   nothing.
"""

from __future__ import annotations

from typing import Protocol

import attrs

__all__ = ["LEAST_RATE", "HeldBytes", "Holder", "Progress"]

LEAST_RATE = 1024
"""Bytes of a request that must have arrived for each second beyond the first `progress_ms`."""


@attrs.define(slots=True)
class Progress:
    """The progress of a request that has begun to arrive, or of answers that wait to be read."""

    since_ms: int
    """When the measurement began."""
    came: int = 0
    """Bytes of the request that have arrived since then."""
    unread: int = 0
    """Bytes of answers that wait to be read, as of `unread_since_ms`."""
    unread_since_ms: int = 0


class Holder(Protocol):
    """A connection, as far as these rules look at it."""

    progress: Progress | None

    @property
    def waits_for_client(self) -> bool:
        """Whether kcoord waits for the client to send the next byte of a request."""

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that the client has not read."""

    def close(self, reason: str) -> None: ...
    def cut(self, reason: str) -> None: ...


class HeldBytes:
    """The bytes that all connections hold. The connection that has held something for longest comes first."""

    def __init__(self, limit: int, progress_ms: int, idle_ms: int) -> None:
        self.total = 0
        self._limit = limit
        self._progress_ms = progress_ms
        self._idle_ms = idle_ms
        self._held: dict[Holder, int] = {}

    def __len__(self) -> int:
        """The number of connections that hold something or are within a request."""
        return len(self._held)

    def note(self, holder: Holder, held: int) -> None:
        """Note that `holder`, which is within a request or has unread answers, now holds `held` bytes."""
        self.total += held - self._held.get(holder, 0)
        self._held[holder] = held
        while self.total > self._limit:
            self._close_one()

    def drop(self, holder: Holder) -> None:
        """`holder` holds nothing any more."""
        self.total -= self._held.pop(holder, 0)

    def sweep(self, now_ms: int) -> None:
        """Rules 1 and 2 above."""
        for holder in list(self._held):
            progress = holder.progress
            if progress is None:
                continue
            if holder.unread_bytes:
                self._judge_reading(holder, progress, now_ms)
            elif holder.waits_for_client:
                self._judge_sending(holder, progress, now_ms)
            else:
                progress.since_ms, progress.came = now_ms, 0

    def _judge_sending(self, holder: Holder, progress: Progress, now_ms: int) -> None:
        over_ms = now_ms - progress.since_ms - self._progress_ms
        if over_ms > 0 and progress.came * 1000 < LEAST_RATE * over_ms:
            holder.close(
                f"a request that began does not go on: {progress.came} bytes in {now_ms - progress.since_ms} ms "
                "(request.progress.timeout.ms)"
            )

    def _judge_reading(self, holder: Holder, progress: Progress, now_ms: int) -> None:
        progress.since_ms, progress.came = now_ms, 0
        unread = holder.unread_bytes
        if unread != progress.unread:
            progress.unread, progress.unread_since_ms = unread, now_ms
        elif now_ms - progress.unread_since_ms > self._idle_ms:
            holder.cut(f"it has not read {unread} bytes of answers for {self._idle_ms} ms (connections.max.idle.ms)")

    def _close_one(self) -> None:
        average = self.total / len(self._held)
        holder, held = next((each, held) for each, held in self._held.items() if held >= average)
        self.drop(holder)
        holder.cut(
            f"it holds {held} bytes of a request that is not finished, or of answers that it does not read, and all "
            f"connections together more than {self._limit} (queued.max.request.bytes)"
        )
