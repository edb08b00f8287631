"""Scenarios with placement rules and drains: what holds, what a restart by drain costs, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kcoord.pipeline.whatif.replay import BEGINS_MS, tables_of
from kcoord.protocol.records import Record
from kcoord.sim.scenario import (
    Figures,
    Kind,
    NoFigures,
    Restart,
    Scenario,
    ScenarioError,
    built_in,
    load,
    restarted,
    run,
)
from kcoord.sim.scenario.description import Event, What
from tests.light import some

FOLLOWING = (Kind.INDIVIDUAL, Kind.CONNECT)
HAND_OVER_S = {Kind.INDIVIDUAL: 1 + 3 + 1 + 0.2, Kind.CONNECT: 1 + 1 + 0.2}
"""To stop and to start a task take a second each; a Java worker hears of its work with its next heartbeat."""
FLEET = """
about = "Four workers, two connectors."
workers = 4
lasts = 300
[connectors.db]
tasks = 4
[connectors.files]
tasks = 4
"""
KILLED = """
[[events]]
at = 10
do = "kill"
workers = ["w1"]
back = 30
"""


def scenario(folder: Path, text: str) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text(text)
    return load(path)


def owners(scenario: Scenario, kind: Kind, at_s: float, policy: str = "design-2") -> dict[str, set[str]]:
    """Which connectors each worker has that many seconds after the scenario began, by the url, by the group's log."""
    steps: list[tuple[int, Sequence[Record]]] = []
    done = run(scenario, kind, policy, keep=lambda at_ms, records: steps.append((at_ms, list(records))))
    assert not done.doubles
    tables, at_ms = tables_of(steps), BEGINS_MS + round(at_s * 1000)
    urls = {row["member_id"]: row["url"] for row in tables.sessions}
    found: dict[str, set[str]] = {}
    for row in tables.ownership:
        if row["from_at"] <= at_ms and (row["to_at"] is None or row["to_at"] > at_ms):
            found.setdefault(urls[row["member_id"]], set()).add(row["connector"])
    return found


# -- restarts by drain -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FOLLOWING)
@pytest.mark.parametrize("policy", some(["kip-415", "design-2"], 1))
def test_in_a_rolling_restart_by_drains_no_task_waits_for_its_worker(kind: Kind, policy: str) -> None:
    """Each of six workers is away for 15 s. Without drains its tasks wait for all of it."""
    bounce = load(built_in()["bounce"])
    as_it_is, drained = (run(each, kind, policy) for each in (bounce, restarted(bounce, Restart.DRAIN)))
    assert not drained.doubles
    assert as_it_is.figures.longest_gap > 15
    assert drained.figures.longest_gap < HAND_OVER_S[kind]
    assert drained.figures.stopped < 0.4 * as_it_is.figures.stopped
    assert drained.figures.moved == 60, "30 tasks, there and back"
    assert drained.figures.balanced_after is not None


@pytest.mark.parametrize("kind", FOLLOWING)
def test_workers_that_are_drained_to_be_stopped_take_turns(kind: Kind, tmp_path: Path) -> None:
    """Three of four stop at once; drained they go one after the other. The scenario lasts as long as that takes."""
    stops = 'at = 0\ndo = "stop"\nworkers = ["w1", "w2", "w3"]\nback = 90\n'
    found = scenario(tmp_path, f"{FLEET.replace('300', '120')}[[events]]\n{stops}")
    drained = restarted(found, Restart.DRAIN)
    steps: list[tuple[int, Sequence[Record]]] = []
    done = run(drained, kind, "design-2", keep=lambda at_ms, records: steps.append((at_ms, list(records))))
    assert done.figures.longest_gap < HAND_OVER_S[kind]
    assert done.figures.balanced_after is not None
    stays = [(row["from_at"], row["to_at"]) for row in tables_of(steps).sessions]
    gone = sorted((to_at for _, to_at in stays if to_at is not None), key=int)
    came = sorted(from_at for from_at, _ in stays)[4:]
    assert len(gone) == len(came) == 3
    assert all(went < back for went, back in zip(gone, came, strict=True))
    assert all(back < went for back, went in zip(came, gone[1:], strict=False)), "the next one waits for it"
    assert came[-1] > BEGINS_MS + 270_000


@pytest.mark.parametrize("kind", FOLLOWING)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_cannot_be_emptied_is_stopped_all_the_same(kind: Kind, workers: int, tmp_path: Path) -> None:
    """It is the only one, or the only one where a connector may run: as when `kcoord workers drain` refuses."""
    only = '[[rules.affinity]]\nconnectors = "db"\nworkers = ["http://w1"]\n' if workers > 1 else ""
    gone = KILLED.replace("w1", f"w{workers - 1}").replace("kill", "stop")
    text = FLEET.replace("workers = 4", f"workers = {workers}") + gone + only
    done = run(restarted(scenario(tmp_path, text), Restart.DRAIN), kind, "design-2")
    assert not done.doubles
    assert 30 < done.figures.longest_gap < 40
    assert done.figures.balanced_after is not None, "it came back"


def test_who_is_started_by_a_later_event_is_away_as_long_as_before(tmp_path: Path) -> None:
    text = f"""{FLEET}
[[events]]
at = 10
within = 4
do = "stop"
workers = ["w1", "w2"]
apart = 20
[[events]]
at = 52
do = "start"
workers = ["w1"]
[[events]]
at = 100
do = "stop"
workers = ["w1"]
"""
    found = restarted(scenario(tmp_path, text), Restart.DRAIN)
    assert [(each.at, each.do, each.drain, each.workers, each.back) for each in found.events] == [
        (10, What.STOP, True, ("w1",), 40),
        (30, What.STOP, True, ("w2",), None),
        (100, What.STOP, True, ("w1",), None),
    ]


def test_who_is_killed_is_drained_in_place_of_that_or_dies_all_the_same(tmp_path: Path) -> None:
    """Of two workers that go one is stopped and one is killed."""
    text = FLEET + KILLED + '[[events]]\nat = 100\ndo = "stop"\nworkers = ["w2"]\nback = 30\n'
    how_they_go = {
        how: [(each.do, each.drain, each.back) for each in restarted(scenario(tmp_path, text), how).events]
        for how in (Restart.DRAIN, Restart.DRAIN_STOPS)
    }
    assert how_they_go == {
        Restart.DRAIN: [(What.STOP, True, 30), (What.STOP, True, 30)],
        Restart.DRAIN_STOPS: [(What.KILL, False, 30), (What.STOP, True, 30)],
    }
    only_killed = scenario(tmp_path, FLEET + KILLED)
    assert restarted(only_killed, Restart.DRAIN_STOPS).events == only_killed.events


def test_stops_and_deaths_can_take_each_others_place(tmp_path: Path) -> None:
    found = scenario(tmp_path, FLEET + KILLED)
    stopped = restarted(found, Restart.STOP)
    killed = restarted(restarted(stopped, Restart.DRAIN), Restart.KILL)
    assert stopped.events == (Event(at=10, do=What.STOP, workers=("w1",), back=30),)
    assert killed.events == found.events
    gaps = [run(each, Kind.CONNECT, "design-1").figures.longest_gap for each in (stopped, killed)]
    assert gaps[0] < 3 < gaps[1], "who leaves in order says so, and nobody waits for its session to end"


# -- rules -------------------------------------------------------------------------------------------------------------

PLACED = """
[urls]
w0 = "http://10.0.0.1:8083"
w1 = "http://10.0.0.2:8083"
[[rules.affinity]]
connectors = "db"
workers = ["http://10.0.0.*"]
"""


@pytest.mark.parametrize("kind", FOLLOWING)
def test_rules_hold_from_the_start_and_name_workers_by_their_urls(kind: Kind, tmp_path: Path) -> None:
    found = owners(scenario(tmp_path, FLEET + PLACED + KILLED), kind, 200)
    assert {url for url, connectors in found.items() if "db" in connectors} == {
        "http://10.0.0.1:8083",
        "http://10.0.0.2:8083",
    }
    assert len(found) == 4


@pytest.mark.parametrize("kind", FOLLOWING)
def test_rules_and_cordons_change_while_it_runs(kind: Kind, tmp_path: Path) -> None:
    text = f"""{FLEET}
[[events]]
at = 0
do = "drain"
workers = ["w3"]
[[events]]
at = 60
do = "rules"
[[events.rules.affinity]]
connectors = "files"
workers = ["http://w2", "http://w3"]
[[events]]
at = 120
do = "cordon"
workers = ["w0"]
[[events]]
at = 121
do = "resize"
connectors = "db"
tasks = 9
[[events]]
at = 180
do = "uncordon"
workers = ["w0"]
"""
    found = scenario(tmp_path, text)

    def at(seconds: float) -> Mapping[str, set[str]]:
        return owners(found, kind, seconds)

    drained = at(50)
    assert set(drained) == {"http://w0", "http://w1", "http://w2"}
    by_rules = at(110)
    assert {url for url, has in by_rules.items() if "files" in has} == {"http://w2", "http://w3"}, "its drain is over"
    assert run(found, kind, "design-2").figures.longest_gap < HAND_OVER_S[kind]


def test_a_cordoned_worker_gets_nothing_new_and_keeps_what_it_has(tmp_path: Path) -> None:
    text = f"""{FLEET}
[[events]]
at = 0
do = "cordon"
workers = ["w0"]
[[events]]
at = 20
do = "resize"
connectors = "db"
tasks = 40
[[events]]
at = 100
do = "uncordon"
workers = ["w0"]
"""
    found = scenario(tmp_path, text)
    steps: list[tuple[int, Sequence[Record]]] = []
    run(found, Kind.CONNECT, "design-2", keep=lambda at_ms, records: steps.append((at_ms, list(records))))
    tables = tables_of(steps)
    (cordoned,) = [row["member_id"] for row in tables.sessions if row["url"] == "http://w0"]

    def count(at_s: float) -> int:
        return sum(1 for row in tables.ownership if row["member_id"] == cordoned and _holds(row, at_s))

    assert count(-1) == count(90) > 0
    assert count(200) > count(90)


def _holds(row: Mapping[str, int | None], at_s: float) -> bool:
    at_ms = BEGINS_MS + round(at_s * 1000)
    from_at, to_at = row["from_at"], row["to_at"]
    assert from_at is not None
    return from_at <= at_ms and (to_at is None or to_at > at_ms)


def test_what_rules_leave_without_a_place_is_measured_as_standing_still(tmp_path: Path) -> None:
    """Two more tasks than a small fleet's capacities allow."""
    text = f"""{FLEET}
[[rules.capacity]]
workers = "*"
weight = 3
[[events]]
at = 0
do = "resize"
connectors = "db"
tasks = 8
"""
    figures = run(scenario(tmp_path, text), Kind.CONNECT, "design-2").figures
    assert figures.balanced_after is None
    assert figures.longest_gap == 300
    assert 2 * 300 <= figures.stopped < 2 * 300 + 10


# -- what is refused ---------------------------------------------------------------------------------------------------


WITH_RULES = [
    FLEET + PLACED + KILLED,
    FLEET + KILLED.replace('"kill"', '"stop"\ndrain = true'),
    FLEET + KILLED.replace('"kill"', '"drain"').replace("back = 30", ""),
]


@pytest.mark.parametrize("text", WITH_RULES, ids=["rules", "a drained stop", "a drain"])
def test_where_all_join_together_rules_cannot_hold(text: str, tmp_path: Path) -> None:
    with pytest.raises(NoFigures, match="barrier: placement rules and drains do not work in a group whose workers"):
        run(scenario(tmp_path, text), Kind.BARRIER, "kip-415")


def test_rules_that_leave_no_place_from_the_start(tmp_path: Path) -> None:
    text = FLEET + KILLED + '[[rules.affinity]]\nconnectors = "db"\nworkers = ["http://nobody"]\n'
    with pytest.raises(NoFigures, match="or let placement rules leave a place for all"):
        run(scenario(tmp_path, text), Kind.CONNECT, "design-2")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (KILLED.replace("back = 30", "drain = true"), "drain = true goes with stop, not with kill"),
        (KILLED.replace("kill", "drain"), "back goes with stop and kill, not with drain"),
        (KILLED.replace("kill", "rules"), "rules goes with rules, which needs it, and with nothing else"),
        (
            KILLED.replace("back = 30", "[[events.rules.cordon]]\nworker = '*'"),
            "rules goes with rules, which needs it, and with nothing else",
        ),
        (
            "[[events]]\nat = 0\ndo = 'rules'\nconnectors = 'db'\n[events.rules]\nmax-moves = 3\n",
            "rules happens to the group: name no workers and no connectors",
        ),
        (
            KILLED + "[[rules.weight]]\nconnectors = 'db'\nweight = 0\n",
            "rules: Value error, weight[1].weight: 0 is too small: it has to be 1 at least",
        ),
        (KILLED + "[[rules.afinity]]\nworkers = ['*']\n", "rules: Value error, afinity: there is no such key"),
        ("rules = 'placement.toml'\n" + KILLED, "placement rules are tables, as kcoord placement apply reads them"),
        (KILLED + "[urls]\nw9 = 'http://a'\n", "urls names worker w9, and there is none called so"),
        (KILLED + "[urls]\nw1 = 'http://w2'\n", "urls gives the same url to two workers"),
        (
            "[connectors.more]\nnames = ['a', 'a']\ntasks = 1\n" + KILLED,
            "connectors.more: Value error, there are 1 different names for 2 connectors",
        ),
    ],
)
def test_a_description_that_cannot_be_says_where_and_what(text: str, says: str, tmp_path: Path) -> None:
    fleet = FLEET if not text.startswith("rules =") else "rules = 'placement.toml'\n" + FLEET
    with pytest.raises(ScenarioError) as refused:
        scenario(tmp_path, fleet + text.removeprefix("rules = 'placement.toml'\n"))
    assert says in str(refused.value)


def test_connectors_can_be_called_by_their_own_names(tmp_path: Path) -> None:
    named = FLEET + '[connectors.sinks]\nnames = ["orders", "payments"]\ntasks = 2\n' + KILLED
    found = scenario(tmp_path, named)
    assert found.connectors["sinks"].count == 2
    owned = owners(found, Kind.CONNECT, 0)
    assert set().union(*owned.values()) == {"db", "files", "orders", "payments"}


def test_a_drain_is_the_same_run_for_the_same_seed() -> None:
    drained = restarted(load(built_in()["storm"]), Restart.DRAIN)
    first: Figures = run(drained, Kind.INDIVIDUAL, "kip-415", 3).figures
    assert first == run(drained, Kind.INDIVIDUAL, "kip-415", 3).figures
