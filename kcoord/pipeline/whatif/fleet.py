"""Which workers came and went, and what was configured when? As the tables of one group say.

- **A worker** is known by its instance id, its url, or its member id, in this order: one that comes back is the same.
- **Times are spans**: not before, and not after. A log is written when something is known, not when it happens.
  A process began a little before it joined; in a generic group it joined when the rebalance began, and the log
  has it from its end.
- **In order** went whoever said that it leaves. Everybody else was lost. Where its session ended, its last heartbeat
  was a session timeout before, and it was lost until the next one was due. Where it was back by then, it was lost at
  some time in the session timeout before. Where the coordinator was away then, sessions began afresh when it was back:
  it was lost at some time from when the coordinator went.
- **A member that was put out** and is back as another one never went: it was slow.
- **What is configured** the workers of connect groups say. In generic groups it is what was ever assigned: from the
  first to the last time, holes left out.
- **The kind** is that of most of the ownership, by time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import attrs

from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.history.state import CONNECT, GENERIC, LEGACY
from kcoord.pipeline.whatif.stopping import Stopping, stopping
from kcoord.protocol.resources import CONNECTOR
from kcoord.sim.scenario import Kind

KINDS = {CONNECT: Kind.CONNECT, LEGACY: Kind.INDIVIDUAL, GENERIC: Kind.BARRIER}
POLICIES = {
    "uniform": "design-1",
    "cooperative": "design-2",
    "compatible": "kip-415",
    "sessioned": "kip-415",
    "connect": "kip-415",
    "default": "eager",
}
"""What does the same as an assignor that is no policy by name: those of kcoord, and Connect's embedded protocols."""
IN_ORDER = frozenset({"worker left", "member left"})
PUT_OUT = frozenset({"rebalance timeout", "never synced"})
EXPIRED = "session expired"
TIMES = ("at", "from_at", "to_at", "started", "installed")
"""The columns that say when something was written."""
AFRESH_MS = 1_000
"""So long after the log was opened again a session began afresh, at most."""
JOINING_MS = 50
"""So long before its joining was written a process had begun, at most, and dialled."""


class End(StrEnum):
    """How a stay ended."""

    STAYS = "stays"
    IN_ORDER = "in order"
    LOST = "lost"


@attrs.frozen(order=True)
class Span:
    """Something happened between these two times (unix ms)."""

    not_before_ms: int
    not_after_ms: int

    @property
    def middle_ms(self) -> int:
        """The best guess."""
        return (self.not_before_ms + self.not_after_ms) // 2


@attrs.frozen
class Stay:
    """One life of one worker."""

    worker: str
    came: Span
    end: End = End.STAYS
    went: Span | None = None
    """None: it is there yet."""


@attrs.frozen
class Configured:
    """A time in which a connector had so many tasks."""

    connector: str
    tasks: int
    from_ms: int
    to_ms: int | None = None


@attrs.frozen
class Tables:
    """The rows of one group, their times in unix ms."""

    epochs: Sequence[Row]
    sessions: Sequence[Row]
    ownership: Sequence[Row]
    connectors: Sequence[Row]
    rebalances: Sequence[Row]
    gaps: Sequence[Row]
    outages: Sequence[Row] = ()
    """When the coordinator was away, in order."""
    last_ms: int = 0
    """When the last record of the whole log was written, where that is known: other groups may have gone on."""

    def told_until_ms(self) -> int:
        """When the log ends: its last record."""
        kinds = (self.epochs, self.sessions, self.ownership, self.connectors, self.rebalances, self.gaps)
        times: Iterable[int | None] = (row.get(name) for rows in kinds for row in rows for name in TIMES)
        return max([self.last_ms, *(each for each in times if each is not None)])

    def is_cut_short(self) -> bool:
        """Whether the log ends while workers are there and a task has nobody, or the last rebalance is not over: what
        came of it is not in the log.
        """
        if all(row["to_at"] is not None for row in self.sessions):
            return False
        is_over = not self.rebalances or self.rebalances[-1].get("settled", 0) is not None
        return not is_over or any(row["to_at"] is None and row["task"] != CONNECTOR for row in self.gaps)


@attrs.frozen
class Fleet:
    """What a history has in it to be played again."""

    stays: Sequence[Stay]
    configured: Sequence[Configured]
    kind: Kind | None
    """None: nobody ever owned anything."""
    is_mixed: bool
    """Whether it was of another kind meanwhile."""
    policy: str | None
    """By which it assigned; None: by something of its own."""
    assignor: str | None
    """What the policy was told from."""
    delay_ms: int | None
    """How long what was lost waited; None: nothing ever did."""
    session_ms: int | None
    """The session timeout; None: nobody wrote it down."""
    stopping: Stopping
    leaders: Sequence[tuple[int, str]]
    """Which worker computed, from when on (unix ms)."""
    urls: Mapping[str, str] = attrs.Factory(dict)
    """The url of each worker that has one; the latest."""
    ends_ms: int | None = None
    """When the log ends (unix ms), just behind its last record; None: not known."""
    is_cut_short: bool = False
    """Whether it ends in the middle of something; else the fleet is at rest then, or without workers."""

    def absences_ms(self) -> tuple[list[int], int]:
        """How long workers were away that came back, from the middle of when they may have gone; and how many never
        did.
        """
        back, never = [], 0
        for stay in self.stays:
            if stay.went is None:
                continue
            later = [each.came for each in self.stays if each.worker == stay.worker and each.came > stay.came]
            if later:
                back.append(max(0, min(later).middle_ms - stay.went.middle_ms))
            else:
                never += 1
        return sorted(back), never


def fleet_of(tables: Tables, heartbeat_ms: int) -> Fleet:
    """`heartbeat_ms`: how often workers were to heartbeat, which no log says."""
    times = _times_by(tables.ownership, "speaks")
    kinds = Counter({KINDS[speaks]: ms for speaks, ms in times.items() if speaks in KINDS})
    assignors = Counter(row["assignor"] for row in tables.rebalances if row["assignor"])
    assignor = assignors.most_common(1)[0][0] if assignors else None
    sessions = Counter(row["session_timeout_ms"] for row in tables.sessions if row["session_timeout_ms"])
    return Fleet(
        stays=_stays(tables, heartbeat_ms),
        configured=_configured(tables),
        kind=kinds.most_common(1)[0][0] if kinds else None,
        is_mixed=len(kinds) > 1,
        policy=None if assignor is None else POLICIES.get(assignor, assignor),
        assignor=assignor,
        delay_ms=max((row["delay_ms"] for row in tables.rebalances if row["delay_ms"]), default=None),
        session_ms=sessions.most_common(1)[0][0] if sessions else None,
        stopping=stopping(tables.ownership, tables.rebalances, workers_of(tables.sessions)),
        leaders=_leaders(tables),
        urls=_urls(tables.sessions),
        ends_ms=tables.told_until_ms() + 1,
        is_cut_short=tables.is_cut_short(),
    )


def workers_of(sessions: Sequence[Row]) -> dict[str, str]:
    """Which worker each member is."""
    return {row["member_id"]: row["instance_id"] or row["url"] or row["member_id"] for row in sessions}


def _urls(sessions: Sequence[Row]) -> dict[str, str]:
    names = workers_of(sessions)
    ordered = sorted(sessions, key=lambda row: row["from_at"])
    return {names[row["member_id"]]: row["url"] for row in ordered if row["url"]}


# -- workers -----------------------------------------------------------------------------------------------------------


def _stays(tables: Tables, heartbeat_ms: int) -> list[Stay]:
    names, last_owned, began = workers_of(tables.sessions), _last_owned(tables.ownership), _Beginnings.of(tables)
    by_worker: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(tables.sessions, key=lambda row: (row["from_at"], row["from_offset"])):
        by_worker[names[row["member_id"]]].append(row)
    found = []
    for worker, rows in by_worker.items():
        came = began.span(rows[0]["from_at"], JOINING_MS)
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            if row["ended"] in PUT_OUT and following is not None:
                continue  # the same process goes on
            back = None if following is None else began.span(following["from_at"], JOINING_MS)
            end, went = _end(row, back, began, last_owned.get(row["member_id"]), heartbeat_ms)
            went = None if went is None else _before(went, end, tables.outages)
            found.append(Stay(worker, came, end, None if went is None else _between(went, came, back)))
            if back is not None:
                came = back
    return sorted(found, key=lambda stay: (stay.came, stay.worker))


def _end(
    row: Row, back: Span | None, began: _Beginnings, owned_until_ms: int | None, heartbeat_ms: int
) -> tuple[End, Span | None]:
    """How a session ended that is not followed by another one of the same process, and when its process did."""
    if row["to_at"] is None and back is None:
        return End.STAYS, None
    gone = None if row["to_at"] is None else began.span(row["to_at"])
    if gone is not None and row["ended"] in IN_ORDER:
        return End.IN_ORDER, gone
    session_ms = row["session_timeout_ms"] or 0
    if gone is not None and row["ended"] == EXPIRED:
        return End.LOST, Span(gone.not_before_ms - session_ms, gone.not_after_ms - session_ms + heartbeat_ms)
    known_ms = min(each.not_after_ms for each in (gone, back) if each is not None)
    if owned_until_ms is not None and owned_until_ms < known_ms:  # a static worker that said so (CG-28)
        return End.IN_ORDER, Span(owned_until_ms, owned_until_ms)
    return End.LOST, Span(known_ms - session_ms, known_ms)


def _before(went: Span, end: End, outages: Sequence[Row]) -> Span:
    """Also at any time in which nobody could notice it."""
    since_ms = [
        row["from_at"] for row in outages if row["from_at"] <= went.not_before_ms <= row["to_at"] + AFRESH_MS
    ] if end is End.LOST else []  # fmt: skip
    return Span(min([went.not_before_ms, *since_ms]), went.not_after_ms)


def _between(went: Span, came: Span, back: Span | None) -> Span:
    """As far as it is after it came, and before it was back."""
    not_after = went.not_after_ms if back is None else min(went.not_after_ms, back.not_before_ms - 1)
    not_after = max(not_after, came.not_after_ms)
    return Span(min(max(went.not_before_ms, came.not_after_ms), not_after), not_after)


@attrs.frozen
class _Beginnings:
    """When it began that the log has from the end of a rebalance."""

    began: Mapping[int, int]
    """By the time of an epoch's record."""
    changes: Mapping[int, int]
    """How many came or went, by the time at which that was written."""

    @staticmethod
    def of(tables: Tables) -> _Beginnings:
        began = {row["at"]: min(row["began"], row["at"]) for row in tables.epochs if row["began"] is not None}
        times = [row[name] for row in tables.sessions for name in ("from_at", "to_at")]
        return _Beginnings(began, Counter(each for each in times if each is not None))

    def span(self, at_ms: int, before_ms: int = 0) -> Span:
        """When that happened which was written then; the first of several began what the others came to."""
        began_ms = self.began.get(at_ms, at_ms)
        return Span(began_ms - before_ms, began_ms if self.changes[at_ms] == 1 else at_ms)


def _last_owned(ownership: Sequence[Row]) -> dict[str, int]:
    """When each member had nothing left; without those that own something to this day."""
    found: dict[str, int] = {}
    for row in ownership:
        at_ms = row["to_at"] if row["to_at"] is not None else 1 << 62
        found[row["member_id"]] = max(found.get(row["member_id"], 0), at_ms)
    return found


def _times_by(ownership: Sequence[Row], column: str) -> Counter[str]:
    latest = max((each for row in ownership for each in (row["from_at"], row["to_at"]) if each is not None), default=0)
    times: Counter[str] = Counter()
    for row in ownership:
        if row[column] is not None:
            times[row[column]] += 1 + max(0, (latest if row["to_at"] is None else row["to_at"]) - row["from_at"])
    return times


def _leaders(tables: Tables) -> list[tuple[int, str]]:
    names = workers_of(tables.sessions)
    computed = [(row["started"], row["computed_by"]) for row in tables.rebalances if row["computed_by"]]
    return sorted((at_ms, names.get(member_id) or member_id) for at_ms, member_id in computed)


# -- what is configured ------------------------------------------------------------------------------------------------


def _configured(tables: Tables) -> list[Configured]:
    was_generic = any(row["speaks"] == GENERIC for row in tables.ownership)
    if was_generic or not tables.connectors:
        return _assigned_ever(tables.ownership)
    return [Configured(row["connector"], row["tasks"], row["from_at"], row["to_at"]) for row in tables.connectors]


def _assigned_ever(ownership: Sequence[Row]) -> list[Configured]:
    spans: dict[str, dict[int, tuple[int, int | None]]] = defaultdict(dict)
    for row in sorted(ownership, key=lambda row: row["from_at"]):
        first_ms, _ = spans[row["connector"]].get(row["task"], (row["from_at"], None))
        goes_on = row["to_at"] is None or row["ended"] == "gone"  # who went had it until then, and it waits
        spans[row["connector"]][row["task"]] = first_ms, None if goes_on else row["to_at"]
    found = []
    for connector, tasks in sorted(spans.items()):
        found += _sizes(connector, tasks)
    return found


def _sizes(connector: str, spans: Mapping[int, tuple[int, int | None]]) -> list[Configured]:
    """How many tasks it had from when to when."""
    edges = {at_ms for span in spans.values() for at_ms in span if at_ms is not None}
    found: list[Configured] = []
    for at_ms, next_ms in _pairs(sorted(edges)):
        there = [
            task for task, (from_ms, to_ms) in spans.items() if from_ms <= at_ms and (to_ms is None or to_ms > at_ms)
        ]
        if not there:
            continue
        tasks = sum(task != CONNECTOR for task in there)
        if found and found[-1].to_ms == at_ms and found[-1].tasks == tasks:
            found[-1] = attrs.evolve(found[-1], to_ms=next_ms)
        else:
            found.append(Configured(connector, tasks, at_ms, next_ms))
    return found


def _pairs(edges: Sequence[int]) -> list[tuple[int, int | None]]:
    return list(zip(edges, [*edges[1:], None], strict=True))
