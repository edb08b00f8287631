"""The state of a consumer's membership: its phases, and all that changes. No decision is made here."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import attrs

from kcoord.consumer.actions import Action, Partition, Seek, Send
from kcoord.consumer.computing import ConsumerComputing
from kcoord.consumer.setup import Setup
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Request
from kcoord.worker.setup import Offer

NOTHING: frozenset[Partition] = frozenset()
UNKNOWN_INTERVAL_MS = 15_000
"""The interval that is assumed before the coordinator has said one: the longest that a group may have by default."""


class Phase(Enum):
    """The phases of a consumer; the columns of the table."""

    IDLE = "not started"
    JOINING = "owns nothing, joins with epoch 0"
    MEMBER = "a member"
    LOSING = "stops all at once; sends no heartbeat until that is done"
    AWAY = "owns nothing and has left, because the application does not poll"
    LEAVING = "a member that lets go of all, because it wants to leave"
    PARTING = "owns nothing, says that it leaves"
    GONE = "not a member, and will not be one"

    def __init__(self, _: str) -> None:
        self.column = len(type(self).__members__)


class Link(Enum):
    """The state of the connection to the coordinator."""

    DOWN = "to be sought, not before `seek_at_ms`"
    SEEKING = "is sought"
    UP = "there"


class Call(Enum):
    """The kind of a request under way."""

    HEARTBEAT = "heartbeat"
    FAREWELL = "farewell"
    PREPARE = "prepare"
    INSTALL = "install"


@frozen(slots=True)
class Sent:
    """A request under way."""

    number: int
    call: Call
    at_ms: int
    expires_ms: int
    epoch: int
    owned: frozenset[Partition] | None
    """The list of owned partitions in it; None: it has no list."""
    offers: tuple[Offer, ...] | None
    """The client-side assignors in it; None: it has none."""


@attrs.define(eq=False)
class MembershipState:
    """One consumer's membership."""

    setup: Setup
    random: Callable[[], float]
    """0 ≤ x < 1, for the jitter of back-offs."""

    phase: Phase = Phase.IDLE
    after: Phase = Phase.JOINING
    """The phase that follows LOSING."""
    epoch: int = 0
    interval_ms: int = UNKNOWN_INTERVAL_MS
    error: tuple[int, str | None] = (0, None)
    """The error with which the consumer will be GONE."""
    leave_epoch: int = attrs.Factory(lambda self: -1 if self.setup.instance_id is None else -2, takes_self=True)
    """A static member says that it will be back."""
    leave_by_ms: int | None = None

    # What it owns, from the receipt of a grant until `on_revoked` has returned
    assigned: frozenset[Partition] = NOTHING
    """The last assignment that the consumer received."""
    revoking: dict[int, frozenset[Partition]] = attrs.Factory(dict)
    """Revocations that are running, by number."""
    owned: frozenset[Partition] = NOTHING
    """Both together."""
    loss: int = -1
    """The number of the `Lose` that is being carried out."""

    # The application
    polled_ms: int | None = 0
    """When it polled last; None: it is waiting in a poll."""
    overdue: bool = False
    """It has not polled for so long that the consumer has left, and it still has not."""

    # What it says
    said: frozenset[Partition] | None = None
    """The list of owned partitions that the coordinator has; None: the next heartbeat says everything."""
    offers: tuple[Offer, ...] = ()
    """The client-side assignors that this consumer can run, the preferred one first."""
    said_offers: tuple[Offer, ...] = ()
    """Those that the coordinator has."""
    hurried: bool = False
    """The next heartbeat is wanted at once."""
    next_ms: int = 0
    """When the next heartbeat is due."""
    not_before_ms: int = 0
    """A back-off, or the coordinator's throttle."""
    attempts: int = 0
    """Failures in a row."""
    unanswered: bool = False
    """A join or a farewell has had no answer: the coordinator may still know this instance as there."""

    # Requests and the way they go
    link: Link = Link.DOWN
    seek_at_ms: int = 0
    under_way: dict[int, Sent] = attrs.Factory(dict)
    numbers: int = 0
    computing: ConsumerComputing = attrs.Factory(ConsumerComputing)
    message: tuple[int, bytes] = (0, b"")
    """What the assignor that computed tells this member, by the last answer with an assignment: version, metadata."""
    told_epoch: int = 0
    """The last epoch of which the assignor was told; 0: of none."""

    out: list[Action] = attrs.Factory(list)
    """What is to be done, in order."""

    def next_number(self) -> int:
        """A number that was never used."""
        self.numbers += 1
        return self.numbers

    def count_owned(self) -> None:
        """Recount `owned` after `assigned` or `revoking` has changed."""
        self.owned = self.assigned.union(*self.revoking.values())

    def own_nothing(self) -> None:
        """Own nothing from now on."""
        self.revoking.clear()
        self.assigned = self.owned = NOTHING

    # The way to the coordinator

    def send(
        self,
        call: Call,
        now_ms: int,
        request: Request,
        owned: frozenset[Partition] | None = None,
        offers: tuple[Offer, ...] | None = None,
    ) -> int:
        """Send a request. The answer to a heartbeat may be held for an interval. Returns its number."""
        number = self.next_number()
        expires_ms = now_ms + self.setup.request_timeout_ms + (self.interval_ms if call is Call.HEARTBEAT else 0)
        self.under_way[number] = Sent(number, call, now_ms, expires_ms, self.epoch, owned, offers)
        self.out.append(Send(number, request))
        return number

    def waits_for(self, call: Call) -> bool:
        """Whether a request of that kind is under way."""
        return any(each.call is call for each in self.under_way.values())

    def hang_up(self) -> None:
        """The connection is over, with all requests under way. On the next one a heartbeat says everything at once."""
        self.unanswered |= any(each.call is Call.FAREWELL or each.epoch == 0 for each in self.under_way.values())
        self.link = Link.DOWN
        self.under_way.clear()
        self.computing.stop()
        self.said = None

    def back_off_ms(self) -> int:
        """How long to wait after one more failure in a row: longer and longer, with jitter."""
        self.attempts += 1
        longest = min(self.setup.backoff_ms << min(self.attempts - 1, 16), self.setup.backoff_max_ms)
        return int(longest * (0.8 + 0.4 * self.random()))

    def seek(self) -> None:
        """Seek the coordinator now."""
        self.link = Link.SEEKING
        self.out.append(Seek())
