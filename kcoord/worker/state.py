"""The state of a worker's membership: its phases, and all that changes. No decision is made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

import attrs

from kcoord.assign import Resource
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Request
from kcoord.worker.actions import Action, Seek, Send
from kcoord.worker.computing import Computing
from kcoord.worker.heartbeat_fields import Saying
from kcoord.worker.setup import Setup

NOTHING: frozenset[Resource] = frozenset()


class Phase(Enum):
    """The phases of a worker; the columns of the table."""

    IDLE = "not started"
    JOINING = "owns nothing, joins with epoch 0"
    MEMBER = "a member, runs what it owns"
    ABANDONING = "stops all at once; says nothing until that is done"
    LEAVING = "a member that lets go of all, because it wants to leave"
    PARTING = "owns nothing, says that it leaves"
    GONE = "not a member, and will not be one"

    def __init__(self, _: str) -> None:
        self.column = len(type(self).__members__)


# A worker looks at these in every step, and looking up an enum's member takes some 20 times as long as a name.
JOINING, MEMBER, ABANDONING = Phase.JOINING, Phase.MEMBER, Phase.ABANDONING
LEAVING, PARTING = Phase.LEAVING, Phase.PARTING


class Link(Enum):
    """The state of the connection to the coordinator."""

    DOWN = "to be sought, not before `seek_at_ms`"
    SEEKING = "is sought"
    UP = "there"


UP, DOWN = Link.UP, Link.DOWN


class Call(Enum):
    """The kind of a request under way."""

    HEARTBEAT = "heartbeat"
    LEAVE = "leave"
    PREPARE = "prepare"
    INSTALL = "install"


HEARTBEAT = Call.HEARTBEAT


@frozen(slots=True)
class Sent:
    """A request under way."""

    number: int
    call: Call
    at_ms: int
    expires_ms: int
    epoch: int
    hold_ms: int = 0
    """How long its answer may be held."""
    said: Mapping[str, object] = attrs.field(factory=dict)
    owned: frozenset[Resource] = NOTHING
    """What the worker owned when the request was sent, reported or not."""
    releases_behind: bool = False
    """The request reports a release, and was sent while another answer was still to come. So the release does not count
    yet.
    """


@frozen(slots=True)
class Session:
    """The session: how long the coordinator certainly keeps this worker.

    It counts from the sending of the last heartbeat that was answered, which is before the coordinator received it
    (CG-8).
    """

    sent_ms: int
    timeout_ms: int
    margin_ms: int
    ends_ms: int = attrs.field(init=False)
    """From then on others may run what this worker owns."""
    stop_ms: int = attrs.field(init=False)
    """When the worker stops by itself."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "ends_ms", self.sent_ms + self.timeout_ms)
        object.__setattr__(self, "stop_ms", self.ends_ms - self.margin_ms)


@attrs.define(eq=False)
class MembershipState:
    """One worker's membership."""

    setup: Setup
    random: Callable[[], float]
    """0 ≤ x < 1, for the jitter of back-offs."""

    phase: Phase = Phase.IDLE
    after: Phase = Phase.JOINING
    """The phase that follows ABANDONING."""
    epoch: int = 0
    interval_ms: int = 0
    session: Session | None = None
    error: tuple[int, str | None] = (0, None)
    """The error with which the worker will be GONE."""
    leave_epoch: int = -1
    leave_by_ms: int | None = None

    # What it owns (CG-3: from the receipt of a grant until `on_revoked` has returned)
    assigned: frozenset[Resource] = NOTHING
    """The last assignment that the worker received."""
    revoking: dict[int, frozenset[Resource]] = attrs.Factory(dict)
    """Revocations that are running, by number."""
    owned: frozenset[Resource] = NOTHING
    """Both together: all that may be running."""
    abandonment: int = -1
    told_epoch: int = -1
    overrun: bool = False

    # What it says
    saying: Saying = attrs.Factory(Saying)
    urgent: bool = False
    """There is something to report before the next heartbeat is due."""
    has_let_go: bool = False
    """Something has been released since the last heartbeat."""
    unheld: bool = False
    """The next heartbeat's answer must not be held: something was left out that only a new answer brings back."""
    next_ms: int = 0
    """When the next heartbeat is due."""
    not_before_ms: int = 0
    """A back-off, or the coordinator's throttle."""
    attempts: int = 0
    """Failures in a row."""

    # Requests and the way they go
    link: Link = Link.DOWN
    seek_at_ms: int = 0
    under_way: dict[int, Sent] = attrs.Factory(dict)
    numbers: int = 0
    computing: Computing = attrs.Factory(Computing)

    out: list[Action] = attrs.Factory(list)
    """What is to be done, in order."""

    def next_number(self) -> int:
        """A number that was never used."""
        self.numbers += 1
        return self.numbers

    def count_owned(self) -> None:
        """Recount `owned` after `assigned` or `revoking` has changed."""
        self.owned = self.assigned.union(*self.revoking.values())

    def own_nothing(self) -> frozenset[Resource]:
        """Own nothing from now on. Returns what was owned."""
        owned = self.owned
        self.revoking.clear()
        self.assigned = self.owned = NOTHING
        return owned

    # The way to the coordinator

    def send(
        self,
        call: Call,
        now_ms: int,
        request: Request,
        *,
        hold_ms: int = 0,
        said: Mapping[str, object] | None = None,
        releases_behind: bool = False,
    ) -> int:
        """Send a request. Returns its number."""
        self.numbers = number = self.numbers + 1
        patience_ms = self.setup.request_timeout_ms
        if self.session is not None and self.session.timeout_ms // 3 < patience_ms:
            patience_ms = self.session.timeout_ms // 3  # leaves time for another try before the session ends
        expires_ms = now_ms + hold_ms + patience_ms
        self.under_way[number] = Sent(
            number, call, now_ms, expires_ms, self.epoch, hold_ms, said or {}, self.owned, releases_behind
        )
        self.out.append(Send(number, request))
        return number

    def heartbeats(self) -> list[Sent]:
        """Heartbeats under way, the oldest first."""
        if not self.under_way:
            return []
        return [each for each in self.under_way.values() if each.call is HEARTBEAT]

    def count_heartbeats(self) -> int:
        """How many heartbeats are under way."""
        beats = 0
        for each in self.under_way.values():
            if each.call is HEARTBEAT:
                beats += 1
        return beats

    def hang_up(self) -> None:
        """The connection is over, with all requests under way. On the next one a heartbeat reports all fields at
        once.
        """
        self.link = Link.DOWN
        self.urgent = True
        self.under_way.clear()
        self.saying.forget()
        self.computing.stop()

    def back_off_ms(self) -> int:
        """How long to wait after one more failure in a row: not at all the first time, then longer and longer, with
        jitter.
        """
        self.attempts += 1
        if self.attempts == 1:
            return 0
        longest = min(self.setup.backoff_ms << min(self.attempts - 2, 16), self.setup.backoff_max_ms)
        return int(longest * (0.8 + 0.4 * self.random()))

    def seek_off_ms(self) -> int:
        """How long to wait before seeking the coordinator. Some time also after the first failure, so that not all
        workers come at once.
        """
        return self.back_off_ms() or int(self.setup.backoff_ms * self.random())

    def seek(self, now_ms: int) -> None:
        """Seek the coordinator now."""
        self.link = Link.SEEKING
        self.out.append(Seek())
