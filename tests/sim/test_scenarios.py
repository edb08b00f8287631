"""Do scenarios run as they say, the same each time, and are their figures what they are called?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import attrs
import pytest

from kcoord.assign import CONNECTOR
from kcoord.protocol.records import ConnectWorkerGroupConnectorsTasksMetadataValue, Record
from kcoord.protocol.resources import unpack
from kcoord.resource import connector, task
from kcoord.sim.scenario import POLICIES, DidNotSettle, Figures, Kind, Scenario, ScenarioError, built_in, load, run
from kcoord.sim.scenario.meter import Meter
from tests.cells import cells
from tests.light import fewer

CONFIGURED = 4
"""The record that says what is configured."""
WELL = """
about = "A worker dies."
workers = 3
lasts = 100
[connectors.a]
tasks = 4
[[events]]
at = 0
do = "kill"
workers = ["w1"]
back = 20
"""


def is_proof(name: str, policy: str) -> bool:
    """The scenario in which most happens is played by every policy, the others by Connect's own and by the default."""
    return name != "storm" and policy not in ("kip-415", "design-2")


def figures(name: str, kind: Kind, policy: str) -> Figures:
    done = run(load(built_in()[name]), kind, policy)
    assert not done.doubles
    return done.figures


@pytest.mark.long("each scenario of each kind by several policies")
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(("name", "policy"), cells(product(built_in(), POLICIES), lambda cell: is_proof(*cell)))
def test_nothing_ever_runs_twice_and_in_the_end_all_does_evenly(name: str, policy: str, kind: Kind) -> None:
    done = run(load(built_in()[name]), kind, policy)
    assert not done.doubles
    assert done.figures.balanced_after is not None
    assert done.figures.longest_gap < 400


def test_who_leads_is_known_while_the_group_waits_for_a_dead_worker() -> None:
    """Connect's herder counts a rebalance as unresolved as long as it waits for a delay: its worker leads all the same.
    The next leader does not remember what was waited for, and gives it away.
    """
    forgets, remembers = (figures("leader", Kind.BARRIER, policy) for policy in ("kip-415", "design-2"))
    assert forgets.moved > remembers.moved > 0


@pytest.mark.parametrize("kind", Kind)
def test_the_same_seed_gives_the_same_run_and_another_one_another(kind: Kind) -> None:
    scenario = load(built_in()["death"])
    assert run(scenario, kind, "design-2", 3) == run(scenario, kind, "design-2", 3)
    assert run(scenario, kind, "design-2", 3).figures != run(scenario, kind, "design-2", 4).figures


@pytest.mark.parametrize("seed", [4, 7])
def test_what_was_being_stopped_and_was_abandoned_does_not_end_later_what_was_started_since(seed: int) -> None:
    """The lab's finding: a worker that takes 40 s to stop was fenced meanwhile, and had the same tasks given again."""
    assert run(load(built_in()["slow"]), Kind.CONNECT, "design-1", seed).figures.balanced_after is not None


@pytest.mark.parametrize("kind", Kind)
def test_what_the_designs_are_for(kind: Kind) -> None:
    """A bounce moves nothing with design II, and each worker's work twice with design I (`docs/assignors.md`)."""
    assert figures("bounce", kind, "design-2").moved == figures("bounce", kind, "design-3").moved == 0
    assert figures("bounce", kind, "design-1").moved == 60, "30 tasks, there and back"
    assert figures("bounce", kind, "eager").moved > 200


def test_a_connector_has_as_many_tasks_as_it_was_resized_to(tmp_path: Path) -> None:
    resized = written(tmp_path, f'{WELL}[[events]]\nat = 50\ndo = "resize"\nconnectors = "a"\ntasks = 7\n')
    for kind in Kind:
        kept: list[Record] = []

        def keep(at_ms: int, records: Sequence[Record], kept: list[Record] = kept) -> None:
            kept.extend(records)

        done = run(resized, kind, "design-2", keep=keep)
        assert not done.doubles
        assert done.figures.balanced_after is not None
        if kind is not Kind.BARRIER:
            told = [each.value for each in kept if each.key.API_KEY == CONFIGURED]
            assert isinstance(told[-1], ConnectWorkerGroupConnectorsTasksMetadataValue)
            assert unpack(told[-1].connectors_tasks) == {("a", task) for task in range(CONNECTOR, 7)}


def test_who_is_started_while_it_runs_is_killed_first(tmp_path: Path) -> None:
    again = written(tmp_path, WELL.replace('"kill"', '"start"').replace("back = 20", ""))
    for kind in Kind:
        done = run(again, kind, "design-2")
        assert not done.doubles
        assert 0 < done.figures.stopped < 100


def test_who_leads_can_be_said(tmp_path: Path) -> None:
    """Connect's leader remembers what it waits for: when it dies its work is given away sooner than another one's."""
    away = WELL.replace("back = 20", "").replace("lasts = 100", "lasts = 600")
    for seed in range(fewer(4, 1)):
        follows, leads = (
            run(written(tmp_path, away.replace("lasts", f'leads = "{leader}"\nlasts')), Kind.BARRIER, "kip-415", seed)
            for leader in ("w0", "w1")
        )
        assert leads.figures.longest_gap < 30 < 300 < follows.figures.longest_gap


def test_what_happens_within_some_time_happens_when_the_seed_says(tmp_path: Path) -> None:
    """A worker that is lost for good, within 60 of the 100 s."""
    vague = written(tmp_path, WELL.replace("back = 20", "within = 60"))
    found = [run(vague, Kind.CONNECT, "design-2", seed).figures.stopped for seed in range(8)]
    assert max(found) - min(found) > 20
    assert found == [run(vague, Kind.CONNECT, "design-2", seed).figures.stopped for seed in range(8)]


def test_connect_waits_for_a_worker_that_is_back_already() -> None:
    """One that comes back under another name gets its work when the delay is over; with design II at once."""
    for kind in Kind:
        assert figures("death", kind, "kip-415").longest_gap > 280
        assert figures("death", kind, "design-2").longest_gap < 30


def test_only_the_eager_protocol_stops_what_stays() -> None:
    assert figures("death", Kind.BARRIER, "eager").needless > 0
    assert {figures("death", Kind.BARRIER, policy).needless for policy in POLICIES[1:]} == {0}


def test_seconds_before_a_fleet_runs_are_not_measured(tmp_path: Path) -> None:
    slow = WELL.replace("tasks = 4", "tasks = 4\nstart = 700")
    with pytest.raises(DidNotSettle, match="connect by design-1: not all ran 600 s after the fleet's start"):
        run(written(tmp_path, slow), Kind.CONNECT, "design-1")


def written(folder: Path, text: str) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text(text)
    return load(path)


@pytest.mark.parametrize(
    ("instead", "of", "says"),
    [
        ("", WELL, "about: Field required"),
        ("workers = ", "workers = 3", "is not valid TOML"),
        ("workers = 0", "workers = 3", "workers: Input should be greater than or equal to 1"),
        ("workrs = 3", "workers = 3", "workers: Field required"),
        (
            'do = "explode"',
            'do = "kill"',
            "events.0.do: Input should be 'start', 'stop', 'kill', 'drain', 'cordon', 'uncordon', 'create', 'delete', "
            "'resize' or 'rules'",
        ),
        ('do = "create"', 'do = "kill"', "create happens to connectors: name them, and only them"),
        ('connectors = "b"', 'workers = ["w1"]', "kill happens to workers: name them, and only them"),
        ("back = 200", "back = 20", "an event ends after 200 s, and the scenario lasts 100 s"),
        ("within = 90\nback = 20", "back = 20", "an event ends after 110 s, and the scenario lasts 100 s"),
        ("tasks = 3\nback = 20", "back = 20", "tasks goes with resize, which needs it, and with nothing else"),
        ('workers = 3\nleads = "w3"', "workers = 3", "leads names worker w3, which is none of the first: w0 to w2"),
        ('do = "start"', 'do = "kill"', "back goes with stop and kill, not with start"),
        (
            'workers = ["w7"]\n[[events]]\nat = 50\ndo = "start"\nworkers = ["w7"]',
            'workers = ["w1"]\nback = 20',
            "an event is to kill worker w7 after 0 s, and it is started only by 50 s",
        ),
        ('workers = ["w7"]', 'workers = ["w1"]', "an event names worker w7, and there is none called so"),
        ("tasks = 4\nstop = 60", "tasks = 4", "tasks of a take 60 s to stop, and settings.rebalance allows 60 s"),
    ],
)
def test_a_description_that_cannot_be_says_where_and_what(tmp_path: Path, instead: str, of: str, says: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        written(tmp_path, WELL.replace(of, instead))
    assert says in str(refused.value)
    assert str(tmp_path) in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read"):
        load(tmp_path / "none.toml")


# -- the figures -------------------------------------------------------------------------------------------------------


@attrs.define
class Clock:
    now_ms: int = 0

    def __call__(self) -> int:
        return self.now_ms


def test_figures_by_hand() -> None:
    clock = Clock()
    meter = Meter(clock, lambda resource: 1)
    a0, a1 = task("a", 0), task("a", 1)
    meter.configured([a0, a1])
    for name, resource in (("v", a0), ("w", a1)):
        meter.joins(name)
        meter.starts(name, [resource])
        meter.runs(name, resource)
    clock.now_ms = 1_000
    meter.begin()
    clock.now_ms = 2_000
    meter.stops("v", [a0], of_itself=False)  # and starts it again: needless
    clock.now_ms = 3_000
    meter.flush_held_reply("v", [a0])
    meter.starts("v", [a0])
    clock.now_ms = 4_000
    meter.runs("v", a0)
    meter.dies("w")
    clock.now_ms = 10_000
    meter.starts("v", [a1])
    meter.runs("v", a1)  # moved
    meter.joins("w")
    clock.now_ms = 12_000
    meter.stops("v", [a1], of_itself=False)
    meter.flush_held_reply("v", [a1])
    meter.starts("w", [a1])
    clock.now_ms = 12_500
    meter.runs("w", a1)  # moved back
    clock.now_ms = 20_000
    assert meter.figures(3, 40, 10_000) == Figures(
        stopped=2 + 6 + 0.5, longest_gap=6, moved=2, needless=1, rebalances=3, requests=40, balanced_after=2.5
    )
    assert not meter.doubles


def test_what_runs_nowhere_at_the_end_counts_until_then_and_what_was_deleted_does_not() -> None:
    clock = Clock()
    meter = Meter(clock, lambda resource: 1)
    meter.joins("v")
    meter.begin()
    meter.configured([task("a", 0), task("b", 0), connector("b")])
    clock.now_ms = 5_000
    meter.configured([task("a", 0)])
    clock.now_ms = 9_000
    found = meter.figures(0, 0, 0)
    assert (found.stopped, found.longest_gap, found.balanced_after) == (14, 9, None)


def test_two_that_have_the_same_are_told() -> None:
    meter = Meter(Clock(), lambda resource: 1)
    meter.starts("v", [task("a", 0)])
    meter.starts("w", [task("a", 0)])
    assert meter.doubles == ["('a', 0) at v and w, 0 ms"]
