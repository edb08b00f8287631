"""How does a worker stay a member of a generic group, and what may it run? As `kcoord.worker.membership`, with the same
calls and actions, in the protocol of Connect's own workers.

- A round: JoinGroup, SyncGroup; the leader computes between them. Then heartbeats until one says that a round begins.
- What it runs goes on running through a round, and is reported in JoinGroup; with `default` it stops all before.
- It joins only when everything that it was told to stop has stopped; then at once.
- Whoever lost its membership (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION) stops all, and joins owning nothing. Connect's own
  workers keep their tasks then; somebody else may run them, so this one does not.
- The session runs from the sending of the last answered request. While a JoinGroup or SyncGroup waits for others the
  coordinator does not end it; the connection is then what tells that the coordinator lives. That is all that this
  protocol gives: where nothing must run twice, connect groups are better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from kcoord.assign import Assignment, Group, MemberAssignment, Resource
from kcoord.protocol.embedded import (
    CONFIG_MISMATCH,
    EAGER,
    NAMES,
    NOTHING,
    EmbeddedError,
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    decode_state,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    HeartbeatResponse,
    JoinGroupResponse,
    Request,
    Response,
    SyncGroupResponse,
)
from kcoord.worker.actions import (
    Abandon,
    Action,
    Assign,
    Gone,
    Grant,
    Joined,
    Overrun,
    Revoke,
    Seek,
    Send,
    Told,
)
from kcoord.worker.generic import requests
from kcoord.worker.generic.phases import MEMBER, Kind, Phase, Timing, kind_of
from kcoord.worker.generic.round import Memory, differences
from kcoord.worker.setup import Setup
from kcoord.worker.state import Link, Session


@attrs.frozen
class _Sent:
    number: int
    at_ms: int
    expires_ms: int
    waits: bool
    """Its answer waits for other members."""


class GenericMembership:
    """One worker's membership in one generic group."""

    def __init__(self, setup: Setup, timing: Timing | None = None, random: Callable[[], float] = lambda: 0.5) -> None:
        self._setup = setup
        self._timing = timing or Timing()
        self._random = random
        self._phase = Phase.IDLE
        self._after = Phase.WANTS_ROUND
        self._error: tuple[int, str | None] = (0, None)
        self._member_id = ""
        self._generation = -1
        self._version = self._timing.version
        self._leader = ""
        self._states: dict[str, WorkerState] = {}
        self._shown: Group | None = None
        self._memory = Memory()
        self._assigned: frozenset[Resource] = NOTHING
        self._ran = False
        """It has been assigned something, perhaps nothing, since it became a member."""
        self._revoking: dict[int, frozenset[Resource]] = {}
        self._session: Session | None = None
        self._overrun = False
        self._link = Link.DOWN
        self._seek_at_ms = 0
        self._next_ms = 0
        self._not_before_ms = 0
        self._again_at_ms: int | None = None
        self._leave_by_ms: int | None = None
        self._permanent = False
        self._attempts = 0
        self._numbers = 0
        self._under_way: _Sent | None = None
        self._asked_for = -1
        """The number of the Assign action, or of the Abandon."""
        self._polled_ms = 0
        self._out: list[Action] = []

    # What there is to know

    @property
    def phase(self) -> Phase:
        """Where it is in its life."""
        return self._phase

    @property
    def is_member(self) -> bool:
        """Whether it has been given an assignment, perhaps of nothing, and has not lost its membership since."""
        return self._ran and self._phase in MEMBER

    @property
    def epoch(self) -> int:
        """The generation."""
        return self._generation

    @property
    def owned(self) -> frozenset[Resource]:
        """All that may be running."""
        return self._assigned.union(*self._revoking.values())

    @property
    def assigned(self) -> frozenset[Resource]:
        """What it is to run."""
        return self._assigned

    @property
    def leads(self) -> bool:
        """Whether it computes the rounds."""
        return self._leader != "" and self._leader == self._member_id

    @property
    def stop_at_ms(self) -> int | None:
        """When it stops all by itself if no answer comes; None while it is no member, or waits in a round."""
        return None if self._session is None or self._waits else self._session.stop_ms

    @property
    def session_ends_ms(self) -> int | None:
        """From when on others may run what it owns if no answer comes."""
        return None if self._session is None else max(self._session.ends_ms, self._waits_until_ms)

    def wake_at(self) -> int | None:
        """When `poll` has something to do."""
        times: list[int | None] = [self._due_ms(), self._again_at_ms]
        if self._under_way is not None:
            times.append(self._under_way.expires_ms)
        if self._link is Link.DOWN and self._phase not in (Phase.IDLE, Phase.GONE):
            times.append(self._seek_at_ms)
        if self._phase is Phase.PARTING:
            times.append(self._leave_by_ms)
        if self._phase in MEMBER and self.owned:
            times.append(self.stop_at_ms)
        elif self._phase is Phase.ABANDONING and not self._overrun:
            times.append(self.session_ends_ms)
        return min((time for time in times if time is not None), default=None)

    # Begin, end, and changes

    def start(self, now_ms: int) -> list[Action]:
        """Become a member."""
        if self._phase is Phase.IDLE:
            self._phase = Phase.WANTS_ROUND
        return self._settle(now_ms)

    def leave(self, now_ms: int, *, permanent: bool = False) -> list[Action]:
        """Let go of all and leave. A static member that will be back says nothing: its session keeps its place."""
        self._permanent = permanent
        if self._phase is Phase.IDLE:
            self._go()
        elif self._phase is Phase.ABANDONING:
            self._after = Phase.PARTING if self._after is Phase.WANTS_ROUND else self._after
        elif self._phase in MEMBER and self._phase is not Phase.LEAVING:
            self._phase = Phase.LEAVING
            self._withdraw(self._assigned)
            self._part_when_free(now_ms)
        return self._settle(now_ms)

    def give_up(self, now_ms: int, why: str) -> list[Action]:
        """Leave without waiting for revocations."""
        if self._phase in MEMBER:
            self._abandon(now_ms, why, Phase.PARTING)
        return self._settle(now_ms) if self._phase is not Phase.IDLE else self.leave(now_ms)

    def update(self, now_ms: int, **changes: Any) -> list[Action]:
        """Change what the worker says of itself. Another configured set makes it join again, as in Connect."""
        changes.pop("offers", None)
        setup = attrs.evolve(self._setup, **changes)
        if setup != self._setup:
            changed = setup.configured != self._setup.configured
            self._setup = setup
            if changed and self._phase in (Phase.STABLE, Phase.SYNCING):
                self._again_at_ms = now_ms
        return self._settle(now_ms)

    def poll(self, now_ms: int) -> list[Action]:
        """Time has passed."""
        return self._settle(now_ms)

    # The way to the coordinator

    def connected(self, now_ms: int) -> list[Action]:
        """There is a new connection to the coordinator."""
        if self._link is Link.SEEKING:
            self._link = Link.UP
            self._next_ms = now_ms
        return self._settle(now_ms)

    def unreachable(self, now_ms: int) -> list[Action]:
        """Nobody knows the coordinator, or it cannot be reached."""
        return self.disconnected(now_ms)

    def refused(self, now_ms: int, error_code: int, message: str) -> list[Action]:
        """The coordinator cannot be found or logged in to, for good."""
        self._error = (error_code, message)
        if self._phase is Phase.PARTING:
            self._go()
        elif self._phase is Phase.ABANDONING:
            self._after = Phase.GONE
        elif self._phase in MEMBER:
            self._abandon(now_ms, f"error {error_code}", Phase.GONE)
        return self._settle(now_ms)

    def disconnected(self, now_ms: int) -> list[Action]:
        """The connection has ended."""
        if self._link is not Link.DOWN:
            self._hang_up(now_ms)
        return self._settle(now_ms)

    def answered(self, now_ms: int, number: int, response: Response) -> list[Action]:
        """The answer to a request."""
        sent = self._under_way
        if sent is not None and sent.number == number:
            self._under_way = None
            self._judge(now_ms, sent, response)
        return self._settle(now_ms)

    # What the worker's own side reports

    def released(self, now_ms: int, number: int) -> list[Action]:
        """`on_revoked` has returned."""
        if self._revoking.pop(number, None) is not None and self._phase is Phase.LEAVING:
            self._part_when_free(now_ms)
        return self._settle(now_ms)

    def abandoned(self, now_ms: int, number: int) -> list[Action]:
        """All has stopped."""
        if self._phase is Phase.ABANDONING and number == self._asked_for:
            self._revoking.clear()
            self._follow(now_ms, self._after)
        return self._settle(now_ms)

    def computed(self, now_ms: int, number: int, assignment: Assignment | None) -> list[Action]:
        """The assignor is done; None: it failed, and all keep what they have."""
        if self._phase is Phase.COMPUTING and number == self._asked_for and self._shown is not None:
            group = self._shown
            if assignment is None or assignment.error:
                kept = tuple(MemberAssignment(each.member_id, each.target) for each in group.members)
                assignment = Assignment(kept, self._setup.backoff_max_ms)
            else:
                self._memory.keep(group, assignment, now_ms)
            self._sync(now_ms, assignment)
        return self._settle(now_ms)

    # Answers

    def _judge(self, now_ms: int, sent: _Sent, response: Response) -> None:
        code = int(getattr(response, "error_code", 0))
        kind = kind_of(code)
        if self._phase is Phase.PARTING:
            self._go()
        elif kind is Kind.OK:
            self._accept(now_ms, sent, response)
        elif kind is Kind.ROUND:
            self._alive(now_ms, sent)
            self._begin_round()
        elif kind is Kind.NAMED and isinstance(response, JoinGroupResponse):
            self._member_id = response.member_id
            self._begin_round()
        elif kind is Kind.LATER:
            self._not_before_ms = now_ms + self._back_off_ms(soon=False)
            self._begin_round(unless=Phase.STABLE)
        elif kind is Kind.ELSEWHERE:
            self._hang_up(now_ms)
        elif kind is Kind.LOST:
            if code == ErrorCode.UNKNOWN_MEMBER_ID:
                self._member_id = ""
            self._not_before_ms = now_ms + self._back_off_ms(soon=True)
            after = Phase.PARTING if self._phase is Phase.LEAVING else Phase.WANTS_ROUND
            self._abandon(now_ms, ErrorCode(code).name, after)
        else:
            self._error = (code, getattr(response, "error_message", None))
            self._abandon(now_ms, f"error {code}", Phase.GONE)

    def _accept(self, now_ms: int, sent: _Sent, response: Response) -> None:
        self._attempts = 0
        self._alive(now_ms, sent)
        match response:
            case HeartbeatResponse():
                self._next_ms = sent.at_ms + self._timing.interval_ms
            case JoinGroupResponse() if self._phase is Phase.JOINING:
                self._joined(now_ms, response)
            case SyncGroupResponse() if self._phase is Phase.SYNCING:
                self._synced(now_ms, response)
            case _:
                pass

    def _joined(self, now_ms: int, response: JoinGroupResponse) -> None:
        self._member_id = response.member_id
        self._generation = response.generation_id
        self._leader = response.leader
        self._version = NAMES.index(response.protocol_name) if response.protocol_name in NAMES else EAGER
        if not self.leads:
            self._memory = Memory()
            self._sync(now_ms, None)
            return
        self._states = {each.member_id: _state(each.metadata) for each in response.members}
        self._shown = self._memory.show(self._states, self._setup, self._generation, self._timing.delay_ms, now_ms)
        self._phase = Phase.COMPUTING
        self._next_ms = now_ms + self._timing.interval_ms
        self._asked_for = self._next_number()
        assignor = "eager" if self._version == EAGER else "cooperative"
        self._out.append(Assign(self._asked_for, assignor, self._shown))

    def _synced(self, now_ms: int, response: SyncGroupResponse) -> None:
        try:
            told = decode_assignment(response.assignment)
        except EmbeddedError:
            told = WorkerAssignment(self._version, CONFIG_MISMATCH)
        if told.error:
            self._again_at_ms = now_ms + self._setup.backoff_max_ms
            self._phase = Phase.STABLE
            return
        self._phase = Phase.STABLE
        self._next_ms = now_ms + self._timing.interval_ms
        self._again_at_ms = now_ms + told.delay_ms if told.delay_ms > 0 else None
        if not self._ran:
            self._out.append(Joined(self._generation))
        self._ran = True
        kept = NOTHING if told.version == EAGER else self._assigned - told.revoked
        self._withdraw(self._assigned - kept)
        if told.revoked:
            self._begin_round()
        granted = told.assigned - self._assigned
        self._assigned |= granted
        said = MemberAssignment(self._member_id, self._assigned, told.version)
        self._out.append(Told(self._generation, None, said))
        if granted:
            self._out.append(Grant(granted, self._generation))

    # Rounds

    def _begin_round(self, unless: Phase | None = None) -> None:
        """Join again as soon as may be; with `default` nothing may run then."""
        if self._phase in (Phase.LEAVING, unless):
            return
        self._phase = Phase.WANTS_ROUND
        self._again_at_ms = None
        if self._version == EAGER:
            self._withdraw(self._assigned)

    def _join(self, now_ms: int) -> None:
        self._phase = Phase.JOINING
        offset = self._setup.config_offset
        runs = WorkerAssignment(self._version, 0, self._leader, "", offset, self._assigned) if self._ran else None
        self._send(now_ms, requests.join_group(self._setup, self._timing, self._member_id, runs), waits=True)

    def _sync(self, now_ms: int, assignment: Assignment | None) -> None:
        self._phase = Phase.SYNCING
        each_told: dict[str, WorkerAssignment] = {}
        if assignment is not None:
            # not below what anybody has read: a Connect worker that is told less joins again at once, for ever
            offset = max(state.config_offset for state in self._states.values())
            told = WorkerAssignment(self._version, 0, self._member_id, self._setup.url or "", offset)
            each_told = differences(self._states, assignment, told, self._member_id)
        request = requests.sync_group(self._setup, self._member_id, self._generation, self._version, each_told)
        self._send(now_ms, request, waits=True)

    # Time

    def _settle(self, now_ms: int) -> list[Action]:
        if self._under_way is not None and now_ms >= self._under_way.expires_ms:
            self._hang_up(now_ms)
        stop_ms, ends_ms = self.stop_at_ms, self.session_ends_ms
        if self._phase in MEMBER and self.owned and stop_ms is not None and now_ms >= stop_ms:
            after = Phase.PARTING if self._phase is Phase.LEAVING else Phase.WANTS_ROUND
            self._abandon(now_ms, "the session ends: the coordinator has not answered", after)
        if self._phase is Phase.ABANDONING and not self._overrun and ends_ms is not None and now_ms >= ends_ms:
            self._overrun = True
            self._out.append(Overrun(self.owned))
        if self._phase is Phase.PARTING and self._leave_by_ms is not None and now_ms >= self._leave_by_ms:
            self._go()
        if self._phase is Phase.STABLE and self._again_at_ms is not None and now_ms >= self._again_at_ms:
            self._begin_round()
        if self._link is Link.DOWN and self._phase not in (Phase.IDLE, Phase.GONE) and now_ms >= self._seek_at_ms:
            self._link = Link.SEEKING
            self._out.append(Seek())
        due_ms = self._due_ms()
        if due_ms is not None and now_ms >= due_ms:
            self._speak(now_ms)
        self._polled_ms = now_ms
        out, self._out = self._out, []
        return out

    def _due_ms(self) -> int | None:
        if self._link is not Link.UP or self._under_way is not None:
            return None
        if self._phase is Phase.WANTS_ROUND and not self._revoking:
            return self._not_before_ms
        if self._phase is Phase.PARTING:
            return self._not_before_ms
        if self._heartbeats:
            return max(self._next_ms, self._not_before_ms)
        return None

    @property
    def _heartbeats(self) -> bool:
        """It has a generation, and nothing else to say; also while it lets go, and while it computes."""
        phases = (Phase.STABLE, Phase.LEAVING, Phase.WANTS_ROUND, Phase.COMPUTING)
        return self._phase in phases and self._generation >= 0 and self._member_id != ""

    def _speak(self, now_ms: int) -> None:
        if self._phase is Phase.WANTS_ROUND and not self._revoking:
            self._join(now_ms)
        elif self._phase is Phase.PARTING:
            self._say_farewell(now_ms)
        else:
            self._next_ms = now_ms + self._timing.interval_ms
            self._send(now_ms, requests.heartbeat(self._setup, self._member_id, self._generation))

    def _say_farewell(self, now_ms: int) -> None:
        if self._member_id == "" or (self._setup.instance_id is not None and not self._permanent):
            self._go()
            return
        self._send(now_ms, requests.leave_group(self._setup, self._member_id))

    def _send(self, now_ms: int, request: Request, *, waits: bool = False) -> None:
        patience_ms = min(self._setup.request_timeout_ms, max(self._timing.session_ms // 3, 1))
        if waits:
            patience_ms += self._setup.rebalance_timeout_ms
        number = self._next_number()
        self._under_way = _Sent(number, now_ms, now_ms + patience_ms, waits)
        self._out.append(Send(number, request))

    # The session

    @property
    def _waits(self) -> bool:
        """In a round, on a connection that stands: the coordinator does not end the session."""
        return self._under_way is not None and self._under_way.waits and self._link is Link.UP

    @property
    def _waits_until_ms(self) -> int:
        return self._under_way.expires_ms if self._waits and self._under_way is not None else 0

    def _alive(self, now_ms: int, sent: _Sent) -> None:
        """The coordinator has heard of it: when this was sent, or, where the answer waited, since the last look."""
        self._begin_session(max(sent.at_ms, self._polled_ms) if sent.waits else sent.at_ms)

    def _begin_session(self, at_ms: int) -> None:
        session_ms = self._timing.session_ms
        self._session = Session(at_ms, session_ms, self._setup.margin(session_ms))

    def _hang_up(self, now_ms: int) -> None:
        """The connection is over."""
        if self._waits and self._session is not None:
            self._begin_session(self._polled_ms)
        self._link = Link.DOWN
        self._under_way = None
        self._seek_at_ms = now_ms + self._back_off_ms(soon=True)
        if self._phase in (Phase.JOINING, Phase.COMPUTING, Phase.SYNCING):
            self._phase = Phase.WANTS_ROUND

    def _back_off_ms(self, *, soon: bool) -> int:
        self._attempts += 1
        steps = self._attempts - 2 if soon else self._attempts - 1
        if steps < 0:
            return 0
        longest = min(self._setup.backoff_ms << min(steps, 16), self._setup.backoff_max_ms)
        return int(longest * (0.8 + 0.4 * self._random()))

    # What it owns

    def _withdraw(self, resources: frozenset[Resource]) -> None:
        if resources:
            number = self._next_number()
            self._revoking[number] = resources
            self._assigned -= resources
            self._out.append(Revoke(number, resources))

    def _abandon(self, now_ms: int, why: str, after: Phase) -> None:
        self._under_way = None
        self._generation = -1
        self._ran = False
        self._memory = Memory()
        owned = self.owned
        self._assigned = NOTHING
        if not owned:
            self._revoking.clear()
            self._follow(now_ms, after)
            return
        self._phase, self._after, self._overrun = Phase.ABANDONING, after, False
        self._asked_for = self._next_number()
        self._revoking = {self._asked_for: owned}
        ends_ms = self.session_ends_ms
        self._out.append(Abandon(self._asked_for, owned, why, now_ms if ends_ms is None else ends_ms))

    def _follow(self, now_ms: int, after: Phase) -> None:
        self._phase = after
        self._session = None
        if after is Phase.GONE:
            self._go()
        elif after is Phase.PARTING:
            self._leave_by_ms = now_ms + self._setup.leave_timeout_ms

    def _part_when_free(self, now_ms: int) -> None:
        if not self.owned:
            self._under_way = None
            self._follow(now_ms, Phase.PARTING)

    def _go(self) -> None:
        self._phase = Phase.GONE
        self._under_way = None
        self._session = None
        self._out.append(Gone(*self._error))

    def _next_number(self) -> int:
        self._numbers += 1
        return self._numbers


def _state(metadata: bytes) -> WorkerState:
    """What a member says; one whose bytes cannot be read runs nothing that we know."""
    try:
        return decode_state(metadata)
    except EmbeddedError:
        return WorkerState(EAGER, "", -1)
