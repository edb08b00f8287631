"""The hot path: a heartbeat that changes nothing is answered without being decoded.

Almost all traffic of a coordinator is heartbeats that equal the member's last one, byte for byte except for the
correlation id. So a connection keeps the last frame that its group called *converged* (`Remember`): the bytes around
the correlation id of the request, and the bytes around that of the answer. Rules:

1. The hot path answers a frame only while the version of its `basis` is the same as when the answer was made.
   Everything that could change the answer changes that version, so no stale answer leaves. The basis is the group; in a
   connect group it is the member alone, so that events of other members do not take this one off the hot path.
2. The answer updates the member's session (`last_seen_ms`) and nothing else.
3. When the client's right expires (`valid_until_ms`), the hot path stops answering.
4. The shard's lease must run at the moment of the answer (CG-27). If the process freezes between this check and the
   write, the answer is late but not wrong: the member sent the frame before the lease ended, and counts its session
   from the sending.
5. If the member's next heartbeat is known (`Ahead`: the same content at the epoch that it was just given), the hot path
   remembers the bytes of that one instead.

This code runs most often. A few calls into C read, compare and answer all frames that arrived together, instead of
frame by frame, and bytes that are the same for all connections are kept once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from struct import Struct

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.group.state.step import CachedReply, Lease
from kcoord.protocol.frame import encode_response_frame
from kcoord.protocol.frame_start import SIZE_BYTES
from kcoord.protocol.undecoded_call import Call

CORRELATION_AT = 8
"""Where the correlation id begins in a request frame: after size (4 bytes), API key (2) and version (2)."""
HEAD = CORRELATION_AT
TAIL = CORRELATION_AT + 4
NEVER_MS = 1 << 62
READ_AT_ONCE = 64
"""The most frames that are compared in one call."""
ANSWERED_AT_ONCE = 256
"""The most frames that are answered before other connections have their turn."""


LARGEST_KEPT = 64 * 1024
"""The largest request and answer that a connection remembers, in bytes together."""
SHARED_BYTES, SHARED_UP_TO = 2 << 20, 1024
"""Bytes of the cache of frame parts that all connections share, and the size up to which a part is shared."""
LENGTHS = 1024
READERS_BYTES, READER_BYTES = 16 << 20, 4096
"""Bytes of the cache of readers (functions for frames that arrived together), and bytes that one reader counts. Making
a reader takes about 20 bytes for each frame, keeping it about 32.
"""

_parts: BoundedCache[bytes, bytes] = BoundedCache(SHARED_BYTES)


def _shared(part: bytes) -> bytes:
    """The one object that all connections share for a part equal to `part`."""
    if len(part) > SHARED_UP_TO:
        return part
    known = _parts.get(part)
    if known is None:
        known = _parts[part] = part
    return known


class _Readers(dict[int, Callable[[bytes], tuple[bytes, ...]]]):
    """Functions that read the correlation ids of frames that arrived together, by the total bytes of these frames."""

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length

    def __missing__(self, size: int) -> Callable[[bytes], tuple[bytes, ...]]:
        count, odd = divmod(size, self.length)
        if odd or not 0 < count <= READ_AT_ONCE:
            return _read_nothing
        reader = self[size] = Struct(f"{HEAD}x{TAIL - HEAD}s{self.length - TAIL}x" * count).unpack
        _readers[id(self), size] = self
        return reader


def _read_nothing(_frames: bytes) -> tuple[bytes, ...]:
    return ()


def _forget_reader(key: tuple[int, int], readers: _Readers) -> None:
    readers.pop(key[1], None)


_readers: BoundedCache[tuple[int, int], _Readers] = BoundedCache(READERS_BYTES, READER_BYTES, _forget_reader)
_readers_of = lru_cache(maxsize=LENGTHS)(_Readers)


@attrs.define(slots=True, eq=False)
class HotFrame:
    """One remembered request frame and the bytes of its answer around the correlation id."""

    head: bytes
    tail: bytes
    readers: _Readers
    front: bytes
    back: bytes
    between: bytes
    """The bytes between the correlation ids of two successive answers."""
    cached: CachedReply
    lease: Lease
    valid_until_ms: int

    @classmethod
    def behind(cls, call: Call, answer_frame: bytes, cached: CachedReply, valid_until_ms: int | None) -> HotFrame:
        """What to remember after `call` was answered with `answer_frame` (size prefix included)."""
        predicted = cached.predicted
        if predicted is None:
            return cls.of(call.frame, answer_frame, cached, valid_until_ms)
        header = call.header
        rest = call.frame[SIZE_BYTES : call.body_pos] + predicted.request.encode(header.api_version)
        body = predicted.response.encode(header.api_version)
        answer = encode_response_frame(header.api_key, header.api_version, header.correlation_id, body)
        return cls.of(len(rest).to_bytes(SIZE_BYTES, "big") + rest, answer, cached, valid_until_ms)

    @classmethod
    def of(cls, request_frame: bytes, answer_frame: bytes, cached: CachedReply, valid_until_ms: int | None) -> HotFrame:
        """Remember `request_frame` (size prefix included) with `answer_frame` (size prefix included)."""
        front, back = answer_frame[:4], answer_frame[8:]
        return cls(
            head=_shared(request_frame[:HEAD]),
            tail=request_frame[TAIL:],
            readers=_readers_of(len(request_frame)),
            front=_shared(front),
            back=_shared(back),
            between=_shared(back + front),
            cached=cached,
            lease=cached.lease,
            valid_until_ms=NEVER_MS if valid_until_ms is None else valid_until_ms,
        )

    @property
    def most_bytes(self) -> int:
        """The most bytes of frames that are answered at once."""
        return ANSWERED_AT_ONCE * self.readers.length

    def answer(self, data: bytes, now_ms: int) -> tuple[bytes, int]:
        """The answers to the leading frames of `data` that equal the remembered one (`most_bytes` at most), and how
        many bytes of `data` these frames take.
        """
        cached = self.cached
        if cached.basis.version != cached.version or now_ms > self.lease.until_ms or now_ms > self.valid_until_ms:
            return b"", 0
        head, tail = self.head, self.tail
        if data[TAIL:] == tail:
            if data[:HEAD] != head:
                return b"", 0
            cached.session.last_seen_ms = now_ms
            return self.front + data[HEAD:TAIL] + self.back, len(data)
        ids = self.readers[len(data)](data)
        used = len(data)
        if not ids or head + (tail + head).join(ids) + tail != data:
            ids = self._read_one_by_one(data)
            if not ids:
                return b"", 0
            used = len(ids) * self.readers.length
        cached.session.last_seen_ms = now_ms
        return self.front + self.between.join(ids) + self.back, used

    def _read_one_by_one(self, data: bytes) -> tuple[bytes, ...]:
        """The correlation ids of all leading frames of `data` that equal the remembered one."""
        ids = []
        length = self.readers.length
        at = 0
        stop = self.most_bytes
        while at < stop and data[at : at + HEAD] == self.head and data[at + TAIL : at + length] == self.tail:
            ids.append(data[at + HEAD : at + TAIL])
            at += length
        return tuple(ids)
