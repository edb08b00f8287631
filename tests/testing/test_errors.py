"""Is a test told what is wrong with it, or with what it tests, and what to do?"""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from kcoord.assign import Resource
from kcoord.testing import Kcoord, NotReached, TestingError, TimeRanAway, WorkerFailed, WorkerLeftRunning, run
from kcoord.worker import Worker, WorkerRebalanceListener
from tests.testing.listening import Listening, in_virtual_time


class Failing(WorkerRebalanceListener):
    """Raises where it is told to."""

    def __init__(self, where: str) -> None:
        self.where = where

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        if self.where == "on_assigned":
            raise ValueError("no such file")

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        if self.where == "on_revoked":
            await asyncio.Event().wait()


@in_virtual_time
async def test_an_exception_in_on_assigned_comes_out_of_start(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 1})
    with pytest.raises(
        WorkerFailed, match=r"worker a: Failing\.on_assigned failed for job-0 .*: ValueError: no such file"
    ) as failed:
        await kcoord.start("a", Failing("on_assigned"))
    assert isinstance(failed.value.__cause__, ValueError)
    assert "pytest.raises(WorkerFailed)" in failed.value.__notes__[0]
    await kcoord.pass_s(60)  # it is told once


def test_an_exception_that_no_call_has_met_comes_out_at_the_end() -> None:
    async def main() -> None:
        async with Kcoord() as kcoord:
            await kcoord.start("a", Failing("on_assigned"))
            kcoord.configure({"job": 1})
            await asyncio.sleep(10)

    with pytest.raises(WorkerFailed, match="no such file"):
        run(main())


def test_an_exception_of_the_test_itself_goes_before_all_others() -> None:
    async def main() -> None:
        async with Kcoord() as kcoord:
            await kcoord.start("a", Failing("on_assigned"))
            kcoord.configure({"job": 1})
            await asyncio.sleep(10)
            raise KeyError("of the test")

    with pytest.raises(KeyError, match="of the test"):
        run(main())


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_task_of_a_worker_that_fails_is_told(is_kept: bool) -> None:
    kept: list[asyncio.Task[None]] = []

    async def fail() -> None:
        raise ValueError("no luck")

    async def program() -> None:
        task = asyncio.create_task(fail())
        if is_kept:
            kept.append(task)
        del task
        await asyncio.sleep(100)

    async def main() -> None:
        async with Kcoord() as kcoord:
            await kcoord.run("a", program)

    with pytest.raises(WorkerFailed, match=r"(never retrieved|worker a: a task that nobody awaits failed).*no luck"):
        run(main())


@in_virtual_time
async def test_a_program_that_raises_is_told(kcoord: Kcoord) -> None:
    async def program() -> None:
        raise ValueError("no luck")

    with pytest.raises(WorkerFailed, match="the program of worker a has ended: ValueError: no luck"):
        await kcoord.run("a", program)
    assert kcoord.runs() == {}


@in_virtual_time
async def test_who_may_not_be_a_member_hears_why(kcoord: Kcoord) -> None:
    with pytest.raises(WorkerFailed, match=r"worker a may not be a member: .*UNSUPPORTED_ASSIGNOR: .* nothing"):
        await kcoord.start("a", Listening(kcoord), server_assignor="nothing")


@in_virtual_time
async def test_what_is_not_reached_is_told_with_what_was_there_instead(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 2})
    await kcoord.start("a", Listening(kcoord))
    await kcoord.start("b", Listening(kcoord))
    kcoord.kill("b")
    with pytest.raises(NotReached) as missed:
        await kcoord.until(lambda: len(kcoord.runs()) == 3, within_s=50)
    assert str(missed.value).splitlines() == [
        "within 50 s of virtual time this did not become true: "
        "await kcoord.until(lambda: len(kcoord.runs()) == 3, within_s=50)",
        "at 50 s; configured: job-0 job-1",
        "  a: running, epoch 3, runs job-0 job-1",
        "  b: killed",
    ]
    assert kcoord.now_s == 50


def test_a_test_that_waits_for_ever_ends_and_is_told_where() -> None:
    async def main() -> None:
        async with Kcoord(limit_s=100) as kcoord:
            await kcoord.pass_s(1000)  # as asked for
            await asyncio.Event().wait()

    with pytest.raises(TimeRanAway, match=r"virtual time has reached 1100 s.* waits at .*test_errors.py:\d+: .*until"):
        run(main())


def test_a_worker_that_does_not_stop_is_named() -> None:
    async def main() -> None:
        async with Kcoord() as kcoord:
            kcoord.configure({"job": 1})
            await kcoord.run("a", program)

    async def program() -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(1)

    with pytest.raises(WorkerLeftRunning, match=r"worker a was told to stop, and has not.*test_errors.py:\d+: "):
        run(main())


@in_virtual_time
async def test_a_revocation_that_hangs_is_cut_short_by_the_worker_itself(kcoord: Kcoord) -> None:
    kcoord.configure({"job": 1})
    await kcoord.start("a", Failing("on_revoked"), close_timeout=5)
    await kcoord.stop("a")
    assert 5 <= kcoord.now_s < 20


def test_a_worker_that_the_test_has_left_running_is_told_and_closed() -> None:
    listeners: list[Listening] = []

    async def main() -> None:
        async with Kcoord() as kcoord:
            listeners.append(Listening(kcoord))
            kcoord.configure({"job": 1})
            worker = Worker(kcoord.bootstrap_servers, "workers", listener=listeners[0], configured=kcoord.configured)
            await worker.__aenter__()
            await kcoord.pass_s(1)

    with pytest.raises(
        WorkerLeftRunning, match=r"1 worker\(s\) that the test itself has started still run: use `async"
    ):
        run(main())
    assert listeners[0].calls() == ["assigned", "revoked"]


@in_virtual_time
async def test_workers_are_called_by_names_that_exist(kcoord: Kcoord) -> None:
    await kcoord.start("a", Listening(kcoord))
    with pytest.raises(TestingError, match="there is no worker b; there are: a"):
        kcoord.kill("b")
    kcoord.freeze("a")
    with pytest.raises(TestingError, match="worker a is frozen and cannot stop: thaw it first"):
        await kcoord.stop("a")
    kcoord.kill("a")
    with pytest.raises(TestingError, match="worker a is killed already"):
        kcoord.thaw("a")


@in_virtual_time
async def test_settings_of_the_group_that_do_not_fit_are_refused(kcoord: Kcoord) -> None:
    with pytest.raises(TestingError, match=r"the group's settings: INVALID_CONFIG: .*connect\.rebalance\.delay\.ms"):
        await kcoord.configure_group({"connect.rebalance.delay.ms": -1})


def test_settings_of_the_coordinator_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TestingError, match=r"settings of the coordinator: .*group\.max\.size"):
        Kcoord({"group.max.sise": 1})
    with pytest.raises(TestingError, match="leave out `upstream` and `log`"):
        Kcoord({"upstream": "localhost:9092", "groups": ".*"})


def test_a_loop_without_virtual_time_is_refused() -> None:
    async def main() -> None:
        async with Kcoord():
            pass

    with pytest.raises(TestingError, match=r"whose time cannot be driven.*pytest_plugins.*kcoord\.testing\.run"):
        asyncio.run(main())


def test_it_must_be_entered() -> None:
    with pytest.raises(TestingError, match="use it as `async with Kcoord"):
        _ = Kcoord().now_s
