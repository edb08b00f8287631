"""The lists in members' records: what a member has or is to have.

A member's record is written again with each epoch, mostly with the same lists as before. So a reader of many records
compares them with the member's last ones, or else looks them up by their bytes, and makes each list that differs once.
The sets are shared then, and that nothing has changed is seen at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from kcoord.pipeline.history.consumer_partitions import Partitions
from kcoord.pipeline.history.entry import (
    CONSUMERS_CURRENT,
    CONSUMERS_MEMBER_TARGET,
    CURRENT,
    MEMBER_TARGET,
    Entry,
)
from kcoord.protocol.records import Value, ValueParts, empty_lists, list_splitter, value_decoder
from kcoord.protocol.resources import unpack
from kcoord.resource import Resource

_KEPT = 100_000
"""How many resources a reader keeps, in all lists together: some 20 MB."""


def _resources(value: Any) -> frozenset[Resource]:
    return unpack(value.connectors_tasks)


def _current(value: Any) -> Partitions:
    told = (*value.assigned_partitions, *value.partitions_pending_revocation)
    return frozenset((each.topic_id, at) for each in told for at in each.partitions)


def _target(value: Any) -> Partitions:
    return frozenset((each.topic_id, at) for each in value.topic_partitions for at in each.partitions)


_LISTS: dict[int, Callable[[Any], frozenset[Any]]] = {
    CURRENT: _resources,
    MEMBER_TARGET: _resources,
    CONSUMERS_CURRENT: _current,
    CONSUMERS_MEMBER_TARGET: _target,
}
"""By record type: what the lists of a value say."""


def listed(entry: Entry) -> frozenset[Any]:
    """What a member has or is to have: resources, or partitions by the ids of their topics. `entry` is a record of one
    of the types above, and no tombstone.
    """
    return _LISTS[entry.record.key.API_KEY](entry.record.value) if entry.lists is None else entry.lists


@attrs.define
class _Known:
    """Lists that were read before."""

    version: bytes
    at: int
    """Where they begin in a value."""
    data: bytes
    resources: frozenset[Any]


@attrs.define(eq=False)
class ListReader:
    """Reads values of one of the types above."""

    _split: Callable[[bytes], ValueParts | None]
    _decode: Callable[[bytes], Value]
    _made: Callable[[Value], frozenset[Any]]
    _empty: bytes
    _known: dict[tuple[bytes, bytes], _Known] = attrs.Factory(dict)
    """By version and bytes."""
    _last: dict[bytes, _Known] = attrs.Factory(dict)
    """By the record's key: the lists of its last value."""
    _size: int = 0

    @classmethod
    def of(cls, number: int) -> ListReader | None:
        """A reader for records of this type. None: their values have no such lists."""
        made = _LISTS.get(number)
        return None if made is None else cls(list_splitter(number), value_decoder(number), made, empty_lists(number))

    def read(self, key: bytes, data: bytes) -> tuple[Value, frozenset[Any] | None]:
        """The value without its lists, and what these say. None: the value has them itself. Raises DecodeError."""
        last = self._last.get(key)
        if last is None or not (data.startswith(last.version) and data.startswith(last.data, last.at)):
            parts = self._split(data)
            if parts is None:
                return self._decode(data), None
            last = self._last[key] = self._look_up(data, parts)
        # a list says itself where it ends: the same bytes at the same place are the same lists
        at = last.at
        return self._decode(data[:at] + self._empty + data[at + len(last.data) :]), last.resources

    def _look_up(self, data: bytes, parts: ValueParts) -> _Known:
        known = self._known.get((parts.version, parts.lists))
        if known is None:
            known = _Known(parts.version, parts.at, parts.lists, self._made(self._decode(data)))
            self._size += len(known.resources) + 1
            if self._size > _KEPT or len(self._last) > _KEPT:
                self._known.clear()
                self._last.clear()
                self._size = len(known.resources) + 1
            self._known[parts.version, parts.lists] = known
        return known
