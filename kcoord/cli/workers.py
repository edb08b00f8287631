"""`kcoord workers`: take workers out of service and back, without stopping what they run."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from kcoord.cli.asking import DEFAULT_BOOTSTRAP, Bootstrap, CommandConfig, ask
from kcoord.cli.failure import fail
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.assign import Member, Resource
    from kcoord.assign.placement import Rules
    from kcoord.cli.placement_calls import Standing

app = typer.Typer(help="Cordon and drain the workers of a connect group.", no_args_is_help=True, rich_markup_mode=None)

Group = Annotated[str, typer.Argument(metavar="GROUP", help="The id of a connect group.")]
Worker = Annotated[
    str, typer.Argument(metavar="WORKER", help="A url, an instance id or a member id, or a pattern of them.")
]
UntilRestart = Annotated[bool, typer.Option("--until-restart", help="Only this process: the next one is used again.")]


@app.command("cordon")
def cordon(
    group: Group,
    worker: Worker,
    until_restart: UntilRestart = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Give a worker nothing new; it goes on to run what it runs."""
    _take_out(group, worker, until_restart, False, False, bootstrap_server, command_config)


@app.command("drain")
def drain(
    group: Group,
    worker: Worker,
    until_restart: UntilRestart = False,
    wait: Annotated[bool, typer.Option("--wait", help="Return when it runs nothing any more.")] = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Move what a worker runs to others, a few connectors and tasks at a time, and give it nothing new."""
    _take_out(group, worker, until_restart, True, wait, bootstrap_server, command_config)


@app.command("uncordon")
def uncordon(
    group: Group,
    worker: Worker,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Use a worker again that was cordoned or drained."""
    from kcoord.assign.placement.rules import is_meant

    def without(now: "Standing") -> "Rules":
        names = {worker, *(each.member_id for each in _meant(now, worker))}
        kept = tuple([each for each in now.rules.cordons if each.worker not in names])
        if kept == now.rules.cordons:
            others = [each.worker for each in kept if any(is_meant(one, each.worker) for one in _meant(now, worker))]
            fail(
                f"{group}: there is no cordon of {worker}"
                + (f"; it is cordoned by {', '.join(others)}" if others else "")
            )
        return attrs.evolve(now.rules, cordons=kept)

    _put(group, without, bootstrap_server, command_config)
    print(printable(f"{group}: {worker} is used again"))


def _take_out(
    group: str, worker: str, until_restart: bool, drains: bool, wait: bool, bootstrap: str, config: CommandConfig
) -> None:
    from kcoord.assign.placement import Cordon
    from kcoord.cli import placement_calls

    def added(now: "Standing") -> "Rules":
        meant = _meant(now, worker)
        if not meant:
            known = ", ".join(sorted(each.url or each.member for each in now.group.workers)) or "none"
            fail(f"{group}: no worker is called {worker}; there are {known}")
        names = [each.member_id for each in meant] if until_restart else [worker]
        old = [each for each in now.rules.cordons if each.worker not in names]
        rules = attrs.evolve(now.rules, cordons=(*old, *[Cordon(name, drains) for name in names]))
        _check_places(now, rules, drains)
        return rules

    _put(group, added, bootstrap, config)
    if not wait:
        print(printable(f"{group}: {worker} is {'being drained' if drains else 'cordoned'}"))
        return

    def tell(left: "frozenset[Resource]") -> None:
        yet = f"runs {len(left)} connectors and tasks yet" if left else "leads yet"
        print(printable(f"{group}: {worker} {yet}"), flush=True)

    stays = ask(bootstrap, config, lambda cluster: placement_calls.wait_until_drained(cluster, group, worker, tell))
    left = list(stays)
    for line in left:
        print(printable(line))
    if left:
        fail(f"{group}: {worker} is not empty")
    print(printable(f"{group}: {worker} runs nothing any more"))


def _check_places(now: "Standing", rules: "Rules", drains: bool) -> None:
    """Refuse to drain the last place that something may run on."""
    from kcoord.cli import placement_calls

    if not drains:
        return
    members = placement_calls.members_of(now)
    if all(rules.cordon_of(each) is not None for each in members):
        fail(f"{now.group.group}: not drained: no worker would be left that is not cordoned")
    unmet = placement_calls.plan(now, rules).placement.unmet
    for reason in sorted({why for why in unmet.values() if "is drained" in why}):
        fail(f"{now.group.group}: not drained: {reason}")


def _meant(now: "Standing", worker: str) -> "list[Member]":
    from kcoord.assign.placement.rules import is_meant
    from kcoord.cli import placement_calls

    return [each for each in placement_calls.members_of(now) if is_meant(each, worker)]


def _put(group: str, change: "Callable[[Standing], Rules]", bootstrap: str, config: CommandConfig) -> None:
    from kcoord.cli import placement_calls
    from kcoord.client import Cluster

    async def done(cluster: Cluster) -> None:
        now = await placement_calls.standing(cluster, group)
        await placement_calls.put(cluster, now, change(now))

    ask(bootstrap, config, done)
