"""One client connection: it cuts the bytes into requests and keeps the answers in order.

A connection is one queue, as in Kafka. It does not begin a request that kcoord handles before it has answered all
earlier requests, and begins nothing after it before that request is answered (GW-4). Rules:

1. The connection keeps a frame's bytes as they arrive; it reserves no memory for the size that the prefix claims. It
   checks size, API and version by the first twelve bytes, before the rest has arrived.
2. A frame that is not Kafka's protocol, has an unknown API, is too large or cannot be decoded closes this connection
   only. One log line names peer, API and reason.
3. While a request is in work, the connection reads ahead up to `READ_AHEAD` bytes. It does not read from a client that
   does not read its answers. If the coordinator holds an answer back until it has news, the connection tells it
   (`when_more`) when another request arrives or the client goes, so that nothing waits behind that answer without need
   (CG-26).
4. With a client session (in a gateway), frames that kcoord need not read are passed on chunk by chunk and never
   collected.
5. At most `FRAMES_AT_ONCE` frames are begun in one turn of the event loop. A connection that has sent more waits in
   the turn queue (`kcoord.loop.turn_queue`), and is not read from if more than `READ_AHEAD` bytes wait.
6. Requests that a client sent before it hung up count, as in Kafka: the connection finishes the request in work and
   carries out the frames after it, in order. Only then, or after `LAST_REQUESTS_S`, it reports that the client has
   gone. (Whether a commit still counts that had to wait is decided in `gateway/handlers/offsets.py`.)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from kcoord.group.multi_group_requests import BatchAnswer
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.frame import RequestHeader, encode_response_frame
from kcoord.protocol.frame_start import SIZE_BYTES, FrameRefused, check_size, read_head, read_raw_size, read_size
from kcoord.protocol.messages import JoinGroupRequest, Response, SyncGroupRequest, api_name
from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.protocol.sliced_encoding import large_arrays
from kcoord.protocol.undecoded_call import Call, call_of
from kcoord.server.connections.heartbeat_hot_path import LARGEST_KEPT, HotFrame
from kcoord.server.connections.held_bytes import HeldBytes, Progress
from kcoord.server.connections.large_answer import LargeAnswer

if TYPE_CHECKING:
    from kcoord.group.state.connection_opening import Opening
    from kcoord.group.state.step import CachedReply

log = logging.getLogger("kcoord.connection")

READ_AHEAD = 64 * 1024
"""Bytes read beyond the request in work before the connection stops reading."""
FAREWELL_S = 5.0
"""How long a client may take to read its last answers."""
LAST_REQUESTS_S = 30.0
"""How long the last requests of a client that has hung up may take."""
WAIT_FOR_OTHERS = frozenset({JoinGroupRequest.API_KEY, SyncGroupRequest.API_KEY})
"""Requests that wait for other members. Their answers are of no use to a client that has gone."""
SLOW = "client does not read"
BUSY = "request in work"
FRAMES_AT_ONCE = 16
"""Frames of one connection that are begun before other connections have their turn."""
COPIED_BELOW = 4096
"""Pieces below this size, in bytes, are copied out of the received bytes; larger ones are passed on as views of them.
"""


class ClientSession(Protocol):
    """The gateway's part of one client connection: its upstream connection, and the requests that kcoord answers."""

    in_flight: int
    raw_frames: bool

    def passes(self, api_key: int, api_version: int, correlation_id: int, size: int) -> bool: ...
    def forward(self, chunk: bytes | bytearray | memoryview, remaining: int) -> None: ...
    def gather(self) -> None: ...
    def flush(self) -> None: ...
    def request(self, call: Call) -> None: ...
    def client_lost(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...


class Host(Protocol):
    """What a connection needs from the server that accepted it."""

    frame_limit: int
    unauthenticated_frame_limit: int
    turns: TurnQueue
    held: HeldBytes
    most_frames_at_once: int
    """The most frames that one connection began within one turn of the event loop."""

    def now_ms(self) -> int: ...
    def entered(self, connection: Connection) -> None: ...
    def forget(self, connection: Connection) -> None: ...
    def session(self, connection: Connection) -> ClientSession | None: ...
    def check(self, api_key: int, api_version: int) -> None: ...
    def dispatch(self, connection: Connection, call: Call) -> None: ...


class Connection(asyncio.Protocol):
    """One client's connection. `broker_id` is the upstream broker whose port the client used (None: the bootstrap
    port).
    """

    __slots__ = (
        "_at",
        "_call",
        "_closes",
        "_host",
        "_hot",
        "_in_queue",
        "_is_over",
        "_need",
        "_pass_left",
        "_pausers",
        "_rest",
        "_session",
        "_stale",
        "_taking",
        "_transport",
        "_when_more",
        "authenticated",
        "broker_id",
        "client_host",
        "has_hung_up",
        "is_patient",
        "last_active_ms",
        "opened",
        "peer",
        "pipelined",
        "progress",
        "serial",
    )

    def __init__(
        self,
        host: Host,
        serial: int,
        broker_id: int | None,
        authenticated: bool,
        peer: tuple[str, int] = ("?", 0),
        opened: Opening | None = None,
    ) -> None:
        self._host = host
        self._transport: asyncio.Transport | None = None
        self._session: ClientSession | None = None
        self._hot: HotFrame | None = None
        self._call: Call | None = None
        self._rest: bytes | bytearray = b""
        self._at = 0
        self._need = 0
        self._pass_left = 0
        self._stale = 0
        self._taking = False
        self._in_queue = False
        self._closes = False
        self._is_over = False
        self._when_more: Callable[[], None] | None = None
        self._pausers: frozenset[str] = frozenset()
        self.serial = serial
        self.opened = opened
        self.broker_id = broker_id
        self.authenticated = authenticated
        self.pipelined = False
        """Whether at least a part of the request in work was read before the previous request was answered. Its sender
        cannot have known that answer (CG-3).
        """
        self.peer = f"{peer[0]}:{peer[1]}"
        self.client_host = f"/{peer[0]}"
        self.is_patient = False
        """Whether its client is known to wait for an answer for longer than one heartbeat interval."""
        self.last_active_ms = 0
        self.has_hung_up = False
        """Whether the client has ended the connection. Its requests may still count (rule 6 above)."""
        self.progress: Progress | None = None
        """The progress of a request that has begun to arrive, and of answers that wait to be read; None: neither."""

    # -- called by asyncio --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one, but not by its type
        self.last_active_ms = self._host.now_ms()
        self._host.entered(self)
        self._session = self._host.session(self)

    def data_received(self, data: bytes) -> None:
        now_ms = self.last_active_ms = self._host.now_ms()
        if self._pausers and self._transport is not None:
            self._transport.pause_reading()  # uvloop starts to read after connection_made even if paused there
        hot = self._hot
        if (
            hot is not None
            and self._call is None
            and not self._rest
            and not self._pass_left
            and (self._session is None or not self._session.in_flight)
        ):
            answer, used = hot.answer(data, now_ms)
            if used and self._transport is not None:
                self._transport.write(answer)
                if used == len(data):
                    return
                data = data[used:]
                self._stale = len(data)
                if used >= hot.most_bytes:
                    self._queue_up()
        if not self._rest:
            self._rest = data
        elif isinstance(self._rest, bytes) and len(self._rest) < READ_AHEAD:
            self._rest += data
        else:  # the buffer of a large frame grows in place
            self._rest = bytearray(self._rest) if isinstance(self._rest, bytes) else self._rest
            self._rest += data
        self._take_frames()
        if self._rest or self._pass_left or self.progress is not None:
            self._note_progress(now_ms, len(data))
        if self._when_more is not None and self._rest:
            self._tell_of_more()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.has_hung_up = True
        self._hot = self.progress = None
        self._host.held.drop(self)
        if SLOW in self._pausers and self._session is not None:
            self._session.resume()  # the client that did not read is gone
        self._pausers = frozenset()
        self._tell_of_more()
        if self._closes:
            self._leave()
            return
        self._take_frames()
        if not self._is_over:
            asyncio.get_running_loop().call_later(LAST_REQUESTS_S, self._leave)

    def pause_writing(self) -> None:
        self.pause_reading(SLOW)
        if self._session is not None:
            self._session.pause()
        now_ms = self._host.now_ms()
        if self.progress is None:
            self.progress = Progress(now_ms)
        self.progress.unread, self.progress.unread_since_ms = self.unread_bytes, now_ms
        self._host.held.note(self, len(self._rest) + self.progress.unread)

    def resume_writing(self) -> None:
        if self._session is not None:
            self._session.resume()
        self.resume_reading(SLOW)
        if self.progress is not None:
            self.progress.unread = 0
        self._take_frames()
        if self.progress is not None:
            self._note_progress(self._host.now_ms(), 0)

    # -- used to answer -----------------------------------------------------------------------------------------------

    @property
    def local_address(self) -> tuple[str, int]:
        """Host and port on which this client reached kcoord."""
        name = self._transport.get_extra_info("sockname") if self._transport is not None else None
        return (str(name[0]), int(name[1])) if name else ("localhost", 0)

    @property
    def is_busy(self) -> bool:
        """Whether a request is in work or has arrived in part."""
        return self._call is not None or bool(self._rest)

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that wait, because the client does not read."""
        if self._transport is None or SLOW not in self._pausers:
            return 0
        return self._transport.get_write_buffer_size()

    @property
    def waits_for_client(self) -> bool:
        """Whether a request has begun to arrive and kcoord waits for its next byte."""
        has_begun = bool(self._rest) or self._pass_left > 0
        return has_begun and self._call is None and not self._pausers and not self._in_queue

    def is_in_work(self, call: Call) -> bool:
        """Whether `call` still needs an answer: the client is there, and `call` has not been answered."""
        return self._call is call

    def send(self, data: bytes | bytearray | memoryview) -> None:
        """Write `data` to the client. Does nothing if the client has gone."""
        if self._transport is not None:
            self._transport.write(data)

    def answer(
        self, call: Call, response: Response, cached: CachedReply | None = None, valid_until_ms: int | None = None
    ) -> None:
        """Send `response` to `call`, prepare the hot path with `remember`, and take the next frame.

        The hot path may repeat this answer until `valid_until_ms` (monotonic). If the client has gone, nothing is sent.
        """
        if self._call is not call:
            return
        header = call.header
        if isinstance(response, BatchAnswer):
            self.send_pieces(call, response.pieces())
            return
        arrays = large_arrays(response)
        if arrays is not None:
            self._host.turns.add(LargeAnswer(self, call, response, arrays).take_slice)
            return
        try:
            body = response.encode(header.api_version)
        except EncodeError as error:
            self.cannot_write(header, error)
            return
        frame = encode_response_frame(header.api_key, header.api_version, header.correlation_id, body)
        self.send(frame)
        if cached is not None and len(call.frame) + len(frame) <= LARGEST_KEPT:
            self._hot = HotFrame.behind(call, frame, cached, valid_until_ms)
        self.finish(call)

    def cannot_write(self, header: RequestHeader, error: EncodeError) -> None:
        """Close the connection, because the answer to a request cannot be encoded."""
        log.error("an answer could not be written", exc_info=error)
        self.close(f"{api_name(header.api_key)} v{header.api_version}: the answer could not be written: {error}")

    def send_pieces(self, call: Call, pieces: Sequence[bytes | bytearray]) -> None:
        """Send the body of a large answer piece by piece, without copying it into one, and take the next frame."""
        header = call.header
        head = bytearray(encode_response_frame(header.api_key, header.api_version, header.correlation_id, b""))
        size = len(head) - SIZE_BYTES + sum(map(len, pieces))
        head[:SIZE_BYTES] = size.to_bytes(SIZE_BYTES, "big")
        for piece in (head, *pieces):
            self.send(piece)
        self.finish(call)

    def when_more(self, call: Call, tell: Callable[[], None]) -> None:
        """Call `tell` once when bytes arrive after `call` or its client goes, unless `call` is answered before."""
        if self._call is not call:
            return
        self._when_more = tell
        if len(self._rest) > self._at:
            self._tell_of_more()

    def _tell_of_more(self) -> None:
        tell, self._when_more = self._when_more, None
        if tell is not None:
            tell()

    def forget_answers(self) -> None:
        """Clear the hot path: the next frame is handled as if it were the first of its kind."""
        self._hot = None

    def finish(self, call: Call) -> None:
        """End `call` without sending anything more, and take the next frame."""
        if self._call is call:
            self._call = self._when_more = None
            self._stale = len(self._rest) - self._at
            if not self._taking:
                self._take_frames()

    def close(self, reason: str) -> None:
        """Write one log line, and close this connection after all sent bytes have left."""
        if self._is_ending():
            return
        log.warning("closed the connection of %s: %s", self.peer, reason)
        transport = self._close()
        if transport is not None:
            transport.close()
            if transport.get_write_buffer_size():  # else a client that does not read keeps it open
                asyncio.get_running_loop().call_later(FAREWELL_S, transport.abort)

    def end(self) -> None:
        """Close without a log line, for an orderly end (shutdown)."""
        transport = self._close()
        if transport is not None:
            transport.close()

    def cut(self, reason: str = "") -> None:
        """Close at once and drop what was still to be sent. Writes one log line if there is a `reason`."""
        if reason and not self._is_ending():
            log.warning("closed the connection of %s: %s", self.peer, reason)
        transport = self._close()
        if transport is not None:
            transport.abort()

    def _is_ending(self) -> bool:
        """Whether there is nothing to close: the connection is not open yet, is being closed, or has ended."""
        if self._transport is None:
            return self._is_over or not self.has_hung_up
        return self._transport.is_closing()

    def _close(self) -> asyncio.Transport | None:
        """Begin no more requests. Returns the transport to close; None if the client has gone already."""
        self._closes = True
        self._leave()
        return self._transport

    def _leave(self) -> None:
        """If the client has gone, end the connection: drop what is left, and tell the server and the session."""
        if self._is_over or not self.has_hung_up:
            return
        self._is_over = True
        self._call = self._hot = None
        self._rest = b""
        self._host.forget(self)
        if self._session is not None:
            self._session.client_lost()

    def pause_reading(self, who: str) -> None:
        """Stop reading from the client until every `who` that paused it has called `resume_reading`."""
        if not self._pausers and self._transport is not None:
            self._transport.pause_reading()
        self._pausers |= {who}

    def resume_reading(self, who: str) -> None:
        """Take back the pause of `who`; reading resumes when no pause is left."""
        if who not in self._pausers:
            return
        self._pausers -= {who}
        if not self._pausers and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    # -- frames -------------------------------------------------------------------------------------------------------

    def _finish_progress(self) -> None:
        """Restart the measurement: the whole frame has arrived, and bytes after it belong to another one."""
        if self.progress is not None:
            self.progress.since_ms, self.progress.came = self._host.now_ms(), 0

    def _note_progress(self, now_ms: int, came: int) -> None:
        """Count bytes of a frame that has begun to arrive; stop measuring when no frame is unfinished and no answer
        waits.
        """
        rest = self._rest
        if not rest and not self._pass_left and SLOW not in self._pausers:
            self.progress = None
            self._host.held.drop(self)
            return
        progress = self.progress
        if progress is None:
            progress = self.progress = Progress(now_ms)
        progress.came += came
        self._host.held.note(self, len(rest) + progress.unread)

    def _queue_up(self) -> None:
        """Queue the rest of the frames for a later turn of the event loop."""
        if not self._in_queue:
            self._in_queue = True
            self._host.turns.add(self._take_turn)

    def _take_turn(self) -> bool:
        """Take one slice of the waiting frames. Returns whether more of them can begin now."""
        self._in_queue = False
        self._answer_hot()
        if not self._in_queue:
            self._take_frames(from_queue=True)
        return self._in_queue

    def _answer_hot(self) -> None:
        """Answer by the hot path those of the waiting frames that it knows."""
        hot, rest = self._hot, self._rest
        transport = self._transport
        if hot is None or transport is None or self._need or self._pass_left or not self._may_begin():
            return
        if self._session is not None and self._session.in_flight:
            return
        answer, used = hot.answer(bytes(rest[: hot.most_bytes]), self._host.now_ms())
        if used:
            transport.write(answer)
            self._rest = rest[used:]
            self._stale = max(0, self._stale - used)
            self._in_queue = used >= hot.most_bytes

    def _take_frames(self, *, from_queue: bool = False) -> None:
        """Begin the frames that may begin in one slice. Answering a call may call this method again: it then returns at
        once, and the running loop takes the next frame. `from_queue`: the caller keeps its place in the turn queue.
        """
        if self._taking:
            return
        if self._in_queue:
            self._balance_reading()
            return
        self._taking = True
        begun, session, gathers = 0, self._session, from_queue
        try:
            while begun < FRAMES_AT_ONCE and self._at < len(self._rest) and self._may_begin() and self._take_one():
                begun += 1
                if not gathers and session is not None and self._at < len(self._rest):
                    gathers = True
                    session.gather()
        except FrameRefused as refused:
            self.close(str(refused))
        except Exception:  # also if another client's step answers here: close only this connection
            log.exception("a fault of kcoord's own in a request of %s", self.peer)
            self.close("a fault of kcoord's own")
        finally:
            self._taking = False
        if self._at:
            self._rest = self._rest[self._at :]
            self._at = 0
        if self.progress is not None and not self._rest and not self._pass_left:
            self._note_progress(0, 0)
        host = self._host
        if begun > host.most_frames_at_once:
            host.most_frames_at_once = begun
        if begun == FRAMES_AT_ONCE and self._rest and self._may_begin():
            if from_queue:
                self._in_queue = True
            else:
                self._queue_up()
        elif gathers and session is not None:
            session.flush()
        if self.has_hung_up:
            self._leave_if_done()
        else:
            self._balance_reading()

    def _balance_reading(self) -> None:
        """Rules 3 and 5 above: stop reading while too many received bytes wait."""
        if (self._call is not None or self._in_queue) and len(self._rest) > READ_AHEAD:
            self.pause_reading(BUSY)
        elif self._pausers:
            self.resume_reading(BUSY)

    def _may_begin(self) -> bool:
        if self._call is not None or self._is_over:
            return False
        if self._transport is None:
            return self.has_hung_up  # rule 6 above
        return not self._transport.is_closing() and (not self._pausers or SLOW not in self._pausers)

    def _leave_if_done(self) -> None:
        """Rule 6 above: leave if the requests of the client that has gone are finished."""
        call = self._call
        if not self._in_queue and (call is None or call.header.api_key in WAIT_FOR_OTHERS):
            self._leave()

    def _take_one(self) -> bool:
        """Begin the next frame, or pass on as much of it as has arrived. Returns False if more bytes are needed."""
        if self._pass_left:
            return self._pass_on()
        if self._need:
            return self._collect()
        if self._session is not None and self._session.raw_frames:
            raw = read_raw_size(self._rest, self._at, self._host.unauthenticated_frame_limit)
            if raw is None:
                return False
            self._session.passes(-1, 0, 0, raw)
            self._pass_left = raw + SIZE_BYTES
            return self._pass_on()
        host = self._host
        limit = host.frame_limit if self.authenticated else host.unauthenticated_frame_limit
        head = read_head(self._rest, self._at)
        if head is None:
            read_size(self._rest, self._at, limit)  # checked as soon as it is there
            return False
        size = check_size(head.size, self._rest, self._at, limit)
        if self._session is None:
            self._host.check(head.api_key, head.api_version)
        elif self._session.passes(head.api_key, head.api_version, head.correlation_id, size):
            self._pass_left = size + SIZE_BYTES
            return self._pass_on()
        self._need = size + SIZE_BYTES
        return self._collect()

    def _pass_on(self) -> bool:
        rest, at = self._rest, self._at
        count = min(len(rest) - at, self._pass_left)
        if not count or self._session is None:
            return False
        self._pass_left -= count
        self._at += count
        if self.progress is not None and not self._pass_left:
            self._finish_progress()
        self._stale = max(0, self._stale - count)
        if count == len(rest):
            piece: bytes | bytearray | memoryview = rest
        elif count < COPIED_BELOW or isinstance(rest, bytearray):
            piece = rest[at : at + count]
        else:
            piece = memoryview(rest)[at : at + count]
        self._session.forward(piece, self._pass_left)
        return True

    def _collect(self) -> bool:
        rest, at = self._rest, self._at
        if len(rest) - at < self._need:
            return False
        if len(rest) == self._need and isinstance(rest, bytes):
            frame = rest
        else:
            with memoryview(rest) as view:  # slicing the bytearray would copy it twice
                frame = bytes(view[at : at + self._need])
        self._at += self._need
        self.pipelined = self._stale > 0
        self._stale = max(0, self._stale - self._need)
        self._need = 0
        if self.progress is not None:
            self._finish_progress()
        try:
            self._call = call = call_of(frame)
            if self._session is None:
                self._host.dispatch(self, call)
            else:
                self._session.request(call)
        except DecodeError as error:
            head = read_head(frame)
            assert head is not None
            raise FrameRefused(f"{api_name(head.api_key)} v{head.api_version}: {error}") from error
        return True
