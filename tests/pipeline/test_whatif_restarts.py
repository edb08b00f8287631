"""What would a history have cost with drains in place of its stops and deaths, and with placement rules?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pyarrow.parquet as parquet
import pytest

from kcoord.assign.placement import Affinity, Rules
from kcoord.cli.whatif import shown
from kcoord.log.history import Entry
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.lab import NamedRules
from kcoord.pipeline.schemas import WHATIF
from kcoord.pipeline.spark.history import run_batch
from kcoord.pipeline.spark.sources import FileSource
from kcoord.pipeline.spark.store import Store
from kcoord.pipeline.whatif.advice import Advice, Choice, advise
from kcoord.pipeline.whatif.question import Asked, Question, question
from kcoord.pipeline.whatif.replay import replay_of
from kcoord.protocol.records import encode_record
from kcoord.sim.scenario import Kind, Restart, Scenario, load, run
from kcoord.sim.scenario.run import GROUP
from tests.cli.run_cli import kcoord
from tests.pipeline.files import copy_to_file
from tests.pipeline.replayed import History, history
from tests.pipeline.spark import MASTER, QUICK
from tests.pipeline.story import PARTITIONS, entries, home
from tests.pipeline.test_whatif_advice import row
from tests.pipeline.test_whatif_fleet import computed, owned, session, tables

HAND_OVER_S = 1 + 3 + 1 + 0.2
"""To stop, to hear of it with the next heartbeat, to start."""
BOUNCED = """
about = "Three workers are bounced, and one of them once more later."
workers = 3
lasts = 400
[settings]
delay = 60
[connectors.db]
tasks = 3
[connectors.files]
tasks = 3
[[events]]
at = 0
do = "stop"
workers = ["w0", "w1", "w2"]
apart = 60
back = 20
[[events]]
at = 250
do = "stop"
workers = ["w1"]
back = 30
"""
DIED = BOUNCED.replace('at = 250\ndo = "stop"', 'at = 250\ndo = "kill"')
GONE = """
about = "Two workers; one is stopped for good, and later the other one."
workers = 2
lasts = 400
[settings]
delay = 60
[connectors.db]
tasks = 4
[[events]]
at = 0
do = "stop"
workers = ["w1"]
[[events]]
at = 200
do = "stop"
workers = ["w0"]
"""
DB_RULES = NamedRules("db.toml", Rules(affinities=(Affinity("db", ("http://w0", "http://w2")),)))
NOWHERE = NamedRules("nowhere.toml", Rules(affinities=(Affinity("db", ("http://nobody",)),)))


def loaded(folder: Path, text: str) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text(text)
    return load(path)


@pytest.fixture(scope="module")
def bounced(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    return loaded(tmp_path_factory.mktemp("bounced"), BOUNCED)


def played(past: History, asked: Asked) -> tuple[Question, Advice]:
    """All that is asked for, without Spark."""
    wanted = question(past.tables, attrs.evolve(asked, heartbeat=3.0))
    pieces = {each.name: each for each in wanted.episodes}
    return wanted, advise([replay_of(pieces[each.scenario], each) for each in wanted.cells], wanted.recorded)


def test_with_drains_no_task_is_without_a_place_for_longer_than_its_hand_over(bounced: Scenario) -> None:
    """Java's workers that joined together, bounced by hand: each time their tasks stood still until they were back."""
    past = history(bounced, Kind.BARRIER, "design-2")
    asked = Asked(policies=["kip-415"], policy="design-2", delay=60, delays=[60], restarts=[Restart.DRAIN], seeds=2)
    wanted, advice = played(past, asked)
    choices = {each.choice: each.figures for each in advice.outcomes}
    recorded = choices[Choice(Kind.BARRIER, "design-2", 60)]
    drained = choices[Choice(Kind.INDIVIDUAL, "kip-415", 60, "drain")]
    assert not any(each.restart for each in choices if each.kind is Kind.BARRIER), "there nothing can be drained"
    assert past.figures.longest_gap > 20
    assert recorded["longest_gap"].least > 20
    assert drained["longest_gap"].greatest < HAND_OVER_S
    assert drained["stopped"].greatest < recorded["stopped"].least / 2
    assert drained["moved"].middle >= 16, "what each of four runs, there and back"
    said = shown("g", wanted, advice, wanted.logged_by_episode(past.tables))
    assert "4 workers stopped, 0 died" in said
    assert "RESTART" in said
    assert "RULES" not in said
    ways = [line for line in said.splitlines() if line.startswith("With individual by kip-415, delay 60 s, restart")]
    assert len(ways) == 1
    for name, what in (("stopped", "task-seconds stopped"), ("moved", "moved"), ("rebalances", "rebalances")):
        assert f" {drained[name].middle:,.0f} instead of {recorded[name].middle:,.0f} {what}" in ways[0]
    assert "Better than any delay alone: individual by kip-415, delay 60 s, restart drain, would have saved " in said


def test_a_worker_that_died_is_not_drained(tmp_path: Path) -> None:
    """Of four that went one died: its session expired. Its two tasks wait for it, also if stops are drained."""
    past = history(loaded(tmp_path, DIED), Kind.CONNECT, "design-2")
    asked = Asked(policies=["design-2"], delays=[60], restarts=[Restart.DRAIN_STOPS], seeds=2)
    wanted, advice = played(past, asked)
    assert "3 workers stopped, 1 died" in shown("g", wanted, advice, wanted.logged_by_episode(past.tables))
    recorded, drained = (
        {each.choice.restart: each.figures for each in advice.outcomes}[how] for how in (None, "drain-stops")
    )
    lost = 2 * 30
    assert drained["longest_gap"].least > 25, "it was away for 30 s, after at most a session timeout"
    assert lost < drained["stopped"].least
    assert drained["stopped"].greatest < lost + 6 * HAND_OVER_S + 20 * HAND_OVER_S
    assert recorded["stopped"].least > 4 * 2 * 20


def test_where_all_died_nothing_is_drained_and_that_is_said(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, DIED.replace('do = "stop"', 'do = "kill"'))
    past = history(scenario, Kind.CONNECT, "design-2")
    wanted, advice = played(past, Asked(policies=["design-2"], delays=[60], restarts=[Restart.DRAIN_STOPS], seeds=1))
    as_it_was, drained = (
        {each.choice.restart: each.figures for each in advice.outcomes}[how] for how in (None, "drain-stops")
    )
    assert drained["stopped"] == as_it_was["stopped"]
    said = shown("g", wanted, advice, wanted.logged_by_episode(past.tables))
    assert "With restart drain-stops nothing was drained: no worker stopped cleanly" in said


@pytest.mark.parametrize("kind", [Kind.CONNECT, Kind.INDIVIDUAL])
def test_what_waits_while_nobody_is_there_is_not_counted(kind: Kind, tmp_path: Path) -> None:
    """The history ends with a fleet that is gone for good. By hand, with tasks that stop and start in 1 s:

    | who stops | what it runs | as recorded | drained |
    | --- | --- | --- | --- |
    | w1, at 0 s | 2 tasks | 2 x (1 + 60 + 1) = 124 s | 2 x (1 + 1) = 4 s |
    | w0, at 200 s | 4 tasks, no other place | 4 x 1 = 4 s, and then nobody is there | 4 s, the same |
    """
    past = history(loaded(tmp_path, GONE), kind, "kip-415")
    asked = Asked(policy="kip-415", delay=60, policies=["kip-415"], delays=[60], restarts=[Restart.DRAIN], seeds=3)
    wanted = question(past.tables, attrs.evolve(asked, heartbeat=3.0))
    pieces = {each.name: each for each in wanted.episodes if each.begins_ms > past.begins_ms - 60_000}
    rows = [replay_of(pieces[each.scenario], each) for each in wanted.cells if each.scenario in pieces]
    advice = advise(rows, wanted.recorded)
    stopped = {each.choice.restart: each.stopped for each in advice.outcomes}
    assert stopped[None].middle == pytest.approx(124 + 4, abs=1)
    assert stopped["drain"].middle == pytest.approx(4 + 4, abs=2)
    assert advice.recorded is not None
    true = attrs.evolve(wanted, episodes=list(pieces.values())).logged(past.tables)
    assert true.unowned == pytest.approx(2 * 60, abs=1), "what the log says of w1's tasks, and nothing of w0's"
    assert advice.recorded.figures["unowned"].middle == pytest.approx(true.unowned, abs=1)


def test_rules_name_what_the_history_names(bounced: Scenario) -> None:
    """Connector db may run on two of the workers only, by their urls: it is never given to the third."""
    past = history(bounced, Kind.CONNECT, "design-2")
    asked = Asked(policies=["design-2"], delays=[60], rules=[DB_RULES], seeds=1)
    wanted = question(past.tables, attrs.evolve(asked, heartbeat=3.0))
    names = {name for each in wanted.episodes for kind in each.scenario.connectors.values() for name in kind.names}
    assert names == {"db", "files"}
    last = wanted.episodes[-1].scenario
    assert set(last.urls.values()) == {"http://w0", "http://w1", "http://w2"}
    by_rules = history(last.model_copy(update={"rules": DB_RULES.rules}), Kind.CONNECT, "design-2")
    urls = {row["member_id"]: row["url"] for row in by_rules.tables.sessions}
    owners = {urls[row["member_id"]] for row in by_rules.tables.ownership if row["connector"] == "db"}
    assert owners == {"http://w0", "http://w2"}
    assert {(each.restart, each.rules) for each in wanted.cells} == {(None, None), (None, DB_RULES)}


def test_rules_that_leave_no_place_count_under_no_choice_and_spoil_no_other(bounced: Scenario) -> None:
    past = history(bounced, Kind.CONNECT, "design-2")
    _, advice = played(past, Asked(policies=["design-2"], delays=[60], rules=[NOWHERE], seeds=1))
    assert {each.choice.rules for each in advice.outcomes} == {None}
    assert advice.recorded is not None
    assert all(", rules nowhere.toml: connect by design-2: not all ran" in each for each in advice.failed)


def test_what_has_no_place_by_hand() -> None:
    recorded = Choice(Kind.CONNECT, "design-2", 60)
    ruled = attrs.evolve(recorded, rules="r.toml")
    failed = row(ruled, 0) | {"stopped": None, "error": "not all ran"}
    advice = advise([row(recorded, 9), failed, row(recorded, 5, episode="2"), row(ruled, 1, episode="2")], recorded)
    assert [(each.choice, each.stopped.middle) for each in advice.outcomes] == [(recorded, 14)]
    assert advice.failed == ["1, rules r.toml: not all ran"]


def test_what_is_tried() -> None:
    """Restarts and rules are tried beside what was, with the delay that it had or with each that is asked for."""
    told = tables(
        sessions=[session("1", 0, url="u"), session("2", 0, 500_000, "worker left", url="v")],
        ownership=[owned("1", 0, 0, speaks="generic")],
        rebalances=[computed("sessioned", 60_000)],
    )
    asked = Asked(seeds=1, restarts=[Restart.DRAIN], rules=[DB_RULES])

    def ways(asked: Asked) -> set[tuple[Any, ...]]:
        found = question(told, asked).cells
        assert {each.delay for each in found if each.restart is None and each.rules is None} >= {30, 60}
        return {
            (each.kind, each.delay, each.restart, each.rules and each.rules.name)
            for each in found
            if each.restart or each.rules
        }

    individually = {
        (Kind.INDIVIDUAL, 60, None, "db.toml"),
        (Kind.INDIVIDUAL, 60, "drain", None),
        (Kind.INDIVIDUAL, 60, "drain", "db.toml"),
    }
    assert ways(asked) == individually
    assert ways(attrs.evolve(asked, delays=[30], rules=[])) == {
        (Kind.INDIVIDUAL, 30, "drain", None),
        (Kind.INDIVIDUAL, 60, "drain", None),
    }
    killed = attrs.evolve(asked, restarts=[Restart.KILL], rules=[])
    assert ways(killed) == {(kind, 60, "kill", None) for kind in (Kind.BARRIER, Kind.INDIVIDUAL)}
    with pytest.raises(PipelineError, match="drains and placement rules do not work in a group whose workers all join"):
        question(told, attrs.evolve(asked, kinds=[Kind.BARRIER]))


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.proof
def test_the_command(bounced: Scenario, spark: Any, tmp_path: Path) -> None:
    written: list[tuple[int, list[Any]]] = []
    run(bounced, Kind.INDIVIDUAL, "kip-415", keep=lambda at_ms, records: written.append((at_ms, list(records))))
    log, made, tried, rules = (tmp_path / name for name in ("log", "tables", "tried", "rules.toml"))
    found = (Entry(e.partition, e.offset, e.at_ms, *encode_record(e.record)) for e in entries(written, home(GROUP)))
    copy_to_file(found, log, PARTITIONS)
    run_batch(Store(spark, str(made)), FileSource.look(log))
    rules.write_text('[[affinity]]\nconnectors = "db"\nworkers = ["http://w0", "http://w2"]\n')
    asked = ["pipeline", "whatif", "--tables", made, "--out", tried]
    quick = [part for name, value in QUICK.items() for part in ("--conf", f"{name}={value}")]
    ways = ["--restart", "drain", "--rules", rules, "--seeds", 2, "--heartbeat", 3, "--delay", 60]
    done = kcoord(*asked, *ways, "--master", MASTER, *quick, deadline_s=600)
    assert done.code == 0, done.err
    assert "With individual by kip-415, delay 60 s, restart drain: " in done.out
    assert f"restart drain, rules {rules}" in done.out
    rows = parquet.read_table(tried / WHATIF.name).to_pylist()
    assert {(row["restart"], row["rules"]) for row in rows} == {
        (None, None),
        ("drain", None),
        (None, str(rules)),
        ("drain", str(rules)),
    }
    assert {row["error"] for row in rows} == {None}
    assert max(row["longest_gap"] for row in rows if row["restart"] == "drain") < HAND_OVER_S
    for wrong, says in (
        (["--restart", "drained"], "Invalid value for '--restart'"),
        (["--rules", tmp_path / "none.toml"], "none.toml: No such file or directory"),
        (["--restart", "drain", "--kind", "barrier"], "drains and placement rules do not work in a group whose"),
    ):
        refused = kcoord(*asked, *wrong)
        assert refused.code != 0
        assert says in refused.err
