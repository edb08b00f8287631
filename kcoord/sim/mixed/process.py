"""One classic worker's process, around the scripted worker of Connect: what it does, and what it runs.

What it runs is what it has started and not stopped. Stopping may take long. Connect gives a task up after a while, so
nothing hangs forever. Reading the config topic to its end may take longer than the worker waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import JoinGroupRequest
from kcoord.resource import Resource
from kcoord.sim.basis import trace
from kcoord.sim.classic_worker import (
    Action,
    ClassicSetup,
    ClassicWorker,
    Close,
    Configs,
    ReadConfigs,
    Seek,
    Send,
    Start,
    Stop,
)
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.process import ProcessJudge, SimulatedProcess

CANCELLED_MS = 20_000
"""How long a task may take to stop before it is cancelled."""
NEVER_MS = -(1 << 40)


class ClassicProcessJudge(ProcessJudge, Protocol):
    """The judge of what classic workers do and run."""

    def joins(self, process: ClassicProcess) -> None: ...
    def started(self, process: ClassicProcess, resources: frozenset[Resource]) -> None: ...
    def settled(self, process: ClassicProcess) -> bool: ...
    def ends(self, process: ClassicProcess, died_of: str) -> None: ...


class ClassicProcess(SimulatedProcess):
    """One life of one classic worker."""

    _context: MixedContext
    _judge: ClassicProcessJudge

    def __init__(
        self,
        context: MixedContext,
        judge: ClassicProcessJudge,
        name: str,
        setup: ClassicSetup,
        ended: Callable[[ClassicProcess, Close], None],
    ) -> None:
        super().__init__(context, judge, name)
        self.worker = ClassicWorker(setup, context.topic.newest)
        self.member_id = ""
        self.stale = False
        """It was thrown out or removed while it ran something. What it runs counts again when it has settled."""
        self.ran_on_ms = NEVER_MS
        """When it left without having stopped."""
        self.left_as = ""
        """Its member id then. Empty once it is a member again."""
        self.evicted_as = ""
        """Its member id, while the coordinator that was up last does not count it as a member."""
        self.fenced: set[Resource] = set()
        """What it runs and others have started since. With exactly-once sources that is dead until it is
        started again.
        """
        self.started: frozenset[Resource] = frozenset()
        """What it has started and has been told to run ever since. It stops and starts that when it is configured."""
        self.joined_ms: list[int] = []
        """When it sent JoinGroups that are rounds."""
        self.let_go_ms: list[int] = []
        """When it was told to stop something."""
        self.revisions: Mapping[str, int] = {}
        """Connector → how many times its task configurations had been written when it started tasks with them."""
        self.begun_with: Mapping[str, int] = {}
        """The same for what it started first under its member id, when it was new."""
        self.is_new = True
        """Whether it starts something for the first time since it was given its member id."""
        self._started_as = ""
        self._ended = ended
        self._stops = 0

    @property
    def counts(self) -> bool:
        """Whether what it runs is judged. This holds also while it stands still, since the coordinator counts it as a
        member.
        """
        return self.alive and not self.stale

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Join."""
        self._do(self.worker.start(self._events.now_ms))

    def leave(self, permanent: bool) -> None:
        """Stop everything, leave, end."""
        if self.alive and not self._later(self.leave, permanent):
            self._do(self.worker.leave(self._events.now_ms))

    def hear_configuration(self) -> None:
        """Its reader of the config topic reads to the end."""
        if self.alive and not self._later(self.hear_configuration):
            self._read(self._context.topic.newest)

    # -- the actions of the worker ------------------------------------------------------------------------------------

    def _do(self, wanted: list[Action]) -> None:
        for action in wanted:
            match action:
                case Send():
                    if isinstance(action.request, JoinGroupRequest) and action.request.member_id:
                        self.joined_ms.append(self._events.now_ms)
                        self._judge.joins(self)
                    self._send(action.number, action.request, action.version)
                case Seek():
                    self._seek()
                case Start():
                    self._started(action)
                case Stop():
                    self.let_go_ms.append(self._events.now_ms)
                    self._stop(action)
                case ReadConfigs():
                    self._events.after(self._context.reading_ms(), self._read_to_end)
                case Close():
                    self._closed(action)
                    return
        if self.alive:
            self.member_id = self.worker.member_id
            if self.stale and self.worker.stable and self._judge.settled(self):
                self.stale, self.ran_on_ms = False, NEVER_MS
                self._context.note(self.name, "has settled")
            self._timed()

    def _started(self, action: Start) -> None:
        if self._context.tracing:
            self._context.note(
                self.name, f"runs {trace.names(action.resources)} at generation {self.worker.generation}"
            )
        self.running = set(self.worker.running)
        self.is_new, self._started_as = self._started_as != self.worker.member_id, self.worker.member_id
        known = action.configs.revisions
        started = {name: known.get(name, 0) for name, _ in action.resources}
        self.revisions = {**self.revisions, **started}
        if self.is_new:
            self.begun_with = started
        self._judge.started(self, action.resources)
        self.started |= action.resources

    def _stop(self, action: Stop) -> None:
        takes_ms = self._context.stop_ms()
        takes_ms = CANCELLED_MS if takes_ms is None else takes_ms
        self._stops += 1
        if self._context.tracing:
            self._context.note(self.name, f"stops {trace.names(action.resources)}, which takes {takes_ms} ms")
        self._events.after(takes_ms, self._stopped, self._stops)

    def _stopped(self, number: int) -> None:
        if number == self._stops and self.alive and not self._later(self._stopped, number):
            wanted = self.worker.stopped(self._events.now_ms)
            self.running = set(self.worker.running)
            self.fenced &= self.running
            held = self.worker.held
            self.started = frozenset() if held is None else self.started & held.resources
            self._do(wanted)

    def _closed(self, action: Close) -> None:
        self._context.note(self.name, f"ends: {action.died_of or 'has left'}")
        self._judge.ends(self, action.died_of)
        self.running.clear()
        self.alive = False
        if self.link is not None:
            self._network.close(self.link, orderly=not action.died_of)
            self.link = None
        self._ended(self, action)

    # -- the config topic ---------------------------------------------------------------------------------------------

    def _read(self, configs: Configs) -> None:
        self._do(self.worker.config_read(configs, self._events.now_ms))

    def _read_to_end(self) -> None:
        if self.alive and not self._later(self._read_to_end):
            self._read(self._context.topic.newest)
            if self.alive:
                self._do(self.worker.read_to_end(self._events.now_ms))

    # -- the connection -----------------------------------------------------------------------------------------------

    def _wanted_at(self) -> int | None:
        return self.worker.wake_at()

    def _polled(self) -> None:
        self._do(self.worker.poll(self._events.now_ms))

    def _connected(self) -> None:
        self._do(self.worker.connected(self._events.now_ms))

    def _unreachable(self) -> None:
        self._events.after(100, self._found, self._seeking)

    def _answered(self, number: int, response: Response) -> None:
        self._do(self.worker.received(number, response, self._events.now_ms))

    def _disconnected(self) -> None:
        self._do(self.worker.disconnected(self._events.now_ms))
