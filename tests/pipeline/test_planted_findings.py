"""Is each thing that must never be found where it is planted in a log that kcoord has written, and nothing else?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.log import history
from kcoord.pipeline.schemas import AUDIT
from kcoord.pipeline.spark.history import run_batch
from kcoord.pipeline.spark.sources import FileSource
from kcoord.pipeline.spark.store import Store
from kcoord.protocol.generated import connect_worker_group_target_assignment_member_value as record9
from kcoord.protocol.records import (
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    ConnectWorkerGroupTargetAssignmentKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
    ConnectWorkerGroupTargetAssignmentMemberValue,
    ConnectWorkerGroupTargetAssignmentValue,
    Record,
    encode_record,
)
from kcoord.protocol.resources import pack
from tests.group.connect.world import GROUP, res
from tests.pipeline.files import copy_to_file
from tests.pipeline.spark import read
from tests.pipeline.story import ALL, PARTITIONS, Written, entries, fleet_of_two, home, tables
from tests.pipeline.test_history import current, generation, said_by_w9

AFTER_MS = 5


def epoch(number: int) -> Record:
    """Record 3."""
    return Record(ConnectWorkerGroupMetadataKey(GROUP), ConnectWorkerGroupMetadataValue(number, "forged", 5))


def installed(number: int) -> Record:
    """Record 6."""
    return Record(
        ConnectWorkerGroupTargetAssignmentKey(GROUP), ConnectWorkerGroupTargetAssignmentValue(number, None, "forged")
    )


def target(member: str, owned: str) -> Record:
    """Record 9."""
    packed = pack(res(owned), record9.ConnectorsTasks, record9.ConnectorTaskId)
    key = ConnectWorkerGroupTargetAssignmentMemberKey(GROUP, member)
    return Record(key, ConnectWorkerGroupTargetAssignmentMemberValue(connectors_tasks=packed))


@attrs.frozen
class Plant:
    """Records that nobody writes, and what is found of them."""

    name: str
    records: list[Record]
    found: list[tuple[str, str]]
    """Findings, and their words."""


PLANTS = [
    Plant(
        "two owners",
        [said_by_w9(), current("W9", "AT1", 3)],
        [("double owner", "task A-1 could be running on W2 and W9")],
    ),
    Plant(
        "nobody has a task",
        [current("W2", "AC0 AT0", 3)],
        [("gap", "nobody could be running task A-1, which is configured, and the group is at rest")],
    ),
    Plant("the group's epoch", [epoch(2)], [("epoch back", "the group epoch goes back from 3 to 2")]),
    Plant("the assignment's epoch", [installed(2)], [("epoch back", "the assignment epoch goes back from 3 to 2")]),
    Plant("a member's epoch", [current("W2", ALL, 2)], [("epoch back", "the member epoch goes back from 3 to 2")]),
    Plant(
        "an epoch that has not begun",
        [installed(7)],
        [("bad install", "the assignment epoch 7 is above the group's 3")],
    ),
    Plant(
        "two have it to run",
        [said_by_w9(), target("W9", "AT0"), installed(3)],
        [("bad install", "task A-0 is in the targets of W2 and W9")],
    ),
    Plant(
        "something that does not exist",
        [target("W2", f"{ALL} BT0"), installed(3)],
        [("bad install", "task B-0 is assigned, and not configured")],
    ),
    Plant(
        "something is left out",
        [target("W2", "AC0 AT0"), installed(3)],
        [("bad install", "task A-1 is configured, and in no target, without a delay")],
    ),
]


@pytest.fixture(scope="module")
def written() -> Written:
    return fleet_of_two().written


def planted(written: Written, plant: Plant) -> Written:
    """The log with the records at its end."""
    return [*written, (written[-1][0] + AFTER_MS, plant.records)]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_what_is_planted_is_found(plant: Plant, written: Written) -> None:
    rows = tables(entries(planted(written, plant))).get(AUDIT.name, [])
    assert [(row["finding"], row["what"]) for row in rows] == plant.found


def test_a_generation_that_goes_back_is_found() -> None:
    log = [(1_000, [generation(3, "Stable", "m1")]), (2_000, [generation(2, "Stable", "m1")])]
    [row] = tables(entries(log))[AUDIT.name]
    assert (row["finding"], row["what"]) == ("epoch back", "the generation goes back from 3 to 2")


def test_spark_finds_them_all_in_a_file(spark: Any, tmp_path: Path, written: Written) -> None:
    """All at once, each in a group of its own, in the partition that is the group's or in another."""
    log: list[history.Entry] = []
    ends: dict[int, int] = {}
    for number, plant in enumerate(PLANTS):
        name = f"group-{number}"
        partition = home(name) if number else (home(name) + 1) % PARTITIONS
        for entry in entries(planted(written, plant), partition):
            key: Any = entry.record.key
            raw = encode_record(Record(attrs.evolve(key, group_id=name), entry.record.value))
            place = ends.get(partition, 0) + entry.offset
            log.append(history.Entry(partition, place, entry.at_ms, *raw))
        ends[partition] = log[-1].position + 2
    log.sort(key=lambda each: (each.partition, each.position))
    copy_to_file(log, tmp_path / "log", PARTITIONS)
    outcome = run_batch(Store(spark, str(tmp_path / "tables")), FileSource.look(tmp_path / "log"))
    found = sorted((row["group_id"], row["finding"], row["what"]) for row in read(tmp_path / "tables", AUDIT))
    expected = [(f"group-{number}", *each) for number, plant in enumerate(PLANTS) for each in plant.found]
    stray = (home("group-0") + 1) % PARTITIONS
    misplaced = ("group-0", "misplaced", f"the group belongs to partition {home('group-0')} of {PARTITIONS}")
    assert stray != home("group-0")
    assert found == sorted([*expected, misplaced])
    assert outcome.findings == len(found)
