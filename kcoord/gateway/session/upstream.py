"""An upstream connection: bytes to and from one broker, in order and without buffering whole frames.

One `Upstream` is one connection to a broker. It keeps a queue of the responses that the broker owes, because a response
says nothing about itself but its correlation id. Rules (GW-4, GW-5):

1. A response that kcoord need not read goes to the client chunk by chunk as it comes. kcoord collects a whole response
   only if its entry in the queue says so.
2. kcoord's own requests have correlation ids of their own. They wait while a client's frame is half sent or a SASL
   exchange is open.
3. Back pressure goes both ways: `pause` and `resume` stop and start reading from the broker, and `upstream_full` tells
   the owner that the broker does not read.
4. While a response is *held* (something must happen before the client may see it), kcoord reads nothing behind it.
5. Small frames that a client sent together go on together. Otherwise each would be a packet of its own. Thousands of
   packets of a few bytes fill the broker's receive buffer long before its window is used up; the kernel drops some, and
   the connection stands still until they are sent again, for up to two minutes.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import ssl
import struct
from collections.abc import Callable
from typing import Protocol, cast

from kcoord.gateway.rewriting.new_leader_endpoints import TailStream, may_have_tail, rewrite_whole
from kcoord.gateway.settings import Address
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import RequestHeader, decode_response_header, encode_request_header
from kcoord.protocol.messages import RESPONSES, JoinGroupRequest, Request, Response, SyncGroupRequest, api_name
from kcoord.protocol.primitives import DecodeError

log = logging.getLogger("kcoord.gateway")

HIGH_WATER = 512 * 1024
"""When more bytes than this wait for a broker that does not read, kcoord stops reading from the client."""
GATHERED_BELOW = 4096
"""While kcoord gathers, pieces of a client's frames below this size, in bytes, wait for others."""
GATHERED_BYTES = 16 * 1024
"""When this many bytes are gathered, kcoord sends them."""
FAREWELL_S = 30.0
"""How long, in seconds, a broker may take to read and answer the last requests of a client that has gone."""
COLLECT_LIMIT = 128 * 1024
"""kcoord rewrites responses that may name nodes as a whole up to this size, in bytes, and larger ones as they pass."""
WAITS_FOR_MEMBERS = frozenset({JoinGroupRequest.API_KEY, SyncGroupRequest.API_KEY})
"""A broker may answer these only when other members of the group have called too. Until then it answers nothing else on
the connection.
"""
OWN_IDS_FROM = 0x4B000000
"""The first correlation id of kcoord's own requests."""

_SIZE = struct.Struct(">i")
_HEAD = struct.Struct(">ii")


class UpstreamLost(Exception):
    """The connection to the broker is gone, or there is none; the text says why."""


class Asker(Protocol):
    """Something in whose name kcoord can ask a broker: a client session, or kcoord's own service connection."""

    broker_id: int | None

    async def ask(self, request: Request, version: int, client_id: str | None = ...) -> Response: ...
    async def version(self, request: type[Request], highest: int | None = ...) -> int | None: ...


def error_of(code: int) -> ErrorCode:
    """The error that upstream's code stands for; UNKNOWN_SERVER_ERROR for a code that kcoord does not know."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


class CannotPass(Exception):
    """A response must not reach the client; the text says why, for the log."""


class Owner(Protocol):
    """The owner of an upstream connection."""

    in_flight: int

    def to_client(self, data: bytes | bytearray | memoryview) -> None: ...
    def to_client_when_known(self, data: bytes) -> None: ...
    def answered(self) -> None: ...
    def upstream_lost(self, reason: str, is_fault: bool) -> None: ...
    def upstream_full(self) -> None: ...
    def upstream_drained(self) -> None: ...
    def map_node(self, node_id: int, host: str, port: int) -> tuple[str, int]: ...


class Dialer(Owner, Protocol):
    """An owner that says which broker it wants; None: any."""

    broker_id: int | None


Deliver = Callable[["Expected", bytes], None]


class Expected:
    """One response that the broker owes. It goes whole, from its correlation id on, to `deliver` or `answer`; without
    either it passes to the client."""

    __slots__ = ("answer", "api_key", "api_version", "correlation_id", "deliver")

    def __init__(
        self,
        api_key: int,
        api_version: int,
        correlation_id: int,
        deliver: Deliver | None = None,
        answer: asyncio.Future[bytes] | None = None,
    ) -> None:
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self.deliver = deliver
        self.answer = answer
        """Set for kcoord's own requests."""


class Upstream(asyncio.Protocol):
    """One connection to a broker, made by `dial`."""

    __slots__ = (
        "_collected",
        "_current",
        "_finishes_by",
        "_gathered",
        "_gathers",
        "_holds",
        "_left",
        "_need",
        "_owed",
        "_own_ids",
        "_owner",
        "_paused",
        "_rest",
        "_tail",
        "_transport",
        "_waiting",
        "may_send_own",
        "name",
        "raw_tokens",
    )

    def __init__(self, owner: Owner, name: str) -> None:
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._owed: list[Expected] = []
        self._waiting: list[tuple[bytes, Expected]] = []
        self._own_ids = itertools.count(OWN_IDS_FROM)
        self._current: Expected | None = None
        self._left = 0
        self._need = 0
        self._collected: bytearray | None = None
        self._tail: TailStream | None = None
        self._rest = b""
        self._holds = 0
        self._paused = False
        self._gathers = False
        self._gathered = bytearray()
        self._finishes_by: str | None = None
        """If set, kcoord sends nothing more and ends the connection after the last answer; the text says why."""
        self.name = name
        """The broker's name in log lines and in the memory of versions."""
        self.may_send_own = True
        """False while a client's frame is half sent or a SASL exchange is open; see `let_own`."""
        self.raw_tokens = False
        """Whether frames that answer no request are SASL tokens (SaslHandshake v0)."""

    # -- what asyncio tells -------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast(asyncio.Transport, transport)  # uvloop's own are not derived from it
        transport.set_write_buffer_limits(high=HIGH_WATER)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._transport = None
            self._fail(f"upstream {self.name} ended the connection{f': {exc}' if exc else ''}", is_fault=False)

    def pause_writing(self) -> None:
        self._owner.upstream_full()

    def resume_writing(self) -> None:
        self._owner.upstream_drained()

    def data_received(self, data: bytes) -> None:
        if self._holds:
            self._rest += data
            return
        left = self._left
        if left and len(data) <= left and self._tail is None:  # the middle of a large frame: nothing to look at
            self._left = left - len(data)
            self._owner.to_client(data)
            if not self._left:
                self._done()
            return
        if self._rest:
            data = self._rest + data
            self._rest = b""
        try:
            self._take(data)
        except DecodeError as error:
            self.close(f"upstream {self.name} sent what does not decode: {error}")
        except CannotPass as error:
            self.close(f"the answer of upstream {self.name} cannot be passed on: {error}")

    # -- to the broker ------------------------------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes of a client's frame. The caller registers its response with `expect`."""
        if self._transport is None or self._finishes_by is not None:
            return
        if self._gathers and len(data) < GATHERED_BELOW:
            self._gathered += data
            if len(self._gathered) >= GATHERED_BYTES:
                self._send_gathered()
            return
        if self._gathered:
            self._send_gathered()
        self._transport.write(data)

    def gather(self) -> None:
        """Keep small pieces together from now on, until `flush` (rule 5 above)."""
        self._gathers = True

    def flush(self) -> None:
        """Send what was gathered, and stop gathering."""
        self._gathers = False
        if self._gathered:
            self._send_gathered()

    def _send_gathered(self) -> None:
        gathered, self._gathered = self._gathered, bytearray()
        if self._transport is not None:
            self._transport.write(gathered)

    def expect(self, owed: Expected) -> None:
        """Register the response to a client's request that was or will be passed on: the broker owes it next."""
        self._owed.append(owed)
        self._owner.in_flight += 1

    @property
    def waits_for_members(self) -> bool:
        """Whether the broker owes an answer for which it may wait for other members of a group."""
        return any(each.api_key in WAITS_FOR_MEMBERS for each in self._owed)

    def let_own(self, allowed: bool) -> None:
        """Say whether kcoord's own requests may be sent from now on. If so, send those that waited."""
        self.may_send_own = allowed
        if allowed and self._waiting:
            waiting, self._waiting = self._waiting, []
            for frame, owed in waiting:
                self._owed.append(owed)
                self.write(frame)

    async def ask(self, request: Request, version: int, client_id: str | None, timeout_ms: int) -> Response:
        """Send one of kcoord's own requests and wait for its response. Raises UpstreamLost, DecodeError."""
        if self._transport is None or self._finishes_by is not None:
            raise UpstreamLost(f"not connected to {self.name}")
        loop = asyncio.get_running_loop()
        number = next(self._own_ids)
        head = encode_request_header(RequestHeader(request.API_KEY, version, number, client_id))
        body = request.encode(version)
        frame = _SIZE.pack(len(head) + len(body)) + head + body
        answer: asyncio.Future[bytes] = loop.create_future()
        owed = Expected(request.API_KEY, version, number, answer=answer)
        if self.may_send_own:
            self._owed.append(owed)
            self.write(frame)
        else:
            self._waiting.append((frame, owed))
        overdue = loop.call_later(
            timeout_ms / 1000,
            self.close,
            f"upstream {self.name} did not answer {api_name(request.API_KEY)} in {timeout_ms} ms",
        )
        try:
            data = await answer
        finally:
            overdue.cancel()
        body_pos = decode_response_header(request.API_KEY, version, data)[1]
        return RESPONSES[request.API_KEY].decode(data, version, body_pos)

    # -- from the broker ----------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Do not read from the broker: the client does not read."""
        self._paused = True
        self._read_or_wait()

    def resume(self) -> None:
        """The client reads again."""
        self._paused = False
        self._read_or_wait()

    def _read_or_wait(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._paused or self._holds:
            transport.pause_reading()
        else:
            transport.resume_reading()

    def hold(self) -> None:
        """Read no more responses until `release` has been called as often as `hold`. A `deliver` function calls it."""
        self._holds += 1
        self._read_or_wait()

    def release(self) -> None:
        self._holds -= 1
        if self._holds:
            return
        rest, self._rest = self._rest, b""
        if rest:
            self.data_received(rest)
        self._read_or_wait()

    def close(self, reason: str, is_fault: bool = True) -> None:
        """End the connection; requests without a response fail with UpstreamLost."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
            self._fail(reason, is_fault)

    def finish(self, reason: str) -> None:
        """End the connection after the broker has read and answered everything that was written.

        A client may hang up right after its last requests, and a broker drops requests that it has not begun when it
        cannot deliver an answer. Requests without a response after `FAREWELL_S` fail with UpstreamLost.
        """
        self.flush()
        transport = self._transport
        if transport is None or self._finishes_by is not None:
            return
        self._finishes_by = reason
        self._finish_if_answered()
        if self._transport is not None:
            if transport.can_write_eof():
                transport.write_eof()  # so the broker does not wait for the rest of a frame that was half sent
            asyncio.get_running_loop().call_later(FAREWELL_S, self.close, reason, False)

    def _finish_if_answered(self) -> None:
        if self._owed or self._current is not None or self._waiting or self._finishes_by is None:
            return
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()
            if transport.get_write_buffer_size():
                asyncio.get_running_loop().call_later(FAREWELL_S, transport.abort)
            self._fail(self._finishes_by, is_fault=False)

    @property
    def collected_bytes(self) -> int:
        """Bytes of responses that kcoord keeps for later."""
        return len(self._rest) + len(self._collected or b"")

    def _fail(self, reason: str, is_fault: bool) -> None:
        owed = [*self._owed, *(each for _, each in self._waiting)]
        if self._current is not None:
            owed.append(self._current)
        self._owed, self._waiting, self._current = [], [], None
        self._rest, self._collected, self._left = b"", None, 0
        self._gathered = bytearray()
        for each in owed:
            if each.answer is not None and not each.answer.done():
                each.answer.set_exception(UpstreamLost(reason))
                each.answer.exception()
        self._owner.upstream_lost(reason, is_fault)

    def _take(self, data: bytes) -> None:
        """Process received bytes. The bytes from `start` to `pos` go to the client unchanged."""
        view = memoryview(data)
        end = len(data)
        start = pos = 0
        while pos < end and not self._holds:
            if self._left:
                stop = min(end, pos + self._left)
                self._left -= stop - pos
                if self._tail is not None:
                    self._send(view[start:pos])
                    self._send(self._tail.feed(view[pos:stop]))
                    if not self._left:
                        self._owner.to_client_when_known(self._tail.finish())
                    start = stop
                pos = stop
                if not self._left:
                    self._done()
            elif self._collected is not None:
                stop = min(end, pos + self._need - len(self._collected))
                self._collected += view[pos:stop]
                start = pos = stop
                if len(self._collected) == self._need:
                    whole, self._collected = bytes(self._collected), None
                    self._whole(whole)
            else:
                begun = self._begin(view, pos, end)
                if begun is None:
                    break
                if begun != pos:  # the frame is collected, or streams without its tail: send what was before it first
                    self._send(view[start:pos])
                    if self._tail is not None:
                        self._send(view[pos:begun])
                    start = pos = begun
        self._send(view[start:pos])
        if pos < end:
            self._rest = data[pos:] + self._rest

    def _begin(self, view: memoryview, pos: int, end: int) -> int | None:
        """Decide what happens to the frame that begins at `pos`.

        Returns the position to go on from; None: more bytes are needed.
        """
        if end - pos < _SIZE.size:
            return None
        (size,) = _SIZE.unpack_from(view, pos)
        if not self._owed and self.raw_tokens and 0 <= size <= COLLECT_LIMIT:
            self._left = _SIZE.size + size
            return pos
        if end - pos < _HEAD.size:
            return None
        (correlation_id,) = _SIZE.unpack_from(view, pos + _SIZE.size)
        if not self._owed or size < _SIZE.size or self._owed[0].correlation_id != correlation_id:
            raise DecodeError(
                f"a response of {size} bytes with correlation id {correlation_id} that no request waits for"
            )
        owed = self._current = self._owed.pop(0)
        passes = owed.deliver is None and owed.answer is None
        has_tail = passes and may_have_tail(owed.api_key, owed.api_version)
        behind = pos + _SIZE.size + size
        if has_tail and size <= COLLECT_LIMIT and behind <= end:
            frame = bytes(view[pos + _SIZE.size : behind])
            has_tail = rewrite_whole(owed.api_key, owed.api_version, frame, self._owner.map_node) is not None
        if not passes or (has_tail and size <= COLLECT_LIMIT):
            self._collected = bytearray()
            self._need = size
            return pos + _SIZE.size
        if has_tail:
            self._tail = TailStream(owed.api_key, owed.api_version, self._owner.map_node)
            self._left = size
            return pos + _SIZE.size
        self._left = _SIZE.size + size
        return pos

    def _whole(self, frame: bytes) -> None:
        """Handle a collected response that is now complete."""
        owed = self._current
        assert owed is not None
        if owed.answer is not None:
            self._current = None
            if not owed.answer.done():
                owed.answer.set_result(frame)
            if self._finishes_by is not None:
                self._finish_if_answered()
            return
        deliver = owed.deliver or self._deliver_tail
        deliver(owed, frame)
        self._done()

    def _deliver_tail(self, owed: Expected, frame: bytes) -> None:
        rewritten = rewrite_whole(owed.api_key, owed.api_version, frame, self._owner.map_node)
        if rewritten is None:
            self._send(_SIZE.pack(len(frame)) + frame)
        else:
            self._owner.to_client_when_known(rewritten)

    def _done(self) -> None:
        """A response to a client's request has been passed on or handled."""
        self._tail = None
        if self._current is not None:
            self._current = None
            self._owner.in_flight -= 1
            self._owner.answered()
            if self._finishes_by is not None:
                self._finish_if_answered()

    def _send(self, data: bytes | memoryview) -> None:
        if len(data):
            self._owner.to_client(data)


async def dial(owner: Owner, address: Address, name: str, tls: ssl.SSLContext | None, timeout_ms: int) -> Upstream:
    """Connect to a broker. Raises UpstreamLost, whose text says what is wrong and where."""
    host, port = address
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            _, upstream = await loop.create_connection(lambda: Upstream(owner, name), host, port, ssl=tls)
    except ssl.SSLError as error:
        raise UpstreamLost(f"no TLS with upstream {host}:{port}: {error.reason or error}") from error
    except (OSError, TimeoutError) as error:
        raise UpstreamLost(f"upstream {host}:{port} cannot be reached: {str(error) or 'it does not answer'}") from error
    return upstream
