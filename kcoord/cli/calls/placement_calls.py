"""The placement rules of a group: read from its setting, put, and computed ahead.

What new rules would move is computed here, from the group's description, by the same functions as in the coordinator.
So a dry run changes nothing, and costs the coordinator one description.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from kcoord.assign import CONNECTOR, Departed, Group, Member, Resource, ServerAssignor
from kcoord.assign.built_in import SERVER_SIDE
from kcoord.assign.existing_resources import existing
from kcoord.assign.placement import Placement, Rules, place
from kcoord.assign.placement.document import read_setting, write_setting
from kcoord.assign.placement.rules import fits, is_meant
from kcoord.cli.calls.config_calls import Change, alter, describe
from kcoord.cli.calls.connect_groups import ConnectGroup, Worker
from kcoord.cli.calls.group_calls import RULES, connect_group, how_to_be_individual
from kcoord.cli.output.resource_texts import ranges, resources_json, resources_text
from kcoord.cli.output.short_names import Names
from kcoord.client import ClientError, Cluster
from kcoord.group.group_configs import Operation
from kcoord.group.state.connect_settings import PLACEMENT

FALLBACK = "cooperative"
"""The assignor in place of one that this command does not have: a package may bring one to the coordinator."""
MAX_STEPS = 10_000
POLL_S = 1.0
Resources = frozenset[Resource]


@attrs.frozen
class Standing:
    """A group and its rules."""

    group: ConnectGroup
    rules: Rules


@attrs.frozen
class Plan:
    """What applying rules would lead to."""

    moves: tuple[tuple[str, str, Resources], ...]
    """From whom, to whom (empty: nobody), and what."""
    placement: Placement
    """The last placement: it says what stays undone."""
    steps: int
    """How many rebalances this takes, because only a few resources move at a time."""
    unmatched: tuple[str, ...] = ()
    """Lines about patterns in the rules that match nothing in the group."""
    assignor: str = FALLBACK
    """The assignor with which this was computed."""
    unknown_assignor: str = ""
    """The group's own assignor, if this command does not have it."""

    def as_json(self) -> dict[str, Any]:
        """The plan for programs."""
        return {
            "moves": [
                {"from": giver or None, "to": taker or None, "resources": resources_json(found)}
                for giver, taker, found in self.moves
            ],
            "rebalances": self.steps,
            "unplaced": _reasons_json(self.placement.unplaced),
            "unmet": _reasons_json(self.placement.unmet),
            "unmatched": list(self.unmatched),
            "assignor": self.assignor,
            "unknown_assignor": self.unknown_assignor or None,
        }

    def told(self, names: Names) -> Iterator[str]:
        """Lines for people."""
        for giver, taker, found in self.moves:
            ends = [names(end) if end else "nobody" for end in (giver, taker)]
            yield f"{' -> '.join(ends)}: {resources_text(found)}"
        if not self.moves:
            yield "nothing moves"
        yield from _reasons(self.placement.unplaced, "runs nowhere")
        yield from _reasons(self.placement.unmet, "stays where it is")
        yield from self.unmatched
        if self.unknown_assignor:
            yield (
                f"computed with the assignor {self.assignor}, because this command does not have the group's assignor "
                f"{self.unknown_assignor}: the coordinator may decide otherwise"
            )


async def standing(cluster: Cluster, group: str) -> Standing:
    """The group and its rules. Raises ClientError."""
    found = await connect_group(
        cluster, group, "only a kcoord with group.connect.enable=true knows placement rules", RULES
    )
    settings = {each.name: each.value or "" for each in await describe(cluster, group)}
    if PLACEMENT not in settings:
        raise ClientError(f"{group}: its coordinator does not know placement rules: it is a kcoord older than 0.2")
    return Standing(found, read_setting(settings[PLACEMENT]))


async def put(cluster: Cluster, now: Standing, rules: Rules) -> None:
    """Set these rules for the group. Raises ClientError."""
    await alter(cluster, now.group.group, [_change(rules)], False)


def check_possible(now: Standing) -> None:
    """Check that the coordinator decides where work runs. If not, raises ClientError, which says what to set."""
    group = now.group
    if group.classic.barrier is not None:
        raise ClientError(
            f"{group.group}: placement rules do not work while its workers all join together "
            f"({group.classic.barrier}){how_to_be_individual(group.group, group.classic)}"
        )
    if not group.placement.is_possible:
        raise ClientError(
            f"{group.group}: placement rules do not work while its workers compute the assignment "
            f"({group.assignor}). Let the workers ask for an assignor of the coordinator: kcoord worker "
            "--server-assignor cooperative"
        )


def plan(now: Standing, rules: Rules) -> Plan:
    """What would move if the group had these rules, starting from its workers' targets now."""
    group, assignor = _group(now.group), _assignor(now.group)
    before = {resource: each.member_id for each in group.members for resource in each.target}
    placement, steps = place(group, assignor.assign, rules), 1
    while placement.has_more and steps < MAX_STEPS:
        group = _after(group, placement)
        placement, steps = place(group, assignor.assign, rules), steps + 1
    group = _after(group, placement)
    after = {resource: each.member_id for each in group.members for resource in each.target}
    moves: dict[tuple[str, str], set[Resource]] = {}
    for resource in sorted({*before, *after}):
        ends = before.get(resource, ""), after.get(resource, "")
        if ends[0] != ends[1]:
            moves.setdefault(ends, set()).add(resource)
    moved = tuple([(*ends, frozenset(found)) for ends, found in sorted(moves.items())])
    unknown = now.group.assignor if now.group.assignor not in SERVER_SIDE else ""
    return Plan(moved, placement, steps, tuple(_unmatched(rules, group)), assignor.name, unknown)


def _unmatched(rules: Rules, group: Group) -> Iterator[str]:
    """Lines about patterns that match nothing: a typing error, or a rule for what is yet to come; nothing
    says which.
    """
    workers = [each.worker for each in rules.cordons] + [each.workers for each in rules.capacities]
    workers += [pattern for each in rules.affinities for pattern in each.workers] + [each.urls for each in rules.zones]
    for pattern in dict.fromkeys(workers):
        if not any(is_meant(member, pattern) for member in group.members):
            yield f"{pattern}: no worker of the group matches this now"
    several = (rules.weights, rules.affinities, rules.separations, rules.spreads)
    connectors = [each.connectors for kind in several for each in kind] + [each.others for each in rules.separations]
    there = {name for name, _ in existing(group)}
    for pattern in dict.fromkeys(connectors):
        if not any(fits(name, pattern) for name in there):
            yield f"{pattern}: no connector of the group matches this now"


def members_of(now: Standing) -> list[Member]:
    """The workers as assignors see them."""
    return list(_group(now.group).members)


def why(now: Standing, resource: Resource) -> Iterator[str]:
    """Where a resource runs, and what the rules say of each worker for it. Raises ClientError if it does not exist."""
    group, names = _group(now.group), Names.of(now.group)
    if group.configured is not None and resource not in group.configured:
        raise ClientError(f"{now.group.group}: {_unknown(resource, group.configured)}")
    owner = next((each.member for each in now.group.workers if resource in each.target), None)
    yield f"{resources_text([resource])}: {'runs nowhere' if owner is None else f'runs on {names(owner)}'}"
    for each in now.group.placement.misplaced:
        if resource in each.resources:
            yield f"  because {each.reason}"
    for worker in group.members:
        yield f"  {names(worker.member_id)}: {', '.join(_remarks(now.rules, worker, resource)) or 'allowed'}"


def _unknown(resource: Resource, configured: Resources) -> str:
    name, task = resource
    tasks = sorted(number for connector, number in configured if connector == name and number != CONNECTOR)
    if any(connector == name for connector, _ in configured):
        return f"connector {name} has no task {task}; its tasks are {ranges(tasks) or 'none'}"
    return f"there is no connector {name}; there are {', '.join(sorted({each for each, _ in configured})) or 'none'}"


async def wait_until_drained(
    cluster: Cluster, group: str, worker: str, tell: Callable[[Resources], None]
) -> Iterator[str]:
    """Ask each second until the workers that `worker` names run nothing, or only what may not run elsewhere. If the
    drain outlasts a restart, also until none of them leads. Calls `tell` with what is left whenever that has changed.
    """
    told: Resources | None = None
    while True:
        now = await standing(cluster, group)
        runs = [each for each in now.group.workers if is_meant(_named(each), worker)]
        left: Resources = frozenset().union(*[each.owns | each.target for each in runs])
        stuck = [each for each in now.group.placement.misplaced if each.is_running and each.resources & left]
        if (not left and not _leads_yet(now, runs)) or (stuck and now.group.placement.state != 2):
            return iter([f"{resources_text(each.resources)} stays: {each.reason}" for each in stuck])
        if left != told:
            tell(left)
            told = left
        await asyncio.sleep(POLL_S)


def _leads_yet(now: Standing, drained: Sequence[Worker]) -> bool:
    """Whether one of these workers leads Connect's workers and will hand the lead over to another one."""
    leader = next((each for each in drained if each.member == now.group.computing), None)
    if leader is None or not leader.is_classic or not now.rules.retires(_named(leader)):
        return False
    others = (each for each in now.group.workers if each.is_classic and each is not leader)
    return any(now.rules.cordon_of(_named(each)) is None for each in others)


def _named(worker: Worker) -> Member:
    return Member(worker.member, worker.instance, worker.url)


def _remarks(rules: Rules, worker: Member, resource: Resource) -> Iterator[str]:
    cordon = rules.cordon_of(worker)
    if cordon is not None:
        yield "drained" if cordon.drains else "cordoned"
    if not rules.allows(resource.connector, worker):
        yield "not allowed by an affinity"
    capacity = rules.capacity_of(worker)
    if capacity is not None:
        carries = sum(rules.weight_of(name) for name, _ in worker.target)
        yield f"carries {carries} of {capacity}"


def _change(rules: Rules) -> Change:
    text = write_setting(rules)
    return Change(PLACEMENT, Operation.SET, text) if text else Change(PLACEMENT, Operation.DELETE, None)


def _group(told: ConnectGroup) -> Group:
    members = [Member(each.member, each.instance, each.url, each.target) for each in told.workers]
    departed = [Departed(each.member, each.instance, each.url, each.resources) for each in told.departed]
    waits_ms = told.delay_ms or 0
    return Group(
        tuple(members),
        told.configured,
        departed=tuple(departed),
        remaining_delay_ms=waits_ms,
        rebalance_delay_ms=waits_ms,
    )


def _assignor(told: ConnectGroup) -> ServerAssignor:
    return SERVER_SIDE[told.assignor if told.assignor in SERVER_SIDE else FALLBACK]()


def _after(group: Group, placement: Placement) -> Group:
    targets = {each.member_id: each.resources for each in placement.assignment.members}
    members = [attrs.evolve(each, target=targets.get(each.member_id, frozenset())) for each in group.members]
    return attrs.evolve(group, members=tuple(members))


def _reasons(found: Any, what: str) -> Iterator[str]:
    for reason in sorted(set(found.values())):
        yield f"{resources_text([each for each in found if found[each] == reason])} {what}: {reason}"


def _reasons_json(found: Any) -> list[dict[str, Any]]:
    return [
        {"reason": reason, "resources": resources_json([each for each in found if found[each] == reason])}
        for reason in sorted(set(found.values()))
    ]
