"""`kcoord pipeline lab`: scenarios by policies, delays and seeds, simulated by Spark: a table of all runs, and the best
choices.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.cli.output.terminal_output import table_of, written
from kcoord.cli.scenario import LEFT_OUT, Kind, Policy, Restart, named
from kcoord.cli.spark_options import LOCAL, Conf, Master, pairs, place_of, shared_files, spark_log

if TYPE_CHECKING:
    from kcoord.pipeline.lab import NamedRules
    from kcoord.pipeline.policy_ranking import Spread, Standing
    from kcoord.sim.scenario import Scenario

LONGEST_DELAY_S = 86_400
LEGEND = """\
Each figure is the median of the seeds (least to greatest). For each kind of group, two choices are marked: the one that
stops least (of several, the one that moves least), and the one that moves least (of several, the one that stops least).
Choices that the seeds do not tell apart count as equal.
"""
MARKS = {"stops least": ("stopped", "moved"), "moves least": ("moved", "stopped")}


def lab(
    out: Annotated[str, typer.Option(metavar="DIR", help="Where to write the table: a directory, or a URI.")],
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A scenario that comes with kcoord (kcoord sim scenario lists them), or a TOML file. May be "
            "given several times.  [default: all that come with kcoord]",
        ),
    ] = None,
    kind: Annotated[
        list[Kind] | None,
        typer.Option(
            help="The kind of group: Java workers in a classic group (barrier), Java workers managed one by one "
            "(individual), or kcoord's workers in a connect group (connect). May be given several times.  "
            "[default: all]"
        ),
    ] = None,
    policy: Annotated[
        list[Policy] | None, typer.Option(help="The rebalance policy. May be given several times.  [default: all]")
    ] = None,
    delay: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SECONDS",
            help="How long lost work waits. May be given several times.  [default: as each scenario says]",
        ),
    ] = None,
    restart: Annotated[
        list[Restart] | None,
        typer.Option(
            help="How workers go that a scenario stops or kills. drain: drain all of them first; drain-stops: "
            "drain only those that it stops; stop, kill: stop or kill all of them. May be given several "
            "times.  [default: as each scenario says]"
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|none",
            help="Placement rules from the start, as for kcoord placement apply, or none. May be given several "
            "times.  [default: as each scenario says]",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many runs of each, with different latencies.")
    ] = 10,
    master: Master = LOCAL,
    conf: Conf = None,
) -> None:
    """Simulate scenarios under policies, delays, ways to restart and placement rules, on all cores.

    Shows the median and the spread of each choice.

    Without options it runs everything that comes with kcoord: a thousand runs, in a minute or two. The table has every
    run; docs/pipeline.md explains its columns. The same runs give the same table. A table that was there is replaced.
    """
    from kcoord.cli.output.spark_progress import Progress
    from kcoord.pipeline.failure import PipelineError
    from kcoord.pipeline.lab import cells, is_possible
    from kcoord.pipeline.schemas import LAB
    from kcoord.pipeline.spark.lab import run_all
    from kcoord.pipeline.spark.remote_place import check_answers, usable
    from kcoord.pipeline.spark.session import session
    from kcoord.pipeline.spark.store import Store
    from kcoord.sim.scenario import Kind as GroupKind
    from kcoord.sim.scenario import Restart as HowToGo
    from kcoord.sim.scenario import built_in

    _check(delay or ())
    scenarios = {name: named(name) for name in scenario or built_in()}
    kinds = [GroupKind(each) for each in kind or Kind]
    policies = [each.value for each in policy or Policy]
    restarts = [HowToGo(each) for each in restart or ()]
    everything = cells(
        scenarios, kinds, policies, delay or [None], range(seeds), restarts or [None], rules_of(rules) or [None]
    )
    todo = [each for each in everything if is_possible(scenarios[each.scenario], each)]
    if not todo:
        fail("placement rules and drains do not work in group barrier: give --kind individual or connect", USAGE)
    settings = pairs(conf, "--conf")
    try:
        check_answers(out, settings)
        with Progress() as progress:
            progress.say("starting Spark")
            with session(
                master, spark_log(out), kafka=False, settings=settings, shared=shared_files(out), say=progress.say
            ) as spark:
                progress.watch(spark)
                with usable(out):
                    found = run_all(Store(spark, place_of(out), (LAB,)), scenarios, todo, progress.say)
    except PipelineError as error:
        fail(error)
    print(shown(scenarios, found), end="")
    if len(todo) < len(everything):
        print(LEFT_OUT)
    print(f"{len(todo):,} runs. The table of all is in {out}/{LAB.name}")
    doubled = sum(each.doubles for each in found)
    if doubled:
        fail(
            f"two workers had the same task at once in {doubled:,} runs, which is a bug in kcoord: these runs "
            f"have `doubles` in {out}/{LAB.name}; kcoord sim scenario --json says what happened",
            FAILED,
        )


def rules_of(files: "Iterable[str] | None") -> "list[NamedRules]":
    """The placement rules in these files. If one is wrong, the command ends."""
    from kcoord.cli.placement import read_rules
    from kcoord.pipeline.lab import WITHOUT_RULES, NamedRules

    return [
        WITHOUT_RULES if each == WITHOUT_RULES.name else NamedRules(each, read_rules(Path(each)))
        for each in files or ()
    ]


def _check(delays: Iterable[float]) -> None:
    for each in delays:
        if not 0 <= each <= LONGEST_DELAY_S:
            fail(f"--delay {each:g} is not between 0 and {LONGEST_DELAY_S:,} seconds", USAGE)


def shown(scenarios: "dict[str, Scenario]", found: "Iterable[Standing]") -> str:
    """A table for each scenario that was run, in order. Kinds and policies come in the order of the help, short delays
    first.
    """
    kinds, policies = [each.value for each in Kind], [each.value for each in Policy]
    restarts = ["", *Restart]

    def order(each: "Standing") -> tuple[object, ...]:
        restart = restarts.index(each.restart or "")
        return kinds.index(each.kind), policies.index(each.policy), each.delay, restart, each.rules or ""

    ordered = sorted(found, key=order)
    parts = []
    for name, scenario in scenarios.items():
        its = [each for each in ordered if each.scenario == name]
        if not its:
            continue
        errors = sorted({f"No figures: {each.error}\n" for each in its if each.error is not None})
        parts.append(f"{name}: {scenario.about}\n{_table(its)}{''.join(errors)}")
    return "\n".join([*parts, LEGEND])


def _table(its: "Sequence[Standing]") -> str:
    from kcoord.pipeline.policy_ranking import best

    by_kind = [[each for each in its if each.kind == kind.value] for kind in Kind]
    marked = {mark: [each for group in by_kind for each in best(group, *order)] for mark, order in MARKS.items()}
    columns = ("GROUP", "POLICY", "DELAY", "RESTART", "RULES", "STOPPED", "LONGEST GAP", "MOVED", "REBALANCES", "")
    rows = []
    for each in its:
        varied = (each.kind, each.policy, f"{each.delay:g} s", each.restart or "", each.rules or "")
        stopped, gap, moved, rebalances = map(each.figures.get, ("stopped", "longest_gap", "moved", "rebalances"))
        figures = (figure(stopped, 0, " s"), figure(gap, 1, " s"), figure(moved, 0), figure(rebalances, 0))
        rows.append((*varied, *figures, _note(each, marked)))
    return without_empty_columns(columns, rows)


def without_empty_columns(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for people, without the columns in which no row has anything. The last column may be empty."""
    kept = [at for at, name in enumerate(columns) if not name or any(row[at] for row in rows)]
    return written(table_of([columns[at] for at in kept], [[row[at] for at in kept] for row in rows]))


def figure(spread: "Spread | None", digits: int, unit: str = "") -> str:
    """The median with the range in parentheses, for people."""
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
