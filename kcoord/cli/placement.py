"""`kcoord placement`: where a group's connectors and tasks may run."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.calls.broker_requests import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, CommandConfig, ask, show
from kcoord.cli.failure import USAGE, fail
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.assign.placement import Rules

app = typer.Typer(help="Show and change the placement rules of a group.", no_args_is_help=True, rich_markup_mode=None)

Group = Annotated[str, typer.Argument(metavar="GROUP", help="The id of a connect group.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="Rules in TOML (docs/placement.md).")]


@app.command("show")
def show_rules(
    group: Group,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Print a group's rules, in the form that `apply` reads."""
    import tomli_w

    from kcoord.assign.placement.document import write_tables
    from kcoord.cli.calls import placement_calls

    now = ask(bootstrap_server, command_config, lambda cluster: placement_calls.standing(cluster, group))
    tables = write_tables(now.rules)
    if as_json:
        show(tables)
    else:
        for line in tomli_w.dumps(tables).splitlines():
            print(printable(line))


@app.command("apply")
def apply(
    group: Group,
    file: File,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would move, and what the rules cannot reach.")
    ] = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Replace a group's rules by those of a file.

    Says what will move. A few connectors and tasks move at a time.
    """
    from kcoord.cli.calls import placement_calls
    from kcoord.client import Cluster

    rules = read_rules(file)

    async def done(cluster: Cluster) -> placement_calls.Standing:
        now = await placement_calls.standing(cluster, group)
        if rules:
            placement_calls.check_possible(now)
        if not dry_run:
            await placement_calls.put(cluster, now, rules)
        return now

    _tell(ask(bootstrap_server, command_config, done, changes=not dry_run), rules, as_json)


@app.command("diff")
def diff(
    group: Group,
    file: File,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
    command_config: CommandConfig = None,
) -> None:
    """Say what the rules of a file would move, as `apply --dry-run` does."""
    apply(group, file, True, bootstrap_server, as_json, command_config)


@app.command("explain")
def explain(
    group: Group,
    resource: Annotated[str, typer.Argument(metavar="RESOURCE", help="A connector, or CONNECTOR:TASK.")],
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Say where a connector or a task runs, and which workers the rules allow for it."""
    from kcoord.assign import CONNECTOR, Resource
    from kcoord.cli.calls import placement_calls
    from kcoord.client import ClientError

    name, colon, task = resource.rpartition(":")
    if colon and not task.isdecimal():
        fail(f"{resource}: write a task as CONNECTOR:NUMBER", USAGE)
    meant = Resource(name, int(task)) if colon else Resource(resource, CONNECTOR)
    now = ask(bootstrap_server, command_config, lambda cluster: placement_calls.standing(cluster, group))
    try:
        for line in placement_calls.why(now, meant):
            print(printable(line))
    except ClientError as error:
        fail(error)


def read_rules(file: Path) -> "Rules":
    """The rules in a file. If they cannot be read, the command ends."""
    from kcoord.assign.placement.document import DocumentError, read_tables

    try:
        return read_tables(tomllib.loads(file.read_text()))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{file}: {error.strerror if isinstance(error, OSError) else 'it is not UTF-8 text'}", USAGE)
    except tomllib.TOMLDecodeError as error:
        fail(f"{file}: it is not valid TOML: {error}", USAGE)
    except DocumentError as error:
        fail(f"{file}: {error}", USAGE)


def _tell(now: "object", rules: "Rules", as_json: bool) -> None:
    from kcoord.cli.calls import placement_calls
    from kcoord.cli.output.short_names import Names

    assert isinstance(now, placement_calls.Standing)
    plan = placement_calls.plan(now, rules)
    if as_json:
        show(plan.as_json())
        return
    for line in plan.told(Names.of(now.group)):
        print(printable(line))
