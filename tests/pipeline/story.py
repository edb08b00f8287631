"""What happens to a small fleet, step by step, and what does the log say of it? By a real shard on a driven clock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kcoord.group.partition_of_group import partition_of
from kcoord.group.state.step import Step
from kcoord.pipeline.history.derive import derive
from kcoord.pipeline.history.entry import Entry, Row
from kcoord.protocol.records import Record
from tests.group.connect.world import World, packed

PARTITIONS = 4
ALL = "AC0 AT0 AT1"
STEP_MS = 10
"""So long each step that writes something takes, so that each has a time of its own."""

Written = list[tuple[int, list[Record]]]
"""Steps: unix ms, and the records."""


class Recorder(World):
    """A shard whose steps are kept with their times."""

    written: Written

    def _keep(self, step: Step) -> None:
        if not hasattr(self, "written"):
            self.written = []
        super()._keep(step)
        if step.records:
            self.written.append((self.wall_ms, list(step.records)))
            self.now_ms += STEP_MS


def fleet_of_two() -> Recorder:
    """W1 comes and runs all; W2 comes and gets A's second task from it; W1 dies, and W2 gets the rest.

    Epochs 1, 2, 3. Nothing is wrong.
    """
    world = Recorder()
    configured: dict[str, Any] = {"config_offset": 1, "configured_connectors_and_tasks": packed(ALL)}
    world.join("W1", connection=1, **configured)
    world.compute("W1", 0, {"W1": ALL})
    assert world.beat("W1", 0).brief == (1, ALL)
    world.beat("W1", 1, ALL)
    world.join("W2", connection=2)
    world.compute("W1", 1, {"W1": "AC0 AT0", "W2": "AT1"})
    assert world.beat("W1", 1, ALL).owned == "AC0 AT0"
    assert world.beat("W1", 1, "AC0 AT0").brief == (2, "AC0 AT0")
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")
    while "W1" in world.group.members:
        world.live(1_000, W2="AT1")
    world.compute("W2", 2, {"W2": ALL}, connection=2)
    assert world.beat("W2", 2, "AT1", connection=2).brief == (3, ALL)
    return world


def entries(written: Written, partition: int = 0) -> list[Entry]:
    """As a topic has them: behind each step's records stands the end of its transaction."""
    found, offset = [], 0
    for at_ms, records in written:
        for record in records:
            found.append(Entry(partition, offset, at_ms, record))
            offset += 1
        offset += 1
    return found


def tables(log: Iterable[Entry], partitions: int | None = None, partition: int = 0) -> dict[str, list[Row]]:
    """All derived tables."""
    found: dict[str, list[Row]] = {}
    for name, row in derive(partition, log, partitions):
        found.setdefault(name, []).append(row)
    return found


def home(group_id: str) -> int:
    """The partition that a group belongs to, of `PARTITIONS`."""
    return partition_of(group_id, PARTITIONS)
