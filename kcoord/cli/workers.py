"""`kcoord workers`: take workers out of service and back, without stopping what they run."""

from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from kcoord.cli.calls.broker_requests import DEFAULT_BOOTSTRAP, Bootstrap, CommandConfig, ask, asked
from kcoord.cli.failure import fail
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.assign import Member, Resource
    from kcoord.assign.placement import Cordon, Rules
    from kcoord.cli.calls.placement_calls import Standing

app = typer.Typer(help="Cordon and drain the workers of a connect group.", no_args_is_help=True, rich_markup_mode=None)

LONGEST_LOST_S = 60
"""How long `drain --wait` keeps asking while kcoord cannot be reached."""

Group = Annotated[str, typer.Argument(metavar="GROUP", help="The id of a connect group.")]
Worker = Annotated[
    str, typer.Argument(metavar="WORKER", help="A url, an instance id, a member id, or a pattern of these.")
]
UntilRestart = Annotated[
    bool, typer.Option("--until-restart", help="Only for this process of the worker: its next process is used again.")
]


@app.command("cordon")
def cordon(
    group: Group,
    worker: Worker,
    until_restart: UntilRestart = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Give a worker nothing new. It goes on running what it runs."""
    _take_out(group, worker, until_restart, False, False, bootstrap_server, command_config)


@app.command("drain")
def drain(
    group: Group,
    worker: Worker,
    until_restart: UntilRestart = False,
    wait: Annotated[bool, typer.Option("--wait", help="Return only when the worker runs nothing any more.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would move.")] = False,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Move what a worker runs to other workers, a few connectors and tasks at a time, and give it nothing new."""
    if dry_run:
        _tell_moves(group, worker, bootstrap_server, command_config)
    else:
        _take_out(group, worker, until_restart, True, wait, bootstrap_server, command_config)


@app.command("uncordon")
def uncordon(
    group: Group,
    worker: Worker,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Use a cordoned or drained worker again."""
    from kcoord.assign.placement.rules import is_meant

    def without(now: "Standing") -> "Rules":
        names = {worker, *(each.member_id for each in _meant(now, worker))}
        kept = tuple([each for each in now.rules.cordons if each.worker not in names])
        if kept == now.rules.cordons:
            others = cordons_of(now, kept)
            known = ", ".join(each.worker for each in kept) or "none"
            fail(
                f"{group}: there is no cordon of {worker}; "
                + (f"it is cordoned by {', '.join(others)}" if others else f"there are {known}")
            )
        left.extend(cordons_of(now, kept))
        return attrs.evolve(now.rules, cordons=kept)

    def cordons_of(now: "Standing", cordons: "Sequence[Cordon]") -> list[str]:
        return [each.worker for each in cordons if any(is_meant(one, each.worker) for one in _meant(now, worker))]

    left: list[str] = []
    _put(group, without, bootstrap_server, command_config)
    still = f"still cordoned by {', '.join(left)}" if left else "used again"
    print(printable(f"{group}: {worker} is {still}"))


def _tell_moves(group: str, worker: str, bootstrap: str, config: CommandConfig) -> None:
    from kcoord.cli.calls import placement_calls
    from kcoord.cli.output.short_names import Names

    now = ask(bootstrap, config, lambda cluster: placement_calls.standing(cluster, group))
    for line in placement_calls.plan(now, _taken_out(now, worker, False, True)).told(Names.of(now.group)):
        print(printable(line))


def _taken_out(now: "Standing", worker: str, until_restart: bool, drains: bool) -> "Rules":
    """The rules with the worker taken out of service. If that is not possible, the command ends."""
    from kcoord.assign.placement import Cordon
    from kcoord.cli.calls import placement_calls
    from kcoord.client import ClientError

    try:
        placement_calls.check_possible(now)
    except ClientError as error:
        fail(error)
    meant = _meant(now, worker)
    if not meant:
        known = ", ".join(sorted(each.url or each.member for each in now.group.workers)) or "none"
        fail(f"{now.group.group}: no worker is called {worker or repr(worker)}; there are {known}")
    names = [each.member_id for each in meant] if until_restart else [worker]
    old = [each for each in now.rules.cordons if each.worker not in names]
    rules = attrs.evolve(now.rules, cordons=(*old, *[Cordon(name, drains) for name in names]))
    _check_places(now, rules, drains)
    return rules


def _take_out(
    group: str, worker: str, until_restart: bool, drains: bool, wait: bool, bootstrap: str, config: CommandConfig
) -> None:

    _put(group, lambda now: _taken_out(now, worker, until_restart, drains), bootstrap, config)
    if not wait:
        print(printable(f"{group}: {worker} is {'being drained' if drains else 'cordoned'}"))
        return

    from kcoord.cli.output.resource_texts import counted

    def tell(left: "frozenset[Resource]") -> None:
        does = f"runs {counted(len(left))}" if left else "leads"
        print(printable(f"{group}: {worker} still {does}"), flush=True)

    left = _wait(group, worker, tell, bootstrap, config)
    for line in left:
        print(printable(line))
    if left:
        fail(f"{group}: {worker} is not empty")
    print(printable(f"{group}: {worker} runs nothing any more"))


def _wait(
    group: str, worker: str, tell: "Callable[[frozenset[Resource]], None]", bootstrap: str, config: CommandConfig
) -> list[str]:
    """Wait until the worker is empty. Returns lines about what stays on it. If kcoord restarts meanwhile, it goes on
    draining, so the command asks again.
    """
    from kcoord.cli.calls import placement_calls
    from kcoord.client import ClientError

    lost_at: float | None = None

    def heard(left: "frozenset[Resource]") -> None:
        nonlocal lost_at
        lost_at = None
        tell(left)

    while True:
        try:
            return list(
                asked(bootstrap, config, lambda one: placement_calls.wait_until_drained(one, group, worker, heard))
            )
        except ClientError as error:
            if lost_at is None:
                lost_at = monotonic()
                print(printable(f"{group}: {error}; asking again for {LONGEST_LOST_S} s"), flush=True)
            elif monotonic() > lost_at + LONGEST_LOST_S:
                fail(
                    f"{error}. It is not known whether {worker} is empty: run the command again before you stop "
                    "the worker"
                )
        sleep(placement_calls.POLL_S)


def _check_places(now: "Standing", rules: "Rules", drains: bool) -> None:
    """End the command if draining would leave something without any worker that may run it."""
    from kcoord.cli.calls import placement_calls
    from kcoord.cli.output.resource_texts import resources_text
    from kcoord.cli.output.short_names import Names

    if not drains:
        return
    members = placement_calls.members_of(now)
    if all(rules.cordon_of(each) is not None for each in members):
        fail(
            f"{now.group.group}: not drained: all workers would be cordoned. Add a worker, or uncordon one with "
            "kcoord workers uncordon"
        )
    unmet = placement_calls.plan(now, rules).placement.unmet
    stays = [each for each, why in unmet.items() if "is drained" in why]
    if stays:
        fail(
            f"{now.group.group}: not drained: no other worker may run {resources_text(stays)} "
            f"({Names.of(now.group).in_text(unmet[stays[0]])}). Change the rules that forbid it: kcoord placement show "
            f"{now.group.group}"
        )


def _meant(now: "Standing", worker: str) -> "list[Member]":
    from kcoord.assign.placement.rules import is_meant
    from kcoord.cli.calls import placement_calls

    return [each for each in placement_calls.members_of(now) if is_meant(each, worker)]


def _put(group: str, change: "Callable[[Standing], Rules]", bootstrap: str, config: CommandConfig) -> None:
    from kcoord.cli.calls import placement_calls
    from kcoord.client import Cluster

    async def done(cluster: Cluster) -> None:
        now = await placement_calls.standing(cluster, group)
        await placement_calls.put(cluster, now, change(now))

    ask(bootstrap, config, done, changes=True)
