"""`kcoord groups`: list, describe and delete groups, at kcoord or at any broker of Kafka's."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kcoord.cli.failure import FAILED, USAGE, fail

if TYPE_CHECKING:
    from kcoord.client import Cluster

app = typer.Typer(help="Look at groups, and delete them.", no_args_is_help=True, rich_markup_mode=None)

Bootstrap = Annotated[
    str, typer.Option("--bootstrap-server", metavar="HOST:PORT,...", help="Whom to ask: kcoord, or any Kafka broker.")
]
CommandConfig = Annotated[
    Path | None,
    typer.Option("--command-config", metavar="FILE", help="Client properties for TLS and SASL, as Kafka's tools take."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
GroupIds = Annotated[list[str], typer.Argument(metavar="GROUP...", help="Group ids.")]

DEFAULT_BOOTSTRAP = "localhost:9092"


@app.command("list")
def list_groups(
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    state: Annotated[
        list[str] | None, typer.Option(metavar="STATE", help="Only groups in this state. May be given several times.")
    ] = None,
    type_: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only groups of this type: classic, consumer, ..."),
    ] = None,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """List all groups."""
    from kcoord.cli import group_calls, tables

    found = _ask(
        bootstrap_server, command_config, lambda cluster: group_calls.list_all(cluster, state or [], type_ or [])
    )
    print(json.dumps([group.as_json() for group in found], indent=2) if as_json else tables.of_groups(found), end="")


@app.command("describe")
def describe_groups(
    group: GroupIds,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Show the members of groups, and what is assigned to them."""
    from kcoord.cli import group_calls, tables

    found = _ask(bootstrap_server, command_config, lambda cluster: group_calls.describe(cluster, group))
    print(json.dumps([each.as_json() for each in found], indent=2) if as_json else tables.of_members(found), end="")
    if not all(each.exists for each in found):
        raise typer.Exit(FAILED)


@app.command("delete")
def delete_groups(
    group: GroupIds, bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP, command_config: CommandConfig = None
) -> None:
    """Delete groups without members, and the offsets that they have committed."""
    from kcoord.cli import group_calls

    failed = False
    for outcome in _ask(bootstrap_server, command_config, lambda cluster: group_calls.delete(cluster, group)):
        print(outcome.text)
        failed |= outcome.failed
    if failed:
        raise typer.Exit(FAILED)


def _ask(bootstrap: str, config: Path | None, question: "Callable[[Cluster], Coroutine[Any, Any, Any]]") -> Any:
    """Connect, ask, and give the answer; an error ends the command with one line."""
    from kcoord.client import ClientError, Cluster, Security
    from kcoord.config import parse_address

    try:
        addresses = [parse_address(part.strip()) for part in bootstrap.split(",")]
    except ValueError as error:
        fail(f"--bootstrap-server: {error}", USAGE)

    async def ask(security: Security) -> Any:
        async with Cluster(addresses, security) as cluster:
            return await question(cluster)

    try:
        return asyncio.run(ask(Security.from_file(config) if config else Security()))
    except ClientError as error:
        fail(error)
