"""What does the codec do with frames that somebody has tampered with? ``python -m tests.protocol.fuzz --frames
1000000``.

A run is a seed. Every frame is a valid one, of any message and version, changed by a few mutations. Reading it
gives a value or a DecodeError that names the field; nothing else, whatever the bytes. What is read must be the same
for the generated codec and for the careful one, and can be written again. A frame that breaks this is printed as a
command line that shows it alone.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import time
from collections import Counter
from collections.abc import Callable

import attrs

from kcoord.protocol import explaining_codec
from kcoord.protocol.frame import decode_request_header, decode_response_header, encode_response_frame
from kcoord.protocol.large_response_addresses import TailFinder, has_tail, rewrite_tail
from kcoord.protocol.message_base import Message, Request, Response
from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.protocol.records import decode_record
from kcoord.protocol.request_peek import peek_produce_acks
from tests.protocol.catalogue import EVERY_VERSION, RECORDS, random_message

COMPARED = 8
"""One frame in so many is read by the careful codec too."""

_CLAIMS = [
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x7f\xff",
    b"\x80\x00",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x80\x80",
    b"\xff\xff\xff\x7f",
    b"\x00",
    b"\xc3\x28",
]
"""Lengths, counts and varints that claim much, or nothing, or go on for too long."""


def _flip(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _overwrite(rng: random.Random, data: bytearray) -> None:
    claim = rng.choice(_CLAIMS)
    at = rng.randrange(len(data) + 1)
    data[at : at + len(claim)] = claim


def _insert(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(_CLAIMS) if rng.random() < 0.5 else rng.randbytes(rng.randrange(1, 9))


def _cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data) + 1) :]


def _drop(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    del data[at : at + rng.randrange(1, 9)]


def _repeat(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = data[at : at + rng.randrange(1, 40)]


def _noise(rng: random.Random, data: bytearray) -> None:
    data[:] = rng.randbytes(rng.randrange(64))


_MUTATIONS: list[Callable[[random.Random, bytearray], None]] = [
    *(_flip, _flip, _overwrite, _overwrite, _insert, _cut, _drop, _repeat),
    _noise,
]


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes after a few mutations."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(_MUTATIONS)(rng, changed)
    return bytes(changed)


class Broken(AssertionError):
    """A frame that the codec does not take as it should."""


@attrs.define
class Tally:
    """What came of the frames."""

    frames: int = 0
    read: int = 0
    refused: Counter[str] = attrs.Factory(Counter)


def run(seed: int, frames: int, only: int | None = None) -> Tally:
    """Read ``frames`` mutated frames, or only the one of that number; raises Broken."""
    tally = Tally()
    for number in range(frames) if only is None else (only,):
        rng = random.Random(f"{seed}/{number}")
        cls, version = rng.choice(EVERY_VERSION)
        data = mutated(rng, random_message(rng, cls, version).encode(version))
        try:
            _read(rng, cls, version, data, tally)
        except Exception as fault:
            show = f"python -m tests.protocol.fuzz --seed {seed} --only {number}"
            raise Broken(f"{cls.NAME} v{version} {data.hex()}: {fault!r}\n{show}") from fault
        tally.frames += 1
    return tally


def _read(rng: random.Random, cls: type[Message], version: int, data: bytes, tally: Tally) -> None:
    compared = rng.randrange(COMPARED) == 0
    try:
        message = cls.decode(data, version)
    except DecodeError as error:
        is_explained = "at byte " in str(error) or len(data) > explaining_codec.EXPLAINED
        if not str(error).startswith(f"{cls.NAME} v{version}:") or not is_explained:
            raise AssertionError(f"an error that names no field: {error}") from error
        tally.refused[_kind(str(error))] += 1
        if compared:
            _around(rng, cls, version, data)
        return
    tally.read += 1
    if compared:
        assert explaining_codec.decode(cls, data, version, 0) == message, "the careful codec reads something else"
        with contextlib.suppress(UnicodeDecodeError):  # the one thing that only the careful codec reads
            assert cls._DECODERS[version](data, 0) == message
        _around(rng, cls, version, data)
        try:
            again = message.encode(version)
        except EncodeError:  # a tag that was there twice
            return
        assert cls.decode(again, version).encode(version) == again, "written and read again it is something else"


def _around(rng: random.Random, cls: type[Message], version: int, data: bytes) -> None:
    """The same bytes for those who read only a part."""
    if cls in RECORDS:
        _quietly(lambda: decode_record(data, None))
        _quietly(lambda: decode_record(cls.API_KEY.to_bytes(2, "big") + data, data))
    elif issubclass(cls, Request):
        _quietly(lambda: decode_request_header(data))
        _quietly(lambda: peek_produce_acks(b"\0\0\0" + bytes([rng.randrange(14)]) + data))
    elif issubclass(cls, Response):
        _quietly(lambda: decode_response_header(cls.API_KEY, version, data))
        if has_tail(cls.API_KEY, version):
            _quietly(lambda: _walk(rng, cls.API_KEY, version, data))


def _walk(rng: random.Random, api_key: int, version: int, data: bytes) -> None:
    frame = encode_response_frame(api_key, version, 1, data)[4:]
    finder = TailFinder(api_key, version)
    pos = 0
    while pos < len(frame):
        size = rng.randrange(1, 40)
        finder.feed(frame[pos : pos + size])
        pos += size
    if finder.offset is not None:
        rewrite_tail(api_key, version, frame[finder.offset :], lambda node_id, host, port: (host, port))


def _quietly(read: Callable[[], object]) -> None:
    try:
        read()
    except (DecodeError, EncodeError):
        return


def _kind(error: str) -> str:
    """The error without what differs from frame to frame."""
    return " ".join(word for word in error.split(": ", 2)[-1].split() if not word.lstrip("-").isdigit())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.protocol.fuzz", description="Read mutated frames.")
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one frame of that seed")
    options = parser.parse_args()
    start = time.perf_counter()
    try:
        tally = run(options.seed, options.frames, options.only)
    except Broken as broken:
        print(broken, file=sys.stderr)
        return 1
    took = time.perf_counter() - start
    print(f"seed {options.seed}: {tally.frames:,} mutated frames in {took:.0f} s, {tally.read:,} read, others refused:")
    for kind, count in tally.refused.most_common():
        print(f"{count:>10,}  {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
