"""A worker's membership in a classic group: what it may run, in the protocol of Connect's own workers.

The calls and actions are those of `kcoord.worker.membership`.

- A round is a JoinGroup and a SyncGroup; the leader computes between them. Then come heartbeats, until the answer to
  one says that a round begins.
- What the worker runs goes on running during a round, and is reported in JoinGroup. Under `default` it stops everything
  before.
- It joins as soon as everything that it was told to stop has stopped, and not before. If that takes longer than the
  rebalance timeout, it abandons everything and joins owning nothing: until it joins nobody can have what it gives up.
- Tasks that were reconfigured stop before it joins, and start with the assignment: by then all workers have stopped
  theirs.
- A worker that has lost its membership (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION) stops everything, and joins owning
  nothing. Connect's own workers keep their tasks then. Another worker may run them, so this one does not.
- The session runs from the sending of the last answered request. While a JoinGroup or SyncGroup waits for others, the
  coordinator does not end the session; then the connection shows that the coordinator is alive. This protocol gives
  nothing more: where nothing must run twice, connect groups are better.

Under a coordinator that manages each worker on its own, it behaves like a Java worker: it accepts answers that name a
leader whom nobody has met, generations that jump, and increments without a round of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcoord.assign import Assignment, Resource
from kcoord.protocol.messages import JoinGroupResponse, Response
from kcoord.worker.actions import Action, Overrun, Seek
from kcoord.worker.classic import owning, requests, transitions
from kcoord.worker.classic.phase_table import ROWS
from kcoord.worker.classic.phases import MEMBER, Kind, Phase, Timing, kind_of
from kcoord.worker.classic.state import ClassicMembershipState
from kcoord.worker.setup import Setup
from kcoord.worker.state import Link


class ClassicMembership:
    """One worker's membership in one classic group."""

    def __init__(self, setup: Setup, timing: Timing | None = None, random: Callable[[], float] = lambda: 0.5) -> None:
        timing = timing or Timing()
        self._state = ClassicMembershipState(setup, timing, random, version=timing.version)

    # What there is to know

    @property
    def phase(self) -> Phase:
        """The phase that the worker is in."""
        return self._state.phase

    @property
    def is_member(self) -> bool:
        """Whether the worker has received an assignment, even an empty one, and has not lost its membership since."""
        return self._state.ran and self._state.phase in MEMBER

    @property
    def member_id(self) -> str:
        """The member id that the coordinator gave; empty before that."""
        return self._state.member_id

    @property
    def epoch(self) -> int:
        """The generation that the worker knows."""
        return self._state.generation

    @property
    def owned(self) -> frozenset[Resource]:
        """All resources that may be running."""
        return self._state.owned

    @property
    def assigned(self) -> frozenset[Resource]:
        """What the worker is to run."""
        return self._state.assigned

    @property
    def leads(self) -> bool:
        """Whether this worker leads, and computes in each round."""
        return self._state.leads

    @property
    def stop_at_ms(self) -> int | None:
        """When the worker stops everything by itself if no answer comes; None while it is not a member, or waits in a
        round.
        """
        return self._state.stop_at_ms

    @property
    def session_ends_ms(self) -> int | None:
        """From when on others may run what the worker owns, if no answer comes."""
        return self._state.session_ends_ms

    def wake_at(self) -> int | None:
        """When `poll` has something to do."""
        return self._state.wake_at()

    # Begin, end, and changes

    def start(self, now_ms: int) -> list[Action]:
        """Become a member."""
        if self._state.phase is Phase.IDLE:
            self._state.phase = Phase.WANTS_ROUND
        return self._settle(now_ms)

    def leave(self, now_ms: int, *, permanent: bool = False) -> list[Action]:
        """Stop everything and leave. A static member that will be back sends nothing: its session keeps its place."""
        state = self._state
        state.permanent = permanent
        if state.phase is Phase.IDLE:
            owning.go(state)
        elif state.phase is Phase.ABANDONING:
            state.after = Phase.PARTING if state.after is Phase.WANTS_ROUND else state.after
        elif state.phase in MEMBER and state.phase is not Phase.LEAVING:
            state.phase = Phase.LEAVING
            owning.withdraw(state, state.assigned)
            owning.part_when_free(state, now_ms)
        return self._settle(now_ms)

    def give_up(self, now_ms: int, why: str) -> list[Action]:
        """Leave without waiting for revocations."""
        if self._state.phase in MEMBER:
            owning.abandon(self._state, now_ms, why, Phase.PARTING)
        return self._settle(now_ms) if self._state.phase is not Phase.IDLE else self.leave(now_ms)

    def update(self, now_ms: int, **changes: Any) -> list[Action]:
        """Change what the worker reports about itself. Another configured set, or reconfigured tasks, make it join
        again, as in Connect; a new offset alone does not.
        """
        changes.pop("offers", None)
        transitions.with_setup(self._state, now_ms, changes)
        return self._settle(now_ms)

    def poll(self, now_ms: int) -> list[Action]:
        """Do what is due now."""
        return self._settle(now_ms)

    # The way to the coordinator

    def connected(self, now_ms: int) -> list[Action]:
        """There is a new connection to the coordinator."""
        if self._state.link is Link.SEEKING:
            self._state.link = Link.UP
            self._state.next_ms = now_ms
        return self._settle(now_ms)

    def unreachable(self, now_ms: int) -> list[Action]:
        """The coordinator is not known, or cannot be reached."""
        return self.disconnected(now_ms)

    def refused(self, now_ms: int, error_code: int, message: str) -> list[Action]:
        """The coordinator cannot be found, or refuses the login, for good."""
        state = self._state
        state.error = (error_code, message)
        if state.phase is Phase.PARTING:
            owning.go(state)
        elif state.phase is Phase.ABANDONING:
            state.after = Phase.GONE
        elif state.phase in MEMBER:
            owning.abandon(state, now_ms, f"error {error_code}", Phase.GONE)
        return self._settle(now_ms)

    def disconnected(self, now_ms: int) -> list[Action]:
        """The connection has ended."""
        if self._state.link is not Link.DOWN:
            transitions.seek(self._state, now_ms)
        return self._settle(now_ms)

    def answered(self, now_ms: int, number: int, response: Response) -> list[Action]:
        """The answer to a request. An answer to a heartbeat that a JoinGroup has overtaken is ignored."""
        state, sent = self._state, self._state.under_way
        if sent is not None and sent.number == number:
            state.under_way = None
            kind = kind_of(int(getattr(response, "error_code", 0)))
            if kind is Kind.NAMED and not isinstance(response, JoinGroupResponse):
                kind = Kind.FATAL
            ROWS[kind].at(state.phase)(state, now_ms, sent, response)
        return self._settle(now_ms)

    # What the worker's own side reports

    def released(self, now_ms: int, number: int) -> list[Action]:
        """`on_revoked` has returned."""
        if self._state.revoking.pop(number, None) is not None and self._state.phase is Phase.LEAVING:
            owning.part_when_free(self._state, now_ms)
        return self._settle(now_ms)

    def abandoned(self, now_ms: int, number: int) -> list[Action]:
        """Everything has stopped."""
        state = self._state
        if state.phase is Phase.ABANDONING and number == state.asked_for:
            state.revoking.clear()
            owning.follow(state, now_ms, state.after)
        return self._settle(now_ms)

    def computed(self, now_ms: int, number: int, assignment: Assignment | None) -> list[Action]:
        """The assignor is done; None: it failed, and all workers keep what they have."""
        if self._state.phase is Phase.COMPUTING and number == self._state.asked_for:
            transitions.tell(self._state, now_ms, assignment)
        return self._settle(now_ms)

    # Time

    def _settle(self, now_ms: int) -> list[Action]:
        state = self._state
        if state.under_way is not None and now_ms >= state.under_way.expires_ms:
            transitions.seek(state, now_ms)
        self._watch_session(now_ms)
        self._watch_revocations(now_ms)
        if state.phase is Phase.PARTING and state.leave_by_ms is not None and now_ms >= state.leave_by_ms:
            owning.go(state)
        if state.phase is Phase.STABLE and state.again_at_ms is not None and now_ms >= state.again_at_ms:
            owning.want_round(state)
        if state.phase is Phase.COMPUTING and state.wait_until_ms is not None and now_ms >= state.wait_until_ms:
            transitions.compute(state, now_ms)
        if state.link is Link.DOWN and state.phase not in (Phase.IDLE, Phase.GONE) and now_ms >= state.seek_at_ms:
            state.link = Link.SEEKING
            state.out.append(Seek())
        due_ms = state.due_ms()
        if due_ms is not None and now_ms >= due_ms:
            self._speak(now_ms)
        state.polled_ms = now_ms
        out, state.out = state.out, []
        return out

    def _watch_session(self, now_ms: int) -> None:
        state = self._state
        stop_ms, ends_ms = state.stop_at_ms, state.session_ends_ms
        if state.phase in MEMBER and state.owned and stop_ms is not None and now_ms >= stop_ms:
            after = Phase.PARTING if state.phase is Phase.LEAVING else Phase.WANTS_ROUND
            owning.abandon(state, now_ms, "the session ends: the coordinator has not answered", after)
        if state.phase is Phase.ABANDONING and not state.overrun and ends_ms is not None and now_ms >= ends_ms:
            state.overrun = True
            state.out.append(Overrun(state.owned))

    def _watch_revocations(self, now_ms: int) -> None:
        """Abandon everything if what must stop before a join takes longer than the rebalance timeout. Nobody else ends
        that wait: if no round is on, the coordinator gets heartbeats and waits for nothing.
        """
        state = self._state
        if state.phase is not Phase.WANTS_ROUND or not state.revoking:
            state.let_go_by_ms = None
        elif state.let_go_by_ms is None:
            state.let_go_by_ms = now_ms + state.setup.rebalance_timeout_ms
        elif now_ms >= state.let_go_by_ms:
            state.let_go_by_ms = None
            owning.abandon(state, now_ms, "what was revoked has not stopped in time", Phase.WANTS_ROUND)

    def _speak(self, now_ms: int) -> None:
        state = self._state
        if state.free:
            transitions.join(state, now_ms)
        elif state.phase is Phase.PARTING:
            transitions.say_farewell(state, now_ms)
        else:
            state.next_ms = now_ms + state.timing.interval_ms
            state.send(now_ms, requests.heartbeat(state.setup, state.member_id, state.generation))
