"""What those who write workers get wrong: a listener or `configured` that cannot be, and code that raises or blocks."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest

from kcoord.assign import Resource
from kcoord.testing import Kcoord, WorkerFailed
from kcoord.worker import Configured, Worker, WorkerRebalanceListener
from kcoord.worker.watchdog import BLOCKED_MS, Watchdog
from tests.testing.listening import Listening, in_virtual_time


class Quiet(WorkerRebalanceListener):
    async def on_assigned(self, resources: frozenset[Resource]) -> None: ...
    async def on_revoked(self, resources: frozenset[Resource]) -> None: ...


class Synchronous(Quiet):
    def on_revoked(self, resources: frozenset[Resource]) -> None: ...  # type: ignore[override]


def counted(method: Any) -> Any:
    """A decorator that is no coroutine function itself."""

    @functools.wraps(method)
    def inner(*arguments: Any) -> Any:
        return method(*arguments)

    return inner


def in_thread(function: Any) -> Any:
    """A decorator that makes a coroutine function of a function."""

    @functools.wraps(function)
    async def inner(*arguments: Any) -> None:
        await asyncio.to_thread(function, *arguments)

    return inner


class Decorated(WorkerRebalanceListener):
    @counted
    async def on_assigned(self, resources: frozenset[Resource]) -> None: ...

    @in_thread
    def on_revoked(self, resources: frozenset[Resource]) -> None: ...


class Lacking:
    async def on_assigned(self, resources: frozenset[Resource]) -> None: ...


def worker(listener: Any = None, configured: Any = None) -> Worker:
    return Worker("127.0.0.1:1", "g", listener=listener or Quiet(), configured=configured)


@pytest.mark.parametrize(
    ("listener", "message"),
    [
        (Synchronous(), r"Synchronous\.on_revoked must be `async def on_revoked\(self, resources\)`"),
        (Quiet, r"give an object, Quiet\(\.\.\.\), not the class Quiet"),
        (Lacking(), "Lacking has no on_revoked: derive it from WorkerRebalanceListener"),
    ],
)
def test_a_listener_that_cannot_be_is_refused_at_once(listener: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        worker(listener)


@pytest.mark.parametrize("listener", [Decorated(), MagicMock(), AsyncMock()])
def test_decorators_and_mocks_are_taken(listener: Any) -> None:
    worker(listener)


@pytest.mark.parametrize(
    ("offset", "resources", "kind", "message"),
    [
        (1, [("shard", 0), ("shard", 0)], ValueError, "shard-0 is listed twice"),
        (1, {"shard": 3}, TypeError, "'shard' is not a resource: it must be a tuple of a name and a number"),
        (1, [("shard", "0")], TypeError, r"\('shard', '0'\) is not a resource"),
        (1, [("shard", 0, 1)], TypeError, r"\('shard', 0, 1\) is not a resource"),
        (1, [("shard", -2)], TypeError, r"\('shard', -2\) is not a resource"),
        (1, [("", 0)], TypeError, r"\('', 0\) is not a resource"),
        (1, [["shard", 0]], TypeError, r"\['shard', 0\] is not a resource"),
        (1, 12, TypeError, "resources = 12 is not a set of resources"),
        ("1", [], TypeError, "offset = '1' is not a whole number"),
        (-1, [], ValueError, "offset = -1 is not between 0 and"),
    ],
)
def test_what_cannot_exist_is_refused(offset: Any, resources: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Configured(offset, resources)


def test_any_collection_will_do() -> None:
    assert Configured(1, (("a", number) for number in range(2))).resources == {("a", 0), ("a", 1)}


async def asynchronous() -> Configured:
    return Configured(1, frozenset())


def failing() -> Configured:
    raise OSError("the shelf is gone")


@pytest.mark.parametrize(
    ("configured", "kind", "message"),
    [
        ({("a", 0)}, TypeError, r"configured = {\('a', 0\)}: give a Configured, or a function that returns one"),
        (asynchronous, TypeError, "asynchronous must not be `async def`"),
        (lambda: {("a", 0)}, TypeError, r"<lambda> returned {\('a', 0\)}, not a Configured or None"),
        (failing, OSError, "the shelf is gone"),
    ],
)
def test_a_bad_configured_is_refused_at_once(configured: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        worker(configured=configured)


@in_virtual_time
async def test_a_configured_that_fails_later_is_logged_once_and_the_worker_goes_on(kcoord: Kcoord) -> None:
    shelf: list[Configured | OSError] = [Configured(1, frozenset({("a", 0)}))]

    def configured() -> Configured:
        if isinstance(shelf[0], OSError):
            raise shelf[0]
        return shelf[0]

    await kcoord.start("a", Listening(kcoord), configured=configured)
    shelf[0] = OSError("the shelf is gone")
    with pytest.raises(WorkerFailed, match=r"`configured` or .* failed.*OSError: the shelf is gone"):
        await kcoord.pass_s(60)
    await kcoord.pass_s(60)  # it is logged once
    shelf[0] = Configured(2, frozenset({("a", 0), ("a", 1)}))
    await kcoord.until(lambda: len(kcoord.runs()["a"]) == 2)


def test_a_change_without_a_higher_offset_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    given = [Configured(3, [("a", 0)]), Configured(3, [("a", 0)]), Configured(3, [("a", 1)])]
    one = worker(configured=lambda: given[0])
    while len(given) > 1:
        assert not caplog.records
        del given[0]
        one._news_if_any()
    assert "its offset is 3, and was 3 before" in caplog.text
    assert len(caplog.records) == 1
    one._news_if_any()
    assert len(caplog.records) == 1


class Raising(Listening):
    """Raises in one callback."""

    fails_in = ""

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        await super().on_assigned(resources)
        self._raise("on_assigned")

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        await super().on_revoked(resources)
        self._raise("on_revoked")

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        await super().on_lost(resources)
        self._raise("on_lost")

    def _raise(self, where: str) -> None:
        if where == self.fails_in:
            raise ValueError("no such file")


@in_virtual_time
async def test_a_callback_that_raises_is_named_with_its_resources(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 2})
    listener = Raising(kcoord)
    listener.fails_in = "on_assigned"
    message = (
        r"worker a: Raising\.on_assigned failed for job-0, job-1 \(this worker's all the same\): ValueError: no such"
    )
    with pytest.raises(WorkerFailed, match=message):
        await kcoord.start("a", listener)
    listener.fails_in = "on_revoked"
    message = r"worker a: Raising\.on_revoked failed for job-[01] \(taken to have stopped\): ValueError: no such file"
    with pytest.raises(WorkerFailed, match=message):
        await kcoord.start("b", Listening(kcoord))
        await kcoord.settled()
    await kcoord.settled()
    listener.fails_in = "on_lost"
    kcoord.cut("a")
    message = r"worker a: Raising\.on_lost failed for job-[01] \(taken to have stopped\): ValueError: no such file"
    with pytest.raises(WorkerFailed, match=message):
        await kcoord.pass_s(60)
    kcoord.mend("a")
    await kcoord.until(lambda: len(kcoord.runs()["a"]) == 1)


class AwaitsWhatItCancels(Listening):
    """As many write it: the CancelledError of the task comes out of `await`."""

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        self._note("revoked", resources)
        for resource in resources:
            task = self.tasks.pop(resource)
            task.cancel()
            await task


@in_virtual_time
async def test_a_callback_that_awaits_a_task_that_it_cancelled_does_not_hold_what_it_gives_up(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 2})
    await kcoord.start("a", AwaitsWhatItCancels(kcoord))
    with pytest.raises(WorkerFailed, match=r"on_revoked failed for job-[01] .* It awaited a task that was cancelled"):
        await kcoord.start("b", Listening(kcoord))
        await kcoord.pass_s(20)
    assert [len(runs) for runs in kcoord.runs().values()] == [1, 1]
    assert kcoord.now_s < 60, "the rebalance timeout"
    with pytest.raises(WorkerFailed, match="It awaited a task that was cancelled"):
        await kcoord.stop("a")


class ReturnsNothing(Quiet):
    """Nobody can see before the call that it is no coroutine."""

    on_assigned = MagicMock(return_value=None)


@in_virtual_time
async def test_a_callback_that_gives_nothing_to_await_is_told(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 1})
    with pytest.raises(WorkerFailed, match=r"ReturnsNothing\.on_assigned failed for job-0 .*it returned None"):
        await kcoord.start("a", ReturnsNothing())


# A blocked event loop


def test_a_loop_that_is_late_twice_in_a_row_is_reported_once_with_where_it_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    late = [0]
    watchdog = Watchdog(lambda: False, lambda: None, lambda: late[0])
    watchdog._loop_thread = threading.get_ident()
    for late_ms, lines in (
        (0, 0),
        (BLOCKED_MS, 0),
        (0, 0),
        (BLOCKED_MS, 0),
        (BLOCKED_MS, 1),
        (BLOCKED_MS + 9, 1),
        (0, 2),
    ):
        late[0] = late_ms
        watchdog.look_at_loop()
        assert len(caplog.records) == lines
    report, end = (record.getMessage() for record in caplog.records)
    assert "the event loop has been blocked for 3.0 s" in report
    assert "test_a_loop_that_is_late_twice" in report
    assert end == "the event loop runs again"


async def test_a_real_loop_that_is_blocked_is_reported_with_the_line_that_blocks_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody is at the address: a worker that looks for its coordinator is enough."""

    def blocks_the_loop() -> None:
        deadline = time.monotonic() + 120
        while "has been blocked" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.05)

    async with worker():
        await asyncio.sleep(0)
        blocks_the_loop()
    assert "in blocks_the_loop" in caplog.text
    assert "Run what takes long in asyncio.to_thread" in caplog.text
