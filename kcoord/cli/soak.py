"""A soak: many simulated runs, what they found, which conditions they never met, and which seeds ran on
which commit.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import typer

from kcoord.cli.failure import FAILED
from kcoord.cli.output.terminal_output import table_of, written

if TYPE_CHECKING:
    from kcoord.sim.basis.outcome import Outcome
    from kcoord.sim.series.journal import Block, Journal, Range, Tree

SHOWN = 10
"""How many failing seeds are shown. The others are counted."""


@attrs.frozen
class Soak:
    """The runs to make."""

    seeds: "Range"
    jobs: int
    kind: str | None
    """The kind of all runs. None: each seed has its own."""
    journal: Path | None
    report: bool


@attrs.define
class Sum:
    """The results of all runs together."""

    runs: int = 0
    steps: int = 0
    hot_answers: int = 0
    virtual_ms: int = 0
    failed: int = 0
    fingerprint: int = 0
    met: dict[str, Counter[str]] = attrs.field(factory=lambda: defaultdict(Counter))
    """Kind of run → condition → how many runs met it."""

    def add(self, outcome: "Outcome", kind: str) -> None:
        """Add one run that has ended."""
        from kcoord.sim.basis.fingerprint import together

        self.runs += 1
        self.steps += outcome.steps
        self.hot_answers += outcome.hot_answers
        self.virtual_ms += outcome.virtual_ms
        self.failed += outcome.violation is not None
        self.fingerprint = together((self.fingerprint, outcome.fingerprint))
        self.met[kind].update(outcome.met)


def soak(wanted: Soak) -> None:
    """Run the seeds and print the results. Exits with status 1 if some failed, now or according to the journal."""
    import time

    from kcoord.sim.series.journal import EACH, Journal, tree
    from kcoord.sim.series.run import kind_of

    began, total = time.monotonic(), Sum()
    journal = None if wanted.journal is None else Journal(wanted.journal)
    try:
        for outcome in _outcomes(wanted, journal):
            total.add(outcome, wanted.kind or kind_of(outcome.seed))
            if outcome.violation is not None and total.failed <= SHOWN:
                print(told(outcome, None, wanted.kind), flush=True)
    finally:
        print(_summed(wanted, total, max(time.monotonic() - began, 0.001)), flush=True)
    failed = total.failed
    if wanted.report:
        told_of, refuted = _of_conditions(total.met)
        print(told_of, end="")
        failed += refuted
    if journal is not None:
        blocks = list(journal.blocks())
        if wanted.report:
            print(_of_journal(blocks, tree()), end="")
        failed += len(_failed_before(blocks, tree(), wanted.kind or EACH, wanted.seeds))
    if failed:
        raise typer.Exit(FAILED)


def told(outcome: "Outcome", plan: Path | None, kind: str | None) -> str:
    """The result of one run, in a line or two."""
    from kcoord.sim.series.run import replay_command, replay_plan_command

    run = f"seed {outcome.seed}" if plan is None else str(plan)
    if outcome.violation is None:
        return (
            f"{run}: {outcome.steps} steps, {outcome.loads} loads of the log, all was well "
            f"{outcome.healed_ms / 1000:.0f} s after the last fault"
        )
    command = replay_command(outcome.seed, kind) if plan is None else replay_plan_command(plan)
    return f"{run} FAILED: {outcome.violation}\n  replay it with: {command}"


def _outcomes(wanted: Soak, journal: "Journal | None") -> "Iterator[Outcome]":
    from kcoord.sim.series.run import run_seeds, soak_seeds

    if journal is None:
        return run_seeds(range(*wanted.seeds), wanted.jobs, wanted.kind, branches=wanted.report)
    return soak_seeds(journal, wanted.seeds, wanted.jobs, wanted.kind, branches=wanted.report)


def _summed(wanted: Soak, total: Sum, took_s: float) -> str:
    begin, end = wanted.seeds
    before = end - begin - total.runs
    return (
        f"{total.runs:,} seeds from {begin}: {total.failed or 'none'} failed. {total.steps:,} steps "
        f"({total.hot_answers:,} more answers from the hot path), {total.virtual_ms / 3_600_000:,.1f} hours of virtual "
        f"time, in {took_s:,.0f} s, {total.steps / took_s:,.0f} steps a second. Fingerprint: {total.fingerprint:08x}."
        + (f" {before:,} seeds had run before, or are left." if wanted.journal is not None and before else "")
    )


def _of_conditions(met: Mapping[str, Counter[str]]) -> tuple[str, int]:
    """For each area, how many conditions there are and how many were met; the names of those that were never met; and
    what is excused. Also returns how many excuses are wrong because a run has taken the branch.
    """
    from kcoord.sim.basis.run_kinds import CONNECT
    from kcoord.sim.series.branches import branch_names
    from kcoord.sim.series.run import WORLDS
    from kcoord.sim.series.sometimes_conditions import area_of, required
    from kcoord.sim.series.untaken_branches import judge, reason

    rows, never = [], []
    for kind, counts in sorted(met.items()):
        by_area: dict[str, list[str]] = defaultdict(list)
        for name in sorted(required(kind if kind in WORLDS else CONNECT)):
            by_area[area_of(name)].append(name)
        for area, names in by_area.items():
            rows.append(_row(kind, area, names, counts))
            never += [(kind, name) for name in names if not counts[name]]
    together = sum(met.values(), Counter[str]())
    branches = judge(branch_names(), together)
    rows.append(_row("all", "branch", sorted(branches.required), together))
    rows.append(_row("all", "rare branch", sorted(branches.rare), together))
    never += [("all", name) for name in sorted(branches.never)]
    refuted = [(f"WRONG: {name} was taken", reason(name) or "") for name in sorted(branches.refuted)]
    return written(
        table_of(("RUNS", "CONDITIONS", "ALL", "MET", "RAREST"), rows),
        "",
        table_of(("RUNS", "NEVER MET"), never) if never else "Each condition was met.",
        "",
        table_of(("BRANCHES", "EXCUSED, SINCE"), [*_by_reason(branches.excused), *refuted]),
    ), len(refuted)


def _by_reason(excused: Iterable[str]) -> list[tuple[str, str]]:
    """How many branches are excused for each reason, most first."""
    from kcoord.sim.series.untaken_branches import reason

    reasons = Counter(reason(name) or "" for name in excused)
    return [(f"{count:,}", why) for why, count in reasons.most_common()]


def _row(kind: str, area: str, names: list[str], counts: Counter[str]) -> tuple[str, ...]:
    found = [name for name in names if counts[name]]
    rarest = min(found, key=lambda name: counts[name], default=None)
    told = "" if rarest is None else f"{rarest}: {counts[rarest]:,} runs"
    return kind, area, f"{len(names):,}", f"{len(found):,}", told


def _of_journal(blocks: "list[Block]", running: "Tree") -> str:
    """Which seeds ran on which commit, and how many on the engine as it is now."""
    from kcoord.sim.series.journal import joined

    groups: dict[tuple[str, str, str], list[Block]] = defaultdict(list)
    for block in blocks:
        groups[block.tree.commit, block.tree.engine, block.kind].append(block)
    rows = []
    for (commit, engine, kind), found in groups.items():
        ranges = joined(block.seeds for block in found)
        failed = {seed for block in found for seed in block.failed}
        rows.append(
            (
                commit,
                engine,
                kind,
                f"{_count(ranges):,}",
                ", ".join(f"{begin}-{end - 1}" for begin, end in ranges),
                str(len(failed) or "none"),
            )
        )
    table = table_of(("COMMIT", "ENGINE", "RUNS", "SEEDS", "WHICH", "FAILED"), rows)
    same: dict[str, list[Range]] = defaultdict(list)
    for block in blocks:
        if block.tree.engine == running.engine:
            same[block.kind].append(block.seeds)
    sums = [f"{_count(joined(ranges)):,} seeds of kind {kind}" for kind, ranges in sorted(same.items())]
    return written(table, f"On the engine as it is ({running.engine}): {', '.join(sums) or 'none'}.")


def _count(ranges: "list[Range]") -> int:
    return sum(end - begin for begin, end in ranges)


def _failed_before(blocks: "list[Block]", running: "Tree", kind: str, seeds: "Range") -> set[int]:
    """Those of these seeds that failed on this commit, according to the journal."""
    return {
        seed
        for block in blocks if block.tree == running and block.kind == kind
        for seed in block.failed if seeds[0] <= seed < seeds[1]
    }  # fmt: skip
