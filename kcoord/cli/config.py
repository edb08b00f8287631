"""`kcoord config`: describe, set and unset the settings of one group."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.calls.broker_requests import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, CommandConfig, ask, show
from kcoord.cli.failure import USAGE, fail
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.cli.calls.config_calls import Change

app = typer.Typer(help="Show and change the settings of one group.", no_args_is_help=True, rich_markup_mode=None)

Group = Annotated[str, typer.Argument(metavar="GROUP", help="A group id.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say whether it would work.")]


@app.command("describe")
def describe(
    group: Group,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Show the settings of a group.

    Each with the value that is in force, and where that value comes from.
    """
    from kcoord.cli.calls import config_calls

    found = ask(bootstrap_server, command_config, lambda cluster: config_calls.describe(cluster, group))
    show([each.as_json() for each in found] if as_json else config_calls.table(found))


@app.command("set")
def set_(
    group: Group,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...", help="Settings. NAME+=VALUE adds to a list, NAME-=VALUE removes from it."
        ),
    ],
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    dry_run: DryRun = False,
    command_config: CommandConfig = None,
) -> None:
    """Set settings of a group: all of them, or none if one is refused.

    They take effect with the next heartbeats of its workers. If the cluster behind kcoord coordinates the group, they
    take effect once kcoord has it, and the command says so.
    """
    from kcoord.cli.calls import config_calls

    try:
        changes = [config_calls.parse(value) for value in values]
    except ValueError as error:
        fail(error, USAGE)
    _alter(group, changes, bootstrap_server, dry_run, command_config)


@app.command("unset")
def unset(
    group: Group,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of settings.")],
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    dry_run: DryRun = False,
    command_config: CommandConfig = None,
) -> None:
    """Remove settings of a group.

    Then the settings for all groups hold for this one too.
    """
    from kcoord.cli.calls import config_calls

    changes = [config_calls.Change(name, config_calls.DELETE, None) for name in names]
    _alter(group, changes, bootstrap_server, dry_run, command_config)


def _alter(group: str, changes: "list[Change]", bootstrap: str, dry_run: bool, command_config: Path | None) -> None:
    from kcoord.cli.calls import config_calls
    from kcoord.client import Cluster

    async def done(cluster: Cluster) -> str:
        if unset := [each.name for each in changes if each.operation == config_calls.DELETE]:
            await config_calls.check_names(cluster, group, unset)
        await config_calls.alter(cluster, group, changes, dry_run)
        return await config_calls.why_no_effect(cluster, group, changes)

    no_effect = ask(bootstrap, command_config, done, changes=not dry_run)
    for warning in config_calls.former_names(changes):
        print(f"kcoord: {printable(warning)}", file=sys.stderr)
    show(config_calls.done(group, changes, dry_run))
    if no_effect:
        print(printable(no_effect))
