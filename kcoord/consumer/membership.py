"""A consumer's membership in a consumer group (KIP-848): the protocol as a state machine without I/O, clock or asyncio.

Whoever drives it does this:

- Every call takes the time in ms, on a clock that never goes back and counts suspension. It returns what is to be done
  now, in order: see `actions.py`. Carry that out in this order; nobody need wait for `Send` and `Seek`.
- `start`; then `poll` at `wake_at()` at the latest. An earlier `poll` does no harm.
- `Seek`: find the coordinator, make a *new* connection, then call `connected`, or `unreachable`, or `refused` if trying
  again will not help. When a connection ends: `disconnected`. Do not hand in answers that come by an older connection.
- `Send(number, request)`: then `answered(now, number, response)`. Answers to numbers that are not under way are
  ignored.
- `Revoke`: let go of the partitions, then call `released`. `Grant`: begin with them, after the revocations before.
- `Assign`: run the assignor; then call `computed`, with None if it failed. Go on polling meanwhile. `offer` tells which
  client-side assignors there are, before `start` and whenever their metadata has changed.
- `Lose`: stop at once, also what is being revoked; then call `lost`.
- `application_polled` tells that the application polls: it waits in a poll, or has just got something from one.
- `disowned` when the answer to a commit says that the member is not known. `hurry` after other errors of commits: the
  next heartbeat tells more.
- `leave` lets go of everything, leaves, and ends in `Gone`; `give_up` does so without waiting.

The coordinator does not tell how long a session is. So a consumer that does not reach it goes on reading, as Java's
does: when somebody else has its partitions, its commits are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from kcoord.assign.consumer import ConsumerAssignment
from kcoord.consumer import heartbeats, phase_table, transitions
from kcoord.consumer.actions import Action, Partition
from kcoord.consumer.computation_answers import computation_answered
from kcoord.consumer.setup import Setup
from kcoord.consumer.state import Link, MembershipState, Phase
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupInstallAssignmentResponse,
    ConsumerGroupPrepareAssignmentResponse,
    Response,
)
from kcoord.worker.computing import Step
from kcoord.worker.setup import Offer

_APPLICATION_COUNTS = (Phase.JOINING, Phase.MEMBER)


class Membership:
    """One consumer's membership in one group. `random` gives 0 ≤ x < 1, for the jitter of back-offs."""

    def __init__(self, setup: Setup, random: Callable[[], float] = lambda: 0.5) -> None:
        self._state = MembershipState(setup, random)

    # What there is to know

    @property
    def setup(self) -> Setup:
        """What the consumer reports about itself."""
        return self._state.setup

    @property
    def phase(self) -> Phase:
        """The phase that the consumer is in."""
        return self._state.phase

    @property
    def is_member(self) -> bool:
        """Whether the consumer is a member, as far as it knows."""
        return self._state.phase in (Phase.MEMBER, Phase.LEAVING)

    @property
    def epoch(self) -> int:
        """The member epoch that the coordinator sent last; 0 before that."""
        return self._state.epoch

    @property
    def assigned(self) -> frozenset[Partition]:
        """What the consumer is to read: `owned` without what is being revoked."""
        return self._state.assigned

    @property
    def owned(self) -> frozenset[Partition]:
        """All that nobody else has, as far as the consumer knows."""
        return self._state.owned

    @property
    def computing(self) -> Step:
        """How far the computation is for which this consumer was chosen."""
        return self._state.computing.step

    def wake_at(self) -> int | None:
        """When `poll` has something to do, if nothing else happens before; None: never."""
        state = self._state
        times = [heartbeats.due_ms(state), *(each.expires_ms for each in state.under_way.values())]
        if state.polled_ms is not None and state.phase in _APPLICATION_COUNTS:
            times.append(state.polled_ms + state.setup.max_poll_ms)
        if state.link is Link.DOWN and self._wants_coordinator():
            times.append(state.seek_at_ms)
        if state.phase is Phase.PARTING and state.leave_by_ms is not None:
            times.append(state.leave_by_ms)
        wake_ms = min(times)
        return None if wake_ms == heartbeats.NEVER_MS else wake_ms

    # Begin and end

    def offer(self, now_ms: int, offers: tuple[Offer, ...]) -> list[Action]:
        """These are the client-side assignors that this consumer can run, and what they say. A change is reported at
        once.
        """
        self._state.offers = offers
        return self._settle(now_ms)

    def start(self, now_ms: int) -> list[Action]:
        """Become a member."""
        self._state.polled_ms = now_ms
        phase_table.START.at(self._state.phase)(self._state, now_ms)
        return self._settle(now_ms)

    def leave(self, now_ms: int, *, permanent: bool = False) -> list[Action]:
        """Let go of everything and leave. A static member says that it will be back (-2), unless `permanent`."""
        state = self._state
        if permanent:
            state.leave_epoch = -1
        phase_table.LEAVE.at(state.phase)(state, now_ms)
        return self._settle(now_ms)

    def give_up(self, now_ms: int, why: str) -> list[Action]:
        """Leave without waiting for revocations: everything is lost instead. For a close that takes too long."""
        phase_table.GIVE_UP.at(self._state.phase)(self._state, now_ms, why)
        return self._settle(now_ms)

    def poll(self, now_ms: int) -> list[Action]:
        """Do what is due now."""
        return self._settle(now_ms)

    # The application

    def application_polled(self, now_ms: int, *, waits: bool) -> list[Action]:
        """The application polls. `waits`: it is waiting in a poll, which takes as long as it takes."""
        state = self._state
        self._watch_application(now_ms)
        state.polled_ms = None if waits else now_ms
        state.overdue = False
        if state.phase is Phase.MEMBER:
            return []  # nothing else comes of it, and it happens with each record
        phase_table.POLLED.at(state.phase)(state, now_ms)
        return self._settle(now_ms)

    def hurry(self, now_ms: int) -> list[Action]:
        """Send the next heartbeat at once."""
        self._state.hurried = True
        return self._settle(now_ms)

    def disowned(self, now_ms: int, error_code: int) -> list[Action]:
        """A commit at the present epoch was refused: the coordinator does not know this member any more."""
        phase_table.DISOWNED.at(self._state.phase)(self._state, now_ms, error_code)
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
        """`Seek` has failed for good: a right is missing, or the password is wrong. The consumer may not be a
        member.
        """
        phase_table.REFUSED.at(self._state.phase)(self._state, now_ms, error_code, message)
        return self._settle(now_ms)

    def disconnected(self, now_ms: int) -> list[Action]:
        """The connection has ended; requests under way will not be answered."""
        return self._lost(now_ms)

    def answered(self, now_ms: int, number: int, response: Response) -> list[Action]:
        """The answer to `Send(number, …)`."""
        state = self._state
        sent = state.under_way.pop(number, None)
        if sent is not None:
            match response:
                case ConsumerGroupHeartbeatResponse():
                    phase_table.answer_row(response, sent).at(state.phase)(state, now_ms, sent, response)
                case ConsumerGroupPrepareAssignmentResponse() | ConsumerGroupInstallAssignmentResponse():
                    computation_answered(state, now_ms, sent, response)
        return self._settle(now_ms)

    # What the consumer's own side reports

    def released(self, now_ms: int, number: int) -> list[Action]:
        """`Revoke(number, …)` is done: `on_revoked` has returned."""
        phase_table.FREED.at(self._state.phase)(self._state, now_ms, number)
        return self._settle(now_ms)

    def lost(self, now_ms: int, number: int) -> list[Action]:
        """`Lose(number, …)` is done: `on_lost` has returned."""
        phase_table.STOPPED.at(self._state.phase)(self._state, now_ms, number)
        return self._settle(now_ms)

    def computed(self, now_ms: int, number: int, assignment: ConsumerAssignment | None) -> list[Action]:
        """`Assign(number, …)` is done; None: the assignor failed, and another member is to try."""
        computing = self._state.computing
        if computing.step is Step.ASSIGNING and computing.number == number:
            computing.assignment = assignment
            transitions.install(self._state, now_ms)
        return self._settle(now_ms)

    # Inside

    def _settle(self, now_ms: int) -> list[Action]:
        """Do what is due, and send what has to be sent after all that has happened."""
        state = self._state
        self._watch_application(now_ms)
        if state.phase is Phase.PARTING and state.leave_by_ms is not None and now_ms >= state.leave_by_ms:
            phase_table.NO_BYE.at(state.phase)(state, now_ms)
        if any(now_ms >= each.expires_ms for each in state.under_way.values()):
            transitions.seek_anew(state, now_ms)
        if state.link is Link.DOWN and now_ms >= state.seek_at_ms and self._wants_coordinator():
            state.seek()
        if now_ms >= heartbeats.due_ms(state):
            heartbeats.speak(state, now_ms)
        out, state.out = state.out, []
        return out

    def _watch_application(self, now_ms: int) -> None:
        state = self._state
        if state.polled_ms is None or state.phase not in _APPLICATION_COUNTS:
            return
        if now_ms >= state.polled_ms + state.setup.max_poll_ms:
            phase_table.OVERDUE.at(state.phase)(state, now_ms)

    def _wants_coordinator(self) -> bool:
        return self._state.phase not in (Phase.IDLE, Phase.GONE)

    def _lost(self, now_ms: int) -> list[Action]:
        if self._state.link is not Link.DOWN:
            transitions.seek_anew(self._state, now_ms)
        return self._settle(now_ms)
