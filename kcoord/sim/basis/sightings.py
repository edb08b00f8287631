"""Sightings: which of the conditions that a soak must meet sometimes one run has met.

A soak that finds nothing says little unless one knows what it has looked at. Everything here is observed from outside
the engine: faults and the phase of the group in which they strike, records that are written, errors in responses,
states of the group, and the shard's own counters. `sometimes_conditions.py` says which of these must be met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import attrs

from kcoord.group.state.metrics import ModernCounters
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request
from kcoord.protocol.records import Record

Seen = tuple[Any, ...]

_NAMES: dict[Seen, str] = {}
"""The names of what has been seen in this process. Each name is made once, not once a run."""


class Sightings:
    """What one run has met."""

    __slots__ = ("_gone", "_seen", "_written")

    def __init__(self) -> None:
        self._seen: set[Seen] = set()
        self._written: set[type] = set()
        """The types of records that were written."""
        self._gone: set[type] = set()
        """The types of tombstones that were written."""

    def struck(self, fault: str, phases: Iterable[str]) -> None:
        """A fault strikes while the group is in these phases."""
        for phase in phases:
            self._seen.add(("fault", fault, phase))

    def wrote(self, records: Iterable[Record]) -> None:
        """A step has written these records."""
        for record in records:
            (self._written if record.value is not None else self._gone).add(type(record.key))

    def refused(self, request: Request, error: int) -> None:
        """A request was answered with an error."""
        self._seen.add(("answer", type(request), error))

    def reached(self, state: Seen) -> None:
        """The group is of this kind and in this state: `("state", "connect", "Stable")`."""
        self._seen.add(state)

    def met(self, area: str, name: str) -> None:
        """Note anything else that has a name."""
        self._seen.add((area, name))

    def counted(self, counters: ModernCounters) -> None:
        """Note what a shard has counted until it was dropped or the run ended."""
        for field in attrs.fields(type(counters)):
            value = getattr(counters, field.name)
            if isinstance(value, Counter):
                self._seen.update([("event", field.name, key) for key, count in value.items() if count])
            elif value:
                self._seen.add(("event", field.name, ""))

    def names(self) -> frozenset[str]:
        """The names of everything that was met: `fault kill while assigning`, `answer Heartbeat
        UNKNOWN_MEMBER_ID`, …
        """
        found = []
        self._seen.update([("record", key, False) for key in self._written])
        self._seen.update([("record", key, True) for key in self._gone])
        for seen in self._seen:
            name = _NAMES.get(seen)
            if name is None:
                name = _NAMES[seen] = _name(seen)
            found.append(name)
        return frozenset(found)


def _name(seen: Seen) -> str:
    match seen:
        case ("fault", fault, phase):
            return f"fault {fault} while {phase}"
        case ("record", key, gone):
            return f"record {record_name(key)}{' gone' if gone else ''}"
        case ("answer", request, error):
            return f"answer {request.__name__.removesuffix('Request')} {ErrorCode(error).name}"
        case ("event", field, key):
            return f"event {field.replace('_', ' ')} {key}".rstrip()
        case _:
            return " ".join(seen)


def record_name(key: type) -> str:
    """The short name of a record's type: `Connect TargetAssignment`, `GroupMetadata`."""
    return key.__name__.replace("ConnectWorkerGroup", "Connect ").removesuffix("Key")
