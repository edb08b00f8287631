"""The `kcoord` command: its subcommands, and what becomes of an error.

An error that a user can do something about is one line on stderr: what was wrong, where, and what to do. Exit codes: 1
if the command failed, 2 for a bad command line or a bad setting. A command imports the modules that it needs when it
runs, so that `kcoord --help` comes at once.
"""

import sys
from typing import Annotated

import typer

from kcoord import __version__
from kcoord.cli import (
    check,
    config,
    demo,
    groups,
    health,
    log,
    pipeline,
    placement,
    serve,
    settings,
    sim,
    topics,
    worker,
    workers,
)

app = typer.Typer(
    name="kcoord",
    help="A group coordinator for Apache Kafka's protocol. It runs in front of a cluster, or alone.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("serve")(serve.serve)
app.command("check")(check.check)
app.command("health")(health.health)
app.command("demo")(demo.demo)
app.add_typer(groups.app, name="groups")
app.add_typer(topics.app, name="topics")
app.add_typer(placement.app, name="placement")
app.add_typer(workers.app, name="workers")
app.command("worker")(worker.worker)
app.add_typer(config.app, name="config")
app.add_typer(log.app, name="log")
app.add_typer(pipeline.app, name="pipeline")
app.command("settings")(settings.settings)
app.add_typer(sim.app, name="sim")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kcoord {__version__}")
        raise typer.Exit


@app.callback()
def _kcoord(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line of this process."""
    try:
        app(prog_name="kcoord")
    except KeyboardInterrupt:
        sys.exit(130)
