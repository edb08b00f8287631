"""A member that does what a client does: it beats, joins when it is told to, commits, and finds its coordinator again.

What it must never meet is counted: that it is unknown, so that it has to begin from its last commit.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import SyncGroupResponse
from kcoord.protocol.primitives import DecodeError
from tests.gateway.scripted import ScriptedMember, connect, coordinator_port
from tests.server.harness import Client

BEAT_S, AGAIN_S = 0.05, 0.05
LOST = (ConnectionError, EOFError, OSError, DecodeError, AssertionError)
"""What asking over a connection raises that ends; the tests' client asserts that it does not."""
LOOK_AGAIN = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})


@attrs.define(eq=False)
class LiveMember:
    """A member of `group` that begins at `bootstrap()`; it commits offsets 1, 2, … of partition 0 of `topic`."""

    group: str
    bootstrap: Callable[[], str]
    topic: str
    options: dict[str, Any] = attrs.Factory(dict)
    dial: Callable[[], Awaitable[Client]] | None = None
    """How it connects to its coordinator; None: it asks for it, and needs no login."""
    joins: int = 0
    answers: Counter[str] = attrs.Factory(Counter)
    """Errors that heartbeats, syncs and commits were answered with."""
    tried: int = 0
    committed: int = 0
    """The highest offset that was tried, and that was acknowledged."""
    member: ScriptedMember | None = None
    _task: asyncio.Task[None] | None = None
    _stops: bool = False

    def start(self) -> None:
        """Begin to live."""
        self._task = asyncio.get_running_loop().create_task(self._live())

    async def stop(self) -> None:
        """Leave in order."""
        self._stops = True
        assert self._task is not None
        await self._task
        if self.member is not None:
            with contextlib.suppress(*LOST):
                await self.member.leave()

    @property
    def is_stable(self) -> bool:
        return self.member is not None and self.member.generation >= 0 and not self._joins_now

    _joins_now: bool = False

    async def _live(self) -> None:
        while not self._stops:
            try:
                await self._find()
                await self._round()
            except LOST:
                self.answers["connection lost"] += 1
                await self._lose()
            await asyncio.sleep(BEAT_S)

    async def _find(self) -> None:
        """Be connected to the coordinator, with the identity of before."""
        if self.member is None:
            self.member = ScriptedMember(await self._connected(), self.group, **self.options)
            self._joins_now = True
        elif self.member.client.is_closed:
            self.member.client = await self._connected()

    async def _connected(self) -> Client:
        if self.dial is not None:
            return await self.dial()
        return await connect(await coordinator_port(self.bootstrap(), self.group))

    async def _lose(self) -> None:
        if self.member is not None:
            with contextlib.suppress(*LOST):
                await self.member.close()
        await asyncio.sleep(AGAIN_S)

    async def _round(self) -> None:
        assert self.member is not None
        if self._joins_now:
            await self._join(self.member)
            return
        error = await self.member.heartbeat()
        if not error:
            self.tried += 1
            error = await self.member.commit(self.topic, self.tried)
            if not error:
                self.committed = self.tried
        await self._obey(error)

    async def _join(self, member: ScriptedMember) -> None:
        joined = await member.try_join()
        error = ErrorCode(joined.error_code)
        if error == ErrorCode.MEMBER_ID_REQUIRED:
            member.member_id = joined.member_id
            return
        if error:
            await self._obey(error)
            return
        self.joins += 1
        member.member_id, member.generation = joined.member_id, joined.generation_id
        member.leads = joined.leader == joined.member_id
        given = {each.member_id: b"of " + each.member_id.encode() for each in joined.members}
        synced = await member.sync(given)
        assert isinstance(synced, SyncGroupResponse)
        if not synced.error_code:
            self._joins_now = False
        await self._obey(ErrorCode(synced.error_code))

    async def _obey(self, error: ErrorCode) -> None:
        assert self.member is not None
        if not error:
            return
        self.answers[error.name] += 1
        if error in LOOK_AGAIN:
            await self._lose()
        elif error == ErrorCode.REBALANCE_IN_PROGRESS or error == ErrorCode.ILLEGAL_GENERATION:
            self._joins_now = True
        elif error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.member.member_id, self.member.generation, self._joins_now = "", -1, True
        else:
            await asyncio.sleep(AGAIN_S)
