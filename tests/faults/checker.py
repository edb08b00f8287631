"""Is a history one that a correct coordinator can have given? The rules, without I/O; each complaint is a sentence.

1. No resource is run by two processes at a time (CG-2).
2. A member's epoch never goes back, but for a join (CG-10).
3. No acknowledged change is lost: whoever asks after it was acknowledged is told that value or a newer one. A request
   that was never answered may take effect at any time, so an elder value may come back only by such a one, and only
   where nothing fences it (`MAY_COME_LATE`). A value that nobody asked for is never told.
4. The coordinator's counters never go back: who asks after an answer was there is told no less. A generation that was
   superseded gets no heartbeat answered, which is how a second coordinator would show itself.
5. A client sees only errors that pass, and those of its protocol (`PASSING`, `OF_THE_PROTOCOL`). A member whose session
   runs is known.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kcoord.protocol.errors import ErrorCode
from tests.faults.history import COUNTERS, Answered, Event, Kind, Outcome, Ran, Read, Register, Told, Wrote

PASSING = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"})
"""What any client retries, and its user never sees."""

_UNKNOWN = "UNKNOWN_MEMBER_ID"
_REBALANCE = frozenset({"REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION"})
OF_THE_PROTOCOL = {
    "heartbeat": frozenset[str](),
    "join": frozenset[str](),
    "leave": frozenset[str](),
    "prepare": frozenset({"FENCED_MEMBER_EPOCH", _UNKNOWN}),  # CG-19: not chosen any more, or a new epoch meanwhile
    "install": frozenset({"FENCED_MEMBER_EPOCH", _UNKNOWN, "INVALID_ASSIGNMENT"}),  # CG-18: frozen input lost
    "describe": frozenset({"GROUP_ID_NOT_FOUND"}),
    "configure": frozenset[str](),
    "classic join": _REBALANCE | {"MEMBER_ID_REQUIRED"},
    "classic sync": _REBALANCE,
    "classic heartbeat": _REBALANCE,
    "classic leave": frozenset[str](),
    "commit": _REBALANCE,
    "fetch": frozenset[str](),
    "find": frozenset[str](),
}
"""What a healthy member's requests may be answered beside that, by the protocol's own rules. A member that is told to
rejoin does so by itself.
"""

FATAL = frozenset(
    {("classic heartbeat", "COORDINATOR_LOAD_IN_PROGRESS"), ("classic sync", "COORDINATOR_LOAD_IN_PROGRESS")}
)
"""What passes elsewhere and ends Java's client here."""

GONE = frozenset({_UNKNOWN, "FENCED_MEMBER_EPOCH", "GROUP_ID_NOT_FOUND", "ILLEGAL_GENERATION"})
"""What a request of somebody whose session is over, or who has not been taken in yet, may be answered as well."""

MAY_COME_LATE = frozenset({Kind.OFFSET, Kind.SETTING})
"""Offsets and settings are no member's alone: a request that was left unanswered on a connection may be carried out
after a newer one on another. All else is fenced by the member's connection or by an offset of its own.
"""


def check(events: Sequence[Event]) -> list[str]:
    """Everything that is wrong with this history."""
    return [*owners(events), *epochs(events), *changes(events), *counters(events), *errors(events)]


def owners(events: Iterable[Event]) -> Iterator[str]:
    """Rule 1 above."""
    by_resource: dict[object, list[Ran]] = defaultdict(list)
    for event in events:
        if isinstance(event, Ran):
            by_resource[event.group, event.resource].append(event)
    for runs in by_resource.values():
        runs.sort(key=lambda run: run.start_us)
        running: list[Ran] = []
        for run in runs:
            running = [other for other in running if other.end_us is None or other.end_us > run.start_us]
            for other in running:
                if other.by != run.by:
                    end = "still does" if other.end_us is None else f"to {other.end_us}"
                    yield (
                        f"{run.resource} of {run.group}: {run.by} runs it from {run.start_us}, "
                        f"{other.by} from {other.start_us} {end}"
                    )
            running.append(run)


def epochs(events: Iterable[Event]) -> Iterator[str]:
    """Rule 2 above."""
    last: dict[tuple[str, str], Told] = {}
    for event in events:
        if isinstance(event, Told):
            before = last.get((event.group, event.by))
            if before is not None and not event.joined and event.epoch < before.epoch:
                yield (
                    f"{event.by} of {event.group} was told epoch {before.epoch} at {before.at_us}, "
                    f"and {event.epoch} at {event.at_us}"
                )
            last[event.group, event.by] = event


def changes(events: Iterable[Event]) -> Iterator[str]:
    """Rule 3 above."""
    writes: dict[Register, list[Wrote]] = defaultdict(list)
    reads: list[Read] = []
    for event in events:
        if isinstance(event, Wrote):
            writes[event.register].append(event)
        elif isinstance(event, Read) and event.register.kind not in COUNTERS:
            reads.append(event)
    floors = {register: _Floor((w.ended_us, w.value) for w in _done(each)) for register, each in writes.items()}
    for read in reads:
        of_register = writes[read.register]
        floor = floors[read.register].before(read.sent_us) if of_register else None
        asked_for = [w for w in of_register if w.value == read.value and w.sent_us < read.ended_us]
        if floor is None and read.value is None:
            continue
        if read.value is None or (floor is not None and read.value < floor):
            late = any(w.outcome is Outcome.UNKNOWN for w in asked_for) and read.register.kind in MAY_COME_LATE
            if not late:
                yield (
                    f"lost: {read.register} is {read.value} as asked at {read.sent_us} by {read.by}, "
                    f"and {floor} was acknowledged before"
                )
        elif all(w.outcome is Outcome.REFUSED for w in asked_for):
            yield f"{read.register} is {read.value} as told at {read.ended_us} to {read.by}, which nobody was allowed"


def counters(events: Iterable[Event]) -> Iterator[str]:
    """Rule 4 above."""
    reads: dict[Register, list[Read]] = defaultdict(list)
    for event in events:
        if isinstance(event, Read) and event.register.kind in COUNTERS:
            reads[event.register].append(event)
    for register, each in reads.items():
        floor = _Floor((read.ended_us, read.value or 0) for read in each)
        for read in each:
            if not read.at_least:
                known = floor.before(read.sent_us)
                if known is not None and (read.value is None or read.value < known):
                    yield (
                        f"{register} is {read.value} as asked at {read.sent_us} by {read.by}, and was {known} before"
                    )


def errors(events: Iterable[Event]) -> Iterator[str]:
    """Rule 5 above."""
    for event in events:
        if isinstance(event, Answered):
            allowed = PASSING | OF_THE_PROTOCOL[event.call]
            if not event.alive:
                allowed |= GONE
            if event.error not in allowed or (event.call, event.error) in FATAL:
                yield (
                    f"{event.by} of {event.group}: {event.call} at {event.sent_us} was answered {event.error} "
                    f"by {event.where}{'' if event.alive else ', not being a member'}: {event.message}"
                )


def seen_errors(events: Iterable[Event]) -> dict[tuple[str, str], int]:
    """How often which call was answered which error."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for event in events:
        if isinstance(event, Answered):
            counts[event.call, event.error] += 1
    return dict(sorted(counts.items()))


def error_name(code: int) -> str:
    """As `Answered` has it."""
    return ErrorCode(code).name


def _done(writes: Iterable[Wrote]) -> Iterator[Wrote]:
    return (write for write in writes if write.outcome is Outcome.DONE)


class _Floor:
    """The highest value that was known before a time, from pairs of a time and a value."""

    def __init__(self, known: Iterable[tuple[int | None, int]]) -> None:
        ordered = [(ended_us, value) for ended_us, value in known if ended_us is not None]
        heapq.heapify(ordered)
        self._times: list[int] = []
        self._highest: list[int] = []
        while ordered:
            ended_us, value = heapq.heappop(ordered)
            self._times.append(ended_us)
            self._highest.append(value if not self._highest else max(value, self._highest[-1]))

    def before(self, time_us: int) -> int | None:
        place = bisect_left(self._times, time_us)
        return self._highest[place - 1] if place else None
