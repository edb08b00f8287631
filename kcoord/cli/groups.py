"""`kcoord groups`: list, describe, explain and delete groups, at kcoord or at any broker of Kafka's."""

from typing import Annotated

import typer

from kcoord.cli.asking import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, CommandConfig, ask, show
from kcoord.cli.failure import FAILED
from kcoord.printable import printable

app = typer.Typer(help="Look at groups, and delete them.", no_args_is_help=True, rich_markup_mode=None)

GroupIds = Annotated[list[str], typer.Argument(metavar="GROUP...", help="Group ids.")]


@app.command("list")
def list_groups(
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    state: Annotated[
        list[str] | None, typer.Option(metavar="STATE", help="Only groups in this state. May be given several times.")
    ] = None,
    type_: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only groups of this type: connect, classic, consumer, ..."),
    ] = None,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """List all groups.

    At kcoord with who coordinates each: kcoord or the cluster behind it, and how many of its members there come through
    kcoord.
    """
    from kcoord.cli import group_calls, tables

    states, types = state or [], type_ or []
    found = ask(bootstrap_server, command_config, lambda cluster: group_calls.list_owned(cluster, states, types))
    show([group.as_json() for group in found] if as_json else tables.of_groups(found))


@app.command("describe")
def describe_groups(
    group: GroupIds,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Show the members of groups, and what they have.

    Of connect groups all that is going on: who waits for what, who must let go of what, what waits for whom.
    """
    from kcoord.cli import group_calls, tables

    found = ask(bootstrap_server, command_config, lambda cluster: group_calls.describe(cluster, group))
    show([each.as_json() for each in found] if as_json else tables.of_members(found))
    if not all(each.exists for each in found):
        raise typer.Exit(FAILED)


@app.command("explain")
def explain_group(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The id of a connect group.")],
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, help="So many epochs, the latest ones; kcoord keeps 100.")
    ] = 10,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Tell what happened in a connect group, and why.

    Each epoch with its reason, what moved from whom to whom, and how long it took.
    """
    from kcoord.cli import explaining, group_calls

    found = ask(bootstrap_server, command_config, lambda cluster: group_calls.history_of(cluster, group))
    show(found.history_json(last) if as_json else explaining.explained(found, last))


@app.command("configured")
def configured_set(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The id of a connect group.")],
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget its offset: whatever a worker says next counts.")
    ] = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Show which connectors and tasks a group takes to exist, and where it has that from.

    Of what workers say, the highest offset counts, and Connect's configuration topic goes before files. --forget is for
    a group that holds on to an offset that no worker reaches any more; nothing stops by it.
    """
    from kcoord.cli import configured_set, group_calls

    question = configured_set.forget if forget else group_calls.history_of
    found = ask(bootstrap_server, command_config, lambda cluster: question(cluster, group))
    show(configured_set.as_json(found) if as_json else configured_set.as_text(found))


@app.command("delete")
def delete_groups(
    group: GroupIds, bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP, command_config: CommandConfig = None
) -> None:
    """Delete groups without members.

    The offsets that they have committed go too.
    """
    from kcoord.cli import group_calls

    failed = False
    for outcome in ask(bootstrap_server, command_config, lambda cluster: group_calls.delete(cluster, group)):
        print(printable(outcome.text))
        failed |= outcome.failed
    if failed:
        raise typer.Exit(FAILED)
