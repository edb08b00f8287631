"""The workers of a scenario: Java's by a scripted model, kcoord's by the library's membership.

Both start and stop tasks for as long as those take. Tasks that stop at the same time stop in parallel. While a Java
worker stops tasks it does nothing else; kcoord's worker goes on talking to the coordinator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from functools import partial
from random import Random

import attrs

from kcoord.assign import Resource
from kcoord.protocol.message_base import Response
from kcoord.sim.basis.events import Events
from kcoord.sim.classic_worker import ClassicSetup, ClassicWorker
from kcoord.sim.classic_worker import actions as javas
from kcoord.sim.classic_worker.configs import Configs, ConfigTopic
from kcoord.sim.scenario.hub import Connection, Hub
from kcoord.sim.scenario.meter import Meter
from kcoord.worker import actions
from kcoord.worker.membership import Membership
from kcoord.worker.setup import Setup

READING_MS = 20
"""How long after a change of the configurations a worker hears of it, at least."""


@attrs.frozen
class Surroundings:
    """What all workers of a run share."""

    events: Events
    hub: Hub
    meter: Meter
    random: Random
    topic: ConfigTopic
    start_ms: Callable[[str, Resource], int]
    stop_ms: Callable[[str, Resource], int]


class Process(ABC):
    """One life of one worker."""

    def __init__(self, around: Surroundings, name: str) -> None:
        self.around = around
        self.name = name
        self.alive = True
        self._connection: Connection | None = None
        self._wake_ms: int | None = None
        self._leaving = False
        self._starting: dict[Resource, int] = {}
        """What is being started: resource → the number of its start."""
        self._serial = 0
        self._abandoned_times = 0
        around.meter.joins(name)

    @abstractmethod
    def start(self) -> None:
        """Join."""

    @abstractmethod
    def hear(self, configs: Configs) -> None:
        """The worker has read on in the configurations."""

    @abstractmethod
    def _leave(self) -> None: ...

    @abstractmethod
    def _poll(self) -> None: ...

    @abstractmethod
    def _wants_to_wake_at(self) -> int | None: ...

    @abstractmethod
    def _connected(self) -> None: ...

    @abstractmethod
    def _answered(self, number: int, response: Response) -> None: ...

    @property
    @abstractmethod
    def leads(self) -> bool:
        """Whether the group has named this worker as the leader."""

    def leave(self) -> None:
        """Stop everything, and leave."""
        if self.alive:
            self._leaving = True
            self._leave()

    def kill(self) -> None:
        """The process ends at once."""
        if self.alive:
            self.alive = False
            self.around.meter.dies(self.name)
            self._hang_up()

    def _seek(self) -> None:
        self._hang_up()
        self.around.events.after(20, self._connect)

    def _connect(self) -> None:
        if self.alive:
            self._connection = self.around.hub.connect(self.name, self._on_answer)
            self._connected()

    def _on_answer(self, number: int, response: Response) -> None:
        if self.alive:
            self._answered(number, response)

    def _hang_up(self) -> None:
        if self._connection is not None:
            self.around.hub.close(self._connection)
            self._connection = None

    def _set_alarm(self) -> None:
        at_ms = self._wants_to_wake_at() if self.alive else None
        if at_ms is not None and (self._wake_ms is None or at_ms < self._wake_ms):
            self._wake_ms = max(at_ms, self.around.events.now_ms)
            self.around.events.at(self._wake_ms, self._ring, self._wake_ms)

    def _ring(self, at_ms: int) -> None:
        if self._wake_ms == at_ms:
            self._wake_ms = None
            if self.alive:
                self._poll()

    def _start_all(self, resources: Iterable[Resource]) -> None:
        around, granted = self.around, sorted(resources)
        around.meter.starts(self.name, granted)
        for resource in granted:
            self._serial += 1
            self._starting[resource] = self._serial
            around.events.after(around.start_ms(self.name, resource), self._runs, resource, self._serial)

    def _runs(self, resource: Resource, serial: int) -> None:
        if self.alive and self._starting.get(resource) == serial:
            del self._starting[resource]
            self.around.meter.runs(self.name, resource)

    def _stop_all(self, resources: Collection[Resource], then: Callable[[], None], at_most_ms: int = 1 << 62) -> None:
        around = self.around
        for resource in resources:
            self._starting.pop(resource, None)
        around.meter.stops(self.name, resources, of_itself=self._leaving)
        takes_ms = max((around.stop_ms(self.name, resource) for resource in resources), default=0)
        around.events.after(min(takes_ms, at_most_ms), self._have_stopped, resources, then, self._abandoned_times)

    def _have_stopped(self, resources: Collection[Resource], then: Callable[[], None], abandoned_times: int) -> None:
        if self.alive and abandoned_times == self._abandoned_times:
            self.around.meter.flush_held_reply(self.name, resources)
            then()


class JavaProcess(Process):
    """A worker of Java's Connect."""

    def __init__(self, around: Surroundings, name: str, setup: ClassicSetup) -> None:
        super().__init__(around, name)
        self._worker = ClassicWorker(setup, around.topic.newest)

    @property
    def leads(self) -> bool:
        return self._worker.is_named_leader

    def start(self) -> None:
        self._do(self._worker.start(self.around.events.now_ms))

    def hear(self, configs: Configs) -> None:
        if self.alive:
            self._do(self._worker.config_read(configs, self.around.events.now_ms))

    def _leave(self) -> None:
        self._do(self._worker.leave(self.around.events.now_ms))

    def _poll(self) -> None:
        self._do(self._worker.poll(self.around.events.now_ms))

    def _wants_to_wake_at(self) -> int | None:
        return self._worker.wake_at()

    def _connected(self) -> None:
        self._do(self._worker.connected(self.around.events.now_ms))

    def _answered(self, number: int, response: Response) -> None:
        self._do(self._worker.received(number, response, self.around.events.now_ms))

    def _do(self, wanted: Iterable[javas.Action]) -> None:
        for action in wanted:
            match action:
                case javas.Seek():
                    self._seek()
                case javas.Send(number, request, version):
                    if self._connection is not None:
                        self.around.hub.send(self._connection, number, request, version)
                case javas.Start(resources):
                    self._start_all(resources)
                case javas.Stop(resources):
                    self._stop_all(resources, lambda: self._do(self._worker.stopped(self.around.events.now_ms)))
                case javas.ReadConfigs():
                    self.around.events.after(READING_MS, self._read_to_end)
                case javas.Close():
                    self.around.events.after(10, self.kill)
        self._set_alarm()

    def _read_to_end(self) -> None:
        if self.alive:
            self.hear(self.around.topic.newest)
            self._do(self._worker.read_to_end(self.around.events.now_ms))


class NewProcess(Process):
    """A worker of the new protocol."""

    def __init__(self, around: Surroundings, name: str, setup: Setup) -> None:
        super().__init__(around, name)
        self._member = Membership(setup, around.random.random)
        self._busy = False
        self._calls: list[actions.Revoke | actions.Grant] = []

    @property
    def leads(self) -> bool:
        return False

    def start(self) -> None:
        self._do(self._member.start(self.around.events.now_ms))

    def hear(self, configs: Configs) -> None:
        if self.alive:
            now_ms = self.around.events.now_ms
            changes = {"configured": configs.resources(), "config_offset": configs.offset}
            self._do(self._member.update(now_ms, **changes))

    def _leave(self) -> None:
        self._do(self._member.leave(self.around.events.now_ms))

    def _poll(self) -> None:
        self._do(self._member.poll(self.around.events.now_ms))

    def _wants_to_wake_at(self) -> int | None:
        return self._member.wake_at()

    def _connected(self) -> None:
        self._do(self._member.connected(self.around.events.now_ms))

    def _answered(self, number: int, response: Response) -> None:
        self._do(self._member.answered(self.around.events.now_ms, number, response))

    def _do(self, wanted: Iterable[actions.Action]) -> None:
        for action in wanted:
            match action:
                case actions.Seek():
                    self._seek()
                case actions.Send(number, request):
                    if self._connection is not None:
                        self.around.hub.send(self._connection, number, request, 0)
                case actions.Revoke() | actions.Grant():
                    self._calls.append(action)
                case actions.Abandon(number, resources):
                    self._calls.clear()
                    self._abandoned_times += 1  # this covers the stops in progress: nobody waits for them any more
                    left_ms = max(action.stop_by_ms - self.around.events.now_ms, 0)
                    self._stop_all(resources, partial(self._abandoned, number), left_ms)
                case actions.Gone():
                    self.kill()
        if self.alive:
            self._next_call()
            self._set_alarm()

    def _next_call(self) -> None:
        """The listener's calls come one after the other. A task that starts does not delay the next call."""
        while self._calls and not self._busy:
            call = self._calls.pop(0)
            if isinstance(call, actions.Grant):
                self._start_all(call.resources)
            else:
                self._busy = True
                number = call.number
                self._stop_all(call.resources, partial(self._released, number))

    def _released(self, number: int) -> None:
        self._busy = False
        self._do(self._member.released(self.around.events.now_ms, number))

    def _abandoned(self, number: int) -> None:
        self._busy = False
        self._do(self._member.abandoned(self.around.events.now_ms, number))
