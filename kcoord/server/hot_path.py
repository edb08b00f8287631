"""How is a heartbeat that changes nothing answered without being decoded?

Almost all of a coordinator's traffic is a member's heartbeat that equals its last one, byte for byte but for the
correlation id. A connection therefore keeps the last frame that its group called *converged* (`Remember`), as the bytes
around the correlation id, and the answer as the bytes around its correlation id. Rules:

1. A frame is answered here only while the version of its `basis` is what it was when the answer was made: whatever
   could change the answer moves that version, so a stale answer cannot leave. The basis is the group, in a connect
   group the member alone: what happens to others there does not send it off the hot path.
2. The answer touches the session of the member (`last_seen_ms`), and nothing else.
3. A right that runs out (`valid_until_ms`) ends the memory too.
4. The shard's lease must run at the moment of the answer (CG-27). A process that is frozen between
   that look and the write sends an answer that is late, but not wrong: the frame was sent before the lease ended, and a
   member counts its session from the sending.
5. Where it is known what the member says next (`Ahead`: the same at the epoch that it was just told), that is
   remembered instead, as the bytes that it will be.

This is the code that runs most: frames that arrived together are read, compared and answered by a few calls into C,
not frame by frame, and what is the same for every connection is kept once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from struct import Struct

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.group.step import Lease, Remember
from kcoord.protocol.call import Call
from kcoord.protocol.frame import encode_response_frame
from kcoord.protocol.framing import SIZE_BYTES

CORRELATION_AT = 8
"""Where the correlation id stands in a request frame: behind size (4), API key (2) and version (2)."""
HEAD = CORRELATION_AT
TAIL = CORRELATION_AT + 4
NEVER_MS = 1 << 62
READ_AT_ONCE = 64
"""Frames that are compared in one go, at most."""
ANSWERED_AT_ONCE = 256
"""Frames that are answered before others have their turn."""


LARGEST_KEPT = 64 * 1024
"""Request and answer that one connection remembers, in bytes together."""
SHARED_BYTES, SHARED_UP_TO = 2 << 20, 1024
"""Parts of frames that are kept once for all connections, and how large one may be."""
LENGTHS = 1024
READERS_BYTES, READER_BYTES = 16 << 20, 4096
"""Readers of frames that arrived together; one takes some 20 bytes a frame to make, and 32 to keep."""

_parts: BoundedCache[bytes, bytes] = BoundedCache(SHARED_BYTES)


def _shared(part: bytes) -> bytes:
    """`part` itself, the same object for equal parts of all connections."""
    if len(part) > SHARED_UP_TO:
        return part
    known = _parts.get(part)
    if known is None:
        known = _parts[part] = part
    return known


class _Readers(dict[int, Callable[[bytes], tuple[bytes, ...]]]):
    """Functions that read the correlation ids of frames that arrived together, by the bytes that these frames take."""

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
    """All from one answer's correlation id to the next one's."""
    remember: Remember
    lease: Lease
    valid_until_ms: int

    @classmethod
    def behind(cls, call: Call, answer_frame: bytes, remember: Remember, valid_until_ms: int | None) -> HotFrame:
        """What to remember once `call` has been answered with `answer_frame` (size prefix included)."""
        ahead = remember.ahead
        if ahead is None:
            return cls.of(call.frame, answer_frame, remember, valid_until_ms)
        header = call.header
        rest = call.frame[SIZE_BYTES : call.body_pos] + ahead.request.encode(header.api_version)
        body = ahead.response.encode(header.api_version)
        answer = encode_response_frame(header.api_key, header.api_version, header.correlation_id, body)
        return cls.of(len(rest).to_bytes(SIZE_BYTES, "big") + rest, answer, remember, valid_until_ms)

    @classmethod
    def of(cls, request_frame: bytes, answer_frame: bytes, remember: Remember, valid_until_ms: int | None) -> HotFrame:
        """Remember `request_frame` (size prefix included) with `answer_frame` (size prefix included)."""
        front, back = answer_frame[:4], answer_frame[8:]
        return cls(
            head=_shared(request_frame[:HEAD]),
            tail=request_frame[TAIL:],
            readers=_readers_of(len(request_frame)),
            front=_shared(front),
            back=_shared(back),
            between=_shared(back + front),
            remember=remember,
            lease=remember.lease,
            valid_until_ms=NEVER_MS if valid_until_ms is None else valid_until_ms,
        )

    @property
    def most_bytes(self) -> int:
        """Bytes of frames that are answered at once, at most."""
        return ANSWERED_AT_ONCE * self.readers.length

    def answer(self, data: bytes, now_ms: int) -> tuple[bytes, int]:
        """The answer frames to the leading frames of `data` that equal the remembered one, `most_bytes` at most, and
        the bytes these took.
        """
        remember = self.remember
        if remember.basis.version != remember.version or now_ms > self.lease.until_ms or now_ms > self.valid_until_ms:
            return b"", 0
        head, tail = self.head, self.tail
        if data[TAIL:] == tail:
            if data[:HEAD] != head:
                return b"", 0
            remember.session.last_seen_ms = now_ms
            return self.front + data[HEAD:TAIL] + self.back, len(data)
        ids = self.readers[len(data)](data)
        used = len(data)
        if not ids or head + (tail + head).join(ids) + tail != data:
            ids = self._read_one_by_one(data)
            if not ids:
                return b"", 0
            used = len(ids) * self.readers.length
        remember.session.last_seen_ms = now_ms
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
