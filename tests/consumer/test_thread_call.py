"""Does a call in a thread of its own bring what the function returns and raises, and nothing after its end?"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time

import pytest

from kcoord.loop.thread_call import call_in_thread
from kcoord.testing.virtual_time_loop import VirtualTimeLoop
from tests.kafka.wait import DEADLINE_S

variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")


async def test_it_returns_what_the_function_returns_in_a_daemon_thread_of_that_name() -> None:
    def function(first: int, *, second: int) -> tuple[int, int, str, str, bool]:
        thread = threading.current_thread()
        return first, second, variable.get(), thread.name, thread.daemon

    variable.set("here")
    assert await call_in_thread("work", function, 1, second=2) == (1, 2, "here", "work", True)


@pytest.mark.parametrize(
    ("raised", "kind", "text"),
    [
        (LookupError("no such place"), LookupError, "no such place"),
        (StopIteration("x"), RuntimeError, "it raised StopIteration"),
    ],
)
async def test_it_raises_what_the_function_raises(raised: Exception, kind: type[Exception], text: str) -> None:
    def function() -> None:
        raise raised

    with pytest.raises(kind, match=text):
        await call_in_thread("work", function)


async def test_who_is_cancelled_leaves_the_call_alone() -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def function() -> None:
        may_end.wait(DEADLINE_S)
        has_ended.set()

    call = asyncio.create_task(call_in_thread("work", function))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    may_end.set()
    assert await call_in_thread("other", has_ended.wait, DEADLINE_S)
    await asyncio.sleep(0.01)  # the outcome of the first call comes now, and nobody wants it


def test_virtual_time_stands_still_during_a_call() -> None:
    """In a test of workers, an assignor that takes its time lets no session end."""
    loop = VirtualTimeLoop()

    async def main() -> float:
        began = loop.time()
        timer = asyncio.create_task(asyncio.sleep(3600))
        await call_in_thread("work", time.sleep, 0.02)
        timer.cancel()
        return loop.time() - began

    try:
        assert loop.run_until_complete(main()) == 0
    finally:
        loop.close()


def test_a_call_may_outlive_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    may_end = threading.Event()

    async def main() -> None:
        call = asyncio.create_task(call_in_thread("outlives", may_end.wait, DEADLINE_S))
        await asyncio.sleep(0)
        call.cancel()

    asyncio.run(main())
    [thread] = [each for each in threading.enumerate() if each.name == "outlives"]
    may_end.set()
    thread.join(DEADLINE_S)
    assert failures == []
