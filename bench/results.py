"""What does a benchmark give, and how does it become docs/benchmarks.md?

Each benchmark gives an `Outcome`: claims (what must be reached, what was, met or not), tables with all that was
measured, and notes on what holds it back. Outcomes are kept in `results.json` beside this file, so that a run of one
benchmark renews its part of the page and leaves the others; the page is made of them and never written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from rich.console import Console
from rich.table import Table as Grid

STORE = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MARKS = {True: "met", False: "**not met**", None: ""}

INTRODUCTION = """# Benchmarks

Made by `make bench` (`python -m bench --write`); do not edit. Each benchmark runs both sides, kcoord and what it is
compared with, in turn in the same run, on one machine that both share with the load generator. Figures differ from
machine to machine; the ratios are what holds. CPU seconds are those of the measured process, user and system, as the
OS counts them. Kafka runs as its users run it: one broker (KRaft), 1 GiB of heap, G1, both compilers, warmed up.
"""


@attrs.frozen
class Claim:
    """One row of what must be reached. `met` None: nothing is promised, the figure stands beside the others."""

    what: str
    target: str
    measured: str
    met: bool | None = None


@attrs.frozen
class Table:
    """Figures as text, one list a row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@attrs.frozen
class Outcome:
    """All that one benchmark gave."""

    title: str
    how: str
    claims: Sequence[Claim]
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


@attrs.frozen
class Kept:
    """An outcome with the day and the machine that it was measured on."""

    date: str
    machine: Sequence[str]
    outcome: Outcome


def load() -> dict[str, Kept]:
    """The outcomes kept so far, by the benchmark's name."""
    if not STORE.exists():
        return {}
    stored: Mapping[str, Any] = json.loads(STORE.read_text())
    return {name: Kept(each["date"], each["machine"], _outcome(each["outcome"])) for name, each in stored.items()}


def _outcome(stored: Mapping[str, Any]) -> Outcome:
    claims = [Claim(**claim) for claim in stored["claims"]]
    tables = [Table(**table) for table in stored["tables"]]
    return Outcome(stored["title"], stored["how"], claims, tables, stored["notes"])


def store(kept: Mapping[str, Kept], order: Sequence[str]) -> None:
    """Keep these outcomes and make the page of them, benchmarks in `order`."""
    names = [name for name in order if name in kept]
    STORE.write_text(
        json.dumps({name: attrs.asdict(kept[name]) for name in names}, indent=1, ensure_ascii=False) + "\n"
    )
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page([kept[name] for name in names]))


def page(kept: Sequence[Kept]) -> str:
    """The page in Markdown."""
    summary = [
        [claim.what, claim.target, claim.measured, MARKS[claim.met], each.date]
        for each in kept
        for claim in each.outcome.claims
    ]
    parts = [INTRODUCTION, _markdown(Table(["what", "must reach", "measured", "", "date"], summary))]
    for each in kept:
        outcome = each.outcome
        parts += [f"## {outcome.title}\n", outcome.how + "\n", *(_markdown(table) for table in outcome.tables)]
        if outcome.notes:
            parts.append("".join(f"- {note}\n" for note in outcome.notes))
        parts.append(f"Measured on {each.date}: {'; '.join(each.machine)}.\n")
    return "\n".join(parts)


def _markdown(table: Table) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def show(outcome: Outcome, console: Console) -> None:
    """Print an outcome."""
    claims = Table(
        ["what", "must reach", "measured", ""],
        [[claim.what, claim.target, claim.measured, MARKS[claim.met].strip("*")] for claim in outcome.claims],
    )
    console.print(f"\n[bold]{outcome.title}[/bold]")
    for table in (*outcome.tables, claims):
        grid = Grid(*table.columns)
        for row in table.rows:
            grid.add_row(*row)
        console.print(grid)
    for note in outcome.notes:
        console.print(f"- {note}")
