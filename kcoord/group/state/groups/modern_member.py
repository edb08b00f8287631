"""The state of one member of a group without a barrier: metadata, current, epochs, connection, last answer, timers.

Durable, and changed by `replay` alone: the member's metadata, what it may be running (`current`) and its
epoch, and whether it is excluded (`evicted`). Everything else is session state and starts fresh after a load.

`current` is everything that the member may be running (CG-1). It shrinks only when the coordinator knows that the
member has stopped.
"""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import attrs

from kcoord.group.state.classic_workers.session import ClassicSession
from kcoord.group.state.connection_opening import Opening, Order, order
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.step import RequestContext, Token

JOINING_EPOCH = 0
"""The epoch of a member that joins, and of one that has joined but does not own a whole target yet."""
LEAVING_EPOCH = -1
AWAY_EPOCH = -2
"""The epoch of a static member that has left for a while and will come back (KIP-345, CG-28)."""
NO_EPOCH = -1
"""The `previous_epoch` of a member that has none. Epoch 0 is never a previous epoch (CG-12)."""
NO_CONNECTION = -1

R = TypeVar("R")
Metadata = TypeVar("Metadata")


@attrs.define(slots=True, eq=False)
class Answer(Generic[R]):
    """What the last answer on the member's newest connection said."""

    epoch: int
    assignment_sent: frozenset[R]
    """What the member is to run: `current ∩ target` at that time."""
    computes: bool
    """Whether it asked the member to compute the next assignment."""
    heartbeat_interval_ms: int
    session_timeout_ms: int
    reported: frozenset[R] | None = None
    """What the member had reported by then, if all of `assignment_sent` was in it; else None."""


@attrs.define(slots=True, eq=False, weakref_slot=False)
class Held(Generic[R]):
    """A heartbeat whose answer is held until there is something to say (CG-26)."""

    token: Token
    connection: int


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ModernMember(Generic[Metadata, R]):
    """A member, from its first heartbeat until it is removed."""

    member_id: str
    # durable
    metadata: Metadata
    """The member's metadata: what it says about itself. The value of its record."""
    current: frozenset[R] = frozenset()
    recorded: bool = False
    """Whether the log has a record of its current, which must be deleted with the member."""
    recorded_epoch: int = JOINING_EPOCH
    recorded_previous: int = NO_EPOCH
    evicted: bool = False
    """It did not release in its rebalance timeout. It is excluded from assignments; its current stays reserved (CG-7).
    """
    doubtful: frozenset[R] = frozenset()
    """The part of its current that a classic member ran already when it joined, and that others may have started since:
    then its own tasks of exactly-once sources are dead (CM-12).
    """
    # session
    epoch: int = JOINING_EPOCH
    """The epoch that an answer told it. Above the recorded one if it moved without a record (CG-11)."""
    previous_epoch: int = NO_EPOCH
    epoch_unsure: bool = False
    """After a load: its epoch may be any from the recorded one to the group's assignment epoch (CG-11)."""
    connection: int = NO_CONNECTION
    """The number of the newest connection that it used (CG-4)."""
    opened: Opening | None = None
    """When that connection was made."""
    answer: Answer[R] | None = None
    """The last answer on that connection; None: there was none yet."""
    reported: frozenset[R] | None = None
    """What it last reported on that connection as owned. None: nothing yet, or nothing since the last grant."""
    last_seen_ms: int = 0
    session_timeout_ms: int = 0
    """The session timeout in its last answer."""
    session_holds_ms: int = 0
    """Its session ends no earlier than this: an earlier answer had a longer timeout, and the last answer may be lost
    (CG-8).
    """
    release_due_ms: int = NEVER_MS
    """When it is excluded if it has not released what answers withdrew (CG-7)."""
    releasing: frozenset[R] = frozenset()
    """What it must release: current without what the last answer told it to run (after a load: without its target)."""
    version: int = 0
    """Moves with everything that could change the answer to its heartbeat. While it is the same, the hot path may
    repeat the last answer (CG-25).
    """
    classic: ClassicSession | None = None
    """The session state of a classic member; None: the member speaks the new protocol."""
    held: Held[R] | None = None
    wake_ms: int = NEVER_MS
    """For `Deadlines`: when a held answer leaves at the latest."""

    @property
    def away(self) -> bool:
        """Whether it is a static member that has left for a while (CG-28)."""
        return self.epoch == AWAY_EPOCH

    def move(self, epoch: int) -> None:
        """Move the member to `epoch`. The epoch before is still accepted if the member misses the answer (CG-12)."""
        if epoch != self.epoch:
            self.previous_epoch = self.epoch if self.epoch > JOINING_EPOCH else NO_EPOCH
            self.epoch = epoch

    def order_of(self, context: RequestContext) -> Order:
        """Whether a request's connection is older or newer than the newest one that the member used (CG-4)."""
        if self.connection == NO_CONNECTION:
            return Order.NEWER
        return order(context.connection, context.opened, self.connection, self.opened)

    def use(self, context: RequestContext) -> bool:
        """Note the request's connection as the member's newest. True if it is another one than before: nothing has been
        answered on it yet.
        """
        if context.connection == self.connection:
            return False
        self.connection, self.opened = context.connection, context.opened
        self.answer = None
        self.reported = None
        return True


AnyMember: TypeAlias = ModernMember[Any, Any]
"""A member of a group of any kind."""
