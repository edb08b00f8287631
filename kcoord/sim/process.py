"""The life of a worker's process in a run, for any protocol: connections, timers, standing still, dying.

A frozen process does nothing. When it wakes it finds what came meanwhile, in any order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from kcoord.assign import Resource
from kcoord.protocol.message_base import Request, Response
from kcoord.sim.context import RunContext
from kcoord.sim.network import Frame, Link


class ProcessJudge(Protocol):
    """The judge of what workers run."""

    def heard(self, process: SimulatedProcess) -> None: ...
    def judge(self, process: SimulatedProcess) -> None: ...


class SimulatedProcess:
    """One life of one worker. Not an ABC, because each step asks every process for its kind, and ABCs are
    slow at that.
    """

    member_id: str
    """The id as the worker knows it. Empty if the coordinator has not given it one yet."""

    def __init__(self, context: RunContext, judge: ProcessJudge, name: str) -> None:
        self.name = name
        self.alive = True
        self.frozen = False
        self.excused = False
        """Whether what it runs is not judged until it has stopped or joined again."""
        self.isolated_until_ms = 0
        """It cannot connect before this time."""
        self.running: set[Resource] = set()
        self.link: Link | None = None
        self._context = context
        self._judge = judge
        self._events = context.events
        self._random = context.random
        self._network = context.network
        self._inbox: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._seeking = 0
        self._timer_ms: int | None = None
        self._wake_ms: int | None = None
        """When it wants to be polled. `_timed` notes this after each call of the worker."""

    @property
    def counts(self) -> bool:
        """Whether what it runs is judged."""
        return self.alive and not self.frozen and not self.excused

    # -- what a kind of worker adds -----------------------------------------------------------------------------------

    @abstractmethod
    def start(self) -> None:
        """Join."""

    @abstractmethod
    def leave(self, permanent: bool) -> None:
        """Leave in order."""

    @abstractmethod
    def hear_configuration(self) -> None:
        """The worker learns what is configured now."""

    @abstractmethod
    def _wanted_at(self) -> int | None:
        """When it wants to be polled."""

    @abstractmethod
    def _polled(self) -> None: ...

    @abstractmethod
    def _connected(self) -> None: ...

    @abstractmethod
    def _unreachable(self) -> None: ...

    @abstractmethod
    def _answered(self, number: int, response: Response) -> None: ...

    @abstractmethod
    def _disconnected(self) -> None: ...

    # -- life ---------------------------------------------------------------------------------------------------------

    def kill(self) -> None:
        """The process dies at once."""
        self.alive = False
        self.running.clear()
        if self.link is not None:
            self._network.close(self.link, orderly=False)
            self.link = None

    def freeze(self) -> None:
        """Stand still."""
        self.frozen = True

    def thaw(self) -> None:
        """Go on, with what came meanwhile: first what is due, or what was received."""
        if not self.frozen or not self.alive:
            return
        self.frozen = False
        inbox, self._inbox = self._inbox, []
        if self._random.random() < 0.5:
            self._polled()
        for call, what in inbox:
            call(*what)
        if self.alive:
            self._polled()
            self._judge.judge(self)

    def _later(self, call: Callable[..., None], *what: Any) -> bool:
        """Whether the call has to wait until the process wakes."""
        if self.frozen:
            self._inbox.append((call, what))
        return self.frozen

    # -- time ---------------------------------------------------------------------------------------------------------

    def _timed(self) -> None:
        """The time at which it wants to be polled may have changed."""
        wake_ms = self._wake_ms = self._wanted_at()
        # a timer that comes sooner stays as it is, and sets itself again
        if wake_ms is not None and (self._timer_ms is None or wake_ms < self._timer_ms):
            self._set_timer(wake_ms)

    def _set_timer(self, wake_ms: int) -> None:
        now_ms = self._events.now_ms
        self._timer_ms = at_ms = wake_ms if wake_ms > now_ms else now_ms + 1
        self._events.at(at_ms, self._wake, at_ms)

    def _wake(self, at_ms: int) -> None:
        if at_ms != self._timer_ms or not self.alive or (self.frozen and self._later(self._wake, at_ms)):
            return
        self._timer_ms = None
        if self._wake_ms is not None and self._wake_ms > self._events.now_ms:
            self._set_timer(self._wake_ms)
            return
        self._polled()

    # -- the network --------------------------------------------------------------------------------------------------

    def _seek(self) -> None:
        if self.link is not None:
            self._network.close(self.link, orderly=True)
            self.link = None
        self._seeking += 1
        self._events.after(2 * self._network.delay(), self._found, self._seeking)

    def _found(self, seeking: int) -> None:
        if seeking != self._seeking or not self.alive or self._later(self._found, seeking):
            return
        if not self._network.reachable() or self.isolated_until_ms > self._events.now_ms:
            self._unreachable()
            return
        self.link = self._network.connect(self)
        if self._context.tracing:
            self._context.note(self.name, f"connects by #{self.link.serial}")
        self._connected()

    def _send(self, number: int, request: Request, version: int = 0) -> None:
        if self.link is not None:
            self._network.send(Frame(self.link, number, request, version))

    def heard(self, link: Link, number: int, response: Response) -> None:
        """A response has come."""
        if not self.alive or (self.frozen and self._later(self.heard, link, number, response)):
            return
        if link is self.link:
            self._answered(number, response)
            self._judge.heard(self)

    def lost(self, link: Link) -> None:
        """The connection has ended."""
        if self.alive and not self._later(self.lost, link) and link is self.link:
            self._context.note(self.name, f"loses #{link.serial}")
            self.link = None
            self._disconnected()
