"""What goes into a step of a shard, and what comes out of it?

In: a request, the context of its connection, a token for whoever waits, and the time. Out: a `Step`, the records to
append and the replies to release once all that the shard had appended by then is committed.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from kcoord.group.opening import Opening
from kcoord.protocol.frozen import frozen
from kcoord.protocol.message import Request, Response
from kcoord.protocol.records import Record

Token = object
"""Whoever waits for the reply to one request; handed back as it came, never looked into."""


class Versioned(Protocol):
    """What an answer is made from, as far as the hot path knows it: a generic group, a member of a connect group."""

    version: int
    """Moves with everything that could change the answer to a heartbeat."""


class Session(Protocol):
    """A member's session, as far as the hot path knows it."""

    last_seen_ms: int


class Lease(Protocol):
    """Until when answers may be given for a shard, as far as the hot path knows it (CG-27)."""

    until_ms: int


@attrs.define(slots=True, eq=False)
class Forever:
    """The lease of a shard that nobody else can have."""

    until_ms: int = 1 << 62


FOREVER = Forever()


@frozen(slots=True)
class RequestContext:
    """What a step knows of the connection that a request came by, and the time of day."""

    api_version: int
    client_id: str
    client_host: str
    """The client's address as Kafka writes it, with a leading "/"."""
    connection: int
    """Serial number of the connection in this process; a newer one has a higher number."""
    wall_ms: int
    """Unix time in ms, for what is written into records; timers run on the step's own `now_ms`."""
    pipelined: bool = False
    """Whether an earlier request of the connection was still unanswered when this one was read, so that its sender
    cannot have known that answer (CG-3).
    """
    opened: Opening | None = None
    """When the connection was made. None: its number says which connections are older, as there is one process only."""


@frozen(slots=True)
class Ahead:
    """A request that is yet to come by that connection, and what it would be answered."""

    request: Request
    response: Response


@frozen(slots=True)
class Remember:
    """A converged member's heartbeat: the same frame may be answered the same way while `basis.version == version` and
    the shard's `lease` runs.

    Whoever answers so sets `session.last_seen_ms`.
    """

    basis: Versioned
    version: int
    session: Session
    ahead: Ahead | None = None
    """What is remembered instead of the frame that was answered, where the member says something else next time."""
    lease: Lease = FOREVER


@frozen(slots=True)
class Reply:
    """The answer to the request that came with `token`."""

    token: Token
    response: Response
    remember: Remember | None = None


@frozen(slots=True, eq=False)
class Fault:
    """A part of a step that broke off and was undone (`isolation`)."""

    group_id: str
    during: str
    """What was being done: an API's name, or what fell due."""
    error: Exception
    quarantined_ms: int = 0
    """For so long the group's own time stands still, or, where `closed`, the group is not served at all."""
    closed: bool = False
    """The group could not be opened again either."""


@frozen(slots=True)
class Slowed:
    """A group's next rebalance has to wait, because the last ones have changed nothing (`repetition`)."""

    group_id: str
    times: int
    """How many in a row have repeated an earlier one."""
    begins: bool
    """It is the first of them that has to wait."""


@attrs.define(slots=True, eq=False)
class Step:
    """What one call of a shard wants done: `records` are one atomic append, in order; `replies` leave when it is
    committed.
    """

    records: list[Record] = attrs.Factory(list)
    encoded: list[tuple[bytes, bytes | None]] = attrs.Factory(list)
    """The same records as bytes, each measured: the log takes them."""
    encoded_bytes: int = 0
    replies: list[Reply] = attrs.Factory(list)
    slowed: list[Slowed] = attrs.Factory(list)
    excess: str | None = None
    """What the request brought too much of, so that it was refused and nothing was done (`limits`)."""
    refused: list[Token] = attrs.Factory(list)
    """Who waited in a group that was restored after a fault: each is told NOT_COORDINATOR, and asks again."""
    faults: list[Fault] = attrs.Factory(list)
    failed: bool = False
    """What this step was asked for was not done."""

    def checked(self) -> Step:
        """This step, or the error that broke off a part of it: for whoever looks for faults and must not hide one."""
        for fault in self.faults:
            raise fault.error
        return self
