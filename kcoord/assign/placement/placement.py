"""Placement: an assignor's assignment of a group whose user has set rules.

The assignor does not see cordoned workers, nor what runs there. It sees a few at a time of a drained worker's
connectors and tasks, as if nobody ran them. So any assignor balances the rest as it always does. If rules ask for more
(weights, affinity and so on) they replace its balance (`shaping`). What waits for a departed worker, and for how long,
stays the assignor's decision.

Without rules the assignor's assignment is returned as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from kcoord.assign.model import Assignment, Group, Member, MemberAssignment
from kcoord.assign.placement.rules import Rules
from kcoord.assign.placement.shaping import Shape, shape
from kcoord.assign.resource import Resource
from kcoord.assign.universe import existing

Resources = frozenset[Resource]
NOTHING: Resources = frozenset()
CORDONED = "all workers are cordoned"


@attrs.frozen
class Placement:
    """An assignment, and what the rules have left undone."""

    assignment: Assignment
    unplaced: Mapping[Resource, str] = attrs.field(factory=dict)
    """What nobody runs because of the rules, and why."""
    unmet: Mapping[Resource, str] = attrs.field(factory=dict)
    """What runs where a rule does not want it because there is no other place, and why."""
    has_more: bool = False
    """More is to move once this has come about."""


def place(group: Group, assign: Callable[[Group], Assignment], rules: Rules) -> Placement:
    """The assignment that `assign` makes within the rules. The same input gives the same placement."""
    if not rules:
        return Placement(assign(group))
    exists = existing(group)
    cordoned = [member for member in group.members if rules.cordon_of(member) is not None]
    members = [member for member in group.members if rules.cordon_of(member) is None]
    if not members:
        return _all_cordoned(group, exists)
    stuck = _stuck(cordoned, members, exists, rules)
    while True:
        kept, has_more = _kept(cordoned, exists, stuck, rules)
        held = NOTHING.union(*kept.values())
        base = assign(attrs.evolve(group, members=tuple(members), configured=exists - held))
        found = Shape({each.member_id: each.resources for each in base.members})
        if rules.are_shaping:
            found = shape(members, found.targets, rules)
        nowhere = _left_without(cordoned, found.unplaced)
        if not nowhere:
            break
        stuck |= nowhere  # it stays there, and something else is moved
    return Placement(
        _merged(base, {**found.targets, **kept}),
        found.unplaced,
        {**found.unmet, **stuck},
        has_more or found.has_more,
    )


def _left_without(cordoned: Sequence[Member], unplaced: Mapping[Resource, str]) -> dict[Resource, str]:
    """What was to leave a drained worker, and has no other place now."""
    return {
        resource: f"{member.member_id} is drained, and {unplaced[resource]}"
        for member in cordoned
        for resource in member.target & unplaced.keys()
    }


def _all_cordoned(group: Group, exists: Resources) -> Placement:
    """Everybody keeps what it has; nothing new is placed."""
    targets = {member.member_id: member.target & exists for member in group.members}
    waits = NOTHING.union(*[each.target for each in group.departed]) if group.remaining_delay_ms > 0 else NOTHING
    missing = exists.difference(waits, *targets.values())
    return Placement(_merged(Assignment(()), targets), dict.fromkeys(missing, CORDONED))


def _stuck(
    cordoned: Sequence[Member], members: Sequence[Member], exists: Resources, rules: Rules
) -> dict[Resource, str]:
    """What drained workers run that no other worker may run."""
    drained = [member for member in cordoned if _is_drained(member, rules)]
    connectors = {name for member in drained for name, _ in member.target & exists}
    homeless = {name for name in connectors if not any(rules.allows(name, member) for member in members)}
    return {
        resource: f"{member.member_id} is drained, and no other worker is allowed to run it"
        for member in drained
        for resource in member.target & exists
        if resource[0] in homeless
    }


def _kept(
    cordoned: Sequence[Member], exists: Resources, stuck: Mapping[Resource, str], rules: Rules
) -> tuple[dict[str, Resources], bool]:
    """What cordoned workers go on to run; and whether more of it is to move later."""
    left, has_more = rules.max_moves, False
    kept = {}
    for member in sorted(cordoned, key=lambda each: each.member_id):
        runs = member.target & exists
        if _is_drained(member, rules):
            movable = sorted(runs.difference(stuck))
            runs = runs.difference(movable[:left])
            has_more |= len(movable) > left
            left -= min(left, len(movable))
        kept[member.member_id] = runs
    return kept, has_more


def _is_drained(member: Member, rules: Rules) -> bool:
    cordon = rules.cordon_of(member)
    return cordon is not None and cordon.drains


def _merged(base: Assignment, targets: Mapping[str, Resources]) -> Assignment:
    """The assignment with these targets; what the assignor said beside them stays."""
    said = {each.member_id: each for each in base.members}
    return attrs.evolve(
        base,
        members=tuple(
            [
                attrs.evolve(said.get(member_id, MemberAssignment(member_id)), resources=targets[member_id])
                for member_id in sorted(targets)
            ]
        ),
    )
