"""The coordinator of a run with two releases: after each crash it is of either release, and loads what both have
written.
"""

from __future__ import annotations

from typing import Any

from kcoord.group.error_responses import refuse
from kcoord.group.shard import Shard
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import HOST, UP, Coordinator
from kcoord.sim.network import Frame
from kcoord.sim.release.former_context import FormerContext
from kcoord.sim.release.sides import OtherShard, RawRecord, Side


class ReleaseCoordinator(Coordinator):
    """One shard at a time, of one release or the other."""

    def __init__(
        self, context: RunContext, settings: GroupSettings, sides: tuple[Side, Side], view: FormerContext
    ) -> None:
        super().__init__(context, settings)
        self.sides = sides
        """This release, and the other one."""
        self._ours, self._theirs = sides
        self._view = view
        self.side = context.random.choice(sides)
        """The release of the shard."""

    @property
    def is_ours(self) -> bool:
        """Whether this release coordinates."""
        return self.side is self._ours

    def start(self) -> None:
        """Load the log, and serve. A process that has died may come back as one of the other release."""
        if self.stage is not UP and not self._network.links:
            self.side = self._random.choice(self.sides)
            self._context.note("coordinator", f"is of {self.side.name}")
        super().start()

    def replayed(self, *, compacted: bool, everything: bool = False, predecessor: Any = None) -> Any:
        """A shard as this coordinator's release loads it."""
        return self.replayed_by(self.side, compacted=compacted, everything=everything, predecessor=predecessor)

    def replayed_by(self, side: Side, *, compacted: bool, everything: bool = False, predecessor: Any = None) -> Any:
        """A shard of one release, from what both have written."""
        records = [self._raw(record) for record in self.storage.load()]
        if everything:
            records += [self._raw(record) for pending in self.pending for record in pending.records]
        if compacted:
            last = {key: at for at, (key, _) in enumerate(records)}
            records = [records[at] for at in sorted(last.values()) if records[at][1] is not None]
        shard = self._new_shard(side, predecessor)
        for record in records:
            shard.replay(side.decode(record))
        return shard

    def _raw(self, record: Any) -> RawRecord:
        return (self._ours if self._ours.knows(record) else self._theirs).encode(record)

    def _new_shard(self, side: Side, predecessor: Any) -> Any:
        if side is self._ours:
            return Shard(self.settings, self._make_id, predecessor if isinstance(predecessor, Shard) else None)
        before = predecessor._shard if isinstance(predecessor, OtherShard) else None
        settings = side.module("sim.world").World._settings(self._view)
        return OtherShard(side.module("group.shard").Shard(settings, self._make_id, before))

    # -- messages -----------------------------------------------------------------------------------------------------

    def ask(self, request: Request) -> None:
        """An administrator's request. Its response does not matter."""
        super().ask(self.side.read(request, 0))

    def describe(self, request: Request) -> Any:
        """The coordinator's response to a question, as this release reads it."""
        found = self.shard.handle(self.side.read(request, 0), self.request_context(0), None, self._events.now_ms)
        return self._ours.read(found.replies[0].response, 0)

    def _received(self, frame: Frame) -> Request:
        read: Request = self.side.read(frame.request, frame.version)
        return read

    def _as_sent(self, frame: Frame, response: Response) -> Response:
        side = getattr(frame.link.client, "side", self._ours)
        sent: Response = side.read(response, frame.version)
        return sent

    def _refusal(self, request: Request, error: ErrorCode) -> Response:
        return refuse(self._ours.read(request, 0), error)

    def request_context(
        self, connection: int, pipelined: bool = False, version: int = 0, client_id: str = "admin"
    ) -> RequestContext:
        """What the shard is told of a request's connection, as its release has it."""
        if self.is_ours:
            return super().request_context(connection, pipelined, version, client_id)
        make = self.side.module("group.step").RequestContext
        context: RequestContext = make(version, client_id, HOST, connection, self.wall_ms, pipelined)
        return context
