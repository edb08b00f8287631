"""A memory that is bounded in bytes: what was used longest ago is forgotten first.

Everything that is remembered by a name of a client's choosing (a group, a member id, a frame) is remembered in one of
these: a name may have 32 KiB, so a number of entries bounds nothing. A memory may forget at any time, so it holds only
what can be asked for again.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

__all__ = ["ENTRY_BYTES", "BoundedCache", "bytes_of"]

K = TypeVar("K")
V = TypeVar("V")

ENTRY_BYTES = 200
"""What an entry takes beside its texts: its place in the dictionary, and a small value."""


def bytes_of(thing: object) -> int:
    """The memory that a text, or a tuple of them, takes; 0 for what is as small as every entry."""
    if isinstance(thing, str | bytes):
        return sys.getsizeof(thing)
    if isinstance(thing, tuple):
        return sum(bytes_of(each) for each in thing)
    return 0


class BoundedCache(Generic[K, V]):
    """A mapping of at most `limit_bytes`. An entry that is larger by itself is not kept at all."""

    __slots__ = ("_entries", "_entry_bytes", "_forgotten", "_limit_bytes", "_used_bytes")

    def __init__(
        self,
        limit_bytes: int,
        entry_bytes: int = ENTRY_BYTES,
        forgotten: Callable[[K, V], None] | None = None,
    ) -> None:
        """`entry_bytes`: what an entry takes beside the texts in its key and value. `forgotten` is told of each entry
        that is dropped for want of room.
        """
        self._limit_bytes = limit_bytes
        self._entry_bytes = entry_bytes
        self._forgotten = forgotten
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._used_bytes = 0

    @property
    def used_bytes(self) -> int:
        """What is taken now."""
        return self._used_bytes

    def get(self, key: K) -> V | None:
        """The value, which counts as used now; None if the key is not there."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key)
        self._entries[key] = value
        self._used_bytes += self._size(key, value)
        while self._used_bytes > self._limit_bytes:
            oldest, gone = self._entries.popitem(last=False)
            self._used_bytes -= self._size(oldest, gone)
            if self._forgotten is not None:
                self._forgotten(oldest, gone)

    def items(self) -> list[tuple[K, V]]:
        """All entries, longest unused first; none counts as used by this."""
        return list(self._entries.items())

    def oldest(self) -> tuple[K, V]:
        """The entry that was used longest ago, which does not count as used by this. Raises StopIteration."""
        return next(iter(self._entries.items()))

    def pop(self, key: K) -> V | None:
        """Take out an entry; None if the key is not there."""
        if key not in self._entries:
            return None
        value = self._entries.pop(key)
        self._used_bytes -= self._size(key, value)
        return value

    def clear(self) -> None:
        """Take out all entries."""
        self._entries.clear()
        self._used_bytes = 0

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        """Longest unused first."""
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _size(self, key: K, value: V) -> int:
        return self._entry_bytes + bytes_of(key) + bytes_of(value)
