"""Can a fleet of real workers be restarted without a pause, and do its connectors run where the user wants them?

What is counted is whether a task ended with its worker, and not how long it took: a drained worker has handed over all
that it ran before it is stopped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from tests.cells import cells
from tests.javafleet.conftest import Stage, StageMaker, Watch
from tests.javafleet.fleet import DEADLINE_S, JavaFleet
from tests.javafleet.notes import Note, What
from tests.kafka.wait import NotYet, eventually

WORKERS = ("w1", "w2", "w3", "w4")
DELAY_S = 600
LEADER_WAIT_MS = 300_000
"""However slow the machine is, a worker is back in this time."""
HEAVY = 5
BY_NUMBER, BY_WEIGHT = [2, 2, 3, 3], [1, 3, 3, 3]
"""How many of ten tasks each worker has, without rules, and when one of the ten weighs so much."""
FLEETS = {
    "4.3": (None, {}),
    "3.9": ("3.9.1", {}),
    "2.8": ("2.8.2", {}),
    "3.9 compatible": ("3.9.1", {"connect_protocol": "compatible"}),
    "2.8 compatible": ("2.8.2", {"connect_protocol": "compatible"}),
    "compatible": (None, {"connect_protocol": "compatible"}),
    "exactly once": (None, {"exactly_once_source_support": "enabled"}),
}


@pytest.mark.parametrize("kind", cells(FLEETS, lambda kind: kind != "4.3"))
def test_a_fleet_is_restarted_by_drains(make_stage: StageMaker, tmp_path: Path, kind: str) -> None:
    """CM-35, CM-37, CM-42, CM-48; of older workers, and under `compatible`, too (CM-50)."""
    version, settings = FLEETS[kind]
    stage = make_stage("drained", DELAY_S, version=version, **settings)
    fleet = stage.fleet
    fleet.start(*WORKERS)
    for name in ("a", "b", "c"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()
    stage.ask("config", "set", f"connect.classic.leader.wait.ms={LEADER_WAIT_MS}")

    all_are_restarted(stage)
    tasks_are_restarted_by_rest(stage)
    the_leader_is_taken_out(stage)
    they_run_where_the_rules_say(stage, tmp_path / "rules.toml")
    stage.check_soundness()


def all_are_restarted(stage: Stage, meanwhile: AbstractContextManager[None] | None = None) -> None:
    """One after the other, the leader among them, which leads on: no task ends with its worker."""
    fleet, watch, leader = stage.fleet, Watch(stage.fleet), stage.fleet.leader()
    with meanwhile or nullcontext():
        for name in WORKERS:
            said = stage.ask("workers", "drain", fleet.workers[name].url, "--until-restart", "--wait")
            assert said.endswith("runs nothing any more\n")
            assert name not in fleet.owners().values()
            fleet.stop(name)
            fleet.start(name)
            fleet.wait_until_settled()
    fleet.wait_until_quiet()
    assert fleet.leader() == leader
    assert not ended_with_their_worker(fleet.notes.read(), watch.began_ms)
    assert not watch.figures().twice


def ended_with_their_worker(notes: list[Note], since_ms: int) -> list[str]:
    """What a worker ran when it was told to end."""
    open_by: dict[str, set[str]] = {}
    found = []
    for note in notes:
        if note.what is What.STARTED:
            open_by.setdefault(note.worker, set()).add(note.resource)
        elif note.what is What.STOPPED:
            open_by[note.worker].discard(note.resource)
        elif note.what is What.LEAVING and note.at_ms >= since_ms:
            found += [f"{each} on {note.worker}" for each in sorted(open_by.get(note.worker, ()))]
        elif note.what is What.GONE:
            open_by.pop(note.worker, None)
    return found


def tasks_are_restarted_by_rest(stage: Stage) -> None:
    """Whoever is asked, and wherever it was moved to: the leader forwards by what it was last shown (CM-35, CM-55)."""
    fleet, seen = stage.fleet, starts(stage)
    for asked, number in zip(WORKERS, range(3), strict=False):
        fleet.rest.ask(fleet.workers[asked].id, "POST", f"/connectors/a/tasks/{number}/restart")
    everything = {"task a-0", "task a-1", "task a-2"}
    eventually(lambda: grown(stage, seen) >= everything, "each task has been restarted", deadline_s=DEADLINE_S)
    if has_restart_of_all(stage):
        seen = starts(stage)
        fleet.rest.ask(fleet.workers[WORKERS[-1]].id, "POST", "/connectors/a/restart?includeTasks=true")
        everything |= {"connector a"}
        eventually(lambda: grown(stage, seen) >= everything, "all of it has been restarted", deadline_s=DEADLINE_S)
    fleet.wait_until_settled()


def has_restart_of_all(stage: Stage) -> bool:
    """KIP-745, in Connect since 3.0."""
    return not any(stage.fleet.java.libs.glob("connect-runtime-2.*.jar"))


def starts(stage: Stage) -> dict[str, int]:
    """How often each resource has been started."""
    found: dict[str, int] = {}
    for run in stage.fleet.notes.runs():
        found[run.resource] = found.get(run.resource, 0) + 1
    return found


def grown(stage: Stage, before: dict[str, int]) -> set[str]:
    """What has been started since."""
    return {name for name, count in starts(stage).items() if count > before.get(name, 0)}


def the_leader_is_taken_out(stage: Stage) -> None:
    """It hands over before it is stopped, so nobody does without a leader, and nobody else stops anything."""
    fleet, leader = stage.fleet, stage.fleet.leader()
    stage.ask("workers", "drain", fleet.workers[leader].url, "--wait")
    runs, watch = fleet.owners(), Watch(fleet)
    assert leader not in runs.values()
    (described,) = json.loads(stage.ask("groups", "describe", "--json"))
    (leads,) = [each["url"] for each in described["members"] if each["leads"]]
    assert leads != fleet.workers[leader].url
    eventually(lambda: fleet.leader() != leader, "the next leader has logged that it leads", deadline_s=DEADLINE_S)
    fleet.stop(leader)
    fleet.reconfigure("b", by=fleet.follower())
    eventually(lambda: versions(stage, "b") == {"2"}, "b is reconfigured", deadline_s=DEADLINE_S)
    assert not watch.figures().twice
    fleet.start(leader)
    stage.ask("workers", "uncordon", fleet.workers[leader].url)
    fleet.wait_until_quiet()


def versions(stage: Stage, connector: str) -> set[str]:
    """As of which versions this connector's tasks run."""
    there = [run for run in stage.fleet.notes.runs() if run.to_ms is None]
    return {run.version for run in there if run.resource.startswith(f"task {connector}-")}


def they_run_where_the_rules_say(stage: Stage, file: Path) -> None:
    """One connector runs only on one worker, and the only task of a heavy one beside no other task. Without the rules
    the fleet is balanced again.

    Ten tasks that count the same are two or three on each of four workers, wherever they are. One, three, three and
    three is what only the weight can lead to.
    """
    fleet = stage.fleet
    fleet.create("heavy", 1)
    fleet.wait_until_quiet()
    assert tasks_on_each(fleet.owners()) == BY_NUMBER
    url = fleet.workers["w2"].url
    file.write_text(
        f"""
        [[affinity]]
        connectors = "a"
        workers = ["{url}"]

        [[weight]]
        connectors = "heavy"
        weight = {HEAVY}
        """
    )
    assert "-> " in stage.ask("placement", "apply", file)

    def done() -> bool:
        owners = check_all_run(fleet)
        a = {owner for name, owner in owners.items() if name in ("connector a", "task a-0", "task a-1", "task a-2")}
        beside = [name for name, owner in owners.items() if owner == owners["task heavy-0"] and "task " in name]
        if a != {"w2"} or beside != ["task heavy-0"] or tasks_on_each(owners) != BY_WEIGHT:
            raise NotYet(f"{owners}")
        return True

    eventually(done, "all run where they are to", deadline_s=DEADLINE_S)
    fleet.wait_until_quiet()
    assert done(), "and there they stay"
    file.write_text("")
    stage.ask("placement", "apply", file)

    def balanced() -> bool:
        if (counts := tasks_on_each(check_all_run(fleet))) != BY_NUMBER:
            raise NotYet(f"{counts}")
        return True

    eventually(balanced, "each has as many tasks as the others", deadline_s=DEADLINE_S)
    fleet.wait_until_quiet()


def check_all_run(fleet: JavaFleet) -> dict[str, str]:
    """Who runs what. Raises NotYet where something runs nowhere."""
    owners = fleet.owners()
    if missing := fleet.expected().keys() - owners.keys():
        raise NotYet(f"missing {missing}")
    return owners


def tasks_on_each(owners: Mapping[str, str]) -> list[int]:
    """How many tasks each worker has that has any, the fewest first."""
    return sorted(Counter(owner for name, owner in owners.items() if name.startswith("task ")).values())
