"""How long does it take to place a group by rules? Each kind of rule alone, and twenty of them together.

CPU time of one call of `place` with the server-side `uniform` assignor, the best of five. Rules place a fleet first;
then one worker joins, or nothing has changed, as after a load of the log.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from pathlib import Path

import attrs

from bench.assignors import COOPERATIVE_SIZE, COOPERATIVE_TASKS, empty_group
from bench.results import Claim, Outcome, Table
from kcoord.assign import Group, Member, Resource, UniformAssignor
from kcoord.assign.placement import (
    Affinity,
    Capacity,
    Cordon,
    Domain,
    Placement,
    Rules,
    Separation,
    Spread,
    Weight,
    Zone,
    place,
)

ROUNDS = 5
LIMIT_MS = 50
EVERYTHING = 1_000_000
ZONES = (Zone("http://worker-0[0-3]*", "a"), Zone("http://worker-0[4-6]*", "b"), Zone("*", "c"))
ASSIGN = UniformAssignor().assign

RULES: Mapping[str, Rules] = {
    "no rules": Rules(),
    "cordons": Rules(cordons=(Cordon("worker-0000"), Cordon("http://worker-0001:*"))),
    "drains": Rules(cordons=(Cordon("worker-0000", drains=True), Cordon("*worker-0001*", drains=True))),
    "weights": Rules(weights=(Weight("connector-1?", 4), Weight("connector-2?", 3), Weight("connector-3*", 2))),
    "affinity": Rules(affinities=(Affinity("connector-4?", ("worker-00*",)), Affinity("connector-5?", ("*-01*",)))),
    "affinity, soft": Rules(affinities=(Affinity("connector-6?", ("worker-03*", "worker-04*"), is_hard=False),)),
    "separation": Rules(separations=(Separation("connector-7?", "connector-8?"),)),
    "separation, soft": Rules(separations=(Separation("connector-9?", "connector-1?", is_hard=False),)),
    "spread over hosts": Rules(spreads=(Spread("*"),)),
    "spread over zones": Rules(spreads=(Spread("*", Domain.ZONE),), zones=ZONES),
    "capacities that suffice": Rules(capacities=(Capacity("worker-09*", 11), Capacity("*", 30))),
    "capacities that do not": Rules(capacities=(Capacity("*", 5),)),
}
TWENTY = Rules(
    cordons=(
        Cordon("worker-0000"),
        Cordon("http://worker-0001:*"),
        Cordon("worker-0002", drains=True),
        Cordon("*worker-0003*", drains=True),
    ),
    weights=RULES["weights"].weights,
    affinities=(
        Affinity("connector-4?", ("worker-00*", "worker-01*")),
        Affinity("connector-5?", ("http://worker-02*",)),
        *RULES["affinity, soft"].affinities,
    ),
    separations=(Separation("connector-7?", "connector-8?"), Separation("connector-9?", "connector-1?", is_hard=False)),
    spreads=(Spread("connector-10*", Domain.ZONE), Spread("*")),
    capacities=(Capacity("worker-09*", 16), Capacity("worker-08*", 30), Capacity("*", 40)),
    zones=ZONES,
)
TOGETHER = "twenty rules of all kinds"


@attrs.frozen
class Timing:
    """One call, some times."""

    ms: float
    """The least."""
    placement: Placement
    moved: int


def run(_folder: Path | None = None) -> Outcome:
    """Time each kind of rule, and all together: one worker joins, nothing has changed, and nobody runs anything yet."""
    rows, joined = [], {}
    for name, rules in {**RULES, TOGETHER: TWENTY}.items():
        empty = empty_group(COOPERATIVE_TASKS)
        settled = placed(empty, rules)
        joined[name] = timed(grown(settled), rules)
        figures = joined[name], timed(settled, rules), timed(empty, rules)
        left = len(figures[0].placement.unplaced), len(figures[0].placement.unmet)
        rows.append(
            [name, *[f"{each.ms:.1f} ms" for each in figures], str(joined[name].moved), f"{left[0]} / {left[1]}"]
        )
    return Outcome(
        title="Placement rules",
        how=f"CPU time of one call, the best of {ROUNDS}, {COOPERATIVE_SIZE} and 200 connectors, over `uniform`.",
        claims=[
            Claim(
                f"placement, {name}, {COOPERATIVE_SIZE}, one worker joins",
                f"< {LIMIT_MS} ms",
                f"{joined[name].ms:.1f} ms",
                joined[name].ms < LIMIT_MS,
            )
            for name in (TOGETHER, "capacities that do not")
        ],
        tables=[
            Table(
                ["rules", "one worker joins", "nothing changed", "first assignment", "moved", "nowhere / not met"], rows
            )
        ],
    )


def placed(group: Group, rules: Rules) -> Group:
    """The group once it has been placed by these rules, however much has to move for that."""
    while True:
        placement = place(group, ASSIGN, attrs.evolve(rules, max_moves=EVERYTHING))
        targets = {each.member_id: each.resources for each in placement.assignment.members}
        members = [attrs.evolve(each, target=_copied(targets[each.member_id])) for each in group.members]
        group = attrs.evolve(group, members=tuple(members))
        if not placement.has_more:
            return group


def _copied(target: frozenset[tuple[str, int]]) -> frozenset[Resource]:
    """Nothing is the same object as in the configured set, as where a message has brought it."""
    return frozenset(Resource(connector.encode().decode(), task) for connector, task in target)


def grown(group: Group) -> Group:
    """The group with one worker more."""
    return attrs.evolve(group, members=(*group.members, Member("worker-new", url="http://worker-new:8083/")))


def timed(group: Group, rules: Rules) -> Timing:
    """The least CPU time that placing the group takes."""
    rounds_ms = []
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        placement = place(group, ASSIGN, rules)
        rounds_ms.append((time.process_time() - start) * 1e3)
    had: dict[tuple[str, int], str] = {resource: each.member_id for each in group.members for resource in each.target}
    moved = sum(
        had.get(resource, each.member_id) != each.member_id
        for each in placement.assignment.members
        for resource in each.resources
    )
    return Timing(min(rounds_ms), placement, moved)
