"""Does the lab run what it is asked for, once each, wherever; and does it say which policy and delay do best?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pyarrow.parquet as parquet
import pytest

from kcoord.assign.placement import Affinity, Rules
from kcoord.cli.lab import shown
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.lab import (
    FIGURES,
    WITHOUT_RULES,
    Cell,
    NamedRules,
    cells,
    is_possible,
    parts,
    row_of,
)
from kcoord.pipeline.policy_ranking import Spread, Standing, best
from kcoord.pipeline.schemas import LAB
from kcoord.pipeline.spark.lab import CellError, run_all, run_cells, standings
from kcoord.pipeline.spark.store import Store
from kcoord.sim.scenario import POLICIES, Kind, Restart, Scenario, built_in, load, run
from tests.cli.run_cli import kcoord
from tests.pipeline.spark import MASTER, QUICK

DEADLINE_S = 600
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
NEVER_AT_REST = WELL.replace("tasks = 4", "tasks = 4\nstart = 700")


@pytest.fixture
def well(tmp_path: Path) -> Scenario:
    return written(tmp_path, WELL)


def written(folder: Path, text: str) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text(text)
    return load(path)


# -- cells and rows, without Spark -------------------------------------------------------------------------------------


def test_everything_with_everything_and_nothing_twice() -> None:
    found = cells(["x", "y", "x"], [Kind.CONNECT, Kind.BARRIER], ["eager"], [None, 5, 5.0], range(3))
    assert len(found) == len(set(found)) == 2 * 2 * 1 * 2 * 3
    assert found[:4] == [Cell("x", Kind.CONNECT, "eager", None, at) for at in range(3)] + [
        Cell("x", Kind.CONNECT, "eager", 5, 0)
    ]


def test_a_row_is_what_the_run_gave(well: Scenario) -> None:
    row = row_of(well, Cell("well", Kind.CONNECT, "design-2", None, 4))
    assert list(row) == [column.name for column in LAB.columns]
    figures = run(well, Kind.CONNECT, "design-2", 4).figures
    assert {name: row[name] for name in FIGURES} == attrs.asdict(figures)
    assert row["stopped"]
    assert (row["scenario"], row["kind"], row["policy"], row["seed"]) == ("well", "connect", "design-2", 4)
    assert (row["delay"], row["doubles"], row["error"]) == (300, 0, None)


def test_the_delay_of_a_cell_is_instead_of_the_scenarios(well: Scenario) -> None:
    """A worker that stays away: its tasks stand still until its session and the delay are over."""
    gone = written_away(well)
    gaps = [row_of(gone, Cell("gone", Kind.CONNECT, "design-2", delay, 0)) for delay in (0, 5, 20)]
    assert [row["delay"] for row in gaps] == [0, 5, 20]
    first = gaps[0]["longest_gap"]
    assert isinstance(first, float)
    assert [row["longest_gap"] for row in gaps[1:]] == [
        pytest.approx(first + 5, abs=2),
        pytest.approx(first + 20, abs=2),
    ]
    assert gone.settings.delay == 300


def written_away(well: Scenario) -> Scenario:
    return well.model_copy(update={"events": (well.events[0].model_copy(update={"back": None}),)})


def test_a_fleet_that_does_not_settle_is_a_row_with_the_reason(tmp_path: Path) -> None:
    row = row_of(written(tmp_path, NEVER_AT_REST), Cell("never", Kind.BARRIER, "eager", None, 0))
    assert list(row) == [column.name for column in LAB.columns]
    assert all(row[name] is None for name in (*FIGURES, "doubles"))
    assert str(row["error"]).startswith("barrier by eager: not all ran 600 s after the fleet's start")


RULES = NamedRules("only-w0.toml", Rules(affinities=(Affinity("a", ("http://w0",)),)))


def test_a_cell_may_say_how_workers_go_and_what_rules_there_are(well: Scenario) -> None:
    found = cells(["x"], [Kind.CONNECT], ["eager"], [None], [0], [None, Restart.DRAIN], [None, RULES])
    assert [(each.restart, each.rules) for each in found] == [
        (None, None),
        (None, RULES),
        (Restart.DRAIN, None),
        (Restart.DRAIN, RULES),
    ]
    rows = [row_of(well, attrs.evolve(each, policy="design-2")) for each in found]
    assert [(row["restart"], row["rules"]) for row in rows] == [
        (None, None),
        (None, "only-w0.toml"),
        ("drain", None),
        ("drain", "only-w0.toml"),
    ]
    killed, elsewhere, drained, _ = [row["longest_gap"] for row in rows]
    assert isinstance(killed, float)
    assert killed > 20
    assert isinstance(drained, float)
    assert drained < 2.2, "a task stops in a second, and starts in another one"
    assert elsewhere == 0, "all of it runs where nobody dies"


def test_where_rules_cannot_hold_there_is_no_cell(well: Scenario) -> None:
    found = cells(["x"], Kind, ["kip-415"], [None], [0], [None, Restart.DRAIN, Restart.STOP], [None, RULES])
    left_out = [each for each in found if not is_possible(well, each)]
    assert {each.kind for each in left_out} == {Kind.BARRIER}
    assert len(left_out) == 4
    row = row_of(well, left_out[0])
    assert "placement rules and drains do not work" in str(row["error"]), "who runs it all the same hears it"
    without = well.model_copy(update={"rules": RULES.rules})
    assert is_possible(without, Cell("x", Kind.BARRIER, "eager", None, 0, rules=WITHOUT_RULES))


def test_parts_cost_about_the_same_and_the_costliest_comes_first(well: Scenario) -> None:
    scenarios = {"small": well, "large": well.model_copy(update={"workers": 300})}
    todo = cells(["large", "small"], Kind, POLICIES, [None], range(4))
    found = parts(scenarios, todo, 10)
    assert Counter(each for part in found for each in part) == Counter(todo)
    assert [each.scenario for each in found[0]] == ["large"] * len(found[0])
    assert found[-1][-1].scenario == "small"
    assert len(found[0]) < len(found[-1])
    assert 10 <= len(found) <= 12
    assert {len(part) for part in parts({"large": scenarios["large"]}, todo[:60], 10_000)} == {1}
    assert len(parts({"small": well}, todo[60:], 10_000)) == 2, "what is small shares a start"
    assert parts(scenarios, [], 10) == []


# -- who does best -----------------------------------------------------------------------------------------------------


def standing(policy: str, stopped: tuple[float, ...], moved: tuple[float, ...], **more: Any) -> Standing:
    figures = {"stopped": Spread(*stopped), "longest_gap": Spread(1, 1, 1), "moved": Spread(*moved)}
    fields = {"runs": 3, "failed": 0, "error": None, "uneven": 0, "doubles": 0, "figures": figures} | more
    return Standing("x", "connect", policy, 300, **fields)


def names(found: list[Standing]) -> list[str]:
    return [each.policy for each in found]


def test_who_stops_least_and_who_moves_least() -> None:
    quick = standing("quick", (50, 49, 52), (60, 60, 60))
    as_quick = standing("as-quick", (51.5, 48, 53), (40, 40, 41))
    calm = standing("calm", (480, 480, 481), (0, 0, 0))
    calmer = standing("calmer", (300, 290, 310), (0, 0, 0))
    told = [quick, as_quick, calm, calmer]
    assert names(best(told, "stopped")) == ["quick", "as-quick"], "seeds do not tell them apart"
    assert names(best(told, "stopped", "moved")) == ["as-quick"]
    assert names(best(told, "moved")) == ["calm", "calmer"]
    assert names(best(told, "moved", "stopped")) == ["calmer"]


def test_what_fails_or_never_ends_even_is_no_choice() -> None:
    failed = standing("failed", (1, 1, 1), (0, 0, 0), failed=1, error="it did not")
    nothing = standing("nothing", (1, 1, 1), (0, 0, 0), failed=3, error="it did not", figures={})
    uneven = standing("uneven", (2, 2, 2), (0, 0, 0), uneven=1)
    sound = standing("sound", (500, 500, 500), (9, 9, 9))
    assert names(best([failed, nothing, uneven, sound], "stopped")) == ["sound"]
    assert names(best([failed, nothing], "stopped")) == ["failed"]
    assert best([nothing], "stopped") == best([], "moved", "stopped") == []


def test_what_people_see(well: Scenario) -> None:
    told = shown(
        {"nothing of it ran": well, "x": well},
        [
            standing("kip-415", (1_480.4, 1_480, 1_481), (0, 0, 0)),
            standing("eager", (50, 50, 50), (60, 59, 61), uneven=2, doubles=1),
            standing("design-1", (0, 0, 0), (0, 0, 0), failed=3, error="it did not rest", figures={}),
        ],
    )
    lines = [line.split() for line in told.splitlines()]
    assert told.startswith("x: A worker dies.\n")
    assert [line[1] for line in lines[3:6]] == ["eager", "design-1", "kip-415"]
    assert "60 (59 to 61)" in told
    assert "2 of 3 never even, TWO HAD THE SAME in 1 of 3" in told
    assert "1,480 s (1,480 to 1,481)" in told
    assert told.count("stops least, moves least") == 1, "of kip-415, as the others are no choice"
    assert "No figures: it did not rest\n" in told
    assert "RESTART" not in told, "nobody asked for it"
    assert "RULES" not in told


def test_what_people_see_of_restarts_and_rules(well: Scenario) -> None:
    spreads = {"stopped": Spread(10, 9, 11), "rebalances": Spread(7, 7, 7)}
    drained = standing("kip-415", (10, 9, 11), (5, 5, 5), restart="drain", rules="ours.toml")
    killed = standing("kip-415", (90, 90, 90), (0, 0, 0), restart="kill", rules="none")
    told = shown({"x": well}, [killed, attrs.evolve(drained, figures={**drained.figures, **spreads})])
    lines = [line.split() for line in told.splitlines()]
    assert lines[1][:5] == ["GROUP", "POLICY", "DELAY", "RESTART", "RULES"]
    assert [line[4:6] for line in lines[3:5]] == [["drain", "ours.toml"], ["kill", "none"]]
    assert "REBALANCES" in lines[1]
    assert "7" in lines[3]


# -- by Spark ----------------------------------------------------------------------------------------------------------


def test_spark_gives_the_rows_that_this_process_gives(spark: Any, tmp_path: Path, well: Scenario) -> None:
    scenarios = {"well": well, "never": written(tmp_path, NEVER_AT_REST), "death": load(built_in()["death"])}
    todo = cells(scenarios, [Kind.CONNECT], ["design-1", "kip-415"], [None, 5], range(2))
    store = Store(spark, str(tmp_path / "lab"), (LAB,))
    said: list[str] = []
    told = run_all(store, scenarios, todo, said.append)
    assert said == ["24 runs", "comparing"]
    kept = parquet.read_table(tmp_path / "lab" / LAB.name).to_pylist()
    expected = [row_of(scenarios[each.scenario], each) for each in todo]
    order = ("scenario", "kind", "policy", "delay", "seed")
    assert kept == sorted(expected, key=lambda row: [row[name] for name in order]), "in this order, whole"
    by_key = {(each.scenario, each.kind, each.policy, each.delay): each for each in told}
    assert len(by_key) == len(told) == 12
    two = sorted(
        row["stopped"]
        for row in kept
        if (row["scenario"], row["kind"], row["policy"], row["delay"]) == ("death", "connect", "kip-415", 5)
    )
    one = by_key["death", "connect", "kip-415", 5]
    assert one.figures["stopped"] == Spread(two[0], two[0], two[1]), "of two the middle one is the lower"
    assert (one.runs, one.failed, one.uneven, one.doubles) == (2, 0, 0, 0)
    never = by_key["never", "connect", "design-1", 300]
    assert (never.runs, never.failed, never.figures) == (2, 2, {})
    assert "not all ran 600 s" in str(never.error)


def test_it_writes_beside_no_strangers(spark: Any, tmp_path: Path, well: Scenario) -> None:
    (tmp_path / "records").mkdir()
    with pytest.raises(PipelineError, match=r"holds something else \(records\): name a directory for the tables alone"):
        run_all(Store(spark, str(tmp_path), (LAB,)), {"well": well}, [Cell("well", Kind.CONNECT, "eager", None, 0)])
    assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == ["records"]


def test_no_cells_are_no_rows(spark: Any, well: Scenario) -> None:
    assert run_cells(spark, {"well": well}, []).collect() == []


def test_runs_that_were_wrong_are_counted(spark: Any) -> None:
    row = dict.fromkeys(column.name for column in LAB.columns) | {
        "scenario": "x", "kind": "connect", "policy": "eager", "delay": 300.0, "stopped": 5.0, "longest_gap": 2.0,
        "moved": 1, "balanced_after": 1.0, "doubles": 0,
    }  # fmt: skip
    rows = [
        {**row, "seed": 0},
        {**row, "seed": 1, "doubles": 2, "stopped": 7.0},
        {**row, "seed": 2, "balanced_after": None, "stopped": 6.0},
    ]
    (found,) = standings(spark.createDataFrame([tuple(each.values()) for each in rows], LAB.ddl))
    assert (found.runs, found.doubles, found.uneven, found.failed) == (3, 1, 1, 0)
    assert found.figures["stopped"] == Spread(6, 5, 7)


def test_a_simulator_that_fails_says_in_which_run(spark: Any, tmp_path: Path, well: Scenario) -> None:
    broken = well.model_copy(update={"connectors": {}, "events": ()})  # no file can say so
    with pytest.raises(PipelineError, match=r"failed in broken, connect by eager, delay None, seed 7") as raised:
        run_all(
            Store(spark, str(tmp_path / "lab"), (LAB,)),
            {"broken": broken},
            [Cell("broken", Kind.CONNECT, "eager", None, 7)],
        )
    assert CellError.__name__ in str(raised.value)
    assert not list((tmp_path / "lab").glob("*/*.parquet"))


# -- the command -------------------------------------------------------------------------------------------------------


def lab(*arguments: object, env: dict[str, str] | None = None) -> Any:
    return kcoord("pipeline", "lab", *arguments, env=env, deadline_s=DEADLINE_S)


@pytest.mark.long("starts Spark by itself")
def test_the_command(tmp_path: Path) -> None:
    mine, out = tmp_path / "mine.toml", tmp_path / "tries"
    mine.write_text(WELL)
    quick = [part for name, value in QUICK.items() for part in ("--conf", f"{name}={value}")]
    asked = ["--scenario", mine, "--kind", "connect", "--policy", "design-1", "--policy", "design-2", "--seeds", 2]
    done = lab(*asked, "--delay", 60, "--delay", 5, "--out", out, "--master", MASTER, *quick)
    assert done.code == 0, done.err
    assert done.err.splitlines() == ["starting Spark", "8 runs", "comparing"]
    assert done.out.startswith(f"{mine}: A worker dies.\n")
    assert done.out.endswith(f"8 runs. The table of all is in {out}/lab\n")
    shown_rows = [line.split()[:4] for line in done.out.splitlines() if line.startswith("connect ")]
    assert shown_rows == [["connect", f"design-{one}", delay, "s"] for one in (1, 2) for delay in ("5", "60")]
    rows = parquet.read_table(out / LAB.name).to_pylist()
    assert [(row["policy"], row["delay"], row["seed"]) for row in rows] == [
        (f"design-{one}", delay, seed) for one in (1, 2) for delay in (5, 60) for seed in (0, 1)
    ]
    assert {row["scenario"] for row in rows} == {str(mine)}


RULES_FILE = """
[[affinity]]
connectors = "a"
workers = ["http://w0", "http://w2"]
"""


@pytest.mark.proof
def test_the_command_with_restarts_and_rules(tmp_path: Path) -> None:
    """A worker dies, or is drained; or only the two others may run the connector, which nobody misses then."""
    mine, rules, out = tmp_path / "mine.toml", tmp_path / "rules.toml", tmp_path / "tries"
    mine.write_text(WELL)
    rules.write_text(RULES_FILE)
    quick = [part for name, value in QUICK.items() for part in ("--conf", f"{name}={value}")]
    asked = ["--scenario", mine, "--policy", "kip-415", "--seeds", 2, "--restart", "drain", "--restart", "kill"]
    done = lab(*asked, "--rules", "none", "--rules", rules, "--out", out, "--master", MASTER, *quick)
    assert done.code == 0, done.err
    assert "Left out: group barrier with placement rules or drains" in done.out
    rows = parquet.read_table(out / LAB.name).to_pylist()
    assert {row["error"] for row in rows} == {None}
    found = {(row["kind"], row["restart"], Path(row["rules"]).name): row for row in rows}
    assert set(found) == {
        ("barrier", "kill", "none"),
        *((kind, how, file) for kind in ("individual", "connect") for how in ("drain", "kill")
          for file in ("none", "rules.toml")),
    }  # fmt: skip
    for kind in ("individual", "connect"):
        assert found[kind, "kill", "none"]["longest_gap"] > 20 > 3 > found[kind, "drain", "none"]["longest_gap"]
        assert found[kind, "kill", "rules.toml"]["stopped"] == 0
    assert "18 runs. The table of all is in " in done.out


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    out = ["--out", tmp_path / "tries"]
    bad, wrong, rules = tmp_path / "bad.toml", tmp_path / "wrong.toml", tmp_path / "rules.toml"
    bad.write_text("workers = ")
    wrong.write_text(WELL.replace("workers = 3", "workers = 0"))
    rules.write_text(RULES_FILE.replace("affinity", "afinity"))
    cases: list[tuple[list[object], int, str]] = [
        (["--scenario", "deth"], 2, "there is no scenario or file deth; the scenarios are bounce, connectors, death"),
        (["--scenario", bad], 1, f"{bad} is not valid TOML: "),
        (["--scenario", wrong], 1, f"{wrong}: workers: Input should be greater than or equal to 1"),
        (["--scenario", tmp_path], 1, f"{tmp_path} cannot be read: "),
        (["--delay", -1], 2, "--delay -1 is not between 0 and 86,400 seconds"),
        (["--delay", "nan"], 2, "--delay nan is not between 0 and 86,400 seconds"),
        (["--conf", "nothing"], 2, "--conf 'nothing' is not of the form NAME=VALUE"),
        (["--seeds", 0], 2, "Invalid value for '--seeds'"),
        (["--restart", "drian"], 2, "'drian' is not one of 'drain', 'drain-stops', 'stop', 'kill'"),
        (["--rules", rules], 2, f"{rules}: afinity: there is no such key"),
        (["--rules", bad], 2, f"{bad}: it is not valid TOML: "),
        (["--rules", tmp_path / "no.toml"], 2, "no.toml: No such file or directory"),
        (
            ["--scenario", "death", "--kind", "barrier", "--restart", "drain"],
            2,
            "placement rules and drains do not work in group barrier: give --kind individual or connect",
        ),
    ]
    for arguments, code, says in cases:
        done = lab(*arguments, *out)
        assert (done.code, done.out) == (code, ""), done
        assert says in done.err
    assert not (tmp_path / "tries").exists(), "nothing was begun"


def test_without_java(tmp_path: Path) -> None:
    said = lab("--out", tmp_path / "tries", "--scenario", "death", env={"JAVA_HOME": str(tmp_path)}).err
    assert "Spark needs Java, and there is none in " in said
