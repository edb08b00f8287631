"""The hub of a scenario: one shard on virtual time, without faults, and the workers' connections to it.

In a scenario only workers fail. The coordinator commits at once and never fails (`kcoord sim` breaks those). A
connection takes the same time each way for everything that it carries, and keeps the order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from random import Random

import attrs

from kcoord.group.apis.connect_group_describe import PlacementState
from kcoord.group.shard import Shard
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext, Step
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import ConnectGroupDescribeRequest, ConnectGroupDescribeResponse
from kcoord.protocol.records import Record
from kcoord.sim.basis.events import Events

WALL_MS = 1_700_000_000_000
SLOWEST_MS = 5
"""The longest latency of a connection, one way."""
OPERATOR = object()
"""The token of the operator's requests, which come on no connection."""

Keep = Callable[[int, Sequence[Record]], None]
"""Called with the time (unix ms) and the records of each step that writes some."""


@attrs.define(eq=False)
class Connection:
    """The connection of one worker."""

    serial: int
    client_id: str
    answered: Callable[[int, Response], None]
    latency_ms: int
    open: bool = True
    in_work: Call | None = None
    queue: deque[Call] = attrs.Factory(deque)


@attrs.define(eq=False)
class Call:
    """One request."""

    connection: Connection
    number: int
    request: Request
    version: int
    pipelined: bool = False


class Hub:
    """The coordinator, and the connections to it."""

    def __init__(self, events: Events, random: Random, settings: GroupSettings, keep: Keep | None = None) -> None:
        self.events = events
        self.requests = 0
        """How many requests have come."""
        self._random, self._keep = random, keep
        self._serials, self._ids = count(1), count(1)
        self.shard = Shard(settings, lambda: str(next(self._ids)))
        self._take(self.shard.loaded(0, WALL_MS))

    def connect(self, client_id: str, answered: Callable[[int, Response], None]) -> Connection:
        """Make a new connection."""
        return Connection(next(self._serials), client_id, answered, self._random.randint(1, SLOWEST_MS))

    def close(self, connection: Connection) -> None:
        """Close the connection."""
        if connection.open:
            connection.open = False
            connection.queue.clear()
            self.events.after(connection.latency_ms, self._closed, connection)

    def send(self, connection: Connection, number: int, request: Request, version: int) -> None:
        """Send a request."""
        call = Call(connection, number, request, version)
        self.events.after(connection.latency_ms, self._arrive, call)

    def configure(self, group: str, values: Mapping[str, str]) -> None:
        """Give the group these settings of its own, and no others."""
        now_ms = self.events.now_ms
        self._take(self.shard.alter_config(group, values, now_ms, WALL_MS + now_ms))

    def is_placed(self, group: str) -> bool:
        """Whether the group is at rest, and its placement rules hold as far as they can."""
        now_ms = self.events.now_ms
        context = RequestContext(0, "operator", "/10.0.0.1", 0, WALL_MS + now_ms)
        step = self.shard.handle(ConnectGroupDescribeRequest(group_ids=[group]), context, OPERATOR, now_ms)
        self._take(step)
        (response,) = [reply.response for reply in step.replies if reply.token is OPERATOR]
        assert isinstance(response, ConnectGroupDescribeResponse)
        (found,) = response.groups
        return found.group_state == ModernState.STABLE.label and found.placement_state != PlacementState.MOVING

    def _closed(self, connection: Connection) -> None:
        connection.in_work = None
        self._take(self.shard.closed(connection.serial, self.events.now_ms, WALL_MS + self.events.now_ms))

    def _arrive(self, call: Call) -> None:
        connection, now_ms = call.connection, self.events.now_ms
        if not connection.open:
            return
        if connection.in_work is None:
            self._begin(call)
            return
        call.pipelined = True
        connection.queue.append(call)
        self._take(self.shard.flush_held_reply(connection.serial, now_ms, WALL_MS + now_ms))

    def _begin(self, call: Call) -> None:
        connection, now_ms = call.connection, self.events.now_ms
        connection.in_work = call
        self.requests += 1
        context = RequestContext(
            call.version, connection.client_id, "/10.0.0.1", connection.serial, WALL_MS + now_ms, call.pipelined
        )
        self._take(self.shard.handle(call.request, context, call, now_ms))

    def _take(self, step: Step) -> None:
        step.checked()
        if self._keep is not None and step.records:
            self._keep(WALL_MS + self.events.now_ms, step.records)
        for reply in step.replies:
            call = reply.token
            if isinstance(call, Call) and call.connection.in_work is call:
                self._answer(call, reply.response)
        due_ms = self.shard.next_deadline()
        if due_ms is not None:
            self.events.at(due_ms, self._time)

    def _answer(self, call: Call, response: Response) -> None:
        connection = call.connection
        connection.in_work = None
        self.events.after(connection.latency_ms, self._deliver, call, response)
        if connection.queue:
            self._begin(connection.queue.popleft())

    def _deliver(self, call: Call, response: Response) -> None:
        if call.connection.open:
            call.connection.answered(call.number, response)

    def _time(self) -> None:
        due_ms = self.shard.next_deadline()
        if due_ms is not None and due_ms <= self.events.now_ms:
            self._take(self.shard.advance(self.events.now_ms, WALL_MS + self.events.now_ms))
