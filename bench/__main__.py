"""Which benchmarks are there, and how are they run? `python -m bench [NAME …] [--write]`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench import (
    adoption,
    assignors,
    classic_consumers,
    classic_workers,
    codec,
    connect_heartbeats,
    connect_rebalance,
    consumer_changes,
    consumer_heartbeats,
    failover,
    first_join,
    heartbeats,
    hostile,
    java_fleet,
    joins,
    kafka_joins,
    kafka_log,
    lab,
    many,
    many_consumers,
    perf_tools,
    pipeline,
    placement,
    restart,
    simulator,
)
from bench.probe import allow_connections, machine_facts
from bench.results import Kept, Outcome, load, show, store

BENCHMARKS: dict[str, Callable[[Path], Outcome]] = {
    "heartbeats": heartbeats.run,
    "many": many.run,
    "joins": joins.run,
    "tools": perf_tools.run,
    "restart": restart.run,
    "codec": codec.run,
    "connect": connect_heartbeats.run,
    "consumers": consumer_heartbeats.run,
    "consumer_changes": consumer_changes.run,
    "many_consumers": many_consumers.run,
    "classic_consumers": classic_consumers.run,
    "rebalance": connect_rebalance.run,
    "assignors": assignors.run,
    "placement": placement.run,
    "simulator": simulator.run,
    "kafka_log": kafka_log.run,
    "kafka_joins": kafka_joins.run,
    "first_join": first_join.run,
    "failover": failover.run,
    "adoption": adoption.run,
    "classic_workers": classic_workers.run,
    "java_fleet": java_fleet.run,
    "pipeline": pipeline.run,
    "lab": lab.run,
    "hostile": hostile.run,
}
ORDER = (*BENCHMARKS, "against")
"""The page's order; `bench.against` has a command line of its own."""


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Which to run: {', '.join(BENCHMARKS)}. All if none.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Keep the results and write docs/benchmarks.md.")] = False,
) -> None:
    """Measure kcoord beside what it is compared with."""
    console = Console()
    chosen = names or list(BENCHMARKS)
    unknown = [name for name in chosen if name not in BENCHMARKS]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: there are {', '.join(BENCHMARKS)}")
    allow_connections()
    for name in chosen:
        console.print(f"[dim]{name} …[/dim]")
        with tempfile.TemporaryDirectory(prefix=f"kcoord-bench-{name}-") as folder:
            outcome = BENCHMARKS[name](Path(folder))
        show(outcome, console)
        if write:
            kept = load()
            kept[name] = Kept(datetime.now(UTC).date().isoformat(), machine_facts(), outcome)
            store(kept, ORDER)


if __name__ == "__main__":
    typer.run(main)
