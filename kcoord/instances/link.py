"""The link to another instance: one connection, made when it is first needed, with many calls in flight.

Rules:

1. Before any call, both sides prove that they are instances of one cluster (`secret.py`). Otherwise the connection
   ends.
2. If nothing arrives for `PING_S`, the link sends a ping. If nothing arrives for the request timeout, the link cuts the
   connection. So a call may wait as long as its group lets it, but not longer than the other instance is alive.
3. When a connection is lost, all its calls in flight end with `LinkLost`. The link sends nothing again, because it does
   not know what became of the calls. After a failed connect it does not try again at once.
4. The link does not send a request that is larger than the other takes; that call ends with `LinkLost` too.
5. The link reads the other's monotonic clock before anything else, and again from time to time (`peer_clock.py`).
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import TypeVar

from kcoord.instances.frames import FrameStream, read_response_id, request_frame
from kcoord.instances.instance_map import Address
from kcoord.instances.peer_clock import PeerClock
from kcoord.instances.secret import Secret, nonce, same
from kcoord.log.clock import lease_now_ms
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.generated.instance_hello_request import InstanceHelloRequest
from kcoord.protocol.generated.instance_hello_response import InstanceHelloResponse
from kcoord.protocol.generated.instance_ping_request import InstancePingRequest
from kcoord.protocol.generated.instance_ping_response import InstancePingResponse
from kcoord.protocol.generated.instance_proof_request import InstanceProofRequest
from kcoord.protocol.generated.instance_proof_response import InstanceProofResponse
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.primitives import DecodeError, EncodeError

__all__ = ["Link", "LinkLost", "Myself"]

log = logging.getLogger("kcoord.instances")

VERSION = 0
PING_S = 1.0
AGAIN_AFTER_MS = 500
MEASURED_FOR_MS = 10_000
"""The age, in ms, at which the reading of the other's clock is renewed, even if no ping is due."""
NO_CLOCK = -1
CORRELATION_IDS = 1 << 31

Answer = TypeVar("Answer", bound=Response)


class LinkLost(Exception):
    """The other instance cannot be reached, or has not answered. The text says why."""


class Myself:
    """How an instance identifies itself when it calls others: its number, its run (random, made at its start), the
    secret, and its side of TLS if there is one. `timeout_s`: how long another may be silent. `frame_limit`: in bytes.
    """

    def __init__(
        self,
        instance_id: int,
        run: str,
        secret: Secret,
        tls: ssl.SSLContext | None,
        timeout_s: float,
        frame_limit: int,
    ) -> None:
        self.instance_id = instance_id
        self.run = run
        self.secret = secret
        self.tls = tls
        self.timeout_s = timeout_s
        self.frame_limit = frame_limit


class Link:
    """The link to one other instance."""

    def __init__(self, myself: Myself, instance_id: int, address: Address) -> None:
        self.instance_id = instance_id
        self.address = address
        self._myself = myself
        self._stream: _Stream | None = None
        self._connecting: asyncio.Task[_Stream] | None = None
        self._failed: tuple[int, str] | None = None
        self._closed = False

    async def call(
        self,
        request: Request | Callable[[PeerClock], Request],
        answer: type[Answer],
        limit_s: float,
        submitted: Callable[[], None] | None = None,
    ) -> Answer:
        """The answer to `request`. `request` may be a function that makes the request from the other's clock, when
        there is a connection. `submitted` is called when the request has been sent. Raises LinkLost.
        """
        try:
            async with asyncio.timeout(limit_s):
                stream = await self._connected()
                made = request if isinstance(request, Request) else request(stream.clock)
                waiting = stream.ask(made, answer)
                if submitted is not None:
                    submitted()
                return await waiting
        except TimeoutError:
            raise LinkLost(f"{self}: no answer in {limit_s:.1f} s") from None

    async def connect(self) -> None:
        """Connect now, if there is no connection. Raises LinkLost."""
        await self._connected()

    async def lost(self) -> None:
        """Wait until the connection is lost. Returns at once if there is none."""
        if self._stream is not None:
            await self._stream.ended.wait()

    def tell(self, request: Request) -> None:
        """Send a request that has no answer. Does nothing without a connection: then the other does not need to
        know.
        """
        if self._stream is not None:
            self._stream.tell(request)

    def close(self) -> None:
        """End the connection and all calls that wait, for good."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
        if self._stream is not None:
            self._stream.lose("it does not take part any more")

    def __str__(self) -> str:
        return f"instance {self.instance_id} at {self.address[0]}:{self.address[1]}"

    async def _connected(self) -> _Stream:
        if self._closed:
            raise LinkLost(f"{self}: it does not take part any more")
        if self._stream is not None and self._stream.is_open:
            return self._stream
        if self._failed is not None and lease_now_ms() - self._failed[0] < AGAIN_AFTER_MS:
            raise LinkLost(self._failed[1])
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
        await asyncio.wait({self._connecting})
        if self._connecting.cancelled():
            raise LinkLost(f"{self}: it does not take part any more")
        return self._connecting.result()

    async def _connect(self) -> _Stream:
        loop = asyncio.get_running_loop()
        myself = self._myself
        stream: _Stream | None = None
        try:
            async with asyncio.timeout(myself.timeout_s):
                _, stream = await loop.create_connection(
                    lambda: _Stream(str(self), myself),
                    *self.address,
                    ssl=myself.tls,
                )
                await stream.authenticate(self.instance_id)
        except (OSError, TimeoutError, LinkLost) as error:
            if stream is not None:
                stream.lose(str(error))
            why = str(error) or f"no connection in {myself.timeout_s:.1f} s"
            self._failed = (lease_now_ms(), why if isinstance(error, LinkLost) else f"{self}: {why}")
            log.warning("cannot connect to %s", self._failed[1])
            raise LinkLost(self._failed[1]) from None
        except BaseException:
            if stream is not None:
                stream.lose("given up")
            raise
        self._failed = None
        self._stream = stream
        return stream


class _Stream(FrameStream):
    """One connection to another instance."""

    def __init__(self, name: str, myself: Myself) -> None:
        super().__init__()
        self._name = name
        self._myself = myself
        self._next = 0
        self._waiting: dict[int, tuple[type[Response], asyncio.Future[Response]]] = {}
        self._heard_ms = lease_now_ms()
        self._pinging: asyncio.Task[None] | None = None
        self.clock = PeerClock()
        self.ended = asyncio.Event()
        """Set when the connection is lost."""

    @property
    def is_open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    async def authenticate(self, instance_id: int) -> None:
        """Let both sides prove that they are instances. Raises LinkLost."""
        myself = self._myself
        hello = await self.ask(
            InstanceHelloRequest(instance_id=myself.instance_id, run=myself.run), InstanceHelloResponse
        )
        mine = nonce()
        proof = myself.secret.of_caller(myself.instance_id, myself.run, hello.nonce, mine)
        proved = await self.ask(InstanceProofRequest(nonce=mine, proof=proof), InstanceProofResponse)
        wanted = myself.secret.of_called(proved.instance_id, hello.nonce, mine)
        if proved.error_code or not same(wanted, proved.proof):
            raise LinkLost(
                f"{self._name} has another secret than this instance: make internal.secret the same on all instances"
            )
        if proved.instance_id != instance_id:
            raise LinkLost(f"{self._name}: instance {proved.instance_id} answers there")
        self.frame_limit = myself.frame_limit
        await self._measure()
        self._pinging = asyncio.get_running_loop().create_task(self._ping())

    def ask(self, request: Request, answer: type[Answer]) -> asyncio.Future[Answer]:
        """Send `request` now. The future has the answer, or raises LinkLost. Raises LinkLost if it cannot be sent."""
        at = self._next = (self._next + 1) % CORRELATION_IDS
        self._send(at, request)
        waiting: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting[at] = answer, waiting
        waiting.add_done_callback(lambda _: self._waiting.pop(at, None))
        return waiting  # type: ignore[return-value]  # the answer is decoded as `answer`

    def tell(self, request: Request) -> None:
        """Send a request that has no answer. Does nothing if the connection is lost or congested."""
        if self.is_open and not self.is_congested:
            self._next = (self._next + 1) % CORRELATION_IDS
            self.write(request_frame(self._next, request))

    def lose(self, reason: str) -> None:
        """End the connection. All calls that wait for an answer fail with `reason`."""
        if self.transport is not None:
            self.transport.abort()
        self._all_lost(reason)

    def refused(self, reason: str) -> None:
        log.warning("closed the internal connection to %s: %s", self._name, reason)
        self.lose(reason)

    def frame_received(self, frame: bytes) -> None:
        self._heard_ms = lease_now_ms()
        at, body = read_response_id(frame)
        answer, waiting = self._waiting.get(at, (None, None))
        if answer is None or waiting is None:
            return  # nobody waits any more
        try:
            read = answer.decode(frame, VERSION, body)
        except DecodeError as error:
            raise FrameRefused(str(error)) from error
        if not waiting.done():
            waiting.set_result(read)

    def data_received(self, data: bytes) -> None:
        self._heard_ms = lease_now_ms()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._all_lost(f"the connection was lost{f': {exc}' if exc else ''}")

    def _send(self, at: int, request: Request) -> None:
        if not self.is_open:
            raise LinkLost(f"{self._name}: the connection was lost")
        if self.is_congested:
            raise LinkLost(f"{self._name}: it does not read what is sent to it")
        try:
            frame = request_frame(at, request)
        except EncodeError as error:
            raise LinkLost(f"{self._name}: {error}") from error
        if len(frame) > self._myself.frame_limit:
            raise LinkLost(f"{self._name}: a request of {len(frame)} bytes is above the limit")
        self.write(frame)

    def _all_lost(self, reason: str) -> None:
        self.ended.set()
        if self._pinging is not None:
            self._pinging.cancel()
            self._pinging = None
        for _, waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(LinkLost(f"{self._name}: {reason}"))
                waiting.exception()  # no warning if the caller gave up waiting

    async def _ping(self) -> None:
        """Rule 2 above."""
        while True:
            await asyncio.sleep(PING_S)
            silent_ms = lease_now_ms() - self._heard_ms
            if silent_ms > self._myself.timeout_s * 1000:
                self._pinging = None
                self.refused(f"nothing came for {silent_ms} ms")
                return
            if (silent_ms >= PING_S * 1000 or self._is_unmeasured()) and self.is_open and not self.is_congested:
                self._measure()

    def _is_unmeasured(self) -> bool:
        """Whether the last reading of the other's clock is too old."""
        measured_ms = self.clock.measured_ms
        return measured_ms is not None and lease_now_ms() - measured_ms >= MEASURED_FOR_MS

    def _measure(self) -> asyncio.Future[InstancePingResponse]:
        """Rule 5 above: read the other's clock by a ping. Raises LinkLost if it cannot be sent."""
        asked_ms = lease_now_ms()

        def note(answered: asyncio.Future[InstancePingResponse]) -> None:
            if not answered.cancelled() and answered.exception() is None and answered.result().now_ms != NO_CLOCK:
                self.clock.note(asked_ms, answered.result().now_ms, lease_now_ms())

        answered = self.ask(InstancePingRequest(), InstancePingResponse)
        answered.add_done_callback(note)
        return answered
