"""`kcoord sim scenario`: what a fleet's bad day costs under each rebalance policy, in figures."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import FAILED, USAGE, fail
from kcoord.cli.output.terminal_output import table_of, written

if TYPE_CHECKING:
    from kcoord.sim.scenario import Run, Scenario

LEFT_OUT = "Left out: group barrier with placement rules or drains, because they do not work there."


class Kind(StrEnum):
    """The kinds of groups."""

    BARRIER = "barrier"
    INDIVIDUAL = "individual"
    CONNECT = "connect"


class Policy(StrEnum):
    """The rebalance policies."""

    EAGER = "eager"
    DESIGN_1 = "design-1"
    DESIGN_2 = "design-2"
    DESIGN_3 = "design-3"
    KIP_415 = "kip-415"


class Restart(StrEnum):
    """How stopped or killed workers go."""

    DRAIN = "drain"
    DRAIN_STOPS = "drain-stops"
    STOP = "stop"
    KILL = "kill"


def scenario(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCENARIO...", help="A TOML file, or the name of one that comes with kcoord."),
    ] = None,
    group: Annotated[
        list[Kind] | None,
        typer.Option(
            "--group",
            help="The kind of group: Java workers in a classic group (barrier), Java workers managed one by one "
            "(individual), or kcoord's workers in a connect group (connect). May be given several times.  "
            "[default: all]",
        ),
    ] = None,
    policy: Annotated[
        list[Policy] | None,
        typer.Option("--policy", help="The rebalance policy. May be given several times.  [default: all]"),
    ] = None,
    restart: Annotated[
        Restart | None,
        typer.Option(
            help="How workers go that the scenario stops or kills. drain: drain all of them first; drain-stops: "
            "drain only those that it stops; stop, kill: stop or kill all of them.  [default: as the "
            "scenario says]"
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Placement rules from the start, as for kcoord placement apply.  [default: as the scenario says]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="K", help="Another seed gives other latencies.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each run.")] = False,
) -> None:
    """Run scenarios under rebalance policies, and print what each costs. Without a scenario: list all scenarios."""
    from kcoord.cli.placement import read_rules
    from kcoord.sim.scenario import Kind as GroupKind
    from kcoord.sim.scenario import NoFigures, built_in, follows_rules, load, restarted, run
    from kcoord.sim.scenario import Restart as HowToGo

    if not what:
        rows = [(name, load(path).about) for name, path in built_in().items()]
        print(written(table_of(("SCENARIO", "WHAT HAPPENS"), rows)), end="")
        return
    doubled = False
    own_rules = None if rules is None else read_rules(rules)
    for name in what:
        found = named(name)
        if own_rules is not None:
            found = found.model_copy(update={"rules": own_rules})
        if restart is not None:
            found = restarted(found, HowToGo(restart))
        kinds = [each for each in group or Kind if follows_rules(GroupKind(each)) or not found.has_rules()]
        try:
            runs = []
            for kind in kinds or [Kind.BARRIER]:
                for each in policy or list(Policy):
                    done = run(found, GroupKind(kind), each.value, seed)
                    doubled = doubled or bool(done.doubles)
                    runs.append(done)
                    if as_json:
                        print(_json(name, done), flush=True)
        except NoFigures as error:
            fail(error)
        if not as_json:
            left_out = f"{LEFT_OUT}\n" if len(kinds) < len(group or Kind) else ""
            print(f"{name}: {found.about}\n{_table(runs)}{left_out}")
    if doubled:
        fail("two workers had the same task at once: see `doubles` of --json", FAILED)


def named(name: str) -> "Scenario":
    """The scenario of this name that comes with kcoord, or else the one in this file. If there is none, the command
    ends.
    """
    from kcoord.sim.scenario import ScenarioError, built_in, load

    there_are = built_in()
    path = there_are.get(name, Path(name))
    if not path.exists():
        fail(f"there is no scenario or file {name}; the scenarios are {', '.join(there_are)}", USAGE)
    try:
        return load(path)
    except ScenarioError as error:
        fail(error)


def _json(name: str, run: "Run") -> str:
    import attrs

    return json.dumps({"scenario": name, **attrs.asdict(run)})


def _table(runs: "list[Run]") -> str:
    figures_of = ("STOPPED", "LONGEST GAP", "MOVED", "NEEDLESS", "REBALANCES", "REQUESTS", "BALANCED AFTER")
    rows = []
    for each in runs:
        figures = each.figures
        after = figures.balanced_after
        rows.append(
            (
                each.kind.value,
                each.policy,
                f"{figures.stopped:,.0f} s",
                f"{figures.longest_gap:,.1f} s",
                f"{figures.moved:,}",
                f"{figures.needless:,}",
                f"{figures.rebalances:,}",
                f"{figures.requests:,}",
                "never" if after is None else f"{after:,.1f} s",
            )
        )
    return written(table_of(("GROUP", "POLICY", *figures_of), rows))
