"""Instances with coordinators of their own and real sockets between them, over a map that the test draws.

Each has an embedded log and gains what the map gives it, so that nothing but the map and the relay is in question.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import attrs

from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext
from kcoord.instances.instance_map import Instance, InstanceMap
from kcoord.instances.link import Link, Myself
from kcoord.instances.listener import InternalListener
from kcoord.instances.request_routing import SharedGroups
from kcoord.instances.secret import Secret
from kcoord.instances.tls import InternalTls
from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.messages import Request, Response
from kcoord.server.shards.coordinator import Coordinator

PARTITIONS = 4
SECRET = "sixteen characters and more"
FRAME_LIMIT = 1 << 20
TIMEOUT_S = 2.0
AWAY_MS = 3_600_000
"""Longer than any test: who came by an instance that is gone does not expire within it."""


@attrs.define(eq=False)
class Neighbour:
    """One instance."""

    number: int
    coordinator: Coordinator
    listener: InternalListener
    myself: Myself
    instance: Instance
    map: InstanceMap = attrs.Factory(lambda: InstanceMap(epoch=0))
    links: dict[int, Link] = attrs.Factory(dict)
    dead: set[int] = attrs.Factory(set)
    """The others that this one knows to be dead, by number."""
    redrawn: asyncio.Event = attrs.Factory(asyncio.Event)
    groups: SharedGroups = attrs.field(init=False)
    _connections: itertools.count[int] = attrs.Factory(lambda: itertools.count(1))

    def __attrs_post_init__(self) -> None:
        self.groups = SharedGroups(self.coordinator, self, self._way_to, self.myself.timeout_s)

    def is_self(self, instance: Instance | None) -> bool:
        return instance is not None and instance.instance_id == self.number

    def has_died(self, instance: Instance) -> bool:
        return instance.instance_id in self.dead

    async def changed(self) -> None:
        await self.redrawn.wait()

    def redraw(self, drawn: InstanceMap) -> None:
        """From now on this is the map here."""
        self.map = drawn
        self.redrawn.set()
        self.redrawn = asyncio.Event()

    def connect(self, client_id: str = "tester") -> Client:
        """A client's connection to this instance."""
        return Client(self, next(self._connections), client_id)

    def _way_to(self, instance: Instance) -> Link | None:
        if instance.internal is None:
            return None
        if instance.instance_id not in self.links:
            self.links[instance.instance_id] = Link(self.myself, instance.instance_id, instance.internal)
        return self.links[instance.instance_id]


@attrs.define(eq=False)
class Client:
    """A client, as far as an instance's front has read its requests."""

    neighbour: Neighbour
    connection: int
    client_id: str
    is_patient: bool = False

    async def ask(self, request: Request, version: int) -> Response:
        context = RequestContext(
            api_version=version,
            client_id=self.client_id,
            client_host=f"/10.0.0.{self.connection}",
            connection=self.connection,
            wall_ms=1_700_000_000_000,
            is_patient=self.is_patient,
        )
        response, _ = await self.neighbour.groups.call(request, context)
        return response

    def begin(self, request: Request, version: int) -> asyncio.Task[Response]:
        """Ask without waiting."""
        return asyncio.create_task(self.ask(request, version))


@asynccontextmanager
async def neighbours(
    folder: Path,
    owners: Sequence[int | None],
    *,
    secrets: Sequence[str | None] = (),
    tls: Sequence[InternalTls | None] = (),
    number: int = 2,
    timeout_s: float = TIMEOUT_S,
    settings: GroupSettings | None = None,
) -> AsyncIterator[list[Neighbour]]:
    """So many instances, numbered from 0; `owners` are those of the partitions."""
    stack: list[Neighbour] = []
    logs: list[EmbeddedLog] = []
    for at in range(number):
        log = EmbeddedLog(folder / str(at), partitions=PARTITIONS)
        await log.open()
        logs.append(log)
        coordinator = Coordinator(
            log,
            settings or GroupSettings(initial_rebalance_delay_ms=0),
            PARTITIONS,
            partial(next, (f"id{at}-{number}" for number in itertools.count())),
        )
        for partition, owner in enumerate(owners):
            if owner == at:
                await coordinator.gain(partition)
        secret = Secret(secrets[at] if secrets else SECRET)
        sides = tls[at] if tls else None
        serials = partial(next, itertools.count(1000))
        called, caller = (None, None) if sides is None else (sides.of_called(), sides.of_caller())
        listener = InternalListener(at, coordinator, serials, secret, called, FRAME_LIMIT, AWAY_MS)
        port = await listener.listen("127.0.0.1", 0)
        instance = Instance(
            instance_id=at, started_ms=at, host="127.0.0.1", port=9092 + at, internal=("127.0.0.1", port)
        )
        myself = Myself(at, f"run-{at}", secret, caller, timeout_s, FRAME_LIMIT)
        stack.append(Neighbour(at, coordinator, listener, myself, instance))
    drawn = InstanceMap(epoch=1, instances={each.number: each.instance for each in stack}, partitions=tuple(owners))
    for each in stack:
        each.map = drawn
    try:
        yield stack
    finally:
        for each in stack:
            for link in each.links.values():
                link.close()
            each.listener.close()
        for each, log in zip(stack, logs, strict=True):
            await each.coordinator.stop()
            await log.close()
