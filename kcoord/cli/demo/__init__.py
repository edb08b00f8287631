"""`kcoord demo`, which `make run` starts: a coordinator, three workers, and a view of who runs what."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from kcoord.cli.failure import USAGE, fail


def demo(
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Where the coordinator listens.")
    ] = "localhost:9092",
    data_dir: Annotated[
        Path,
        typer.Option(
            "--data-dir",
            metavar="DIR",
            help="Where the coordinator keeps its records; the demo's files are in DIR/demo.",
        ),
    ] = Path("data"),
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, max=9, help="How many workers to start.")
    ] = 3,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print lines instead of the live view, as without a terminal.")
    ] = False,
) -> None:
    """Show a group of workers at work, live.

    Shows who runs what, and what happens when you kill or add a worker. Starts a coordinator and workers as separate
    processes, and ends them on Ctrl-C.
    """
    from kcoord.address import parse_address
    from kcoord.cli.demo.run import DemoFailed, run
    from kcoord.cli.demo.scene import Scene

    try:
        address = parse_address(listen)
    except ValueError as error:
        fail(f"--listen: {error}", USAGE)
    scene = Scene(data_dir, address, [f"worker-{number}" for number in range(1, workers + 1)])
    try:
        asyncio.run(run(scene, live=sys.stdout.isatty() and not plain))
    except DemoFailed as error:
        fail(error)
