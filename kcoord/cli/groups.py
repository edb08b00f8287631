"""`kcoord groups`: list, describe, explain, hand over and delete groups, at kcoord or at any broker of Kafka's."""

from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.asking import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, CommandConfig, ask, show
from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.group.group_configs import Owner

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


Wait = Annotated[
    float, typer.Option("--wait", metavar="S", min=0, help="So many seconds to wait until it is so; 0: do not wait.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")]


@app.command("adopt")
def adopt_groups(
    group: GroupIds,
    wait: Wait = 60,
    dry_run: DryRun = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Have kcoord take live groups over from the cluster behind it.

    A group is taken over once all its members come through kcoord and it is stable. No member joins again for it, stops
    anything or loses a commit. Who is still missing is told. Sets gateway.owner=kcoord.
    """
    from kcoord.group.group_configs import Owner

    _hand_over(group, Owner.KCOORD, wait, dry_run, bootstrap_server, command_config)


@app.command("release")
def release_groups(
    group: Annotated[list[str] | None, typer.Argument(metavar="[GROUP...]", help="Group ids.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="All groups that kcoord has: before it is taken away.")] = False,
    wait: Wait = 60,
    dry_run: DryRun = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Give live groups back to the cluster behind kcoord.

    Their members join once more, at the cluster, and go on; then they can be pointed at the brokers one by one. Sets
    gateway.owner=cluster: kcoord does not take the groups again.
    """
    from kcoord.cli import handover_calls
    from kcoord.group.group_configs import Owner

    if bool(group) == all_:
        fail("name groups, or --all", USAGE)
    named = group or list(ask(bootstrap_server, command_config, handover_calls.of_kcoord))
    if not named:
        print("kcoord has no groups.")
        return
    _hand_over(named, Owner.CLUSTER, wait, dry_run, bootstrap_server, command_config)


def _hand_over(
    groups: list[str], owner: "Owner", wait_s: float, dry_run: bool, bootstrap: str, config: CommandConfig
) -> None:
    from kcoord.cli import handover_calls
    from kcoord.client import Cluster

    def tell(line: str) -> None:
        print(printable(line), flush=True)

    async def told(cluster: Cluster) -> bool:
        for group in groups if dry_run else ():
            for line in await handover_calls.plan(cluster, group, owner):
                tell(line)
        return dry_run or await handover_calls.hand_over(cluster, groups, owner, wait_s, tell)

    if not ask(bootstrap, config, told) and wait_s:
        raise typer.Exit(FAILED)


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
