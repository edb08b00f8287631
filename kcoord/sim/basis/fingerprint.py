"""The fingerprint of a run: a checksum of what the coordinator wrote and answered, and when.

Two engines with the same fingerprints over many seeds behave in the same way, whatever their sources look like. So a
change that moves or renames code can be proved to change nothing else (docs/simulator.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from kcoord.protocol.message_base import Response


class Fingerprint:
    """The checksum of one run."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def wrote(self, encoded: Iterable[tuple[bytes, bytes | None]]) -> None:
        """A step has written these records: key and value, as on the wire."""
        value = self.value
        for key, content in encoded:
            value = crc32(b"-" if content is None else content, crc32(key, value))
        self.value = value

    def answered(self, now_ms: int, response: Response) -> None:
        """A response leaves at that time."""
        error = getattr(response, "error_code", 0)
        self.value = crc32(b"%d %d %d" % (now_ms, response.API_KEY, error), self.value)


def together(values: Iterable[int]) -> int:
    """The fingerprint of many runs, in whatever order they ended."""
    return sum(values) & 0xFFFF_FFFF
