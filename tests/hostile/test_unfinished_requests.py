"""A request that begins and does not go on ends its connection; a slow one that goes on is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import attrs
import pytest

from kcoord.protocol.messages import ApiVersionsRequest
from kcoord.server.connections.held_bytes import LEAST_RATE, HeldBytes, Progress
from tests.gateway.scripted import connect
from tests.hostile.conftest import PLACES, Place
from tests.hostile.frames import frame
from tests.kafka.kcoord_process import Kcoord

JOIN_GROUP, PRODUCE = 11, 0
BEGINNINGS = {
    "one byte": b"\0",
    "a size": (100).to_bytes(4, "big"),
    "half a request that is read": frame(JOIN_GROUP, 5, bytes(1000))[:500],
    "half a request that passes": frame(PRODUCE, 9, b"\0\0\xff\xff" + bytes(1000))[:500],
}


@pytest.mark.parametrize("place", PLACES)
async def test_what_begins_and_does_not_go_on_is_closed(place: Place, start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord(place, request_progress_timeout_ms=500)
    honest = await connect(kcoord.bootstrap)
    for name, sent in BEGINNINGS.items():
        if place == "alone" and "passes" in name:
            continue
        hostile = [await connect(kcoord.bootstrap) for _ in range(20)]
        for each in hostile:
            each.writer.write(sent)
        assert [await each.read_frame() for each in hostile] == [b""] * 20, name
        await honest.ask(ApiVersionsRequest(), 0)
    await asyncio.to_thread(kcoord.wait_for_line, "(request.progress.timeout.ms)", 20)


# -- the rules, on a clock that is driven by hand ----------------------------------------------------------------------


@attrs.define(eq=False)
class FakeConnection:
    """A connection that is judged."""

    progress: Progress | None = attrs.Factory(lambda: Progress(0))
    waits_for_client: bool = True
    unread_bytes: int = 0
    ended: str = ""

    def close(self, reason: str) -> None:
        self.ended = reason

    def cut(self, reason: str) -> None:
        self.ended = reason


def test_a_slow_request_that_goes_on_is_waited_for() -> None:
    held, slow = HeldBytes(limit=1 << 30, progress_ms=30_000, idle_ms=600_000), FakeConnection()
    assert slow.progress is not None
    for second in range(1, 3600):
        slow.progress.came += LEAST_RATE
        held.note(slow, slow.progress.came)
        held.sweep(second * 1000)
    assert not slow.ended


def test_one_that_comes_too_slowly_is_closed() -> None:
    held, slow = HeldBytes(limit=1 << 30, progress_ms=30_000, idle_ms=600_000), FakeConnection()
    assert slow.progress is not None
    for second in range(1, 3600):
        slow.progress.came += LEAST_RATE // 4
        held.note(slow, slow.progress.came)
        held.sweep(second * 1000)
        if slow.ended:
            break
    assert "request.progress.timeout.ms" in slow.ended
    assert second > 30


def test_time_in_which_kcoord_does_not_read_does_not_count() -> None:
    held, waiting = HeldBytes(limit=1 << 30, progress_ms=30_000, idle_ms=600_000), FakeConnection()
    held.note(waiting, 10)
    waiting.waits_for_client = False
    held.sweep(3_600_000)
    waiting.waits_for_client = True
    held.sweep(3_620_000)
    assert not waiting.ended
    held.sweep(3_640_000)
    assert waiting.ended


def test_answers_that_nobody_reads_end_their_connection() -> None:
    held = HeldBytes(limit=1 << 30, progress_ms=30_000, idle_ms=600_000)
    still, reading = FakeConnection(unread_bytes=1000), FakeConnection(unread_bytes=1_000_000)
    for each in (still, reading):
        assert each.progress is not None
        each.progress.unread = each.unread_bytes
        held.note(each, each.unread_bytes)
    for minute in range(1, 12):
        reading.unread_bytes -= 1
        held.sweep(minute * 60_000)
    assert "connections.max.idle.ms" in still.ended
    assert not reading.ended


def test_all_together_hold_no_more_than_the_limit() -> None:
    held = HeldBytes(limit=1000, progress_ms=30_000, idle_ms=600_000)
    small, oldest, younger, last = (FakeConnection() for _ in range(4))
    held.note(small, 1)
    for each in (oldest, younger):
        held.note(each, 450)
    held.note(last, 200)
    assert "queued.max.request.bytes" in oldest.ended
    assert [each.ended for each in (small, younger, last)] == ["", "", ""]
    assert held.total == 651
