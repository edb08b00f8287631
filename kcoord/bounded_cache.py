"""A cache that is bounded in bytes: the least recently used entry is dropped first.

Everything that kcoord remembers under a name that a client chooses (a group, a member id, a frame) is in such a cache.
A name may have 32 KiB, so a limit on the number of entries would bound nothing. A cache may drop an entry at any time,
so it holds only what can be found out again.
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
"""Bytes of an entry beside its texts: its place in the dictionary, and a small value."""


def bytes_of(thing: object) -> int:
    """The memory, in bytes, of a text or a tuple of texts; 0 for other values, which count as small."""
    if isinstance(thing, str | bytes):
        return sys.getsizeof(thing)
    if isinstance(thing, tuple):
        return sum(bytes_of(each) for each in thing)
    return 0


class BoundedCache(Generic[K, V]):
    """A mapping of at most `limit_bytes`. An entry that alone is larger is not kept; the others stay."""

    __slots__ = ("_entries", "_entry_bytes", "_forgotten", "_limit_bytes", "_used_bytes")

    def __init__(
        self,
        limit_bytes: int,
        entry_bytes: int = ENTRY_BYTES,
        forgotten: Callable[[K, V], None] | None = None,
    ) -> None:
        """`entry_bytes`: bytes of an entry beside the texts in its key and value. `forgotten` is called with each entry
        that is dropped to make room.
        """
        self._limit_bytes = limit_bytes
        self._entry_bytes = entry_bytes
        self._forgotten = forgotten
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._used_bytes = 0

    @property
    def used_bytes(self) -> int:
        """The bytes of all present entries."""
        return self._used_bytes

    def get(self, key: K) -> V | None:
        """The value of `key`, which counts as used now; None if the key is not there."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key)
        size = self._size(key, value)
        if size > self._limit_bytes:
            if self._forgotten is not None:
                self._forgotten(key, value)
            return
        self._entries[key] = value
        self._used_bytes += size
        while self._used_bytes > self._limit_bytes:
            oldest, gone = self._entries.popitem(last=False)
            self._used_bytes -= self._size(oldest, gone)
            if self._forgotten is not None:
                self._forgotten(oldest, gone)

    def items(self) -> list[tuple[K, V]]:
        """All entries, the least recently used first. This does not count as a use."""
        return list(self._entries.items())

    def oldest(self) -> tuple[K, V]:
        """The least recently used entry. This does not count as a use. Raises StopIteration if there is none."""
        return next(iter(self._entries.items()))

    def pop(self, key: K) -> V | None:
        """Remove an entry and return its value; None if the key is not there."""
        if key not in self._entries:
            return None
        value = self._entries.pop(key)
        self._used_bytes -= self._size(key, value)
        return value

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()
        self._used_bytes = 0

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        """The keys, the least recently used first."""
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _size(self, key: K, value: V) -> int:
        return self._entry_bytes + bytes_of(key) + bytes_of(value)
