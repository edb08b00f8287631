"""A worker's membership in a connect group: the protocol as a state machine without I/O, clock or asyncio.

The asyncio shell and the simulator drive it like this:

- Every call takes the time in ms, on a clock that never goes back and counts suspension. It returns what is to be done
  now, in order: see `actions.py`. Carry that out in this order; nobody need wait for `Send` and `Seek`.
- `start`; then `poll` at `wake_at()` at the latest. An earlier `poll` does no harm.
- `Seek`: find the coordinator, make a *new* connection, then call `connected`, or `unreachable`, or `refused` if trying
  again will not help. When a connection ends: `disconnected`. Do not hand in answers that come by an older connection.
- `Send(number, request)`: then `answered(now, number, response)`. Answers to numbers that are not under way are
  ignored.
- `Revoke`: stop the resources and let `on_revoked` run; when it has returned, call `released`. Go on polling meanwhile:
  the worker sends heartbeats. `Grant`: the resources run from now on, after the revocations that came before.
- `Abandon`: stop everything at once, including resources whose revocation is running; then call `abandoned`. `Overrun`:
  it took too long.
- `Assign`: run the assignor; then call `computed`, with None if it failed. Go on polling meanwhile.
- `update` changes what the worker reports about itself. `leave` stops everything, leaves, and ends in `Gone`; `give_up`
  does so without waiting.

What a worker may be running is `owned`, at any time (CG-1, CG-3). Its session runs from the moment when it sent its
last answered heartbeat. It stops everything a margin before the session ends (CG-8), whatever its callbacks do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcoord.assign import Assignment, Resource
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_response import ConnectGroupHeartbeatResponse
from kcoord.protocol.generated.connect_group_install_assignment_response import ConnectGroupInstallAssignmentResponse
from kcoord.protocol.generated.connect_group_prepare_assignment_response import ConnectGroupPrepareAssignmentResponse
from kcoord.protocol.message_base import Response
from kcoord.worker import heartbeat_schedule, phase_table, transitions
from kcoord.worker.actions import Action, Assign, Refused
from kcoord.worker.computing import Step, group_of
from kcoord.worker.setup import Setup
from kcoord.worker.state import ABANDONING, DOWN, LEAVING, MEMBER, PARTING, Link, MembershipState, Phase, Sent, Session

_FIXED = frozenset({"group_id", "member_id", "instance_id"})


class Membership:
    """One worker's membership in one group. `random` gives 0 ≤ x < 1, for the jitter of back-offs."""

    def __init__(self, setup: Setup, random: Callable[[], float] = lambda: 0.5) -> None:
        self._state = MembershipState(setup, random)
        self._due_ms = heartbeat_schedule.NEVER_MS
        """When the next message is due, if nothing else happens."""

    # What there is to know

    @property
    def setup(self) -> Setup:
        """What the worker reports about itself."""
        return self._state.setup

    @property
    def phase(self) -> Phase:
        """The phase that the worker is in."""
        return self._state.phase

    @property
    def is_member(self) -> bool:
        """Whether the worker is a member, as far as it knows."""
        return self._state.phase in (Phase.MEMBER, Phase.LEAVING)

    @property
    def epoch(self) -> int:
        """The member epoch that the coordinator sent last; 0 before that."""
        return self._state.epoch

    @property
    def owned(self) -> frozenset[Resource]:
        """All resources that may be running, until they are reported as stopped."""
        return self._state.owned

    @property
    def assigned(self) -> frozenset[Resource]:
        """What the worker is to run: `owned` without what is being revoked."""
        return self._state.assigned

    @property
    def stop_at_ms(self) -> int | None:
        """When the worker stops everything by itself if no answer comes; None while it is not a member."""
        return None if self._state.session is None else self._state.session.stop_ms

    @property
    def session_ends_ms(self) -> int | None:
        """From when on others may run what the worker owns, if no answer comes; None while it is not a member."""
        return None if self._state.session is None else self._state.session.ends_ms

    @property
    def computing(self) -> Step:
        """How far the computation is for which this worker was chosen."""
        return self._state.computing.step

    def wake_at(self) -> int | None:
        """When `poll` has something to do, if nothing else happens before; None: never."""
        state, phase, session = self._state, self._state.phase, self._state.session
        wake_ms = self._due_ms
        for sent in state.under_way.values():
            if sent.expires_ms < wake_ms:
                wake_ms = sent.expires_ms
        if session is not None:
            if phase is MEMBER or phase is LEAVING:
                if session.stop_ms < wake_ms:
                    wake_ms = session.stop_ms
            elif phase is ABANDONING and not state.overrun:
                wake_ms = min(wake_ms, session.ends_ms)
        if state.link is DOWN and self._wants_coordinator():
            wake_ms = min(wake_ms, state.seek_at_ms)
        if phase is PARTING and state.leave_by_ms is not None:
            wake_ms = min(wake_ms, state.leave_by_ms)
        return None if wake_ms == heartbeat_schedule.NEVER_MS else wake_ms

    # Begin, end, and changes

    def start(self, now_ms: int) -> list[Action]:
        """Become a member."""
        phase_table.START.at(self._state.phase)(self._state, now_ms)
        return self._settle(now_ms)

    def leave(self, now_ms: int, *, permanent: bool = False) -> list[Action]:
        """Stop everything and leave. A static member says that it will be back (-2), unless `permanent` (CG-28)."""
        state = self._state
        state.leave_epoch = -1 if permanent or state.setup.instance_id is None else -2
        phase_table.LEAVE.at(state.phase)(state, now_ms)
        return self._settle(now_ms)

    def give_up(self, now_ms: int, why: str) -> list[Action]:
        """Leave without waiting for revocations: everything is abandoned instead. For a close that takes too long."""
        state = self._state
        state.leave_epoch = -1 if state.setup.instance_id is None else -2
        phase_table.GIVE_UP.at(state.phase)(state, now_ms, why)
        return self._settle(now_ms)

    def update(self, now_ms: int, **changes: Any) -> list[Action]:
        """Change what the worker reports about itself (fields of `Setup` except its identity). It is reported at
        once.
        """
        assert not _FIXED & changes.keys(), "who a worker is does not change"
        state = self._state
        if any(getattr(state.setup, name) != value for name, value in changes.items()):
            state.setup = state.setup.with_changes(changes)
            state.urgent |= state.phase in (Phase.JOINING, Phase.MEMBER)
        return self._settle(now_ms)

    def poll(self, now_ms: int) -> list[Action]:
        """Do what is due now."""
        return self._settle(now_ms)

    # The way to the coordinator

    def connected(self, now_ms: int) -> list[Action]:
        """`Seek` is done: there is a new connection to the coordinator."""
        if self._state.link is Link.SEEKING:
            self._state.link = Link.UP
        return self._settle(now_ms)

    def unreachable(self, now_ms: int) -> list[Action]:
        """`Seek` has failed: the coordinator is not known, or cannot be reached."""
        return self._lost(now_ms)

    def refused(self, now_ms: int, error_code: int, message: str) -> list[Action]:
        """`Seek` has failed for good: a right is missing, or the password is wrong. The worker may not be a member."""
        phase_table.REFUSED.at(self._state.phase)(self._state, now_ms, error_code, message)
        return self._settle(now_ms)

    def disconnected(self, now_ms: int) -> list[Action]:
        """The connection has ended; requests under way will not be answered."""
        return self._lost(now_ms)

    def answered(self, now_ms: int, number: int, response: Response) -> list[Action]:
        """The answer to `Send(number, …)`."""
        state = self._state
        sent = state.under_way.pop(number, None)
        if sent is not None and not self._comes_too_late(now_ms, sent, response):
            match response:
                case ConnectGroupHeartbeatResponse():
                    phase_table.answer_row(response.error_code, sent).at(state.phase)(state, now_ms, sent, response)
                case ConnectGroupPrepareAssignmentResponse():
                    self._prepared(now_ms, sent, response)
                case ConnectGroupInstallAssignmentResponse():
                    self._installed(now_ms, sent, response)
        return self._settle(now_ms)

    # What the worker's own side reports

    def released(self, now_ms: int, number: int) -> list[Action]:
        """`on_revoked` of `Revoke(number, …)` has returned: those resources have stopped."""
        phase_table.FREED.at(self._state.phase)(self._state, now_ms, number)
        return self._settle(now_ms)

    def abandoned(self, now_ms: int, number: int) -> list[Action]:
        """`Abandon(number, …)` is done: nothing runs any more."""
        phase_table.STOPPED.at(self._state.phase)(self._state, now_ms, number)
        return self._settle(now_ms)

    def computed(self, now_ms: int, number: int, assignment: Assignment | None) -> list[Action]:
        """`Assign(number, …)` is done; None: the assignor failed, and another worker is to try (CG-20)."""
        state, computing = self._state, self._state.computing
        if computing.step is Step.ASSIGNING and computing.number == number:
            computing.assignment = assignment
            if state.link is Link.UP:
                transitions.install(state, now_ms)
            else:
                computing.stop()
        return self._settle(now_ms)

    # Inside

    def _settle(self, now_ms: int) -> list[Action]:
        """Do what is due, and send what has to be sent after all that has happened."""
        state, session = self._state, self._state.session
        if session is not None and now_ms >= session.stop_ms:
            self._watch_session(now_ms, session)
        if state.phase is PARTING and state.leave_by_ms is not None and now_ms >= state.leave_by_ms:
            phase_table.NO_BYE.at(state.phase)(state, now_ms)
        for sent in state.under_way.values():
            if now_ms >= sent.expires_ms:
                transitions.seek_anew(state, now_ms)
                break
        if state.link is DOWN and now_ms >= state.seek_at_ms and self._wants_coordinator():
            state.seek(now_ms)
        self._due_ms = heartbeat_schedule.due_ms(state)
        if now_ms >= self._due_ms:
            heartbeat_schedule.speak(state, now_ms)
            self._due_ms = heartbeat_schedule.due_ms(state)
        out, state.out = state.out, []
        return out

    def _watch_session(self, now_ms: int, session: Session) -> None:
        state = self._state
        if state.phase in (MEMBER, LEAVING):
            phase_table.STOP.at(state.phase)(state, now_ms)
        if now_ms >= session.ends_ms and state.phase is ABANDONING:
            phase_table.ENDED.at(state.phase)(state, now_ms)

    def _comes_too_late(self, now_ms: int, sent: Sent, response: Response) -> bool:
        """Whether the session is over even with this answer. Then the worker was frozen, and must first stop; or its
        join was answered so late that others may already have what the answer grants.
        """
        session = self._state.session
        timeout_ms = response.session_timeout_ms if isinstance(response, ConnectGroupHeartbeatResponse) else 0
        if timeout_ms > 0:
            is_over = now_ms >= sent.at_ms + timeout_ms - self._state.setup.margin(timeout_ms)
            return is_over and (session is None or now_ms >= session.stop_ms)
        return session is not None and now_ms >= sent.at_ms + session.timeout_ms - session.margin_ms

    def _wants_coordinator(self) -> bool:
        return self._state.phase not in (Phase.IDLE, Phase.GONE)

    def _lost(self, now_ms: int) -> list[Action]:
        if self._state.link is not Link.DOWN:
            transitions.seek_anew(self._state, now_ms)
        return self._settle(now_ms)

    def _prepared(self, now_ms: int, sent: Sent, response: ConnectGroupPrepareAssignmentResponse) -> None:
        """Start the assignor on the group that was prepared. After an error wait: COMPUTE_ASSIGNMENT is repeated
        (CG-17, CG-19).
        """
        computing = self._state.computing
        if computing.step is not Step.PREPARING or computing.number != sent.number:
            return
        if response.error_code != ErrorCode.NONE:
            computing.stop()
            heartbeat_schedule.after_computing(self._state, now_ms)
            return
        computing.step = Step.ASSIGNING
        computing.number = self._state.next_number()
        computing.group_epoch = response.group_epoch
        computing.assignor = response.assignor_name
        self._state.out.append(Assign(computing.number, response.assignor_name, group_of(response)))

    def _installed(self, now_ms: int, sent: Sent, response: ConnectGroupInstallAssignmentResponse) -> None:
        """The install is done, or is sent once more with the next answer's epoch (CG-19), or is given up. None of these
        ends the membership.
        """
        state, computing = self._state, self._state.computing
        if computing.step is not Step.INSTALLING or computing.number != sent.number:
            return
        if response.error_code == ErrorCode.FENCED_MEMBER_EPOCH:
            computing.step = Step.WAITING
            return
        computing.stop()
        heartbeat_schedule.after_computing(state, now_ms)
        if response.error_code != ErrorCode.NONE:
            state.out.append(Refused(response.error_code, response.error_message))
