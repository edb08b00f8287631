"""The input and output of a shard's step: request context, token, records, replies, faults.

In: a request, the context of its connection, a token for the client that waits, and the time. Out: a `Step` with the
records to append, and the replies to send once all that the shard has appended by then is committed.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from kcoord.group.state.connection_opening import Opening
from kcoord.group.state.seen_topics import SeenTopics
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.records import Record

Token = object
"""Stands for the client that waits for the reply to one request. The shard hands it back and never looks into it."""


class Versioned(Protocol):
    """What an answer depends on, as the hot path sees it: a classic group, or a member of a connect group."""

    version: int
    """Moves with everything that could change the answer to a heartbeat."""


class Session(Protocol):
    """A member's session, as the hot path sees it."""

    last_seen_ms: int


class Lease(Protocol):
    """The lease of a shard, as the hot path sees it: until when answers may be sent (CG-27)."""

    until_ms: int


@attrs.define(slots=True, eq=False)
class Forever:
    """The lease of a shard that no other instance can have: it never ends."""

    until_ms: int = 1 << 62


FOREVER = Forever()


@frozen(slots=True)
class RequestContext:
    """What a step knows about the connection of a request, and the time of day."""

    api_version: int
    client_id: str
    client_host: str
    """The client's address as Kafka writes it, with a leading "/"."""
    connection: int
    """Serial number of the connection in this process; a newer one has a higher number."""
    wall_ms: int
    """Unix time in ms, for records. Timers use the step's `now_ms`."""
    pipelined: bool = False
    """Whether an earlier request of the connection was still unanswered when this one was read. Then its sender cannot
    have known that answer (CG-3).
    """
    opened: Opening | None = None
    """When the connection was made. None: there is only one process, so connection numbers alone say which is newer."""
    resolved: frozenset[str] | None = None
    """The topics that match the regular expression in the request, or, in front of a cluster, that of the request's
    sender; None: it has none, or nobody has looked.
    """
    seen: SeenTopics | None = None
    """In front of a cluster: what it has shown of the topics that the request's sender subscribes to; None: nobody has
    looked, or nothing has changed.
    """
    is_patient: bool = False
    """Whether the client is known to wait for the answer to a heartbeat for longer than one interval (KG-10)."""


@frozen(slots=True)
class PredictedReply:
    """A request that is expected next on that connection, and the answer to it."""

    request: Request
    response: Response


@frozen(slots=True)
class CachedReply:
    """What the hot path may remember of a heartbeat: it may answer the same frame in the same way while
    `basis.version == version` and the shard's `lease` runs. It then sets `session.last_seen_ms`.
    """

    basis: Versioned
    version: int
    session: Session
    predicted: PredictedReply | None = None
    """If the member's next heartbeat will differ from this one: that heartbeat, which is remembered instead."""
    lease: Lease = FOREVER


@frozen(slots=True)
class Reply:
    """The answer to the request that came with `token`."""

    token: Token
    response: Response
    cached: CachedReply | None = None


@frozen(slots=True, eq=False)
class Fault:
    """A part of a step that broke off and was undone (`isolation`)."""

    group_id: str
    during: str
    """What was being done: an API's name, or what fell due."""
    error: Exception
    quarantined_ms: int = 0
    """How long nothing falls due in the group, in ms; if `closed`, how long the group is not served at all."""
    closed: bool = False
    """Whether opening the group again failed too."""


@frozen(slots=True)
class Slowed:
    """A group's next rebalance must wait, because the last ones have changed nothing (`repetition`)."""

    group_id: str
    times: int
    """How many rebalances in a row have repeated an earlier one."""
    begins: bool
    """Whether this is the first rebalance in the row that must wait."""


@frozen(slots=True)
class Unassigned:
    """An assignor of a consumer group has failed, so that the group keeps its targets."""

    group_id: str
    why: str
    times: int
    """How often in a row it has failed for that group epoch."""


@attrs.define(slots=True, eq=False)
class Step:
    """The result of one call of a shard. `records` are one atomic append, in order. `replies` are sent when it is
    committed.
    """

    records: list[Record] = attrs.Factory(list)
    encoded: list[tuple[bytes, bytes | None]] = attrs.Factory(list)
    """The same records as bytes. Each one has been measured and fits the log."""
    encoded_bytes: int = 0
    replies: list[Reply] = attrs.Factory(list)
    slowed: list[Slowed] = attrs.Factory(list)
    computed: list[str] = attrs.Factory(list)
    """The consumer groups for which the step has made an assignment. The shell tells how long that took (`Shard.took`).
    """
    unassigned: list[Unassigned] = attrs.Factory(list)
    excess: str | None = None
    """Which limit the request exceeded, so that it was refused and nothing was done (`limits`)."""
    refused: list[Token] = attrs.Factory(list)
    """Clients that waited in a group that was restored after a fault. Each gets NOT_COORDINATOR and asks again."""
    faults: list[Fault] = attrs.Factory(list)
    failed: bool = False
    """Whether the request of this step was not carried out."""

    def checked(self) -> Step:
        """This step; raises the error that broke off a part of it. For callers that look for faults."""
        for fault in self.faults:
            raise fault.error
        return self
