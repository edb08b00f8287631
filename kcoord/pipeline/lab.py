"""The runs of the lab. A cell is one scenario run once; its row is one of the table `lab`.

Nothing here knows Spark: `kcoord.pipeline.spark.lab` spreads cells over a cluster. The same cell gives the same row
wherever it is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import attrs

from kcoord.assign.placement import NO_RULES, Rules
from kcoord.sim.scenario import Figures, Kind, NoFigures, Restart, Scenario, follows_rules, restarted, run
from kcoord.sim.scenario.hub import Keep
from kcoord.sim.scenario.run import SETTLING_MS

FIGURES = tuple(each.name for each in attrs.fields(Figures))
WORTH_A_START = 30_000
"""The least cost of a part, in heartbeats: about a second of work. Spark takes a tenth of a second or two
to start one.
"""


@attrs.frozen
class NamedRules:
    """Placement rules, and what the table calls them."""

    name: str
    rules: Rules


WITHOUT_RULES = NamedRules("none", NO_RULES)


@attrs.frozen
class Cell:
    """One run."""

    scenario: str
    """The scenario's name."""
    kind: Kind
    policy: str
    delay: float | None
    """For how many seconds lost work waits. None: as the scenario says."""
    seed: int
    restart: Restart | None = None
    """How workers go. None: as the scenario says."""
    rules: NamedRules | None = None
    """The placement rules that the group has from the start. None: as the scenario says."""


def cells(
    names: Iterable[str],
    kinds: Iterable[Kind],
    policies: Iterable[str],
    delays: Iterable[float | None],
    seeds: Iterable[int],
    restarts: Iterable[Restart | None] = (None,),
    rules: Iterable[NamedRules | None] = (None,),
) -> list[Cell]:
    """All combinations. A value that is named twice counts once."""
    everything = product(names, kinds, policies, delays, restarts, rules, seeds)
    return list(
        dict.fromkeys(
            Cell(name, kind, policy, delay, seed, restart, those)
            for name, kind, policy, delay, restart, those, seed in everything
        )
    )


def is_possible(scenario: Scenario, cell: Cell) -> bool:
    """Whether the cell's kind of group follows placement rules, if the cell has any."""
    return follows_rules(cell.kind) or not _varied(scenario, cell).has_rules()


def row_of(
    scenario: Scenario, cell: Cell, keep: Keep | None = None, only_with_workers: bool = False
) -> dict[str, object]:
    """Run the cell. If there is nothing to measure, the row has the reason and no figures. `keep` and
    `only_with_workers`: see `run`.
    """
    varied = _varied(scenario, cell)
    row: dict[str, object] = {
        "scenario": cell.scenario,
        "kind": cell.kind.value,
        "policy": cell.policy,
        "delay": varied.settings.delay,
        "restart": None if cell.restart is None else cell.restart.value,
        "rules": None if cell.rules is None else cell.rules.name,
        "seed": cell.seed,
    }
    try:
        done = run(varied, cell.kind, cell.policy, cell.seed, keep, only_with_workers)
    except NoFigures as error:
        return {**row, **dict.fromkeys(FIGURES), "doubles": None, "error": str(error)}
    return {**row, **attrs.asdict(done.figures), "doubles": len(done.doubles), "error": None}


def parts(scenarios: Mapping[str, Scenario], todo: Iterable[Cell], wanted: int) -> list[list[Cell]]:
    """Split the cells into about `wanted` parts of about the same cost, parts with the costliest cells first. There are
    fewer parts if a part would not be worth its start.
    """
    costs = {name: _cost(scenario) for name, scenario in scenarios.items()}
    ordered = sorted(todo, key=lambda each: -costs[each.scenario])
    share = max(sum(costs[each.scenario] for each in ordered) / wanted, WORTH_A_START)
    found: list[list[Cell]] = []
    room = 0.0
    for cell in ordered:
        if not found or costs[cell.scenario] > room:
            found.append([])
            room = share
        found[-1].append(cell)
        room -= costs[cell.scenario]
    return found


def _cost(scenario: Scenario) -> float:
    """How long a run takes, without a unit: heartbeats, and the work of each change of the fleet for all
    that it runs.
    """
    settings = scenario.settings
    heartbeats = scenario.workers * (SETTLING_MS / 1000 + scenario.lasts) / settings.heartbeat
    tasks = sum(kind.count * (kind.tasks + 1) for kind in scenario.connectors.values())
    changes = sum(max(len(event.workers), 1) * (2 if event.back else 1) for event in scenario.events)
    return heartbeats + changes * (scenario.workers + tasks)


def _varied(scenario: Scenario, cell: Cell) -> Scenario:
    if cell.delay is not None:
        settings = scenario.settings.model_copy(update={"delay": cell.delay})
        scenario = scenario.model_copy(update={"settings": settings})
    if cell.rules is not None:
        scenario = scenario.model_copy(update={"rules": cell.rules.rules})
    return scenario if cell.restart is None else restarted(scenario, cell.restart)
