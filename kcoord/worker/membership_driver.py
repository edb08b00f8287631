"""The asyncio shell of a worker: it gives a membership time, answers and outcomes, and carries out its actions.

There is one handler for each action. The membership is polled when it asks for that, and once a second: the loop's own
timers do not count the time that the machine slept. Everything happens in the loop's thread, except the assignor, which
may compute for long and runs in a thread of its own, and the watchdog.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from kcoord.assign import Assignment, ConnectAssignor, Resource, tell
from kcoord.client.connection import error_name
from kcoord.loop.thread_call import call_in_thread
from kcoord.protocol.message_base import Request, Response
from kcoord.worker import actions
from kcoord.worker.alarm import Alarm
from kcoord.worker.background_tasks import BackgroundTasks
from kcoord.worker.clock import now_ms
from kcoord.worker.computing import assignment_of
from kcoord.worker.coordinator_connection import CoordinatorConnection
from kcoord.worker.coordinator_lookup import Finder
from kcoord.worker.listener import WorkerRebalanceListener
from kcoord.worker.listener_calls import AWAITED_CANCELLED, Calls, failure_of
from kcoord.worker.troubles import Troubles
from kcoord.worker.watchdog import BLOCKED_MS

_log = logging.getLogger(__name__)

_LOOK_MS = 1000
_NAMED = 20
"""How many resources are named in a line of the log."""
_LOOP, _TOLD_MS = "the event loop", 60_000
_ALL_THE_SAME = {
    "on_assigned": "this worker's all the same",
    "on_revoked": "taken to have stopped",
    "on_lost": "taken to have stopped",
}
"""What happens with the resources when a callback fails."""


class Member(Protocol):
    """A membership of either protocol: `Membership`, or `GenericMembership`."""

    @property
    def epoch(self) -> int: ...
    @property
    def is_member(self) -> bool: ...
    @property
    def owned(self) -> frozenset[Resource]: ...
    @property
    def assigned(self) -> frozenset[Resource]: ...
    @property
    def stop_at_ms(self) -> int | None: ...
    @property
    def session_ends_ms(self) -> int | None: ...
    def wake_at(self) -> int | None: ...
    def start(self, now_ms: int) -> list[actions.Action]: ...
    def leave(self, now_ms: int, *, permanent: bool = False) -> list[actions.Action]: ...
    def give_up(self, now_ms: int, why: str) -> list[actions.Action]: ...
    def update(self, now_ms: int, **changes: Any) -> list[actions.Action]: ...
    def poll(self, now_ms: int) -> list[actions.Action]: ...
    def connected(self, now_ms: int) -> list[actions.Action]: ...
    def unreachable(self, now_ms: int) -> list[actions.Action]: ...
    def refused(self, now_ms: int, error_code: int, message: str) -> list[actions.Action]: ...
    def disconnected(self, now_ms: int) -> list[actions.Action]: ...
    def answered(self, now_ms: int, number: int, response: Response) -> list[actions.Action]: ...
    def released(self, now_ms: int, number: int) -> list[actions.Action]: ...
    def abandoned(self, now_ms: int, number: int) -> list[actions.Action]: ...
    def computed(self, now_ms: int, number: int, assignment: Assignment | None) -> list[actions.Action]: ...


class Shell:
    """Runs one membership until the worker is gone."""

    def __init__(
        self,
        member: Member,
        finder: Finder,
        listener: WorkerRebalanceListener,
        assignors: Sequence[ConnectAssignor],
        *,
        needs: type[Request],
        refresh: Callable[[], Mapping[str, object]],
        last_resort: Callable[[frozenset[Resource]], None],
        troubles: Troubles,
    ) -> None:
        self.member = member
        self._troubles = troubles
        self._told_until_ms = 0
        """Until then the worker reports to the group that the event loop was blocked."""
        self.joined = asyncio.Event()
        """Set while the worker is a member."""
        self.gone: asyncio.Future[actions.Gone] = asyncio.get_running_loop().create_future()
        self._listener = listener
        self._assignors = {each.name: each for each in assignors}
        self._needs = needs
        self._refresh = refresh
        self._last_resort = last_resort
        self._calls = Calls()
        self._tasks = BackgroundTasks("worker")
        self._connection = CoordinatorConnection(finder, member, self._do, self._tasks)
        self._due = Alarm(self._poll)
        self._looking = Alarm(self._look)
        self.looked_at_ms = now_ms()
        """When the event loop last made the look that is due each second."""

    # What the worker wants

    def start(self) -> None:
        """Start the membership."""
        self._do(self.member.start(now_ms()))
        self._look()

    def leave(self, *, permanent: bool) -> None:
        """Leave once everything has stopped; `gone` tells when."""
        self._do(self.member.leave(now_ms(), permanent=permanent))

    def give_up(self, why: str) -> None:
        """Leave without waiting for revocations."""
        self._do(self.member.give_up(now_ms(), why))

    def refresh(self) -> None:
        """Report what has changed in what the worker reports about itself."""
        if not self.gone.done():
            self._do(self.member.update(now_ms(), **self._refresh()))

    def end(self) -> None:
        """Set `gone` although something has not stopped: nobody waits for it any longer."""
        if not self.gone.done():
            self.gone.set_result(actions.Gone())

    async def close(self) -> None:
        """End everything, in whatever state the membership is."""
        self._due.set(None)
        self._looking.set(None)
        await self._calls.close()
        await self._tasks.close()
        await self._connection.close()

    @property
    def late_ms(self) -> int:
        """By how much the event loop is late for its look. Read in the watchdog's thread."""
        return 0 if self.gone.done() else now_ms() - self.looked_at_ms - _LOOK_MS

    # What the membership wants

    def _do(self, wanted: list[actions.Action]) -> None:
        for action in wanted:
            self._carry_out(action)
        (self.joined.set if self.member.is_member else self.joined.clear)()
        self._due.set(None if self.gone.done() else self.member.wake_at())

    def _carry_out(self, action: actions.Action) -> None:
        match action:
            case actions.Send():
                self._send(action)
            case actions.Seek():
                self._connection.seek()
            case actions.Revoke():
                self._calls.add("on_revoked", lambda: self._revoke(action))
            case actions.Grant():
                self._calls.add("on_assigned", lambda: self._hear("on_assigned", action.resources))
            case actions.Told():
                self._calls.add("on_assignment", lambda: self._tell(action))
            case actions.Abandon():
                _log.warning("stopping everything that runs here, %d resources: %s", len(action.resources), action.why)
                self._calls.interrupt("on_lost", lambda: self._lose(action))
            case actions.Overrun():
                self._last_resort(action.resources)
            case actions.Assign():
                self._tasks.start(self._assign(action))
            case actions.Refused():
                said = f": {action.message}" if action.message else ""
                _log.warning("the assignment was refused with %s%s", error_name(action.error_code), said)
            case actions.Joined():
                _log.info("is a member, at epoch %d", action.epoch)
            case actions.Gone():
                if not self.gone.done():
                    self.gone.set_result(action)

    # Time

    def _look(self) -> None:
        """Once a second: report what has changed, and whether the event loop was blocked. The machine may have
        slept.
        """
        late_ms, self.looked_at_ms = self.late_ms, now_ms()
        if late_ms >= BLOCKED_MS:
            self._troubles.tell(_LOOP, f"was blocked for {late_ms / 1000:.1f} s")
            self._told_until_ms = self.looked_at_ms + _TOLD_MS
        elif self.looked_at_ms >= self._told_until_ms:
            self._troubles.tell(_LOOP, None)
        if not self.gone.done():
            self._looking.set(now_ms() + _LOOK_MS)
            self.refresh()

    def _poll(self) -> None:
        self._do(self.member.poll(now_ms()))

    # The network

    def _send(self, action: actions.Send) -> None:
        if self._connection.serves(self._needs):
            self._connection.send(action.number, action.request)
        else:
            asyncio.get_running_loop().call_soon(self._unserved, action)

    def _unserved(self, action: actions.Send) -> None:
        """The broker does not know this protocol: answer as it would if it could."""
        self._do(self.member.answered(now_ms(), action.number, unsupported(action.request)))

    # The listener and the assignors

    async def _hear(self, callback: str, resources: frozenset[Resource]) -> None:
        """Call the listener. What it raises is logged, and the worker goes on."""

        async def call() -> None:
            returned = getattr(self._listener, callback)(resources)
            if not inspect.isawaitable(returned):
                raise TypeError(f"it returned {returned!r}, which cannot be awaited: make it `async def`")
            await returned

        raised = await failure_of(call)
        if raised is None:
            self._troubles.tell(callback, None)
            return
        hint = f". {AWAITED_CANCELLED}" if isinstance(raised, asyncio.CancelledError) else ""
        self._troubles.tell(callback, f"failed for {name_some(resources)}: {type(raised).__name__}: {raised}")
        _log.error(
            "%s.%s failed for %s (%s)%s",
            type(self._listener).__name__,
            callback,
            name_some(resources),
            _ALL_THE_SAME[callback],
            hint,
            exc_info=raised,
        )

    async def _revoke(self, action: actions.Revoke) -> None:
        await self._hear("on_revoked", action.resources)
        self._do(self.member.released(now_ms(), action.number))

    async def _lose(self, action: actions.Abandon) -> None:
        await self._hear("on_lost", action.resources)
        await self._calls.doomed_ended()
        self._do(self.member.abandoned(now_ms(), action.number))

    async def _tell(self, action: actions.Told) -> None:
        name = action.assignor
        if name is None and len(self._assignors) == 1:
            (name,) = self._assignors
        assignor = self._assignors.get(name or "")
        if assignor is not None:
            assignor.on_assignment(action.assignment)

    async def _assign(self, action: actions.Assign) -> None:
        assignor = self._assignors.get(action.assignor)
        assignment: Assignment | None = None
        if assignor is None:
            _log.error("was asked to assign with %r, which this worker does not have", action.assignor)
        else:
            try:
                assignment = await call_in_thread(f"assignor {action.assignor}", assignment_of, assignor, action.group)
            except Exception:
                _log.exception("assignor %s failed", action.assignor)
        self._do(self.member.computed(now_ms(), action.number, assignment))


def name_some(resources: frozenset[Resource]) -> str:
    """The names of resources, sorted; of many only the first ones."""
    names = [tell(each) for each in sorted(resources)[:_NAMED]]
    more = len(resources) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def unsupported(request: Request) -> Response:
    """The answer of a broker that does not know the API."""
    from kcoord.protocol.errors import ErrorCode
    from kcoord.protocol.messages import response_class

    return response_class(request.API_KEY)(  # type: ignore[call-arg]
        error_code=ErrorCode.UNSUPPORTED_VERSION, error_message="the broker does not speak this protocol"
    )
