"""A shard, a config topic and scripted classic workers, on virtual time: what a test makes go wrong goes wrong."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext, Step
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import JoinGroupRequest, LeaveGroupRequest
from kcoord.resource import Resource
from kcoord.sim.basis.events import Events
from kcoord.sim.classic_worker import (
    Action,
    ClassicSetup,
    ClassicWorker,
    Close,
    Configs,
    ConfigTopic,
    ReadConfigs,
    Seek,
    Send,
    Start,
    Stop,
)

GROUP = "connect-cluster"
WALL_MS = 1_700_000_000_000


@attrs.define(eq=False)
class Call:
    """One request by one connection."""

    host: Host
    connection: int
    number: int
    request: Request
    version: int


class Host:
    """The process of one worker."""

    def __init__(self, house: House, setup: ClassicSetup) -> None:
        self.house = house
        self.worker = ClassicWorker(setup, house.topic.newest)
        self.name = setup.url.removeprefix("http://")
        self.connection = 0
        self.queue: deque[Call] = deque()
        self.in_work: Call | None = None
        self.cut_off = False
        self.slow_to_stop_ms = 0
        self.reads = True
        """It hears of the config topic."""
        self.sent: Counter[str] = Counter()
        self.started: list[Resource] = []
        self.stops: list[Resource] = []
        self.closed: str | None = None
        self._wake_ms: int | None = None

    @property
    def runs(self) -> frozenset[Resource]:
        """What it runs."""
        return self.worker.running

    def do(self, wanted: list[Action]) -> None:
        """Carry out what the worker asks for."""
        house, events = self.house, self.house.events
        for action in wanted:
            match action:
                case Seek():
                    self.hang_up()
                    events.after(20, self.connect)
                case Send():
                    self.send(action)
                case Start():
                    self.started += sorted(action.resources)
                    house.judge()
                case Stop():
                    self.stops += sorted(action.resources)
                    events.after(self.slow_to_stop_ms + 5, lambda: self.do(self.worker.stopped(events.now_ms)))
                case ReadConfigs():
                    events.after(3, self.read_all)
                case Close():
                    self.closed = action.died_of
                    events.after(2, self.hang_up)
        at_ms = self.worker.wake_at()
        if at_ms is not None and (self._wake_ms is None or at_ms < self._wake_ms):
            self._wake_ms = at_ms
            events.at(at_ms, self.wake, at_ms)

    def wake(self, at_ms: int) -> None:
        """A timer has rung."""
        if self._wake_ms == at_ms:
            self._wake_ms = None
            self.do(self.worker.poll(self.house.events.now_ms))

    def read_all(self) -> None:
        """Read the config topic to its end."""
        if self.reads:
            now_ms = self.house.events.now_ms
            self.do(self.worker.config_read(self.house.topic.newest, now_ms))
            self.do(self.worker.read_to_end(now_ms))

    def hear(self, configs: Configs) -> None:
        """Read on, by itself."""
        if self.reads:
            self.do(self.worker.config_read(configs, self.house.events.now_ms))

    def connect(self) -> None:
        """Connect, or try again."""
        if self.closed is not None:
            return
        if self.cut_off:
            self.house.events.after(100, self.connect)
            return
        self.house.connections += 1
        self.connection = self.house.connections
        self.do(self.worker.connected(self.house.events.now_ms))

    def send(self, action: Send) -> None:
        """A request leaves."""
        self.sent[type(action.request).__name__.removesuffix("Request")] += 1
        self.house.metadata += [(self.name, action.request)]
        data = action.request.encode(action.version)
        request = type(action.request).decode(data, action.version)
        call = Call(self, self.connection, action.number, request, action.version)
        self.house.events.after(1, self.house.arrive, call)

    def hang_up(self) -> None:
        """Close the connection."""
        self.connection = 0
        self.queue.clear()
        self.in_work = None

    def lose(self) -> None:
        """The connection breaks."""
        self.hang_up()
        self.do(self.worker.disconnected(self.house.events.now_ms))

    def kill(self) -> None:
        """The process dies."""
        self.closed = "killed"
        self.worker.running = frozenset()
        self.worker._over = True
        self.hang_up()


class House:
    """All of it."""

    def __init__(self, settings: GroupSettings | None = None) -> None:
        self.events = Events()
        self.topic = ConfigTopic()
        self.ids = 0
        self.shard = Shard(settings or GroupSettings(), self.make_id)
        self.shard.loaded(0, WALL_MS)
        self.connections = 0
        self.hosts: list[Host] = []
        self.metadata: list[tuple[str, Request]] = []
        self.doubles: list[str] = []
        """What two workers ran at one time."""

    def make_id(self) -> str:
        """The unique part of a member id."""
        self.ids += 1
        return str(self.ids)

    def worker(self, name: str, **settings: Any) -> Host:
        """Start one."""
        host = Host(self, ClassicSetup(GROUP, f"http://{name}", **settings))
        self.hosts.append(host)
        host.do(host.worker.start(self.events.now_ms))
        return host

    def configure(self, **tasks: int) -> None:
        """These connectors have so many tasks; workers hear of it 10 ms one after the other."""
        for name, count in tasks.items():
            if name not in self.topic.newest.task_counts:
                self.topic.put_connector(name)
            self.topic.put_tasks(name, count)
        self.tell()

    def tell(self) -> None:
        """Workers read on."""
        for at, host in enumerate(self.hosts):
            self.events.after(10 * (at + 1), host.hear, self.topic.newest)

    def arrive(self, call: Call) -> None:
        """A request has come."""
        host = call.host
        if host.connection != call.connection or host.cut_off:
            return
        if host.in_work is not None:
            host.queue.append(call)
            return
        host.in_work = call
        now_ms = self.events.now_ms
        context = RequestContext(call.version, host.name, "/10.0.0.1", call.connection, WALL_MS + now_ms)
        self.take(self.shard.handle(call.request, context, call, now_ms))

    def take(self, step: Step) -> None:
        """Let answers go."""
        step.checked()
        for reply in step.replies:
            call = reply.token
            assert isinstance(call, Call)
            response = type(reply.response).decode(reply.response.encode(call.version), call.version)
            self.events.after(1, self.answer, call, response)
        due_ms = self.shard.next_deadline()
        if due_ms is not None:
            self.events.at(due_ms, self.advance)

    def advance(self) -> None:
        """The shard's time has come."""
        due_ms = self.shard.next_deadline()
        if due_ms is not None and due_ms <= self.events.now_ms:
            self.take(self.shard.advance(self.events.now_ms, WALL_MS + self.events.now_ms))

    def answer(self, call: Call, response: Response) -> None:
        """An answer arrives, and what waited behind it is read."""
        host = call.host
        if host.in_work is not call or host.cut_off:
            return
        host.in_work = None
        if host.queue:
            self.arrive(host.queue.popleft())
        host.do(host.worker.received(call.number, response, self.events.now_ms))

    def run(self, ms: int) -> None:
        """Let time pass."""
        self.events.run(self.events.now_ms + ms)

    def judge(self) -> None:
        """Who runs what?"""
        counted = Counter(resource for host in self.hosts for resource in host.runs)
        self.doubles += [
            f"{name} {task} at {self.events.now_ms}" for (name, task), count in counted.items() if count > 1
        ]

    @property
    def alive(self) -> list[Host]:
        """Those that have not ended."""
        return [host for host in self.hosts if host.closed is None]

    def all_run_once(self) -> bool:
        """Whether all that is configured runs, once each."""
        counted = Counter(resource for host in self.alive for resource in host.runs)
        return counted == Counter(self.topic.newest.resources())

    def joins(self) -> Counter[str]:
        """JoinGroups with a member id, by worker, so far."""
        return Counter(
            name for name, request in self.metadata if isinstance(request, JoinGroupRequest) and request.member_id
        )

    def leave_reasons(self) -> list[str | None]:
        """What was said at leaving."""
        left = [request for _, request in self.metadata if isinstance(request, LeaveGroupRequest)]
        return [member.reason for request in left for member in request.members]
