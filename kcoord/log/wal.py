"""The check of SQLite's write-ahead log for lost acknowledged transactions.

When SQLite recovers a write-ahead log after a crash, it keeps the frames up to the first damaged one and silently drops
the rest. That is right for a transaction that the crash interrupted. It is wrong for acknowledged transactions after a
flipped byte. Two facts tell these apart:

- Each commit is synced before the next transaction's frames are written. So a crash damages one transaction at most.
- Each frame's checksum continues the checksum of the frame before it. So frames that were written one after the other
  can be recognized as one run. Leftovers of failed attempts (a full disk, a failed sync) never make a run with two
  commits.

So if one run of frames beyond those that SQLite kept has two commits, an acknowledged one is lost.

Format: the chapter "WAL Format" of SQLite's "Database File Format".
"""

import struct
from pathlib import Path
from typing import BinaryIO

import attrs

_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_BYTE_ORDERS = {0x377F0682: "<", 0x377F0683: ">"}
"""Magic number → byte order of the words that the checksums add up."""


def holds_frames(path: Path) -> bool:
    """Whether there is a write-ahead log at `path` with at least one frame."""
    # The header is synced before any frame is written. A file without frames may be torn; that does not matter.
    return path.exists() and path.stat().st_size > _HEADER_BYTES


def header_is_sound(path: Path) -> bool:
    """Whether the header of the write-ahead log at `path` matches its checksum. If not, SQLite would ignore the
    file.
    """
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    order = _BYTE_ORDERS.get(int.from_bytes(header[:4], "big"))
    return order is not None and _checksum(order, header[:24], (0, 0)) == struct.unpack(">2I", header[24:32])


def has_lost_commits(path: Path, kept: int) -> bool:
    """Whether the write-ahead log at `path` held acknowledged commits beyond the `kept` frames that SQLite kept."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
        order = _BYTE_ORDERS[int.from_bytes(header[:4], "big")]
        page_bytes, salts = int.from_bytes(header[8:12], "big"), header[16:24]
        checksum = struct.unpack(">2I", header[24:32])
        if kept:
            file.seek(_HEADER_BYTES + (kept - 1) * (_FRAME_HEADER_BYTES + page_bytes))
            if (last := _read_frame(file, page_bytes)) is None:
                return False
            checksum = last.checksum
        bad = _read_frame(file, page_bytes)
        if bad is None:
            return False
        # Either the frame is bad, or only the checksum in it. The next frame may continue from either value.
        befores = {bad.checksum, _checksum(order, bad.summed, checksum)}
        commits_in_run = int(bad.is_commit)
        while (frame := _read_frame(file, page_bytes)) is not None:
            if frame.salts != salts:  # a leftover from an earlier use of the file
                befores, commits_in_run = set(), 0
                continue
            if not any(_checksum(order, frame.summed, before) == frame.checksum for before in befores):
                commits_in_run = 0
            commits_in_run += frame.is_commit
            if commits_in_run == 2:
                return True
            befores = {frame.checksum}
    return False


@attrs.frozen
class _Frame:
    is_commit: bool
    salts: bytes
    checksum: tuple[int, int]
    summed: bytes
    """The bytes that the checksum covers: the page, and the header up to the salts."""


def _read_frame(file: BinaryIO, page_bytes: int) -> _Frame | None:
    data = file.read(_FRAME_HEADER_BYTES + page_bytes)
    if len(data) < _FRAME_HEADER_BYTES + page_bytes:
        return None
    first, second = struct.unpack_from(">2I", data, 16)
    return _Frame(
        is_commit=data[4:8] != bytes(4),
        salts=data[8:16],
        checksum=(first, second),
        summed=data[:8] + data[_FRAME_HEADER_BYTES:],
    )


def _checksum(order: str, data: bytes, start: tuple[int, int]) -> tuple[int, int]:
    first, second = start
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
