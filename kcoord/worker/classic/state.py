"""The state of a classic worker's membership: all that changes. No decision is made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from kcoord.assign import Group, Resource
from kcoord.protocol.embedded import NOTHING, WorkerState
from kcoord.protocol.message_base import Request
from kcoord.worker.actions import Action, Send
from kcoord.worker.classic.phases import MEMBER, Phase, Timing
from kcoord.worker.classic.round import NO_WAIT, Memory, Wait
from kcoord.worker.setup import Setup
from kcoord.worker.state import Link, Session

NOT_ASKED = -1


@attrs.frozen
class Sent:
    """A request under way."""

    number: int
    at_ms: int
    expires_ms: int
    waits: bool
    """Its answer waits for other members."""


@attrs.define(eq=False)
class ClassicMembershipState:
    """One worker's membership in one classic group."""

    setup: Setup
    timing: Timing
    random: Callable[[], float]
    """0 ≤ x < 1, for the jitter of back-offs."""
    phase: Phase = Phase.IDLE
    after: Phase = Phase.WANTS_ROUND
    """The phase that follows when everything has stopped, while it abandons."""
    error: tuple[int, str | None] = (0, None)
    member_id: str = ""
    generation: int = -1
    version: int = -1
    """The version of the embedded protocol that the group has chosen."""
    # in a round
    leader: str = ""
    states: Mapping[str, WorkerState] = attrs.Factory(dict)
    """What a leader was shown."""
    shown: Group | None = None
    """The same, as the assignor sees it."""
    memory: Memory = attrs.Factory(Memory)
    said: tuple[object, ...] = ()
    """The configuration that JoinGroup reported: if it differs now, another round is needed."""
    wait_until_ms: int | None = None
    """For a leader that has not read as far as others: until when it waits for that."""
    asked_for: int = NOT_ASKED
    """The number of the Assign action, or of the Abandon."""
    # what it owns
    assigned: frozenset[Resource] = NOTHING
    ran: bool = False
    """It has received an assignment, perhaps an empty one, since it became a member."""
    revoking: dict[int, frozenset[Resource]] = attrs.Factory(dict)
    """What is being stopped, by the number of its Revoke."""
    paused: frozenset[Resource] = NOTHING
    """Assigned, but stopped: it was reconfigured, and starts when all workers have stopped theirs."""
    session: Session | None = None
    let_go_by_ms: int | None = None
    """When it stops waiting for what must stop before it joins."""
    overrun: bool = False
    """An Overrun was reported: something runs on after the session's end."""
    # the way to the coordinator, and time
    link: Link = Link.DOWN
    seek_at_ms: int = 0
    next_ms: int = 0
    """When the next heartbeat is due."""
    not_before_ms: int = 0
    again_at_ms: int | None = None
    """When it joins by itself: a delay is over, or the last assignment had an error."""
    wait: Wait = NO_WAIT
    """The delay in the last assignment."""
    leave_by_ms: int | None = None
    permanent: bool = False
    attempts: int = 0
    numbers: int = 0
    under_way: Sent | None = None
    polled_ms: int = 0
    out: list[Action] = attrs.Factory(list)

    @property
    def owned(self) -> frozenset[Resource]:
        """All that may be running."""
        return self.assigned.union(*self.revoking.values())

    @property
    def leads(self) -> bool:
        """Whether this worker leads, and computes in each round."""
        return self.leader != "" and self.leader == self.member_id

    @property
    def configuration(self) -> tuple[object, ...]:
        """The part of the setup that makes it join again when it changes."""
        return self.setup.configured, dict(self.setup.revisions)

    def next_number(self) -> int:
        """A number that no action has had."""
        self.numbers += 1
        return self.numbers

    def send(self, now_ms: int, request: Request, *, waits: bool = False) -> None:
        """Send a request, and set how long to wait for the answer: half a session at most, since a coordinator may hold
        heartbeats.
        """
        patience_ms = min(self.setup.request_timeout_ms, max(self.timing.session_ms // 2, 1))
        if waits:
            patience_ms += self.setup.rebalance_timeout_ms
        number = self.next_number()
        self.under_way = Sent(number, now_ms, now_ms + patience_ms, waits)
        self.out.append(Send(number, request))

    def back_off_ms(self, *, soon: bool) -> int:
        """How long to wait before the next try; `soon`: the first try comes without a wait."""
        self.attempts += 1
        steps = self.attempts - 2 if soon else self.attempts - 1
        if steps < 0:
            return 0
        longest = min(self.setup.backoff_ms << min(steps, 16), self.setup.backoff_max_ms)
        return int(longest * (0.8 + 0.4 * self.random()))

    # The session

    @property
    def waits(self) -> bool:
        """Whether it waits in a round, on an open connection: then the coordinator does not end the session."""
        return self.under_way is not None and self.under_way.waits and self.link is Link.UP

    @property
    def stop_at_ms(self) -> int | None:
        """When the worker stops everything by itself if no answer comes."""
        return None if self.session is None or self.waits else self.session.stop_ms

    @property
    def session_ends_ms(self) -> int | None:
        """From when on others may run what the worker owns, if no answer comes."""
        if self.session is None:
            return None
        waits_until_ms = self.under_way.expires_ms if self.waits and self.under_way is not None else 0
        return max(self.session.ends_ms, waits_until_ms)

    def alive(self, sent: Sent) -> None:
        """Extend the session: the coordinator has heard of the worker when this request was sent, or, if the answer
        waited, since the last poll.
        """
        self.begin_session(max(sent.at_ms, self.polled_ms) if sent.waits else sent.at_ms)

    def begin_session(self, at_ms: int) -> None:
        """Start the session at `at_ms`."""
        session_ms = self.timing.session_ms
        self.session = Session(at_ms, session_ms, self.setup.margin(session_ms))

    # When there is something to do

    @property
    def free(self) -> bool:
        """Whether it wants a round, and nothing is being stopped any more."""
        return self.phase is Phase.WANTS_ROUND and not self.revoking

    @property
    def heartbeats(self) -> bool:
        """Whether it sends heartbeats: it has a generation, and nothing else to send; also while it stops things, or
        computes.
        """
        phases = (Phase.STABLE, Phase.LEAVING, Phase.WANTS_ROUND, Phase.COMPUTING)
        return self.phase in phases and self.generation >= 0 and self.member_id != ""

    def due_ms(self) -> int | None:
        """When the next request is due. A JoinGroup does not wait for a held heartbeat: it makes the coordinator answer
        that heartbeat, and the answer is out of date then.
        """
        if self.link is not Link.UP:
            return None
        if self.under_way is not None and (self.under_way.waits or not self.free):
            return None
        if self.free or self.phase is Phase.PARTING:
            return self.not_before_ms
        if self.heartbeats:
            return max(self.next_ms, self.not_before_ms)
        return None

    def wake_at(self) -> int | None:
        """When something is due if nothing else happens."""
        times: list[int | None] = [self.due_ms()]
        if self.under_way is not None:
            times.append(self.under_way.expires_ms)
        if self.phase is Phase.STABLE:
            times.append(self.again_at_ms)
        if self.phase is Phase.COMPUTING:
            times.append(self.wait_until_ms)
        if self.link is Link.DOWN and self.phase not in (Phase.IDLE, Phase.GONE):
            times.append(self.seek_at_ms)
        if self.phase is Phase.PARTING:
            times.append(self.leave_by_ms)
        if self.phase in MEMBER and self.owned:
            times += [self.stop_at_ms, self.let_go_by_ms]
        elif self.phase is Phase.ABANDONING and not self.overrun:
            times.append(self.session_ends_ms)
        return min((time for time in times if time is not None), default=None)
