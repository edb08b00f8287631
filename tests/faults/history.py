"""What do the clients of a fault run write down? Everything that they were told and all that they ran, on one clock.

All clients live in one process, so one clock tells what was before what. It counts suspension, as kcoord's does. An
event is written when it is over; a request of which no answer came has no end, for it may still take effect.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TypeAlias

import attrs

from kcoord.resource import Resource

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now_us() -> int:
    """The time of all events, in µs."""
    return time.clock_gettime_ns(_CLOCK) // 1000


class Kind(Enum):
    """What is written and read; each kind says what may be read of it."""

    URL = "the url of a member"
    CONFIG = "the config offset of a group"
    SETTING = "a setting of a group"
    OFFSET = "a committed offset"
    GROUP_EPOCH = "the group epoch"
    ASSIGNMENT_EPOCH = "the assignment epoch"
    GENERATION = "the generation"


COUNTERS = frozenset({Kind.GROUP_EPOCH, Kind.ASSIGNMENT_EPOCH, Kind.GENERATION})
"""Kinds that the coordinator counts up by itself; the others have values that clients give, which grow as well."""


@attrs.frozen
class Register:
    """Something that grows and never goes back. `name` tells those of one kind and group apart."""

    kind: Kind
    group: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind.value}{' ' + self.name if self.name else ''} of {self.group}"


class Outcome(Enum):
    """What came of a write."""

    DONE = "acknowledged"
    REFUSED = "refused"
    UNKNOWN = "no answer, or one that leaves it open"


@attrs.frozen
class Wrote:
    """A client asked for `value`."""

    register: Register
    value: int
    by: str
    sent_us: int
    ended_us: int | None
    outcome: Outcome


@attrs.frozen
class Read:
    """A client was told `value`; with `at_least` only that it is that or more. None: it is not there."""

    register: Register
    value: int | None
    by: str
    sent_us: int
    ended_us: int
    at_least: bool = False


@attrs.frozen
class Ran:
    """A process ran a resource from when to when; `end_us` None: it still does."""

    group: str
    resource: Resource
    by: str
    start_us: int
    end_us: int | None


@attrs.frozen
class Told:
    """A process was told its member epoch; `joined`: in the answer to a join. In the order of the answers."""

    group: str
    by: str
    epoch: int
    joined: bool
    at_us: int


@attrs.frozen
class Answered:
    """A request was answered with an error other than 0. `alive`: by a member whose session ran: the coordinator had to
    know it.
    """

    group: str
    by: str
    call: str
    error: str
    alive: bool
    sent_us: int
    ended_us: int
    where: str
    message: str = ""


@attrs.frozen
class Expired:
    """A process that wanted to be a member stopped by itself: it was not answered for as long as its session."""

    group: str
    by: str
    at_us: int


@attrs.frozen
class Fault:
    """Something was broken, or mended."""

    what: str
    at_us: int


Event: TypeAlias = Wrote | Read | Ran | Told | Answered | Expired | Fault


@attrs.define
class History:
    """All events of a run, in the order in which they were written down."""

    events: list[Event] = attrs.Factory(list)

    def add(self, event: Event) -> None:
        """Write it down."""
        self.events.append(event)

    def note(self, what: str) -> None:
        """A fault, now."""
        self.add(Fault(what, now_us()))

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """A fault that lasts."""
        self.note(f"{what} …")
        yield
        self.note(f"… {what}")

    def save(self, file: Path) -> None:
        """One JSON object a line, for people."""
        with file.open("w") as out:
            for event in self.events:
                fields = attrs.asdict(event, value_serializer=lambda _, __, v: v.name if isinstance(v, Enum) else v)
                out.write(json.dumps({"event": type(event).__name__, **fields}) + "\n")
