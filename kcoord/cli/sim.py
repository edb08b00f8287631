"""`kcoord sim`: simulated groups on virtual time, one seed one run; what fails can be replayed line by line.

`kcoord sim scenario` is in `scenario.py`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.cli.scenario import scenario

if TYPE_CHECKING:
    from kcoord.sim.world import Outcome

app = typer.Typer(
    help="Simulate connect groups under faults, and look for what must never be. Exit status 1 if it is found.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("scenario")(scenario)

SHOWN = 10
"""So many failing seeds are shown; the others are counted."""


@app.callback(invoke_without_command=True)
def sim(
    context: typer.Context,
    seeds: Annotated[int, typer.Option(metavar="N", help="How many seeds to run.")] = 1_000,
    from_: Annotated[int, typer.Option("--from", metavar="K", help="The first seed.")] = 0,
    seed: Annotated[int | None, typer.Option(metavar="K", help="Run this seed only.")] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Run the plan of this file, however plans are drawn today.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plan of the seed to FILE (with --seed), and run it.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Print what happens, line by line (with --seed or --plan).")
    ] = False,
    jobs: Annotated[int, typer.Option(metavar="J", help="On how many cores.")] = 1,
) -> None:
    if context.invoked_subcommand is not None:
        return
    if seed is not None and plan is not None:
        fail("--seed and --plan name one run each: give one of them", USAGE)
    if save is not None and seed is None:
        fail("--save writes the plan of one seed: name it with --seed K", USAGE)
    if trace and seed is None and plan is None:
        fail("--trace shows one run: name it with --seed K or --plan FILE", USAGE)
    if seed is None and plan is None:
        _run_many(range(from_, from_ + seeds), jobs)
    else:
        _run_one(seed, plan, save, trace)


def _run_one(seed: int | None, plan: Path | None, save: Path | None, trace: bool) -> None:
    from kcoord.sim.plan_file import PlanFileError, draw_run_plan, dump, load
    from kcoord.sim.run import is_mixed, run_plan, run_seed

    sink = print if trace else None
    if plan is not None:
        try:
            outcome = run_plan(load(plan), sink)
        except PlanFileError as error:
            fail(error)
    else:
        assert seed is not None
        if save is not None:
            _write(save, dump(draw_run_plan(seed, mixed=is_mixed(seed))))
        outcome = run_seed(seed, sink)
    print(_told(outcome, plan))
    if outcome.violation is not None:
        raise typer.Exit(FAILED)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        fail(error)


def _run_many(seeds: range, jobs: int) -> None:
    import time

    from kcoord.sim.run import run_seeds

    began = time.monotonic()
    steps = hot = virtual_ms = failed = 0
    try:
        for outcome in run_seeds(seeds, jobs):
            steps += outcome.steps
            hot += outcome.hot_answers
            virtual_ms += outcome.virtual_ms
            if outcome.violation is not None:
                failed += 1
                if failed <= SHOWN:
                    print(_told(outcome), flush=True)
    finally:
        took_s = max(time.monotonic() - began, 0.001)
        print(
            f"{len(seeds):,} seeds from {seeds.start}: {failed or 'none'} failed. {steps:,} steps ({hot:,} more "
            f"answers from the hot path), {virtual_ms / 3_600_000:,.1f} hours of virtual time, "
            f"in {took_s:,.0f} s, {steps / took_s:,.0f} steps a second."
        )
    if failed:
        raise typer.Exit(FAILED)


def _told(outcome: "Outcome", plan: Path | None = None) -> str:
    from kcoord.sim.run import replay_command

    run = f"seed {outcome.seed}" if plan is None else str(plan)
    if outcome.violation is None:
        return (
            f"{run}: {outcome.steps} steps, {outcome.loads} loads of the log, all was well "
            f"{outcome.healed_ms / 1000:.0f} s after the last fault"
        )
    command = replay_command(outcome.seed) if plan is None else f"kcoord sim --plan {plan} --trace"
    return f"{run} FAILED: {outcome.violation}\n  replay it with: {command}"
