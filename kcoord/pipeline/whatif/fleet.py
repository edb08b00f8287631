"""The fleet of a group, from its tables: which workers came and went, and what was configured when.

- **A worker** is known by its instance id, its url or its member id, in this order. One that comes back is the same
  worker.
- **Times are spans**: not before, and not after. A log is written when something is known, not when it happens.
  A process began a little before it joined. In a classic group it joined when the rebalance began, and the log has it
  from the end of the rebalance.
- **A worker went in order** if it said that it leaves. All others were lost. If its session ended, its last heartbeat
  was a session timeout earlier, and it was lost at some time until the next heartbeat was due. If it was back before
  that, it was lost at some time in the session timeout before. If the coordinator was away then, sessions began afresh
  when it was back: the worker was lost at some time since the coordinator went.
- **A member that was evicted** and came back as another member never went: it was slow.
- **What is configured** is what the workers of connect groups report. In classic groups it is what was ever assigned,
  from the first to the last time, without the holes.
- **The kind** is that of most of the ownership, by time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import attrs

from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.history.state import CLASSIC_GROUP, CLASSIC_MEMBER, CONNECT
from kcoord.pipeline.whatif.stopping import Stopping, stopping
from kcoord.resource import CONNECTOR
from kcoord.sim.scenario import Kind

KINDS = {CONNECT: Kind.CONNECT, CLASSIC_MEMBER: Kind.INDIVIDUAL, CLASSIC_GROUP: Kind.BARRIER}
POLICIES = {
    "uniform": "design-1",
    "cooperative": "design-2",
    "compatible": "kip-415",
    "sessioned": "kip-415",
    "connect": "kip-415",
    "default": "eager",
}
"""The policy that does the same as each assignor, for kcoord's assignors and Connect's embedded protocols."""
IN_ORDER = frozenset({"worker left", "member left"})
PUT_OUT = frozenset({"rebalance timeout", "never synced"})
EXPIRED = "session expired"
TIMES = ("at", "from_at", "to_at", "started", "installed")
"""The columns that say when something was written."""
AFRESH_MS = 1_000
"""How long after the log was opened again a session began afresh, at most."""
JOINING_MS = 50
"""How long before its joining was written a process had begun and connected, at most."""


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
    """None: the worker is still there."""


@attrs.frozen
class Configured:
    """A time during which a connector had this number of tasks."""

    connector: str
    tasks: int
    from_ms: int
    to_ms: int | None = None


@attrs.frozen
class Tables:
    """The rows of one group. Times are in unix ms."""

    epochs: Sequence[Row]
    sessions: Sequence[Row]
    ownership: Sequence[Row]
    connectors: Sequence[Row]
    rebalances: Sequence[Row]
    gaps: Sequence[Row]
    outages: Sequence[Row] = ()
    """When the coordinator was away, in order."""
    last_ms: int = 0
    """When the last record of the whole log was written, if known: other groups may have gone on."""

    def told_until_ms(self) -> int:
        """The end of the log: the time of its last record."""
        kinds = (self.epochs, self.sessions, self.ownership, self.connectors, self.rebalances, self.gaps)
        times: Iterable[int | None] = (row.get(name) for rows in kinds for row in rows for name in TIMES)
        return max([self.last_ms, *(each for each in times if each is not None)])

    def is_cut_short(self) -> bool:
        """Whether the log ends while workers are there and either a task has nobody or the last rebalance is not over:
        what came of that is not in the log.
        """
        if all(row["to_at"] is not None for row in self.sessions):
            return False
        is_over = not self.rebalances or self.rebalances[-1].get("settled", 0) is not None
        return not is_over or any(row["to_at"] is None and row["task"] != CONNECTOR for row in self.gaps)


@attrs.frozen
class Fleet:
    """What a history contains that can be replayed."""

    stays: Sequence[Stay]
    configured: Sequence[Configured]
    kind: Kind | None
    """None: nobody ever owned anything."""
    is_mixed: bool
    """Whether the group was also of another kind at some time."""
    policy: str | None
    """The policy by which it assigned. None: an assignor of its own."""
    assignor: str | None
    """The assignor that the policy was taken from."""
    delay_ms: int | None
    """How long lost work waited. None: nothing ever waited."""
    session_ms: int | None
    """The session timeout. None: it was not written down."""
    stopping: Stopping
    leaders: Sequence[tuple[int, str]]
    """Which worker computed, and since when (unix ms)."""
    urls: Mapping[str, str] = attrs.Factory(dict)
    """The latest url of each worker that has one."""
    ends_ms: int | None = None
    """When the log ends (unix ms), just after its last record. None: not known."""
    is_cut_short: bool = False
    """Whether the log ends in the middle of something. If not, the fleet is at rest then, or has no workers."""

    def absences_ms(self) -> tuple[list[int], int]:
        """How long the workers that came back were away, from the middle of the span in which they may have gone; and
        how many workers never came back.
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
    """The fleet of a group. `heartbeat_ms`: how often workers were to heartbeat, which no log says."""
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
    """Member id → the worker that it is."""
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
    """How and when a process ended, by its last session: no other session of the same process follows."""
    if row["to_at"] is None and back is None:
        return End.STAYS, None
    gone = None if row["to_at"] is None else began.span(row["to_at"])
    if gone is not None and row["ended"] in IN_ORDER:
        return End.IN_ORDER, gone
    session_ms = row["session_timeout_ms"] or 0
    if gone is not None and row["ended"] == EXPIRED:
        return End.LOST, Span(gone.not_before_ms - session_ms, gone.not_after_ms - session_ms + heartbeat_ms)
    known_ms = min(each.not_after_ms for each in (gone, back) if each is not None)
    if owned_until_ms is not None and owned_until_ms < known_ms:  # a static worker that said that it leaves (CG-28)
        return End.IN_ORDER, Span(owned_until_ms, owned_until_ms)
    return End.LOST, Span(known_ms - session_ms, known_ms)


def _before(went: Span, end: End, outages: Sequence[Row]) -> Span:
    """The span, from the beginning of an outage on if nobody could notice the loss during it."""
    since_ms = [
        row["from_at"] for row in outages if row["from_at"] <= went.not_before_ms <= row["to_at"] + AFRESH_MS
    ] if end is End.LOST else []  # fmt: skip
    return Span(min([went.not_before_ms, *since_ms]), went.not_after_ms)


def _between(went: Span, came: Span, back: Span | None) -> Span:
    """The span, clipped to after the worker came and before it was back."""
    not_after = went.not_after_ms if back is None else min(went.not_after_ms, back.not_before_ms - 1)
    not_after = max(not_after, came.not_after_ms)
    return Span(min(max(went.not_before_ms, came.not_after_ms), not_after), not_after)


@attrs.frozen
class _Beginnings:
    """When things began that the log has only from the end of a rebalance."""

    began: Mapping[int, int]
    """Time of an epoch's record → when the epoch began."""
    changes: Mapping[int, int]
    """Time of a record → how many members came or went with it."""

    @staticmethod
    def of(tables: Tables) -> _Beginnings:
        began = {row["at"]: min(row["began"], row["at"]) for row in tables.epochs if row["began"] is not None}
        times = [row[name] for row in tables.sessions for name in ("from_at", "to_at")]
        return _Beginnings(began, Counter(each for each in times if each is not None))

    def span(self, at_ms: int, before_ms: int = 0) -> Span:
        """The span of what was written at that time. Of several changes, the first began the rebalance, the others came
        to it.
        """
        began_ms = self.began.get(at_ms, at_ms)
        return Span(began_ms - before_ms, began_ms if self.changes[at_ms] == 1 else at_ms)


def _last_owned(ownership: Sequence[Row]) -> dict[str, int]:
    """When each member had nothing left, except members that still own something."""
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
    was_classic = any(row["speaks"] == CLASSIC_GROUP for row in tables.ownership)
    if was_classic or not tables.connectors:
        return _assigned_ever(tables.ownership)
    return [Configured(row["connector"], row["tasks"], row["from_at"], row["to_at"]) for row in tables.connectors]


def _assigned_ever(ownership: Sequence[Row]) -> list[Configured]:
    spans: dict[str, dict[int, tuple[int, int | None]]] = defaultdict(dict)
    for row in sorted(ownership, key=lambda row: row["from_at"]):
        first_ms, _ = spans[row["connector"]].get(row["task"], (row["from_at"], None))
        goes_on = row["to_at"] is None or row["ended"] == "gone"  # a gone member had it until then, and it waits
        spans[row["connector"]][row["task"]] = first_ms, None if goes_on else row["to_at"]
    found = []
    for connector, tasks in sorted(spans.items()):
        found += _sizes(connector, tasks)
    return found


def _sizes(connector: str, spans: Mapping[int, tuple[int, int | None]]) -> list[Configured]:
    """The number of tasks of a connector, from when to when."""
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
