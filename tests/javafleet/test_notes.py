"""Is what the connectors note read as it happened? Handmade notes: time in ms, what, where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.javafleet.joins import STARTED, joins_of
from tests.javafleet.notes import (
    Bounce,
    Run,
    bounces,
    needless,
    nowhere_ms,
    overlaps,
    parse,
    running,
    runs_of,
    stops,
)


def runs(story: str) -> list[Run]:
    """The runs of lines such as "10 started t on a with 1"; t stands for a task."""
    lines = (line.strip().replace(" t ", " task t-0 ").replace(" u ", " task u-0 ") for line in story.split(";"))
    return runs_of(parse(line) for line in lines)


def shown(found: list[Run]) -> list[str]:
    """Each as "t on a 10-20"."""
    return [f"{run.resource[5]} on {run.worker} {run.from_ms}-{run.to_ms or ''}" for run in found]


def test_a_task_runs_from_its_start_until_it_is_stopped_or_its_worker_is_gone() -> None:
    found = runs("10 started t on a with 1; 12 started u on a with 1; 20 stopped t on a with 1; 30 gone a")
    assert shown(found) == ["t on a 10-20", "u on a 12-30"]
    assert [run.stopped for run in found] == [True, False]
    assert shown(running(found, 15)) == ["t on a 10-20", "u on a 12-30"]
    assert running(found, 30) == []


def test_what_runs_at_two_workers_at_one_time_is_found() -> None:
    apart = "10 started t on a with 1; 20 stopped t on a with 1; 20 started t on b with 1"
    assert overlaps(runs(apart)) == []
    ((first, second),) = overlaps(runs("10 started t on a with 1; 15 started t on b with 1; 20 stopped t on a with 1"))
    assert shown([first, second]) == ["t on a 10-20", "t on b 15-"]


def test_the_same_worker_may_run_a_task_twice_too() -> None:
    """A task that does not stop in time is given up by its worker, which starts the next all the same."""
    found = runs("10 started t on a with 1; 15 started t on a with 2; 20 stopped t on a with 1")
    assert shown(found) == ["t on a 10-20", "t on a 15-"]
    assert len(overlaps(found)) == 1


def test_the_longest_time_nowhere() -> None:
    found = runs(
        "10 started t on a with 1; 20 stopped t on a with 1; 25 started t on a with 1; 40 gone a; "
        "70 started t on b with 1; 10 started u on b with 1"
    )
    assert nowhere_ms(found, 15, 80) == {"task t-0": 30, "task u-0": 0}
    assert nowhere_ms(found, 15, 39) == {"task t-0": 5, "task u-0": 0}
    assert nowhere_ms(found, 5, 80) == {}, "they did not run before"


def test_a_worker_is_bounced_until_all_that_it_ran_runs_again() -> None:
    story = (
        "10 started t on a with 1; 10 started u on a with 1; 10 started v on b with 1; "
        "20 leaving a; 22 stopped t on a with 1; 30 gone a; 31 coming a; 40 started u on b with 1; "
        "60 started t on a with 1; 70 leaving b; 75 gone b; 76 coming b; 90 started v on b with 1; "
        "91 started u on b with 1"
    )
    notes = [parse(re.sub(r" ([tuv]) ", r" task \1-0 ", line.strip())) for line in story.split(";")]
    assert bounces(notes, 15) == [Bounce("a", 20, nowhere_ms=38, all_run_ms=60), Bounce("b", 70, 16, 91)]
    assert bounces(notes, 15, "connector ") == [Bounce("a", 20, 0, 20), Bounce("b", 70, 0, 70)]
    assert [each.worker for each in bounces(notes, 25)] == ["b"]
    with pytest.raises(AssertionError, match="task u-0 has not been started again"):
        bounces(notes[:-1], 15)


@pytest.mark.parametrize(
    ("story", "stopped", "of_them_needless"),
    [
        ("60 stopped t on a with 1; 65 started t on b with 1", 1, 0),  # moved
        ("60 stopped t on a with 1; 65 started t on a with 1", 1, 1),  # for nothing
        ("60 stopped t on a with 1; 65 started t on a with 2", 1, 0),  # reconfigured
        ("60 stopped t on a with 1", 1, 0),  # deleted
        (
            "60 stopped t on a with 1; 61 started t on b with 1; 62 stopped t on b with 1; 63 started t on c with 1",
            2,
            1,
        ),
        (
            "60 stopped t on a with 1; 61 started t on b with 1; 62 stopped t on b with 1; 63 started t on a with 1",
            2,
            2,
        ),
        ("60 leaving a; 61 stopped t on a with 1; 62 gone a; 65 started t on b with 1", 0, 0),  # its worker ended
        ("60 gone a; 65 started t on b with 1", 0, 0),
        ("60 gone a; 65 started t on b with 1; 70 coming a; 72 stopped t on b with 1; 75 started t on a with 1", 1, 0),
        ("60 gone b; 61 stopped t on a with 1; 62 started t on b with 1; 63 coming c; 64 stopped t on b with 1", 2, 0),
    ],
)
def test_stops_that_nobody_needed(story: str, stopped: int, of_them_needless: int) -> None:
    notes = [
        parse(line.strip().replace(" t ", " task t-0 ")) for line in f"10 started t on a with 1; {story}".split(";")
    ]
    assert len(stops(runs_of(notes), 50, 100)) == stopped
    assert len(needless(notes, 50, 100)) == of_them_needless


def test_joins_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assignments = [
        "connectorIds=[], taskIds=[], revokedConnectorIds=[], revokedTaskIds=[], delay=0}",
        "connectorIds=[c], taskIds=[c-0, c-1], revokedConnectorIds=[], revokedTaskIds=[], delay=0}",
        "connectorIds=[c], taskIds=[c-0, c-1], revokedConnectorIds=[], revokedTaskIds=[c-1], delay=0}",
        "connectorIds=[c], taskIds=[c-0], revokedConnectorIds=[], revokedTaskIds=[], delay=100}",
    ]
    lines = [
        f"[Worker x] Joined group at generation {generation} with protocol version 2 and got assignment: Assignment"
        f"{{error=0, leader='x', leaderUrl='http://h:1/', offset=4, {each} with rebalance delay: 0"
        for generation, each in enumerate(assignments, start=1)
    ]
    log.write_text("\n".join([STARTED, *lines, STARTED, lines[1]]))
    found = joins_of(log)
    assert [join.changed for join in found] == [False, True, True, False, True]
    assert [join.generation for join in found] == [1, 2, 3, 4, 2]
    assert found[2].holds == {"c", "c-0"}
    assert found[2].revoked == {"c-1"}
