"""What does the coordinator know of one member of a group of the new protocol?

Durable: what it said of itself (`said`), what it may be running (`current`) at which epoch, and whether it was put out;
changed by `replay` alone. All else is session state: it starts afresh when the shard is loaded.

`current` is everything that the member may be running: reported or granted (CG-1). It shrinks only by
proof.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import attrs

from kcoord.group.deadlines import NEVER_MS
from kcoord.group.opening import Opening, Order, order
from kcoord.group.step import RequestContext, Token
from kcoord.group.translation.session import LegacySession

JOINING_EPOCH = 0
"""The epoch of a member that joins, and of one that has joined and has no whole target yet."""
LEAVING_EPOCH = -1
AWAY_EPOCH = -2
"""A static member that has left and means to come back (KIP-345; CG-28)."""
NO_EPOCH = -1
"""`previous_epoch` where there is none. Epoch 0 is never a previous epoch (CG-12)."""
NO_CONNECTION = -1

R = TypeVar("R")
Said = TypeVar("Said")


@attrs.define(slots=True, eq=False)
class Answer(Generic[R]):
    """What the last answer on the member's newest connection told it."""

    epoch: int
    told: frozenset[R]
    """What it was told to run, `current ∩ target` then."""
    computes: bool
    """It was told to compute the next assignment."""
    heartbeat_interval_ms: int
    session_timeout_ms: int
    reported: frozenset[R] | None = None
    """What it had reported then, all of `told` among it."""


@attrs.define(slots=True, eq=False, weakref_slot=False)
class Held(Generic[R]):
    """A heartbeat whose answer is kept back until there is something to say (CG-26)."""

    token: Token
    connection: int


@attrs.define(slots=True, eq=False, weakref_slot=False)
class Member(Generic[Said, R]):
    """A member, from its first heartbeat to its end."""

    member_id: str
    # durable
    said: Said
    """What it says of itself: the value of its record."""
    current: frozenset[R] = frozenset()
    recorded: bool = False
    """Whether there is a record of its current, which must go with it."""
    recorded_epoch: int = JOINING_EPOCH
    recorded_previous: int = NO_EPOCH
    put_out: bool = False
    """It did not let go within the rebalance timeout: it takes no part, its current stays reserved (CG-7)."""
    doubtful: frozenset[R] = frozenset()
    """What of its current a legacy worker came with, and others may have started since: with exactly-once sources its
    own tasks are dead then.
    """
    # session
    epoch: int = JOINING_EPOCH
    """The epoch that it was told; above the recorded one where it moved without a record (CG-11)."""
    previous_epoch: int = NO_EPOCH
    epoch_unsure: bool = False
    """After a load: it may have been told any epoch from the recorded one to the group's assignment epoch (CG-11)."""
    connection: int = NO_CONNECTION
    """The newest connection that it came by (CG-4), by its number."""
    opened: Opening | None = None
    """When that connection was made."""
    answer: Answer[R] | None = None
    """None until it was answered on that connection."""
    reported: frozenset[R] | None = None
    """What it last reported to own on that connection; None when a grant was sent since and must be reported anew."""
    last_seen_ms: int = 0
    session_timeout_ms: int = 0
    """What its last answer told."""
    session_holds_ms: int = 0
    """Its session does not end before: an earlier answer told it a longer one, and the last may be lost (CG-8)."""
    release_due_ms: int = NEVER_MS
    """When it is put out unless it lets go of what it was told to (CG-7)."""
    releasing: frozenset[R] = frozenset()
    """What it had been told to let go when `release_due_ms` was set."""
    version: int = 0
    """Moves with everything that could change the answer to its heartbeat: what it was answered last may be repeated
    while this stands (hot path, CG-25).
    """
    legacy: LegacySession | None = None
    """Where a worker of the generic protocol stands; None: it speaks the new one."""
    held: Held[R] | None = None
    wake_ms: int = NEVER_MS
    """For `Deadlines`: when a held answer leaves at the latest."""

    @property
    def away(self) -> bool:
        """Whether it is a static member that has left for a while (CG-28)."""
        return self.epoch == AWAY_EPOCH

    def move(self, epoch: int) -> None:
        """Be at `epoch` from now on; the one before stays good for a member that misses the answer (CG-12)."""
        if epoch != self.epoch:
            self.previous_epoch = self.epoch if self.epoch > JOINING_EPOCH else NO_EPOCH
            self.epoch = epoch

    def order_of(self, context: RequestContext) -> Order:
        """How a request's connection stands to the newest one that the member came by (CG-4)."""
        if self.connection == NO_CONNECTION:
            return Order.NEWER
        return order(context.connection, context.opened, self.connection, self.opened)

    def use(self, context: RequestContext) -> bool:
        """Belong to this request's connection, the newest one; True when that is another than before: nothing was told
        on it yet.
        """
        if context.connection == self.connection:
            return False
        self.connection, self.opened = context.connection, context.opened
        self.answer = None
        self.reported = None
        return True
