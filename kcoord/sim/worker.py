"""A simulated worker process, around the same membership that the library has.

What it runs (`running`) is what its listener has started and not stopped. Checks for two owners look at that, not at
the coordinator's records. Calls of the listener come one after the other. A revocation may take long, or hang until it
is cut short because everything must stop.

A process that was frozen and wakes after its session has ended (a zombie) is excused until it has stopped, which it
must do first of all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from kcoord.assign import Assignment
from kcoord.protocol.message_base import Response
from kcoord.sim.assignors import Assignors
from kcoord.sim.basis import trace
from kcoord.sim.basis.violation import Violation
from kcoord.sim.context import RunContext
from kcoord.sim.process import ProcessJudge, SimulatedProcess
from kcoord.worker import actions
from kcoord.worker.classic.membership import ClassicMembership
from kcoord.worker.membership import Membership
from kcoord.worker.setup import Setup
from kcoord.worker.state import Phase

CLOSE_MS = 10_000
"""How long a worker that leaves waits for its revocations before it gives up."""

HANGS_MS = 20_000
"""How long after a grant behind it a hanging revocation ends by itself."""


class Process(SimulatedProcess):
    """One life of one worker of the new protocol."""

    def __init__(
        self,
        context: RunContext,
        judge: ProcessJudge,
        assignors: Assignors,
        name: str,
        setup: Setup,
        ended: Callable[[Process, actions.Gone], None],
    ) -> None:
        super().__init__(context, judge, name)
        self.member: Membership | ClassicMembership = Membership(setup, context.random.random)
        self.member_id = setup.member_id
        self._assignors = assignors
        self._ended = ended
        self._calls: deque[actions.Revoke | actions.Grant] = deque()
        self._busy = 0
        """The number of the listener's call that runs. 0: none."""
        self._hanging: actions.Revoke | actions.Grant | None = None
        """The revocation that hangs."""
        self._serial = 0
        self._woken_ms = -1

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Join."""
        self._do(self.member.start(self._events.now_ms))

    def leave(self, permanent: bool) -> None:
        """Leave in order."""
        if self._later(self.leave, permanent):
            return
        self._do(self.member.leave(self._events.now_ms, permanent=permanent))
        self._events.after(CLOSE_MS, self._give_up)

    def _give_up(self) -> None:
        if not self._later(self._give_up) and self.alive and not self._is_gone():
            self._do(self.member.give_up(self._events.now_ms, "closing takes too long"))

    def update(self, **changes: Any) -> None:
        """Report something new."""
        if self.frozen:
            self._later(lambda: self.update(**changes))
        elif self.alive:
            self._do(self.member.update(self._events.now_ms, **changes))

    def hear_configuration(self) -> None:
        """The worker learns what is configured now."""
        self.update(**self._context.configuration())

    def thaw(self) -> None:
        """Go on, with what came meanwhile."""
        if not self.frozen or not self.alive:
            return
        self.frozen = False
        now_ms = self._woken_ms = self._events.now_ms
        self.excused = bool(self.running) and self._may_be_over(now_ms)
        inbox, self._inbox = self._inbox, []
        if self._random.random() < 0.5:
            self._do(self.member.poll(now_ms))
        for call, what in inbox:
            call(*what)
        self._do(self.member.poll(now_ms))
        self.excused = self.excused and self._abandons()
        stop_ms = self.member.stop_at_ms
        if self.counts and self.running and stop_ms is not None and stop_ms <= now_ms:
            raise Violation("zombie", f"{self.name} woke after its session had ended and goes on")
        self._judge.judge(self)

    def _may_be_over(self, now_ms: int) -> bool:
        """Whether its session may have ended while it stood still."""
        stop_ms = self.member.stop_at_ms
        return stop_ms is not None and stop_ms <= now_ms

    def _abandons(self) -> bool:
        """Whether it stops everything at once."""
        return self.member.phase is Phase.ABANDONING

    def _is_gone(self) -> bool:
        """Whether it is not a member, and will not become one."""
        return self.member.phase is Phase.GONE

    # -- the actions of the membership --------------------------------------------------------------------------------

    def _do(self, wanted: list[actions.Action]) -> None:
        for action in wanted:
            handler = _HANDLERS.get(type(action))
            if handler is not None:
                handler(self, action)
        if self.alive:
            self._timed()

    def _wanted_at(self) -> int | None:
        return self.member.wake_at()

    def _polled(self) -> None:
        self._do(self.member.poll(self._events.now_ms))

    def _connected(self) -> None:
        self._do(self.member.connected(self._events.now_ms))

    def _unreachable(self) -> None:
        self._do(self.member.unreachable(self._events.now_ms))

    def _answered(self, number: int, response: Response) -> None:
        self._do(self.member.answered(self._events.now_ms, number, response))

    def _disconnected(self) -> None:
        self._do(self.member.disconnected(self._events.now_ms))

    # The listener

    def _call(self, action: actions.Revoke | actions.Grant) -> None:
        self._calls.append(action)
        if not self._busy:
            self._next_call()
        elif self._hanging is not None and isinstance(action, actions.Grant):
            # if work is given back, only the listener ends its revocation, so that must not hang forever
            hanging, self._hanging = self._hanging, None
            self._events.after(HANGS_MS, self._called, self._busy, hanging)

    def _next_call(self) -> None:
        if not self._calls:
            return
        action = self._calls.popleft()
        self._serial += 1
        self._busy = self._serial
        self._hanging = None
        if isinstance(action, actions.Grant):
            if self._context.tracing:
                self._context.note(self.name, f"runs {trace.names(action.resources)} at epoch {action.epoch}")
            self.running |= action.resources
            self._judge.judge(self)
            takes_ms: int | None = self._context.start_ms()
        else:
            takes_ms = self._context.stop_ms()
            if self._context.tracing:
                takes = "hangs" if takes_ms is None else f"takes {takes_ms} ms"
                self._context.note(self.name, f"stops {trace.names(action.resources)}, which {takes}")
        if takes_ms is not None:
            self._events.after(takes_ms, self._called, self._busy, action)
        elif any(isinstance(each, actions.Grant) for each in self._calls):
            self._events.after(HANGS_MS, self._called, self._busy, action)
        else:
            self._hanging = action

    def _called(self, busy: int, action: actions.Revoke | actions.Grant) -> None:
        if busy != self._busy or not self.alive or self._later(self._called, busy, action):
            return
        self._busy = 0
        if isinstance(action, actions.Revoke):
            self.running -= action.resources
            self._do(self.member.released(self._events.now_ms, action.number))
        if not self._busy:
            self._next_call()

    def _abandon(self, action: actions.Abandon) -> None:
        self._calls.clear()
        self._hanging = None
        self._serial += 1
        self._busy = self._serial
        left_ms = action.stop_by_ms - self._events.now_ms
        if left_ms <= 0 and self._woken_ms == self._events.now_ms:
            self.excused = True  # a response that waited for it to wake has shortened the session
        takes_ms = int(self._random.random() * (0.8 * left_ms if left_ms > 0 else 300))
        if self._context.tracing:
            self._context.note(self.name, f"stops all, {trace.names(action.resources)}, in {takes_ms} ms: {action.why}")
        self._events.after(takes_ms, self._stopped, self._busy, action)

    def _stopped(self, busy: int, action: actions.Abandon) -> None:
        if busy != self._busy or not self.alive or self._later(self._stopped, busy, action):
            return
        self._busy = 0
        self.running.clear()
        self.excused = False
        self._do(self.member.abandoned(self._events.now_ms, action.number))

    def _overrun(self, action: actions.Overrun) -> None:
        if not self.excused:
            raise Violation("overrun", f"{self.name} has not stopped {trace.names(action.resources)} in time")

    # The assignor

    def _assign(self, action: actions.Assign) -> None:
        assignment, takes_ms = self._assignors.assign(action)
        if self._context.tracing:
            self._context.note(self.name, f"computes by {action.assignor}, {takes_ms} ms: {_told(assignment)}")
        self._events.after(takes_ms, self._computed, action.number, assignment)

    def _computed(self, number: int, assignment: Assignment | None) -> None:
        if self.alive and not self._later(self._computed, number, assignment):
            self._do(self.member.computed(self._events.now_ms, number, assignment))

    def _gone(self, action: actions.Gone) -> None:
        self._context.note(self.name, f"is gone: {action.error_code} {action.message or ''}")
        self.kill()
        self._ended(self, action)


def _told(assignment: Assignment | None) -> str:
    if assignment is None:
        return "failed"
    given = ", ".join(f"{each.member_id} {trace.names(each.resources)}" for each in assignment.members)
    return f"{given}; error {assignment.error}, delay {assignment.scheduled_delay_ms}"


_HANDLERS: dict[type, Callable[[Process, Any], None]] = {
    actions.Seek: lambda process, _: process._seek(),
    actions.Send: lambda process, action: process._send(action.number, action.request),
    actions.Revoke: Process._call,
    actions.Grant: Process._call,
    actions.Abandon: Process._abandon,
    actions.Overrun: lambda process, action: process._overrun(action),
    actions.Assign: Process._assign,
    actions.Gone: Process._gone,
}
