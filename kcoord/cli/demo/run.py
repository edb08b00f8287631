"""A run of the demo: start everything, update the view twice a second, end everything. No process is left behind.

If the coordinator is killed, the demo starts it again: that is one of the things to try. It does not restart workers,
so that the user sees the group go on without them.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Callable, Iterator

import attrs
from rich.live import Live

from kcoord.cli.calls.connect_groups import ConnectGroup, describe_connect_group
from kcoord.cli.demo.processes import Child, end
from kcoord.cli.demo.scene import GROUP, Scene
from kcoord.cli.demo.ticks import Ticks
from kcoord.cli.demo.view import Lines, Sight, introduction, screen
from kcoord.cli.output.terminal_output import PrintableConsole
from kcoord.client import ClientError, Cluster

_EVERY_S = 0.5
_START_S = 30.0
_PAUSE_S = 0.5
"""How long a killed coordinator stays away, in s."""
_TIMEOUT_S = 3.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class DemoFailed(Exception):
    """The demo cannot go on. The text is one line."""


async def run(scene: Scene, *, live: bool) -> None:
    """Run the demo until a signal comes. Raises DemoFailed."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for each in _SIGNALS:
        loop.add_signal_handler(each, stop.set)
    _check_free(scene)
    try:
        scene.set_up()
    except OSError as error:
        raise DemoFailed(f"{scene.folder}: {error.strerror}") from None
    print(f"Starting a coordinator and {len(scene.workers)} workers ...", flush=True)
    demo = Demo(scene, stop)
    try:
        if await demo.start():
            await (demo.go_on(_drawing) if live else demo.go_on(_printing))
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        await demo.end()
    print("The demo has ended, and so have all processes that it started.", flush=True)


Show = Callable[[Sight], None]
Showing = Callable[[Sight], contextlib.AbstractContextManager[Show]]


@attrs.define
class Demo:
    """The demo's processes, and what it knows of the group."""

    scene: Scene
    stop: asyncio.Event
    _coordinator: Child | None = attrs.field(default=None, init=False)
    _workers: list[Child] = attrs.field(factory=list, init=False)
    _members: dict[str, Child] = attrs.field(factory=dict, init=False)
    _cluster: Cluster | None = attrs.field(default=None, init=False)
    _group: ConnectGroup | None = attrs.field(default=None, init=False)
    _note: str = attrs.field(default="", init=False)

    async def start(self) -> bool:
        """Start the coordinator, then the workers. False: a signal came meanwhile. Raises DemoFailed."""
        self._coordinator = await self._start_coordinator()
        deadline = asyncio.get_running_loop().time() + _START_S
        while not await self._look():
            if not self._coordinator.running:
                raise DemoFailed(f"the coordinator did not start: {self._coordinator.last_line()}")
            if asyncio.get_running_loop().time() > deadline:
                raise DemoFailed(f"the coordinator does not respond: {self._note}")
            if await self._stopped_within(0.1):
                return False
        for name in self.scene.workers:
            self._workers.append(await Child.start(name, self.scene.worker_arguments(name), self.scene.log(name)))
        return True

    async def go_on(self, showing: Showing) -> None:
        """Look, show, wait, until a signal comes. Raises DemoFailed."""
        ticks = Ticks(self.scene.output)
        with showing(self._sight(ticks)) as show:
            while True:
                await self._look()
                ticks.look()
                show(self._sight(ticks))
                if await self._stopped_within(_EVERY_S):
                    return
                await self._care_for_coordinator()

    async def end(self) -> None:
        """End all processes, workers first, so that they can leave the group."""
        await self._forget()
        await end(self._workers)
        if self._coordinator is not None:
            await end([self._coordinator])

    # Inside

    async def _start_coordinator(self) -> Child:
        return await Child.start("coordinator", self.scene.coordinator_arguments(), self.scene.log("coordinator"))

    async def _care_for_coordinator(self) -> None:
        coordinator = self._running
        code = coordinator.process.returncode
        if code is None:
            return
        if code >= 0:
            raise DemoFailed(f"the coordinator has {coordinator.ending}: {coordinator.last_line()}")
        if not await self._stopped_within(_PAUSE_S):
            self._coordinator = await self._start_coordinator()

    async def _look(self) -> bool:
        """Describe the group. Returns whether the coordinator has responded."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                found = await self._ask()
        except (ClientError, TimeoutError) as error:
            self._note = f"the coordinator does not respond ({str(error) or 'it takes too long'})"
            await self._forget()
            return False
        if isinstance(found, ConnectGroup):
            self._note_members(found)
        self._group, self._note = (found, "") if isinstance(found, ConnectGroup) else (None, "no workers yet")
        return True

    def _note_members(self, group: ConnectGroup) -> None:
        """Note which process a member is. A member with the name of a running worker is that worker, because nobody
        else can have its name meanwhile.
        """
        running = {child.name: child for child in self._workers if child.running}
        for worker in group.workers:
            if worker.instance in running:
                self._members.setdefault(worker.member, running[worker.instance])

    async def _ask(self) -> object:
        if self._cluster is None:
            self._cluster = Cluster([self.scene.address], timeout=_TIMEOUT_S)
        broker = await self._cluster.coordinator(GROUP)
        return await describe_connect_group(self._cluster, broker, GROUP)

    async def _forget(self) -> None:
        if self._cluster is not None:
            await self._cluster.__aexit__(None, None, None)
            self._cluster = None

    async def _stopped_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)
        return self.stop.is_set()

    @property
    def _running(self) -> Child:
        assert self._coordinator is not None, "the demo was not started"
        return self._coordinator

    def _sight(self, ticks: Ticks) -> Sight:
        return Sight(self.scene, self._group, self._note, self._running, self._workers, ticks, self._members)


@contextlib.contextmanager
def _drawing(sight: Sight) -> Iterator[Show]:
    console = PrintableConsole(highlight=False, emoji=False, markup=False)
    with Live(screen(sight, console), console=console, screen=True, auto_refresh=False) as drawn:
        yield lambda now: drawn.update(screen(now, console), refresh=True)


@contextlib.contextmanager
def _printing(sight: Sight) -> Iterator[Show]:
    print(introduction(sight), flush=True)
    lines = Lines(sight.group.epoch if sight.group else 0)

    def show(now: Sight) -> None:
        for line in lines.of(now):
            print(line, flush=True)

    yield show


def _check_free(scene: Scene) -> None:
    """Raise DemoFailed if something listens there already."""
    host, port = scene.address
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise DemoFailed(f"--listen {scene.listen}: {error}") from None
    for family, _, _, _, address in found:
        with contextlib.suppress(OSError), socket.create_connection((str(address[0]), port), timeout=1):
            raise DemoFailed(_taken(scene))
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise DemoFailed(_taken(scene)) from None


def _taken(scene: Scene) -> str:
    other = f"localhost:{scene.address[1] + 100}"
    return (
        f"port {scene.address[1]} is taken: something listens on {scene.listen} already. Stop it, or take "
        f"another port: {scene.command('demo', '--listen', other)}"
    )
