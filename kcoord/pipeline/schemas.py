"""The tables that the pipeline writes, and what each column means. This is the one place: Spark's schemas, Arrow's
schemas and the lists in `docs/pipeline.md` are made from it.

A column's kind is one of `Kind`; every column may be null. A time is an instant (UTC). Rows of one group are in the
order of its partition of the log, never in the order of times: times may go back where another instance with another
clock took over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

import attrs


class Kind(Enum):
    """The types of columns, by Spark's names."""

    BOOL = "boolean"
    SHORT = "smallint"
    INT = "int"
    LONG = "bigint"
    DOUBLE = "double"
    TEXT = "string"
    TIME = "timestamp"
    BYTES = "binary"
    TEXTS = "array<string>"


@attrs.frozen
class Column:
    """One column, and what it means."""

    name: str
    kind: Kind
    about: str


@attrs.frozen
class Table:
    """One table, and what one of its rows is."""

    name: str
    about: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [each.name for each in self.columns]

    @property
    def ddl(self) -> str:
        """Spark's schema of the table."""
        return ", ".join(f"`{each.name}` {each.kind.value}" for each in self.columns)


def _columns(*lines: str) -> tuple[Column, ...]:
    """Parse lines of the form `name KIND meaning`."""
    found = []
    for line in lines:
        name, kind, about = line.split(" ", 2)
        found.append(Column(name, Kind[kind], about))
    return tuple(found)


_GROUP = (
    "partition INT The partition of the log to which the group belongs.",
    "group_id TEXT The group.",
    "incarnation INT 1 at first; one more each time that the group is created again after it was deleted.",
    "protocol_type TEXT What its members are, in Kafka's words: `connect` for Connect workers, `consumer` for "
    "consumers, or another client's name for itself; null: nobody has said.",
)
_RESOURCE = (
    "connector TEXT The connector's name; in a group of consumers, the topic's.",
    "task INT The task's number; -1 is the connector itself. In a group of consumers, the partition's number.",
)
_KIND = "kind TEXT `connect`, `consumer` (a consumer group of the new protocol) or `generic` (a classic group)."
_WHERE = (
    "partition INT The log's partition.",
    "offset LONG The record's place: in Kafka the offset, in the file the place in its partition.",
    "at TIME When it was written.",
)
_RAW = (
    "key BYTES The key as it is in the log.",
    "value BYTES The value as it is in the log; null: a tombstone.",
)

RECORDS = Table(
    "records",
    "Every record that can be read, as it is in the log.",
    _columns(
        *_WHERE,
        "type SHORT The number of its type (the key's version).",
        "name TEXT The type's name.",
        "group_id TEXT The group that it belongs to.",
        "member_id TEXT The member that it belongs to, or null.",
        "epoch INT For records 3, 10, 20 and 27 the group epoch, for 6 and 23 the assignment epoch, for 7 and 25 the "
        "member's epoch, for 4 the group epoch when the set was taken, for 2 the generation; otherwise null.",
        "tombstone BOOL Whether it deletes its key.",
        *_RAW,
    ),
)
QUARANTINE = Table(
    "quarantine",
    "Every record that cannot be read. Nothing is lost: a kcoord that can read it later takes it from here.",
    _columns(
        *_WHERE,
        "reason TEXT What is wrong with it.",
        "newer BOOL Whether its type or version is above those that this kcoord knows: a newer kcoord wrote it.",
        *_RAW,
    ),
)
WHOLE = Table(
    "whole",
    "Every record of the log. It is not written: the source `kcoord` gives it.",
    (*RECORDS.columns, *(each for each in QUARANTINE.columns if each.name in ("reason", "newer"))),
)
EPOCHS = Table(
    "epochs",
    "Every epoch of a connect group or a consumer group, and every generation of a classic group.",
    _columns(
        *_GROUP,
        _KIND,
        "epoch INT The group epoch, or the generation.",
        "offset LONG The record that began it.",
        "at TIME When that was written.",
        "began TIME When it began, by the coordinator's clock; null if it was not written down.",
        "reason TEXT Why: the words before the colon, such as `worker joined` or `topics changed`; null if it was not "
        "written down.",
        "detail TEXT The whole reason, with the member that caused it.",
        "members INT How many members there were then.",
        "configured INT How many connectors and tasks were configured, or null if nobody said. In a consumer group: "
        "how many partitions members subscribed to.",
    ),
)
REBALANCES = Table(
    "rebalances",
    "Every rebalance: one for each epoch and generation. Counts run from its beginning until the next one begins. In "
    "groups of consumers, read partitions for connectors and tasks.",
    _columns(
        *_GROUP,
        _KIND,
        "epoch INT The group epoch, or the generation.",
        "reason TEXT As in `epochs`.",
        "detail TEXT As in `epochs`.",
        "started TIME When it began.",
        "installed TIME When its assignment had been computed, or null.",
        "converged TIME When every member owned its target; null: the next rebalance came before.",
        "settled TIME When the group was next at rest: this one or a later one had converged. Null: not in this log.",
        "duration_ms LONG From started to settled.",
        "members INT How many members there were when it began.",
        "moved INT Connectors and tasks that were to move, as the coordinator counted; null if unknown.",
        "granted INT Connectors and tasks that a member was given.",
        "stopped INT Connectors and tasks that a member had to give up, although it stayed in the group.",
        "returned INT How many of these the same member was given again: they were stopped for nothing.",
        "lost INT Connectors and tasks of members that left or were lost.",
        "interrupted INT Members that stayed in the group and had to give something up.",
        "assignor TEXT The assignor of its assignment; in a classic group the embedded protocol's name. Null: unknown.",
        "computed_by TEXT The member that computed it (in a classic group the leader). Null: the coordinator, as "
        "always in a consumer group, or unknown.",
        "delay_ms LONG How long lost work was to wait from then on; null: nothing waited, as always in groups of "
        "consumers.",
    ),
)
OWNERSHIP = Table(
    "ownership",
    "Every time in which a member could be running a connector or task, or consuming a partition. In connect groups "
    "this comes from record 7. In consumer groups it comes from record 25: all that the member is told to consume or "
    "must still let go of; nothing while it is away. In classic groups of Connect workers or consumers it comes from "
    "what they reported and were assigned, until they were told to stop.",
    _columns(
        *_GROUP,
        *_RESOURCE,
        "member_id TEXT The member.",
        "url TEXT Where its REST interface is, or null.",
        "speaks TEXT `connect` or `consumer`: the new protocol, in a group of that kind; `legacy`: the classic "
        "protocol, in a group of the new one; `generic`: the classic protocol, in a classic group.",
        "from_offset LONG The record that began it.",
        "from_at TIME When that was written.",
        "to_offset LONG The record that ended it; null: it has not ended.",
        "to_at TIME When that was written.",
        "duration_ms LONG How long it was; null: it has not ended.",
        "ended TEXT `released`, `gone` (the member has gone), `deleted` (the group was deleted); null: it has not "
        "ended.",
        "whole BOOL False: compaction may have removed earlier records, so it may have begun earlier.",
    ),
)
SESSIONS = Table(
    "sessions",
    "Every stay of a member in a group.",
    _columns(
        *_GROUP,
        "member_id TEXT The member.",
        "instance_id TEXT Its static name, or null.",
        "client_id TEXT The client id that it gave.",
        "client_host TEXT The address that it came from.",
        "url TEXT Where its REST interface is, or null.",
        "speaks TEXT As in `ownership`.",
        "session_timeout_ms LONG Its session timeout: without a heartbeat for this time, it is lost. Null: unknown, or "
        "the coordinator's setting, as for a consumer of the new protocol.",
        "from_offset LONG The record with which it came.",
        "from_at TIME When that was written.",
        "to_offset LONG The record with which it went; null: it is still there.",
        "to_at TIME When that was written.",
        "duration_ms LONG How long it stayed; null: it is still there.",
        "ended TEXT Why the group changed when it went, in the words of `epochs`; `gone` if that is not known.",
        "whole BOOL As in `ownership`.",
    ),
)
CONNECTORS = Table(
    "connectors",
    "Every time in which a connector was configured with the same number of tasks; in a consumer group, every time in "
    "which members subscribed to a topic with the same number of partitions. Only of groups whose members say what is "
    "configured, so not of classic groups.",
    _columns(
        *_GROUP,
        "connector TEXT The connector's name, or the topic's.",
        "tasks INT How many tasks it had, or partitions.",
        "from_offset LONG The record that began it.",
        "from_at TIME When that was written.",
        "to_offset LONG The record that ended it; null: it has not ended.",
        "to_at TIME When that was written.",
        "whole BOOL As in `ownership`.",
    ),
)
GAPS = Table(
    "gaps",
    "Every time in which nobody could be running something that was configured, or that had been running. In classic "
    "groups nobody says what is configured: if a leader gives something to nobody any more, it counts as deleted. In a "
    "consumer group without members, what the last ones subscribed to counts as configured.",
    _columns(
        *_GROUP,
        *_RESOURCE,
        "from_at TIME When it began.",
        "to_at TIME When it ended; null: it has not ended.",
        "duration_ms LONG How long it was; null: it has not ended.",
        "from_member TEXT Who ran it before, or null.",
        "to_member TEXT Who ran it afterwards, or null.",
        "epoch INT The group epoch in which it began.",
        "reason TEXT Why: the cause of that epoch, such as `session expired`; or `worker away` or `consumer "
        "away`: a static member has left for a while, which begins no epoch.",
    ),
)
BALANCE = Table(
    "balance",
    "How evenly the work was spread, after each change of it.",
    _columns(
        *_GROUP,
        "offset LONG The last record of the change.",
        "at TIME When that was written.",
        "epoch INT The group epoch, or the generation.",
        "members INT How many members there were.",
        "configured INT How many connectors and tasks were configured, or partitions subscribed to; or null.",
        "owned INT How many of these a member could be running.",
        "most INT How many the member with most had.",
        "least INT How many the member with fewest had.",
    ),
)
OUTAGES = Table(
    "outages",
    "Every time of a second or more in which no kcoord had the log, because it was down or being restarted. For a log "
    "in a topic: every time of more than a lease in which nobody had a partition with members.",
    _columns(
        "partition INT The log's partition; null: all of them.",
        "from_at TIME When kcoord was last known to be alive.",
        "to_at TIME When the next one opened the log.",
        "duration_ms LONG How long that was.",
    ),
)
AUDIT = Table(
    "audit",
    "Everything that must never happen, and did.",
    _columns(
        *_GROUP,
        "finding TEXT `double owner`, `gap`, `epoch back`, `bad install` or `misplaced`.",
        "offset LONG The record that showed it.",
        "at TIME When that was written.",
        "until TIME When it was over; null: it was not over, or it is nothing that lasts.",
        "connector TEXT The connector's name, or the topic's; or null.",
        "task INT The task's number, or -1 for the connector itself, or the partition's number; or null.",
        "member_ids TEXTS The members concerned.",
        "what TEXT In words.",
    ),
)

VARIED = ("scenario", "kind", "policy", "delay", "restart", "rules")
"""The columns in which runs can differ, besides the seed."""
LAB = Table(
    "lab",
    "Every run of `kcoord pipeline lab`. Figures count from the scenario's first event. A run with an error has no "
    "figures.",
    _columns(
        "scenario TEXT The scenario's name, or its file as it was given.",
        "kind TEXT The kind of group: `barrier`, `individual` or `connect`.",
        "policy TEXT The rebalance policy.",
        "delay DOUBLE How many seconds lost work waited, if the policy lets it wait.",
        "restart TEXT How the workers go that the scenario stops or kills: `drain`, `drain-stops`, `stop` or `kill`; "
        "null: as the scenario says.",
        "rules TEXT The file of placement rules that the group had; null: as the scenario says.",
        "seed INT The number of the run, among runs that differ only in latencies.",
        "stopped DOUBLE Task-seconds in which a task that was configured ran nowhere.",
        "longest_gap DOUBLE The longest such time of one task, in seconds.",
        "moved INT How often a task was started by another worker than the one that ran it before.",
        "needless INT How often a worker stopped a task and then started the same task again.",
        "rebalances INT Generations of a classic group, group epochs of a connect group.",
        "requests INT All requests that the coordinator got, with heartbeats.",
        "balanced_after DOUBLE Seconds from the last event until all tasks ran, evenly spread, and stayed there; null: "
        "this never happened.",
        "doubles INT How often two workers had the same task at once: 0, unless kcoord has a bug.",
        "error TEXT Why there are no figures: the fleet was not at rest when the first event was due. Otherwise null.",
    ),
)
"""The table of `kcoord pipeline lab`, which reads no log."""

WHATIF = Table(
    "whatif",
    "Every run of `kcoord pipeline whatif`. The columns are those of `lab`. A scenario is a piece of the history; its "
    "name is the time at which it begins (UTC). The last four columns come from the run's own log, counted as in the "
    "recorded log.",
    (
        *LAB.columns,
        *_columns(
            "unowned DOUBLE Task-seconds in which nobody could be running a task.",
            "longest_unowned DOUBLE The longest such time of one task, in seconds.",
            "handed_over INT How often a task was given to another worker than the one that had it before.",
            "epochs INT How many epochs or generations began.",
        ),
    ),
)
"""The table of `kcoord pipeline whatif`."""

FOLLOWED = Table(
    "followed",
    "What a stream keeps of each partition, so that it goes on where it was. It is of no use to anybody else.",
    _columns(
        "partition INT The log's partition.",
        "follower BYTES What is known of its groups, in a form that only this version of kcoord reads.",
    ),
)
"""It is written by a stream only."""

DERIVED = (EPOCHS, REBALANCES, OWNERSHIP, SESSIONS, CONNECTORS, GAPS, BALANCE, AUDIT)
"""The tables that are made from `records`, in the order of the documentation."""
TABLES = (RECORDS, *DERIVED, OUTAGES, QUARANTINE)


def markdown(tables: Iterable[Table] = TABLES) -> Iterator[str]:
    """The part of `docs/pipeline.md` that lists these tables."""
    for table in tables:
        yield f"### {table.name}\n\n{table.about}\n\n| column | type | meaning |\n| --- | --- | --- |\n"
        for column in table.columns:
            yield f"| `{column.name}` | {column.kind.value} | {column.about} |\n"
        yield "\n"
