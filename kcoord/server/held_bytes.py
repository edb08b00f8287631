"""Bytes that clients make kcoord hold: requests begun and not finished, and answers that nobody reads.

Rules:

1. A request that has begun must go on: from `progress_ms` after its first byte on it must have come at `LEAST_RATE` at
   least, on average. Time in which kcoord itself does not read from the client does not count, so an honest client with
   a large request and a slow line lives.
2. A client that takes no byte of its answers for `idle_ms` is cut off.
3. All of it together is `limit` bytes at most. Above that the connection is closed that has held something for longest,
   among those that hold at least as much as the average: who holds little would free nothing.
"""

from __future__ import annotations

from typing import Protocol

import attrs

__all__ = ["LEAST_RATE", "HeldBytes", "Holder", "Progress"]

LEAST_RATE = 1024
"""Bytes a second, on average, at which a request must come that takes longer than the deadline."""


@attrs.define(slots=True)
class Progress:
    """How the request that has begun comes on, or the answers leave."""

    since_ms: int
    """Since when it is measured."""
    came: int = 0
    """Bytes of the request that have come since."""
    unread: int = 0
    """Bytes of answers that wait to be read, as of `unread_since_ms`."""
    unread_since_ms: int = 0


class Holder(Protocol):
    """A connection, as far as it is judged here."""

    progress: Progress | None

    @property
    def waits_for_client(self) -> bool:
        """Whether the next byte of a request is the client's to send."""

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that the client has not taken."""

    def close(self, reason: str) -> None: ...
    def cut(self, reason: str) -> None: ...


class HeldBytes:
    """What all connections hold, those first that have held something for longest."""

    def __init__(self, limit: int, progress_ms: int, idle_ms: int) -> None:
        self.total = 0
        self._limit = limit
        self._progress_ms = progress_ms
        self._idle_ms = idle_ms
        self._held: dict[Holder, int] = {}

    def __len__(self) -> int:
        """How many connections hold something, or are within a request."""
        return len(self._held)

    def note(self, holder: Holder, held: int) -> None:
        """`holder` is within a request, or has unread answers, and holds so many bytes now."""
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
