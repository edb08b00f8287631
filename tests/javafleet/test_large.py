"""Is a real leader up to ten thousand tasks? Its picture has an entry for each, and says what exists as for ten.

The tasks are assigned as any others, and fail at once: as many producers and threads would be another test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.javafleet.conftest import Stage, StageMaker
from tests.javafleet.fleet import DEADLINE_S
from tests.kafka.wait import NotYet, eventually

WORKERS = ("w1", "w2", "w3", "w4")
CONNECTORS, TASKS = 10, 1_000
HEAP_MB = 640
QUIET_DELAY_S = 0
"""What a worker that stops had is given to others at once."""


@pytest.mark.proof
def test_ten_thousand_tasks(make_stage: StageMaker, tmp_path: Path) -> None:
    """CM-37, CM-38, CM-51: workers come and go, a connector is deleted, a worker is drained."""
    stage = make_stage("large", QUIET_DELAY_S)
    fleet = stage.fleet
    fleet.heap_mb = HEAP_MB
    fleet.start(*WORKERS)
    for number in range(CONNECTORS):
        fleet.create(f"c{number}", TASKS, absent="true")
        wait_until_all_have(stage, (number + 1) * (TASKS + 1))
    leader = fleet.leader()

    fleet.start("w5")
    assert wait_until_all_have(stage, CONNECTORS * (TASKS + 1), workers=5) == 5
    fleet.stop("w5")
    wait_until_all_have(stage, CONNECTORS * (TASKS + 1), workers=4)

    fleet.delete("c0")
    wait_until_all_have(stage, (CONNECTORS - 1) * (TASKS + 1))
    fleet.create("c0", 10, absent="true")
    wait_until_all_have(stage, (CONNECTORS - 1) * (TASKS + 1) + 11)

    drained = fleet.follower()
    (rules := tmp_path / "rules.toml").write_text("max-moves = 500\n")
    stage.ask("placement", "apply", rules)
    said = stage.ask("workers", "drain", fleet.workers[drained].url, "--wait")
    assert said.endswith("runs nothing any more\n")
    wait_until_all_have(stage, (CONNECTORS - 1) * (TASKS + 1) + 11)
    assert fleet.leader() == leader, "it has led throughout"


def wait_until_all_have(stage: Stage, resources: int, workers: int = 0) -> int:
    """Wait until so many connectors and tasks are owned once each by whom they are meant for; how many workers there
    are.
    """

    def settled() -> int:
        group = json.loads(stage.ask("groups", "describe", "--json"))[0]
        members: list[dict[str, Any]] = group["members"]
        owned = sum(count(member["owns"]) for member in members)
        if any(member["owns"] != member["target"] for member in members) or owned != resources:
            raise NotYet(f"{owned} of {resources} are owned, {group['state']}")
        if workers and len(members) != workers:
            raise NotYet(f"{len(members)} workers")
        return len(members)

    return eventually(settled, f"{resources} are where they are to be", deadline_s=DEADLINE_S, every_s=1)


def count(resources: dict[str, Any]) -> int:
    """How many connectors and tasks these are."""
    return len(resources["connectors"]) + sum(map(len, resources["tasks"].values()))
