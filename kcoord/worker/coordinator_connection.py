"""A membership's connection to its coordinator: found, watched and replaced as the membership wants.

What happens to the connection, and each answer that comes by it, is told to the membership; what the membership wants
then is carried out by its driver.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from kcoord.client.connection import Connection
from kcoord.client.errors import ClientError, Refused
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.worker.background_tasks import BackgroundTasks
from kcoord.worker.clock import now_ms
from kcoord.worker.coordinator_lookup import Finder

_log = logging.getLogger(__name__)

Action = TypeVar("Action")


class Connected(Protocol[Action]):
    """A membership, as far as its connection tells it something. Each call returns what is to be done now."""

    def connected(self, now_ms: int) -> list[Action]: ...
    def unreachable(self, now_ms: int) -> list[Action]: ...
    def refused(self, now_ms: int, error_code: int, message: str) -> list[Action]: ...
    def disconnected(self, now_ms: int) -> list[Action]: ...
    def answered(self, now_ms: int, number: int, response: Response) -> list[Action]: ...


class CoordinatorConnection(Generic[Action]):
    """The connection of one membership; at most one at a time."""

    def __init__(
        self,
        finder: Finder,
        member: Connected[Action],
        do: Callable[[list[Action]], None],
        tasks: BackgroundTasks,
        *,
        lack: Callable[[Connection], str | None] = lambda _: None,
        use: Callable[[Connection | None], None] = lambda _: None,
    ) -> None:
        """`do` carries out what the membership wants. `lack` says what a broker does not serve though it is needed;
        None: it serves all. `use` is told of each new connection, and gets None once that has ended.
        """
        self._finder = finder
        self._member = member
        self._do = do
        self._tasks = tasks
        self._lack = lack
        self._use = use
        self._connection: Connection | None = None
        self._seeking: asyncio.Task[None] | None = None
        self._unreached = ""
        """Why the coordinator could not be reached the last time, so that it is logged once."""

    def seek(self) -> None:
        """Find the coordinator, and connect to it: always by a new connection (CG-4)."""
        if self._seeking is not None:
            self._seeking.cancel()
        self._drop()
        self._seeking = self._tasks.start(self._find())

    def serves(self, request: type[Request]) -> bool:
        """Whether the broker serves this API; True while there is no connection."""
        return self._connection is None or self._connection.serves(request)

    def send(self, number: int, request: Request) -> None:
        """Send a request; its answer is told to the membership by this number."""
        connection = self._connection
        if connection is None:
            return  # it ended a moment ago; `disconnected` follows
        try:
            future = connection.post(request)
        except ClientError as error:
            _log.warning("%s", error)
            asyncio.get_running_loop().call_soon(self._ended, connection)
            return
        future.add_done_callback(lambda done: self._answered(connection, number, done))

    async def close(self) -> None:
        """Close the connection. The tasks have been closed before."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _find(self) -> None:
        try:
            connection = await self._finder.connect()
        except Refused as refused:
            self._do(self._member.refused(now_ms(), refused.error_code, str(refused)))
            return
        except ClientError as error:
            if str(error) != self._unreached:
                _log.warning("no coordinator: %s", error)
            self._unreached = str(error)
            self._do(self._member.unreachable(now_ms()))
            return
        self._unreached = ""
        if (lack := self._lack(connection)) is not None:
            await connection.close()
            self._do(self._member.refused(now_ms(), ErrorCode.UNSUPPORTED_VERSION, lack))
            return
        self._connection = connection
        self._use(connection)
        self._tasks.start(self._watch(connection))
        self._do(self._member.connected(now_ms()))

    async def _watch(self, connection: Connection) -> None:
        await connection.ended()
        self._ended(connection)

    def _ended(self, connection: Connection) -> None:
        if connection is self._connection:
            self._drop()
            self._do(self._member.disconnected(now_ms()))

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._use(None)
        if connection is not None:
            self._tasks.start(connection.close())

    def _answered(self, connection: Connection, number: int, done: asyncio.Future[Response]) -> None:
        if done.cancelled() or done.exception() is not None or connection is not self._connection:
            return  # the end of the connection is seen by `_watch`
        self._do(self._member.answered(now_ms(), number, done.result()))
