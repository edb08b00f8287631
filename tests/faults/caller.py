"""How does a scripted client get its requests to the group's coordinator? By any bootstrap address, again and again.

- The coordinator is asked for at one bootstrap address after the other: any of them may be dead, frozen or cut off.
- A connection that does not answer in time is given up; its request may still take effect.
- Every error is written down, with whether the client's session ran when it came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

import attrs

from kcoord.client.connection import Connection
from kcoord.client.errors import ClientError
from kcoord.client.security import Security
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse
from tests.faults.checker import PASSING
from tests.faults.history import Answered, History, now_us

R = TypeVar("R", bound=Response)
Address = tuple[str, int]

CONNECT_S = 2.0
ANSWER_S = 3.0
_PAUSE_S = 0.25
_GROUP = 0
_ASKS = 2


class Lost(Exception):
    """No answer: the connection has ended, or took too long. Whether the request took effect is not known."""


@attrs.frozen
class Reply:
    """An answer, and when its request was sent and it came."""

    response: Response
    error: ErrorCode
    sent_us: int
    ended_us: int

    @property
    def passing(self) -> bool:
        """Whether it was an error that says: not here, not now."""
        return self.error.name in PASSING


def _error_of(response: Response) -> int:
    code: int = response.error_code  # type: ignore[attr-defined]
    return code


@attrs.define(eq=False)
class Caller:
    """One client process: its way to the coordinator of one group."""

    bootstrap: Sequence[Address]
    history: History
    group: str
    name: str
    random: Random
    _connection: Connection | None = attrs.field(default=None, init=False)
    _next: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._next = self.random.randrange(len(self.bootstrap))

    @property
    def connected(self) -> bool:
        """Whether there is a connection that is thought to lead to the coordinator."""
        return self._connection is not None

    @property
    def connection(self) -> Connection:
        """The one that `seek` made."""
        assert self._connection is not None
        return self._connection

    async def hang_up(self) -> None:
        """The next request goes by a new connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def seek(self) -> None:
        """Ask one bootstrap address for the coordinator and connect there. Raises Lost, after a pause."""
        try:
            self._connection = await self._connect(await self.find())
        except (ClientError, Lost) as error:
            await asyncio.sleep(_PAUSE_S * (1 + self.random.random()))
            raise Lost(str(error)) from None

    async def ask(
        self,
        call: str,
        request: Request,
        answer: type[R],
        alive: Callable[[int], bool] = lambda _: False,
        wait_s: float = ANSWER_S,
        error: Callable[[R], int] = _error_of,
    ) -> tuple[R, Reply]:
        """Send and wait. An error is written down as that of `call`. Raises Lost.

        `alive` tells whether the client's session runs at a time. One that passes ends the connection.
        """
        if self._connection is None:
            await self.seek()
        connection = self.connection
        sent_us = now_us()
        try:
            async with asyncio.timeout(wait_s):
                response = await connection.post(request)
        except (ClientError, TimeoutError) as lost:
            await self.hang_up()
            raise Lost(f"{call}: {lost}") from None
        assert isinstance(response, answer)
        ended_us = now_us()
        reply = Reply(response, ErrorCode(error(response)), sent_us, ended_us)
        if reply.error not in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT):
            self._write_down(call, reply, alive(ended_us), f"{connection.host}:{connection.port}")
            if reply.passing:
                await self.hang_up()
                await asyncio.sleep(_PAUSE_S * self.random.random())
        return response, reply

    async def find(self) -> Address:
        """Ask one bootstrap address for the coordinator, the next one the next time. Raises Lost, ClientError."""
        host, port = self.bootstrap[self._next]
        self._next = (self._next + 1) % len(self.bootstrap)
        connection = await self._connect((host, port))
        try:
            for _ in range(_ASKS):  # a gateway may tell each connection once to forget what it knew
                sent_us = now_us()
                request = FindCoordinatorRequest(key_type=_GROUP, coordinator_keys=[self.group])
                response = await connection.send(request, FindCoordinatorResponse)
                [found] = response.coordinators
                if not found.error_code:
                    return found.host, found.port
                reply = Reply(response, ErrorCode(found.error_code), sent_us, now_us())
                self._write_down("find", reply, False, f"{host}:{port}")
            raise Lost(f"no coordinator: {reply.error.name}")
        finally:
            await connection.close()

    async def _connect(self, address: Address) -> Connection:
        return await Connection.open(*address, Security(), CONNECT_S, self.name)

    def _write_down(self, call: str, reply: Reply, alive: bool, where: str) -> None:
        message = str(getattr(reply.response, "error_message", "") or "")
        self.history.add(
            Answered(
                self.group, self.name, call, reply.error.name, alive, reply.sent_us, reply.ended_us, where, message
            )
        )
