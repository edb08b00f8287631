"""Does the benchmark of adoption see a commit that a Connect worker could not make?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.adoption import ADOPTION, RELEASE, FleetCost, failed_commits
from tests.javafleet.figures import Figures

PREFIX = "07:51:03.473 [task-thread-sink-0]"
SINK = "org.apache.kafka.connect.runtime.WorkerSinkTask - WorkerSinkTask{id=sink-0}"
SOURCE = "org.apache.kafka.connect.runtime.SourceTaskOffsetCommitter - WorkerSourceTask{id=c0-1}"


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        (f"{PREFIX} ERROR {SINK} Commit of offsets threw an unexpected exception for sequence number 3: {{}}", 1),
        (f"{PREFIX} WARN {SINK} Commit of offsets timed out", 1),
        (f"{PREFIX} ERROR {SOURCE} Failed to commit offsets", 1),
        (f"{PREFIX} ERROR {SOURCE} Failed to flush offsets to storage", 1),
        (f"{PREFIX} INFO {SINK} Committing offsets asynchronously using sequence number 3: {{}}", 0),
        (f"{PREFIX} WARN org.apache.kafka.connect.runtime.distributed.WorkerCoordinator - Close timed out", 0),
    ],
)
def test_a_failed_commit_is_read_in_the_log(tmp_path: Path, line: str, failed: int) -> None:
    log = tmp_path / "w1.log"
    log.write_text(f"{PREFIX} INFO started\n{line}\n")
    fleet: Any = SimpleNamespace(workers={"w1": SimpleNamespace(log=log)})
    assert failed_commits(fleet) == failed


@pytest.mark.parametrize("what", [ADOPTION, RELEASE])
def test_a_failed_commit_or_a_gap_is_something(what: str) -> None:
    assert cost(0, 0).is_nothing
    assert cost(0, 0).brief(what) == "0, 0.0 s, 0"
    for one in (cost(1_500, 0), cost(0, 2)):
        assert not one.is_nothing
    assert cost(1_500, 2).brief(what) == "0, 1.5 s, 2"


def cost(nowhere_ms: int, failed: int) -> FleetCost:
    """An event in which no task stopped."""
    return FleetCost(Figures(0, {}, {}, [], [], [], nowhere_ms, 0, []), failed)
