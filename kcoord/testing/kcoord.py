"""A coordinator and workers in one process, on a clock that a test drives."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from kcoord.assign import Resource
from kcoord.client.connection import Connection, error_name
from kcoord.client.security import Security
from kcoord.group.group_configs import GROUP, Operation
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse
from kcoord.testing.coordinator import TestedCoordinator, settings_of
from kcoord.testing.errors import NotReached, TestingError, WorkerLeftRunning
from kcoord.testing.failures import Failures, source_of
from kcoord.testing.loopback_network import LOOPBACK
from kcoord.testing.process import Condition, Process
from kcoord.testing.report import report
from kcoord.testing.substitutes import LoopWatchdog, VirtualTime, replaced
from kcoord.testing.virtual_time_loop import BEGIN_S, VirtualTimeLoop
from kcoord.testing.worker import TestedWorker
from kcoord.worker import Configured, Worker, WorkerRebalanceListener

JOIN_S = 60.0
"""How long a worker may take to become a member, in s."""
STOP_S = 120.0
"""How long a worker may take to stop, in s."""


class Kcoord:
    """A coordinator, the workers under test, and the clock. Use it as `async with Kcoord() as kcoord:`.

    - `settings`: the coordinator's settings by name (docs/configuration.md), for example
      `{"group.connect.session.timeout.ms": 60_000}`.
    - `group`: the group that workers join.
    - `seed`: the coordinator and the workers take their random numbers from it.
    - `limit_s`: how much virtual time may pass, in s, while the test waits for something other than a method of this
      object. After that the test ends with TimeRanAway.

    Times are virtual, in s. Where a method takes a worker, give what `start` or `run` returned, or the worker's name.
    """

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        group: str = "workers",
        seed: int = 0,
        limit_s: float = 3600.0,
    ) -> None:
        """Raises TestingError if a setting does not exist or does not fit."""
        self.group = group
        self._coordinator = TestedCoordinator(settings_of(settings or {}), seed)
        self._seed = seed
        self._limit_s = limit_s
        self._workers: dict[str, TestedWorker] = {}
        self._strays: list[LoopWatchdog] = []
        self._failures = Failures()
        self._configured: Configured | None = None
        self._stack = contextlib.AsyncExitStack()
        self._loop: VirtualTimeLoop | None = None

    # Life

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            raise TestingError(
                f"this runs on {type(loop).__name__}, whose time cannot be driven. In pytest: pytest_plugins = "
                '["kcoord.testing"] in the conftest.py at the top, and pytest-asyncio 1.4 or newer. Without pytest: '
                "kcoord.testing.run(main())"
            )
        self._loop = loop
        self._allow(0)
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(replaced(loop, self._seed, self._began, self._exited))
            stack.enter_context(self._failures.collected(loop))
            await self._coordinator.start()
            stack.push_async_callback(self._coordinator.stop)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._allow(STOP_S * (len(self._workers) + 2))
        complaint: TestingError | None = None
        try:
            complaint = await self._end_workers()
        finally:
            await self._stack.aclose()
            self._forget_workers()
        if error is None:
            self._failures.raise_first()
            if complaint is not None:
                raise complaint

    async def _end_workers(self) -> TestingError | None:
        """Stop the workers that run, clear away the others. Returns the error to report, if any."""
        complaint: TestingError | None = None
        for worker in self._workers.values():
            worker.report_failed_tasks()
            if worker.process.condition is Condition.RUNNING and not worker.process.is_cut:
                try:
                    await self.stop(worker)
                    continue
                except TestingError as error:
                    complaint = error
            await worker.clear_away()
        strays = [each for each in self._strays if not each.is_stopped]
        if strays:
            complaint = WorkerLeftRunning(
                f"{len(strays)} worker(s) that the test itself has started still run: use `async with Worker(...)`, "
                "or `await kcoord.start(name, listener)`, which stops a worker with the test"
            )
            for each in strays:
                await worker_of(each).close()
        return complaint

    def _forget_workers(self) -> None:
        """Close what killed workers have left open, without a warning, as the operating system would."""
        was_killed = any(each.process.condition is Condition.KILLED for each in self._workers.values())
        self._workers.clear()
        self._strays.clear()
        if was_killed:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()

    # What there is

    @property
    def bootstrap_servers(self) -> str:
        """The coordinator's address, as Worker and other clients expect it: `127.0.0.1:PORT`."""
        return f"{LOOPBACK}:{self._coordinator.port}"

    @property
    def now_s(self) -> float:
        """How much virtual time has passed since the loop began, in s."""
        return self._its_loop.time() - BEGIN_S

    @property
    def time(self) -> Any:
        """Stands in for the module `time` where the code under test reads a clock:
        `monkeypatch.setattr("mymodule.time", kcoord.time)`.
        """
        return VirtualTime(self._its_loop)

    def runs(self) -> dict[str, frozenset[Resource]]:
        """Map each worker to what may be running there, as the worker knows it. Killed and stopped workers are left
        out.
        """
        return {name: each.runs for name, each in self._workers.items() if each.process.is_there}

    def configured(self) -> Configured | None:
        """What `configure` set last. Pass this method as `configured=` to workers that you make yourself."""
        return self._configured

    def describe(self) -> str:
        """The state of the test in a few lines, for people to read."""
        return report(self.now_s, self._configured, self._workers.values())

    # What a test does

    def configure(self, what: Mapping[str, int] | Iterable[tuple[str, int]]) -> None:
        """Say which resources exist: `{"a": 3}` for ("a", 0), ("a", 1) and ("a", 2), or the resources themselves.

        Workers report them to the coordinator with their next heartbeat, within a heartbeat interval (5 s).
        """
        resources = (
            frozenset((name, number) for name, count in what.items() for number in range(count))
            if isinstance(what, Mapping)
            else frozenset(what)
        )
        self._configured = Configured(1 if self._configured is None else self._configured.offset + 1, resources)
        for each in self._workers.values():
            each.tell_configured()

    async def configure_group(self, settings: Mapping[str, object]) -> None:
        """Give the group settings of its own (docs/group-settings.md): `{"connect.rebalance.delay.ms": 0}`.

        Raises TestingError if the coordinator refuses one.
        """
        configs = [
            AlterableConfig(name=name, config_operation=Operation.SET, value=str(value))
            for name, value in settings.items()
        ]
        resource = AlterConfigsResource(resource_type=GROUP, resource_name=self.group, configs=configs)
        connection = await Connection.open(LOOPBACK, self._coordinator.port, Security())
        try:
            request = IncrementalAlterConfigsRequest(resources=[resource])
            response = await connection.send(request, IncrementalAlterConfigsResponse)
        finally:
            await connection.close()
        for each in response.responses:
            if each.error_code:
                raise TestingError(f"the group's settings: {error_name(each.error_code)}: {each.error_message}")

    async def start(self, name: str, listener: WorkerRebalanceListener, **options: Any) -> TestedWorker:
        """Start a worker as a process of its own. Returns when it is a member and has what it is given at once.

        `options` are those of `kcoord.worker.Worker`. By default `configured` is what `configure` set and `client_id`
        is `name`. Raises WorkerFailed if the worker cannot be a member.
        """
        worker = self._new(name)
        options.setdefault("configured", self.configured)
        options.setdefault("client_id", name)
        worker.begin(
            lambda: worker.serve(Worker(self.bootstrap_servers, self.group, listener=listener, **options)), listener
        )
        await self._joined(worker)
        return worker

    async def run(self, name: str, program: Callable[[], Awaitable[object]]) -> TestedWorker:
        """Run `program()` as a process of its own. Returns when everything is done that can be done at once.

        The program makes its workers itself, for `kcoord.bootstrap_servers` and `kcoord.group`. To stop the program,
        kcoord cancels it, as `asyncio.run` does on SIGINT.
        """
        worker = self._new(name)
        worker.begin(program, None)
        await self._settle()
        return worker

    async def stop(self, worker: TestedWorker | str) -> None:
        """Let the worker stop and leave in order. Raises TestingError if that takes longer than two minutes."""
        tested = self._find(worker)
        if not tested.process.is_there:
            return
        if tested.process.is_held:
            raise TestingError(
                f"worker {tested.name} is {tested.process.condition.value} and cannot stop: thaw it first"
            )
        tested.ask_to_stop()
        self._allow(STOP_S)
        await asyncio.wait([tested.main], timeout=STOP_S)
        if not tested.main.done():
            raise WorkerLeftRunning(
                f"worker {tested.name} was told to stop, and has not for {STOP_S:g} s of virtual time. It waits at "
                f"{tested.where()}: `on_revoked` and `on_lost` must return, and a program must end when it is cancelled"
            )
        await self._settle()

    def kill(self, worker: TestedWorker | str) -> None:
        """End the worker as SIGKILL does: none of its code runs any more, its connections end, it has not left the
        group.
        """
        self._kill(self._there(worker).process)

    def freeze(self, worker: TestedWorker | str) -> None:
        """Hold the worker as SIGSTOP does: none of its code runs, and its connections stay open."""
        self._there(worker).process.condition = Condition.FROZEN

    def block(self, worker: TestedWorker | str) -> None:
        """Block the worker's event loop, as code does that computes or waits without `await`. Its watchdog goes on."""
        self._there(worker).process.condition = Condition.BLOCKED

    def thaw(self, worker: TestedWorker | str) -> None:
        """End `freeze` or `block`: the worker now does in order everything that became due meanwhile."""
        process = self._there(worker).process
        process.condition = Condition.RUNNING
        self._its_loop.go_on(process)

    def cut(self, worker: TestedWorker | str) -> None:
        """Let no packet through between the worker and the coordinator. Connections stay open, new ones wait."""
        process = self._there(worker).process
        process.is_cut = True
        process.mended.clear()

    def mend(self, worker: TestedWorker | str) -> None:
        """End `cut`: what was sent meanwhile now arrives."""
        process = self._there(worker).process
        process.is_cut = False
        process.mended.set()

    async def restart(self, down_s: float = 0.0) -> None:
        """Stop the coordinator, and start it again `down_s` later on the same port with the same log."""
        self._allow(down_s)
        await self._coordinator.stop()
        if down_s:
            await asyncio.sleep(down_s)
        await self._coordinator.start()
        await self._settle()

    # Time

    async def pass_s(self, seconds: float) -> None:
        """Let virtual time pass. Returns when everything is done that was due by then.

        Raises WorkerFailed if a worker's code meanwhile raised an exception that nothing caught.
        """
        self._allow(seconds)
        await asyncio.sleep(seconds)
        await self._settle()

    async def until(self, condition: Callable[[], object], *, within_s: float = 600.0) -> None:
        """Let virtual time pass until `condition()` is true. It is checked whenever something may have changed.

        Raises NotReached if it does not become true within `within_s`, and WorkerFailed as `pass_s` does.
        """
        loop = self._its_loop
        ends_s = loop.time() + within_s
        self._allow(within_s)
        await self._settle()
        while not condition():
            if loop.time() >= ends_s:
                raise NotReached(
                    f"within {within_s:g} s of virtual time this did not become true: {source_of(condition)}\n"
                    f"{self.describe()}"
                )
            await loop.next_moment()
            self._failures.raise_first()

    async def settled(self, *, within_s: float = 600.0) -> None:
        """Let virtual time pass until each configured resource runs at exactly one worker, and nothing else runs.

        Raises as `until` does.
        """

        def each_runs_once() -> bool:
            running = [resource for each in self.runs().values() for resource in each]
            wanted = frozenset() if self._configured is None else self._configured.resources
            return len(running) == len(wanted) and frozenset(running) == wanted

        await self.until(each_runs_once, within_s=within_s)

    # Inside

    @property
    def _its_loop(self) -> VirtualTimeLoop:
        if self._loop is None:
            raise TestingError("use it as `async with Kcoord() as kcoord:`")
        return self._loop

    def _allow(self, seconds: float) -> None:
        """Let `seconds` pass, and after them `limit_s` while the test does not ask for time."""
        loop = self._its_loop
        loop.may_reach_s = loop.time() + seconds + self._limit_s

    async def _settle(self) -> None:
        await self._its_loop.idle()
        self._failures.raise_first()
        self._allow(0)

    async def _joined(self, worker: TestedWorker) -> None:
        joined = asyncio.ensure_future(worker.joined.wait())
        try:
            await asyncio.wait([joined, worker.main], timeout=JOIN_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            joined.cancel()
        await self._settle()
        if not worker.joined.is_set():
            raise NotReached(
                f"worker {worker.name} is not a member after {JOIN_S:g} s of virtual time\n{self.describe()}"
            )

    def _new(self, name: str) -> TestedWorker:
        before = self._workers.get(name)
        if before is not None and before.process.is_there:
            raise TestingError(f"there is a worker {name} already: choose another name, or stop or kill it first")
        if before is not None:
            self._workers[f"{name} (earlier {len(self._workers)})"] = self._workers.pop(name)
        self._workers[name] = worker = TestedWorker(name, Process(name), self._failures)
        return worker

    def _find(self, worker: TestedWorker | str) -> TestedWorker:
        if isinstance(worker, TestedWorker):
            return worker
        try:
            return self._workers[worker]
        except KeyError:
            known = ", ".join(self._workers) or "none"
            raise TestingError(f"there is no worker {worker}; there are: {known}") from None

    def _there(self, worker: TestedWorker | str) -> TestedWorker:
        tested = self._find(worker)
        if not tested.process.is_there:
            raise TestingError(f"worker {tested.name} is {tested.process.condition.value} already")
        return tested

    def _kill(self, process: Process) -> None:
        process.condition = Condition.KILLED
        process.held.clear()
        self._its_loop.network.hang_up(process)

    def _exited(self, process: Process | None, code: int) -> None:
        """The code of `process`, or of the test if that is None, has called `os._exit`."""
        if process is None:
            raise TestingError(f"a runner outside kcoord.run ends the process of the test, with exit code {code}")
        process.exit_code = code
        self._kill(process)

    def _began(self, watchdog: LoopWatchdog) -> None:
        """A worker has started, in a process under test or in the test itself. Each worker has one watchdog."""
        if watchdog.process is None:
            self._strays.append(watchdog)
        else:
            watchdog.process.workers.append(worker_of(watchdog))


def worker_of(watchdog: LoopWatchdog) -> Worker:
    """The worker that a watchdog watches: `overdue` is a method of that worker."""
    worker = getattr(watchdog.overdue, "__self__", None)
    assert isinstance(worker, Worker)
    return worker
