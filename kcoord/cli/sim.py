"""`kcoord sim`: simulated groups on virtual time, one run for each seed. A failing run can be replayed line by line.

`kcoord sim scenario` is in `scenario.py`.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.cli.scenario import scenario
from kcoord.cli.soak import Soak, soak, told

app = typer.Typer(
    help="Simulate connect groups under faults, and look for what must never happen. Exit status 1 if a run finds it.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("scenario")(scenario)


class Kind(StrEnum):
    """The kinds of runs (`kcoord.sim.series.run.WORLDS`)."""

    CONNECT = "connect"
    MIXED = "mixed"
    CLASSIC = "classic"
    INSTANCES = "instances"
    CONSUMER = "consumer"
    ADOPTION = "adoption"


@app.callback(invoke_without_command=True)
def sim(
    context: typer.Context,
    seeds: Annotated[int, typer.Option(metavar="N", help="How many seeds to run.")] = 1_000,
    from_: Annotated[int, typer.Option("--from", metavar="K", help="The first seed.")] = 0,
    seed: Annotated[int | None, typer.Option(metavar="K", help="Run only this seed.")] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Run the plan in this file. It does not depend on how seeds draw plans today."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plan of the seed to FILE, and run it (with --seed).")
    ] = None,
    shrink: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Make the failing run of --seed or --plan as small as possible, and write it to FILE."
        ),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Print what happens, line by line (with --seed or --plan).")
    ] = False,
    jobs: Annotated[int, typer.Option(metavar="J", help="How many cores to use.")] = 1,
    kind: Annotated[
        Kind | None, typer.Option(help="Run only this kind. Without it, every fourth seed is mixed.")
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="In all runs, let coordinators and workers of another kcoord release take part, whose package "
            "is in DIR.",
        ),
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write to FILE which seeds ran on which commit, and leave out seeds that are already there.",
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Show which conditions were never met, and what the journal contains.")
    ] = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    if seed is not None and plan is not None:
        fail("--seed and --plan each name one run: give only one of them", USAGE)
    if save is not None and seed is None:
        fail("--save writes the plan of one seed: give --seed K", USAGE)
    if shrink is not None and ((seed is None and plan is None) or trace or save is not None):
        fail("--shrink makes one failing run small: give --seed K or --plan FILE, and not --save", USAGE)
    if trace and seed is None and plan is None:
        fail("--trace shows one run: give --seed K or --plan FILE", USAGE)
    if plan is not None and (kind is not None or beside is not None):
        fail("a plan file says which kind of run it is: leave out --kind and --beside", USAGE)
    if beside is not None and (kind is not None or save is not None or shrink is not None):
        fail(
            "runs with --beside have no plan files and are a kind of their own: leave out --kind, --save and --shrink",
            USAGE,
        )
    if kind is Kind.ADOPTION and (save is not None or shrink is not None or report):
        fail(
            "runs of the kind adoption have no plan files and no report: leave out --save, --shrink and --report", USAGE
        )
    runs = _kind_of_runs(kind, beside)
    if seed is not None or plan is not None:
        if journal is not None or report:
            fail("--journal and --report are for many seeds: leave out --seed and --plan", USAGE)
        if shrink is not None:
            _shrink(seed, plan, runs, shrink)
        else:
            _run_one(seed, plan, save, trace, runs)
    else:
        soak(Soak((from_, from_ + seeds), jobs, runs, journal, report))


def _kind_of_runs(kind: Kind | None, site: Path | None) -> str | None:
    if site is None:
        return None if kind is None else kind.value
    from kcoord.sim.release.imported_release import load_release
    from kcoord.sim.series.run import beside

    try:
        load_release(site)
    except FileNotFoundError as error:
        fail(error)
    return beside(site)


def _run_one(seed: int | None, plan: Path | None, save: Path | None, trace: bool, kind: str | None) -> None:
    from kcoord.sim.plans.plan_file import PlanFileError, dump, load
    from kcoord.sim.series.run import plan_of, run_plan, run_seed

    sink = print if trace else None
    if plan is not None:
        try:
            outcome = run_plan(load(plan), sink)
        except PlanFileError as error:
            fail(error)
    else:
        assert seed is not None
        if save is not None:
            _write(save, dump(plan_of(seed, kind)))
        outcome = run_seed(seed, sink, kind)
    print(told(outcome, plan, kind))
    if outcome.violation is not None:
        raise typer.Exit(FAILED)


def _shrink(seed: int | None, plan: Path | None, kind: str | None, file: Path) -> None:
    from kcoord.sim.plans.plan_file import PlanFileError, dump, load
    from kcoord.sim.series.run import plan_of, replay_plan_command
    from kcoord.sim.series.shrink import NothingToShrink, shrink

    try:
        if plan is not None:
            run_plan = load(plan)
        else:
            assert seed is not None
            run_plan = plan_of(seed, kind)
        found = shrink(run_plan, print)
    except (PlanFileError, NothingToShrink) as error:
        fail(error)
    _write(file, dump(found.run_plan))
    print(f"{found.violation}\n  replay it with: {replay_plan_command(file)}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        fail(error)
