"""What do the tables say of a fleet whose every step is known? Without Spark: the functions that it calls."""

from __future__ import annotations

import random

import attrs
import pytest

from kcoord.pipeline.history.entry import Entry, Row
from kcoord.pipeline.history.state import CLASSIC_MEMBER
from kcoord.pipeline.schemas import DERIVED
from kcoord.protocol.generated import connect_worker_group_connectors_tasks_metadata_value as record4
from kcoord.protocol.generated import connect_worker_group_current_member_assignment_value as record7
from kcoord.protocol.generated.connect_worker_group_member_metadata_value import ClassicMemberMetadata
from kcoord.protocol.records import (
    ConnectWorkerGroupConnectorsTasksMetadataKey,
    ConnectWorkerGroupConnectorsTasksMetadataValue,
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupCurrentMemberAssignmentValue,
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupMemberMetadataValue,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    ConnectWorkerGroupTargetAssignmentKey,
    ConnectWorkerGroupTargetAssignmentValue,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)
from kcoord.protocol.resources import pack
from tests.group.connect.world import GROUP, res
from tests.pipeline.story import ALL, Written, entries, fleet_of_two, home, tables


@pytest.fixture(scope="module")
def written() -> Written:
    return fleet_of_two().written


def picked(rows: list[Row], *names: str) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def at_of(written: Written, epoch: int) -> int:
    """When the epoch was written."""
    return next(
        at
        for at, records in written
        for each in records
        if isinstance(each.value, ConnectWorkerGroupMetadataValue) and each.value.epoch == epoch
    )


def current(member: str, owned: str, epoch: int) -> Record:
    """Record 7."""
    packed = pack(res(owned), record7.ConnectorsTasks, record7.ConnectorTaskId)
    value = ConnectWorkerGroupCurrentMemberAssignmentValue(epoch, 0, packed)
    return Record(ConnectWorkerGroupCurrentMemberAssignmentKey(GROUP, member), value)


def said_by_w9(classic: ClassicMemberMetadata | None = None) -> Record:
    """Record 5."""
    value = ConnectWorkerGroupMemberMetadataValue(client_id="w", client_host="/10.0.0.9", classic=classic)
    return Record(ConnectWorkerGroupMemberMetadataKey(GROUP, "W9"), value)


# -- the tables --------------------------------------------------------------------------------------------------------


def test_rows_have_the_columns_of_their_tables(written: Written) -> None:
    found = tables(entries(written))
    for table in DERIVED:
        for row in found.get(table.name, []):
            assert set(row) == {column.name for column in table.columns}, table.name


def test_every_epoch_says_why_it_began(written: Written) -> None:
    rows = tables(entries(written))["epochs"]
    assert picked(rows, "kind", "epoch", "reason", "members", "configured") == [
        ("connect", 1, "worker joined", 1, 3),
        ("connect", 2, "worker joined", 2, 3),
        ("connect", 3, "session expired", 1, 3),
    ]
    assert [row["at"] for row in rows] == [at_of(written, epoch) for epoch in (1, 2, 3)]
    assert rows[2]["detail"].startswith("session expired: W1")


def test_what_came_of_every_rebalance(written: Written) -> None:
    rows = tables(entries(written))["rebalances"]
    counts = ("epoch", "moved", "granted", "stopped", "returned", "lost", "interrupted", "members")
    assert picked(rows, *counts) == [
        (1, 3, 3, 0, 0, 0, 0, 1),
        (2, 1, 1, 1, 0, 0, 1, 2),
        (3, 2, 2, 0, 0, 2, 0, 1),
    ]
    for row in rows:
        assert row["started"] <= row["installed"] <= row["converged"] == row["settled"]
        assert row["duration_ms"] == row["settled"] - row["started"]


def test_by_what_it_was_computed_and_for_how_long_what_was_lost_waits(written: Written) -> None:
    rows = tables(entries(written))["rebalances"]
    assert picked(rows, "assignor", "computed_by", "delay_ms") == [
        ("cooperative", "W1", None),
        ("cooperative", "W1", None),
        ("cooperative", "W2", None),
    ]
    waits = [(at, [_waiting(each, at) for each in records]) for at, records in written]
    assert {row["delay_ms"] for row in tables(entries(waits))["rebalances"]} == {60_000}


def _waiting(record: Record, at_ms: int) -> Record:
    if not isinstance(record.value, ConnectWorkerGroupTargetAssignmentValue):
        return record
    return Record(record.key, attrs.evolve(record.value, delay_deadline_ms=at_ms + 60_000))


def test_which_connectors_were_configured(written: Written) -> None:
    rows = tables(entries(written))["connectors"]
    assert picked(rows, "connector", "tasks", "from_at", "to_at", "whole") == [("A", 2, written[0][0], None, True)]
    more, none = at_of(written, 3) + 1_000, at_of(written, 3) + 2_000
    changed = [*written, (more, [configured_as("AC0 AT0 BC0")]), (none, [configured_as("")])]
    rows = tables(entries(changed))["connectors"]
    assert picked(rows, "connector", "tasks", "from_at", "to_at") == [
        ("A", 2, written[0][0], more),
        ("A", 1, more, none),
        ("B", 0, more, none),
    ]


def configured_as(resources: str) -> Record:
    """Record 4."""
    packed = pack(res(resources), record4.ConnectorsTasks, record4.ConnectorTaskId)
    value = ConnectWorkerGroupConnectorsTasksMetadataValue(epoch=3, connectors_tasks=packed)
    return Record(ConnectWorkerGroupConnectorsTasksMetadataKey(GROUP), value)


def test_who_could_be_running_what(written: Written) -> None:
    rows = tables(entries(written))["ownership"]
    held = {(row["member_id"], row["connector"], row["task"], row["ended"]) for row in rows}
    assert held == {
        ("W1", "A", 1, "released"),
        ("W1", "A", -1, "gone"),
        ("W1", "A", 0, "gone"),
        ("W2", "A", 1, None),
        ("W2", "A", -1, None),
        ("W2", "A", 0, None),
    }
    lost = [row for row in rows if row["ended"] == "gone"]
    assert {row["to_at"] for row in lost} == {at_of(written, 3)}
    assert all(row["whole"] and row["speaks"] == "connect" for row in rows)


def test_members_come_and_go(written: Written) -> None:
    first, second = tables(entries(written))["sessions"]
    assert (first["member_id"], first["ended"]) == ("W1", "session expired")
    assert (first["from_at"], first["to_at"]) == (at_of(written, 1), at_of(written, 3))
    assert (second["member_id"], second["ended"], second["to_at"]) == ("W2", None, None)


def test_nobody_ran_what_was_lost_until_it_was_given(written: Written) -> None:
    found = tables(entries(written))
    gaps = [row for row in found["gaps"] if row["reason"] == "session expired"]
    assert picked(gaps, "connector", "task", "from_member", "to_member", "epoch") == [
        ("A", -1, "W1", "W2", 3),
        ("A", 0, "W1", "W2", 3),
    ]
    granted = {row["from_at"] for row in found["ownership"] if row["to_at"] is None and row["task"] != 1}
    assert {row["to_at"] for row in gaps} == granted


def test_how_evenly_the_work_was_spread(written: Written) -> None:
    rows = tables(entries(written))["balance"]
    shapes = picked(rows, "members", "owned", "most", "least")
    assert shapes[0] == (1, 0, 0, 0)
    assert (2, 3, 2, 1) in shapes
    assert shapes[-1] == (1, 3, 3, 3)


# -- the audit ---------------------------------------------------------------------------------------------------------


def findings(written: Written, *forged: list[Record]) -> list[tuple[object, ...]]:
    at_ms = written[-1][0]
    more = [(at_ms + 100 * number, records) for number, records in enumerate(forged, 1)]
    rows = tables(entries([*written, *more])).get("audit", [])
    return picked(rows, "finding", "connector", "task", "member_ids")


def test_a_sound_log_has_no_findings(written: Written) -> None:
    assert findings(written) == []


def test_a_second_owner_is_found(written: Written) -> None:
    """CG-2. Also one that is a member only in the forgery."""
    forged = [said_by_w9(), current("W9", "AT1", 3)]
    assert findings(written, forged) == [("double owner", "A", 1, ["W2", "W9"])]


def test_a_gap_is_found_and_its_end(written: Written) -> None:
    assert findings(written, [current("W2", "AC0 AT0", 3)]) == [("gap", "A", 1, ["W2"])]
    healed = tables(entries([*written, (written[-1][0] + 5, [current("W2", "AC0 AT0", 3)]),
                             (written[-1][0] + 9, [current("W2", ALL, 3)])]))["audit"]  # fmt: skip
    assert picked(healed, "finding", "at", "until") == [("gap", written[-1][0] + 5, written[-1][0] + 9)]


def test_an_epoch_that_goes_back_is_found(written: Written) -> None:
    back = Record(ConnectWorkerGroupMetadataKey(GROUP), ConnectWorkerGroupMetadataValue(2, "forged", 5))
    [row] = tables(entries([*written, (written[-1][0] + 5, [back])]))["audit"]
    assert (row["finding"], row["what"]) == ("epoch back", "the group epoch goes back from 3 to 2")


def test_an_install_of_an_epoch_that_has_not_begun_is_found(written: Written) -> None:
    value = ConnectWorkerGroupTargetAssignmentValue(7, None, "forged")
    assert [each[0] for each in findings(written, [Record(ConnectWorkerGroupTargetAssignmentKey(GROUP), value)])] == [
        "bad install"
    ]


def test_a_group_in_a_partition_that_is_not_its_own_is_found(written: Written) -> None:
    assert "audit" not in tables(entries(written, home(GROUP)), 4, home(GROUP))
    elsewhere = (home(GROUP) + 1) % 4
    [row] = tables(entries(written, elsewhere), 4, elsewhere)["audit"]
    assert row["finding"] == "misplaced"


# -- what logs are like ------------------------------------------------------------------------------------------------


def test_duplicates_are_left_out(written: Written) -> None:
    log = entries(written)
    twice = sorted([*log, *random.Random(1).sample(log, 20)], key=lambda each: each.offset)
    assert tables(twice) == tables(log)


def test_times_may_go_back(written: Written) -> None:
    """Another instance took over, and its clock is late: the order of the log counts, and nothing lasts less than 0."""
    late = [(at - 60_000 if number > len(written) // 2 else at, step) for number, (at, step) in enumerate(written)]
    found = tables(entries(late))
    assert "audit" not in found
    assert len(found["ownership"]) == 6
    for name in ("ownership", "sessions", "gaps", "rebalances"):
        assert all(row["duration_ms"] is None or row["duration_ms"] >= 0 for row in found[name]), name


def test_what_compaction_took_is_not_made_up(written: Written) -> None:
    """Of what was before its point the last of each key is left: no false findings, and what may have begun earlier is
    marked.
    """
    log = entries(written)
    for point in range(len(log)):
        last: dict[object, int] = {str(each.record.key): each.offset for each in log[:point]}
        left = [each for at, each in enumerate(log) if at >= point or last[str(each.record.key)] == each.offset]
        found = tables(left)
        assert "audit" not in found, f"compacted up to {point}: {found['audit']}"
        assert any(row["member_id"] == "W2" and row["ended"] is None for row in found["sessions"]), point
        assert all(row["speaks"] == "connect" for row in found.get("ownership", ())), point
    found = tables(compacted(log))
    assert {row["member_id"] for row in found["ownership"] if not row["whole"]} == {"W2"}
    assert picked(found["sessions"], "member_id", "ended", "whole") == [("W2", None, False)]


def test_times_that_are_none_are_not_told(written: Written) -> None:
    """Somebody wrote nonsense: it is no time, and the tables have none there."""
    value = ConnectWorkerGroupMetadataValue(9, "forged", 1 << 62)
    rows = tables(entries([*written, (written[-1][0] + 5, [Record(ConnectWorkerGroupMetadataKey(GROUP), value)])]))
    assert (rows["epochs"][-1]["epoch"], rows["epochs"][-1]["began"]) == (9, None)


def compacted(log: list[Entry]) -> list[Entry]:
    last = {str(each.record.key): each.offset for each in log}
    return [each for each in log if last[str(each.record.key)] == each.offset and each.record.value is not None]


def test_a_group_that_is_made_anew_is_another_one() -> None:
    world = fleet_of_two()
    world.beat("W2", -1, connection=2)
    world.delete()
    world.join("W3", connection=3)
    found = tables(entries(world.written))
    assert picked(found["epochs"], "incarnation", "epoch")[-2:] == [(1, 4), (2, 1)]
    assert {row["ended"] for row in found["ownership"]} == {"released", "gone"}
    assert picked(found["sessions"], "member_id", "incarnation", "ended") == [
        ("W1", 1, "session expired"),
        ("W2", 1, "worker left"),
        ("W3", 2, None),
    ]
    assert "audit" not in found


# -- classic groups ----------------------------------------------------------------------------------------------------


def generation(number: int, state: str, *members: str, at_ms: int = -1) -> Record:
    seats = [MemberMetadata(each, None, "client", "/10.0.0.1", 60_000, 10_000, b"", b"a") for each in members]
    value = GroupMetadataValue("consumer", number, "range", members[0] if members else None, at_ms, seats, state=state)
    value.reason, value.reason_timestamp = "member joined: m1", 1_000
    return Record(GroupMetadataKey("orders"), value)


def test_classic_groups_have_generations_and_sessions() -> None:
    found = tables(
        entries(
            [
                (1_000, [generation(1, "Stable", "m1", at_ms=1_500)]),
                (3_000, [generation(2, "Stable", "m1", "m2", at_ms=3_500)]),
                (9_000, [generation(3, "Empty")]),
                (9_500, [Record(GroupMetadataKey("orders"), None)]),
            ]
        )
    )
    assert picked(found["epochs"], "kind", "epoch", "reason", "members") == [
        ("generic", 1, "member joined", 1),
        ("generic", 2, "member joined", 2),
        ("generic", 3, "member joined", 0),
    ]
    assert picked(found["rebalances"], "epoch", "started", "installed")[0] == (1, 1_000, 1_500)
    assert picked(found["sessions"], "member_id", "from_at", "to_at", "speaks") == [
        ("m1", 1_000, 9_000, "generic"),
        ("m2", 3_000, 9_000, "generic"),
    ]
    assert "ownership" not in found


def test_consumer_groups_and_offsets_beside_a_connect_group(written: Written) -> None:
    """They are in the same partition, and each group's rows are its own: offsets that are committed change no group."""
    offset = Record(OffsetCommitKey("orders", "topic", 0), OffsetCommitValue(5, metadata="", commit_timestamp=1))
    beside = [(at + 1, [generation(number, "Stable", "m1"), offset]) for number, (at, _) in enumerate(written, 1)]
    alone, found = tables(entries(written)), tables(entries(sorted([*written, *beside], key=lambda step: step[0])))
    without = ("from_offset", "to_offset", "offset")
    for table in DERIVED:
        rows = [row for row in found.get(table.name, []) if row["group_id"] == GROUP]
        assert [{name: row[name] for name in row if name not in without} for row in rows] == [
            {name: row[name] for name in row if name not in without} for row in alone.get(table.name, [])
        ], table.name
    assert [row["epoch"] for row in found["epochs"] if row["group_id"] == "orders"] == [*range(1, len(written) + 1)]


def test_what_a_classic_worker_brings_along_is_no_second_owner(written: Written) -> None:
    """CM-12: it gives up what others have by then."""
    forged = [said_by_w9(ClassicMemberMetadata(["sessioned"])), current("W9", "AT1", 3)]
    assert findings(written, forged) == []
    rows = tables(entries([*written, (written[-1][0] + 5, forged)]))["ownership"]
    assert [row["speaks"] for row in rows if row["member_id"] == "W9"] == [CLASSIC_MEMBER]
