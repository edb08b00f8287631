"""`kcoord groups`: list, describe, explain, hand over, reset and delete groups, at kcoord or at any Kafka broker."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.calls.broker_requests import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, CommandConfig, ask, show
from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.group.state.owner_setting import Owner

app = typer.Typer(
    help="List, describe, hand over, reset and delete groups.", no_args_is_help=True, rich_markup_mode=None
)

STATES = (
    "Empty",
    "PreparingRebalance",
    "CompletingRebalance",
    "Assigning",
    "Reconciling",
    "Stable",
    "NotReady",
    "Dead",
    "Unknown",
)
TYPES = ("classic", "connect", "consumer", "share", "streams")
"""The states and the types that groups of kcoord's and of Kafka's brokers can have."""

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

    At kcoord the list also says who coordinates each group: kcoord or the cluster behind it. For a group at the cluster
    it says how many of its members come through kcoord.
    """
    from kcoord.cli.calls import group_calls
    from kcoord.cli.output import group_tables

    states, types = _known("state", STATES, state or []), _known("type", TYPES, type_ or [])
    found = ask(bootstrap_server, command_config, lambda cluster: group_calls.list_owned(cluster, states, types))
    show([group.as_json() for group in found] if as_json else group_tables.of_groups(found))


def _known(what: str, known: Sequence[str], given: Sequence[str]) -> list[str]:
    """What was given, spelled as brokers spell it. If a name does not exist, the command ends."""
    names = {each.lower(): each for each in known}
    for each in given:
        if each.lower() not in names:
            fail(f"--{what}: groups have no {what} {each!r}; there are {', '.join(known)}", USAGE)
    return [names[each.lower()] for each in given]


@app.command("describe")
def describe_groups(
    group: GroupIds,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Show the members of groups, and what they have.

    For connect groups and consumer groups of the new protocol also: which member waits for what, which one must let go
    of what, and what waits for whom.
    """
    from kcoord.cli.calls import group_calls
    from kcoord.cli.output import group_tables

    found = ask(bootstrap_server, command_config, lambda cluster: group_calls.describe(cluster, group))
    show([each.as_json() for each in found] if as_json else group_tables.of_members(found))
    if not all(each.exists for each in found):
        raise typer.Exit(FAILED)


@app.command("explain")
def explain_group(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The id of a connect group or consumer group.")],
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, help="How many of the latest epochs to show; kcoord keeps 100.")
    ] = 10,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Tell what happened in a connect group or a consumer group, and why.

    For each epoch: its reason, what moved from which member to which, and how long it took.
    """
    from kcoord.cli.calls import group_calls
    from kcoord.cli.output import explanation

    found = ask(bootstrap_server, command_config, lambda cluster: group_calls.history_of(cluster, group))
    show(found.history_json(last) if as_json else explanation.explained(found, last))


@app.command("configured")
def configured_set(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The id of a connect group.")],
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget the offset: what a worker says next counts.")
    ] = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Show which connectors and tasks exist for a group, and where it knows that from.

    Workers say what exists. The highest offset counts, and Connect's configuration topic goes before files. Use
    --forget if a group has an offset that no worker can reach any more. It stops nothing.
    """
    from kcoord.cli.calls import configured_set

    question = configured_set.forget if forget else configured_set.configured_group
    found = ask(bootstrap_server, command_config, lambda cluster: question(cluster, group), changes=forget)
    show(configured_set.as_json(found) if as_json else configured_set.as_text(found))


Wait = Annotated[
    float, typer.Option("--wait", metavar="S", min=0, help="How many seconds to wait until it is done; 0: do not wait.")
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
    """Make kcoord take over live groups from the cluster behind it.

    kcoord takes a group over once it is stable and all its members come through kcoord. No member rejoins, stops
    anything or loses a commit. The command says which members are still missing. Sets gateway.owner=kcoord.
    """
    from kcoord.group.state.owner_setting import Owner

    _hand_over(group, Owner.KCOORD, wait, dry_run, bootstrap_server, command_config)


@app.command("release")
def release_groups(
    group: Annotated[list[str] | None, typer.Argument(metavar="[GROUP...]", help="Group ids.")] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="All groups that kcoord has. Use it before you remove kcoord.")
    ] = False,
    wait: Wait = 60,
    dry_run: DryRun = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Give live groups back to the cluster behind kcoord.

    Their members join once more, at the cluster, and go on. Then you can point them at the brokers one by one. Sets
    gateway.owner=cluster, so kcoord does not take the groups again.
    """
    from kcoord.cli.calls import handover_calls
    from kcoord.group.state.owner_setting import Owner

    if bool(group) == all_:
        fail("name groups, or give --all", USAGE)
    named = group or list(ask(bootstrap_server, command_config, handover_calls.of_kcoord, changes=not dry_run))
    if not named:
        print("kcoord has no groups.")
        return
    _hand_over(named, Owner.CLUSTER, wait, dry_run, bootstrap_server, command_config)


def _hand_over(
    groups: list[str], owner: "Owner", wait_s: float, dry_run: bool, bootstrap: str, config: CommandConfig
) -> None:
    from kcoord.cli.calls import handover_calls
    from kcoord.client import Cluster

    def tell(line: str) -> None:
        print(printable(line), flush=True)

    async def told(cluster: Cluster) -> bool:
        for group in groups if dry_run else ():
            for line in await handover_calls.plan(cluster, group, owner):
                tell(line)
        return dry_run or await handover_calls.hand_over(cluster, groups, owner, wait_s, tell)

    if not ask(bootstrap, config, told, changes=not dry_run) and wait_s:
        raise typer.Exit(FAILED)


@app.command("reset-offsets")
def reset_offsets(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group id.")],
    topic: Annotated[
        list[str],
        typer.Option(metavar="TOPIC", help="A topic; TOPIC:0,1 for some partitions. May be given several times."),
    ],
    to_offset: Annotated[int | None, typer.Option(metavar="N", min=0, help="Begin at this offset.")] = None,
    to_earliest: Annotated[
        bool, typer.Option("--to-earliest", help="Begin at the beginning of each partition.")
    ] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", help="Begin at the end of each partition.")] = False,
    execute: Annotated[bool, typer.Option("--execute", help="Do it.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the new offsets. This is what happens without --execute, too.")
    ] = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Set the offsets from which a group goes on.

    The group must have no members. An offset outside of what a partition has becomes its beginning or end. A kcoord
    without a cluster has no data, so it takes any offset.
    """
    from kcoord.cli.calls import offset_reset
    from kcoord.cli.calls.offset_reset import EARLIEST, LATEST, Scope, To
    from kcoord.client import Cluster

    if (to_offset is not None) + to_earliest + to_latest != 1:
        fail("give one of --to-offset, --to-earliest and --to-latest", USAGE)
    if execute and dry_run:
        fail("give --execute or --dry-run, not both", USAGE)
    try:
        scopes = [Scope.parse(each) for each in topic]
    except ValueError as error:
        fail(f"--topic: {error}", USAGE)
    to = To(to_offset, EARLIEST if to_earliest else LATEST if to_latest else None)

    async def done(cluster: Cluster) -> list[offset_reset.Position]:
        moved = await offset_reset.positions(cluster, group, scopes, to)
        if execute:
            await offset_reset.execute(cluster, group, moved)
        return moved

    moved = ask(bootstrap_server, command_config, done, changes=execute)
    show([each.as_json() for each in moved] if as_json else offset_reset.table(group, moved))
    if not execute:
        print("kcoord: nothing has been changed: give --execute to do it", file=sys.stderr)


@app.command("delete")
def delete_groups(
    group: GroupIds, bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP, command_config: CommandConfig = None
) -> None:
    """Delete groups without members.

    This deletes the offsets that they have committed, too.
    """
    from kcoord.cli.calls import group_calls

    failed = False
    question = partial(group_calls.delete, groups=group)
    for outcome in ask(bootstrap_server, command_config, question, changes=True):
        print(printable(outcome.text))
        failed |= outcome.failed
    if failed:
        raise typer.Exit(FAILED)
