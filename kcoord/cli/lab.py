"""`kcoord pipeline lab`: scenarios by policies, delays and seeds, simulated by Spark; all runs as a table, and who does
best.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.cli.paper import table_of, written
from kcoord.cli.scenario import Kind, Policy, named
from kcoord.cli.spark_options import LOCAL, Conf, Master, pairs, place_of, spark_log

if TYPE_CHECKING:
    from kcoord.pipeline.standing import Spread, Standing
    from kcoord.sim.scenario import Scenario

LONGEST_DELAY_S = 86_400
LEGEND = """\
Of each figure: the median of the seeds (least to greatest). Of each kind of group is marked what stops least, and of
that moves least; and what moves least, and of that stops least. What seeds do not tell apart counts as the same.
"""
MARKS = {"stops least": ("stopped", "moved"), "moves least": ("moved", "stopped")}


def lab(
    out: Annotated[str, typer.Option(metavar="DIR", help="Where the table is to lie: a directory, or a URI.")],
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="One that comes with kcoord (kcoord sim scenario lists them), or a TOML file. Several times; else "
            "all that come with kcoord.",
        ),
    ] = None,
    kind: Annotated[
        list[Kind] | None,
        typer.Option(
            help="Of group: Java's workers in a generic group (barrier) or led one by one (individual), or ours in a "
            "connect group. Several times; else all."
        ),
    ] = None,
    policy: Annotated[list[Policy] | None, typer.Option(help="Several times; else all.")] = None,
    delay: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SECONDS", help="For how long lost work waits. Several times; else as each scenario says."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="So many runs of each, by other latencies.")] = 10,
    master: Master = LOCAL,
    conf: Conf = None,
) -> None:
    """Simulate scenarios under policies and delays, on all cores; show the median of each and its spread.

    Without options: everything that comes with kcoord, a thousand runs, in a minute or two. The table has every run;
    its columns are in docs/pipeline.md. The same runs give the same table; what was there before is replaced.
    """
    from kcoord.cli.spark_progress import Progress
    from kcoord.pipeline.failure import PipelineError
    from kcoord.pipeline.lab import cells
    from kcoord.pipeline.spark.lab import run_all
    from kcoord.pipeline.spark.session import session
    from kcoord.pipeline.spark.store import Store
    from kcoord.pipeline.tables import LAB
    from kcoord.sim.scenario import Kind as GroupKind
    from kcoord.sim.scenario import built_in

    _check(delay or ())
    scenarios = {name: named(name) for name in scenario or built_in()}
    kinds = [GroupKind(each) for each in kind or Kind]
    policies = [each.value for each in policy or Policy]
    todo = cells(scenarios, kinds, policies, delay or [None], range(seeds))
    settings = pairs(conf, "--conf")
    try:
        with Progress() as progress:
            progress.say("starting Spark")
            with session(master, spark_log(out), kafka=False, settings=settings) as spark:
                progress.watch(spark)
                found = run_all(Store(spark, place_of(out), (LAB,)), scenarios, todo, progress.say)
    except PipelineError as error:
        fail(error)
    print(shown(scenarios, found), end="")
    print(f"{len(todo):,} runs. The table of all is in {out}/{LAB.name}")
    doubled = sum(each.doubles for each in found)
    if doubled:
        fail(
            f"two workers had the same task at once in {doubled:,} runs, which is a fault of kcoord's: they have "
            f"`doubles` in {out}/{LAB.name}; kcoord sim scenario --json says what it was",
            FAILED,
        )


def _check(delays: Iterable[float]) -> None:
    for each in delays:
        if not 0 <= each <= LONGEST_DELAY_S:
            fail(f"--delay {each:g} is not between 0 and {LONGEST_DELAY_S:,} seconds", USAGE)


def shown(scenarios: "dict[str, Scenario]", found: "Iterable[Standing]") -> str:
    """A table for each scenario, in their order; kinds and policies as in the help, the shorter delay first."""
    kinds, policies = [each.value for each in Kind], [each.value for each in Policy]
    ordered = sorted(found, key=lambda each: (kinds.index(each.kind), policies.index(each.policy), each.delay))
    parts = []
    for name, scenario in scenarios.items():
        its = [each for each in ordered if each.scenario == name]
        errors = sorted({f"No figures: {each.error}\n" for each in its if each.error is not None})
        parts.append(f"{name}: {scenario.about}\n{_table(its)}{''.join(errors)}")
    return "\n".join([*parts, LEGEND])


def _table(its: "Sequence[Standing]") -> str:
    from kcoord.pipeline.standing import best

    by_kind = [[each for each in its if each.kind == kind.value] for kind in Kind]
    marked = {mark: [each for group in by_kind for each in best(group, *order)] for mark, order in MARKS.items()}
    rows = []
    for each in its:
        stopped, gap, moved = (each.figures.get(name) for name in ("stopped", "longest_gap", "moved"))
        figures = (figure(stopped, 0, " s"), figure(gap, 1, " s"), figure(moved, 0))
        rows.append((each.kind, each.policy, f"{each.delay:g} s", *figures, _note(each, marked)))
    return written(table_of(("GROUP", "POLICY", "DELAY", "STOPPED", "LONGEST GAP", "MOVED", ""), rows))


def figure(spread: "Spread | None", digits: int, unit: str = "") -> str:
    """The median, and between what it is, for people."""
    if spread is None:
        return "-"
    middle, least, greatest = (f"{each:,.{digits}f}" for each in (spread.middle, spread.least, spread.greatest))
    return f"{middle}{unit}" if least == greatest else f"{middle}{unit} ({least} to {greatest})"


def _note(each: "Standing", marked: "dict[str, list[Standing]]") -> str:
    notes = [mark for mark, those in marked.items() if each in those]
    if each.failed:
        notes.append(f"{each.failed:,} of {each.runs:,} without figures")
    if each.uneven:
        notes.append(f"{each.uneven:,} of {each.runs:,} never even")
    if each.doubles:
        notes.append(f"TWO HAD THE SAME in {each.doubles:,} of {each.runs:,}")
    return ", ".join(notes)
