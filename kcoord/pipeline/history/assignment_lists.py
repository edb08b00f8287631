"""The lists in members' records: what a member has or is to have.

A member's record is written again with each epoch, mostly with the same lists as before. So a reader of many records
looks them up by their bytes, and makes each list that differs once. The sets are shared then, and that nothing has
changed is seen at once.
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
from kcoord.protocol.records import Value, list_splitter, value_decoder
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


@attrs.define(eq=False)
class ListReader:
    """Reads values of one of the types above."""

    _split: Callable[[bytes], tuple[bytes, bytes] | None]
    _decode: Callable[[bytes], Value]
    _made: Callable[[Value], frozenset[Any]]
    _known: dict[bytes, frozenset[Any]] = attrs.Factory(dict)
    _size: int = 0

    @classmethod
    def of(cls, number: int) -> ListReader | None:
        """A reader for records of this type. None: their values have no such lists."""
        split = list_splitter(number)
        return None if split is None else cls(split, value_decoder(number), _LISTS[number])

    def read(self, data: bytes) -> tuple[Value, frozenset[Any] | None]:
        """The value without its lists, and what these say. None: the value has them itself. Raises DecodeError."""
        parts = self._split(data)
        if parts is None:
            return self._decode(data), None
        lists, rest = parts
        known = self._known.get(lists)
        if known is None:
            known = self._keep(lists, self._made(self._decode(data)))
        return self._decode(rest), known

    def _keep(self, lists: bytes, made: frozenset[Any]) -> frozenset[Any]:
        self._size += len(made)
        if self._size > _KEPT:
            self._known.clear()
            self._size = len(made)
        self._known[lists] = made
        return made
