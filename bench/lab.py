"""How many scenarios a second does `kcoord pipeline lab` run on two cores, beside one?

The same runs, a thousand of them, by the command's own parts, the table included: once by Spark on one core, once on
two, each in a session of its own that has run something before. Beside them, without Spark, one Python process.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from bench.results import Claim, Outcome, Table
from kcoord.pipeline.lab import Cell, cells, row_of
from kcoord.pipeline.schemas import LAB
from kcoord.pipeline.spark.lab import run_all, run_cells
from kcoord.pipeline.spark.session import session
from kcoord.pipeline.spark.store import Store
from kcoord.sim.scenario import POLICIES, Kind, Scenario, built_in, load

SEEDS = 10
TIMES_AS_MANY = 1.8
MOST_S = 300
"""A thousand runs on two cores, in minutes."""


@attrs.frozen
class Timed:
    """So many runs, in so many seconds."""

    runs: int
    seconds: float

    @property
    def a_second(self) -> float:
        return self.runs / self.seconds


def run(folder: Path) -> Outcome:
    """Everything that comes with kcoord, by every policy in every kind of group."""
    scenarios = {name: load(path) for name, path in built_in().items()}
    todo = cells(scenarios, Kind, POLICIES, [None], range(SEEDS))
    plain = alone(scenarios, [each for each in todo if each.seed == 0])
    one, two = (on(cores, folder / f"on-{cores}", scenarios, todo) for cores in (1, 2))
    return outcome(plain, one, two)


def alone(scenarios: Mapping[str, Scenario], todo: Sequence[Cell]) -> Timed:
    """In this process, one after the other."""
    began = time.perf_counter()
    for cell in todo:
        row_of(scenarios[cell.scenario], cell)
    return Timed(len(todo), time.perf_counter() - began)


def on(cores: int, folder: Path, scenarios: Mapping[str, Scenario], todo: Sequence[Cell]) -> Timed:
    """By Spark, until the table is there."""
    times: list[float] = []
    with session(f"local[{cores}]", folder / "spark.log", kafka=False) as spark:
        first = [each for each in todo if each.seed == 0]
        assert run_cells(spark, scenarios, first).count() == len(first)  # its Pythons are there, and have read kcoord
        store = Store(spark, str(folder), (LAB,))
        found = run_all(store, scenarios, todo, lambda what: times.append(time.perf_counter()))
    assert sum(each.runs for each in found) == len(todo)
    assert not any(each.failed or each.doubles for each in found)
    return Timed(len(todo), times[1] - times[0])


def outcome(plain: Timed, one: Timed, two: Timed) -> Outcome:
    """The figures."""
    times = two.a_second / one.a_second
    return Outcome(
        title="The lab",
        how=f"{two.runs:,} runs: the {len(built_in())} scenarios that come with kcoord, {len(Kind)} kinds of group, "
        f"{len(POLICIES)} policies, {SEEDS} seeds; until the table is written, after Spark's start.",
        claims=[
            Claim(
                "simulated runs, two cores beside one",
                f"≥ {TIMES_AS_MANY:g} ×",
                f"{times:.2f} ×",
                times >= TIMES_AS_MANY,
            ),
            Claim(f"{two.runs:,} runs on two cores", f"< {MOST_S} s", f"{two.seconds:,.0f} s", two.seconds < MOST_S),
        ],
        tables=[
            Table(
                ["what", "runs", "seconds", "runs/s"],
                [
                    [what, f"{each.runs:,}", f"{each.seconds:,.1f}", f"{each.a_second:.2f}"]
                    for what, each in (
                        ("one Python process, without Spark", plain),
                        ("Spark on one core", one),
                        ("Spark on two cores", two),
                    )
                ],
            )
        ],
        notes=["The JVM shares the cores with the Python processes that simulate."],
    )
