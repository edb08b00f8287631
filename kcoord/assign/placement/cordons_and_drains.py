"""Cordons and drains: an assignor's assignment of a group for which a user has set rules.

The assignor does not see cordoned workers, nor what runs there. It sees a few of a drained worker's connectors and
tasks at a time, as if nobody ran them. The same holds for what a hard rule forbids on a cordoned worker. So any
assignor balances the rest as it always does. If rules ask for more (weights, affinity and so on), they replace its
balance (`shaping`). What waits for a departed worker, and for how long, remains the assignor's decision.

Without rules the assignor's assignment is returned as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from kcoord.assign.existing_resources import existing
from kcoord.assign.model import Assignment, Group, Member, MemberAssignment
from kcoord.assign.placement.rules import Rules
from kcoord.assign.placement.shaping import Shape, find_forbidden, shape
from kcoord.resource import Resource, resources_of

Resources = frozenset[Resource]
NOTHING: Resources = frozenset()
CORDONED = "all workers are cordoned"


@attrs.frozen
class Placement:
    """An assignment, and what could not be done by the rules."""

    assignment: Assignment
    unplaced: Mapping[Resource, str] = attrs.field(factory=dict)
    """What nobody runs because of the rules, and why."""
    unmet: Mapping[Resource, str] = attrs.field(factory=dict)
    """What runs where a rule does not want it, because there is no other place, and why."""
    has_more: bool = False
    """More is to move once this assignment has taken effect."""


def place(group: Group, assign: Callable[[Group], Assignment], rules: Rules) -> Placement:
    """The assignment that `assign` makes within the rules. The same input gives the same placement."""
    if not rules:
        return Placement(assign(group))
    exists = existing(group)
    by_id = sorted(group.members, key=lambda each: each.member_id) if rules.cordons else []
    cordoned = rules.find_cordoned(by_id)
    ids = {member.member_id for member in cordoned}
    members = [member for member in group.members if member.member_id not in ids]
    if not members:
        return _all_cordoned(group, assign(group), exists, rules)
    ends = _may_end(cordoned, rules)
    homeless, tries_all = _homeless(cordoned, members, exists.difference(ends), rules), False
    stays = dict(homeless)
    while True:
        leaving = _leaving(cordoned, exists, stays, rules)
        moved = list(leaving) if tries_all else list(leaving)[: rules.max_moves]
        kept = {member.member_id: (member.target & exists).difference(moved) for member in cordoned}
        asked = exists.difference(*kept.values())
        base = assign(attrs.evolve(group, members=tuple(members), configured=asked))
        found = Shape({each.member_id: resources_of(each.resources) for each in base.members})
        if rules.are_shaping:
            base = _without_pause(base, asked)
            found = shape(members, found.targets, rules, max(0, rules.max_moves - len(moved)))
        lost = found.unplaced.keys() - ends
        nowhere = {each: f"{leaving[each]}, and {found.unplaced[each]}" for each in moved if each in lost}
        if not nowhere and not tries_all:
            break
        stays |= nowhere  # it stays there, and something else moves
        tries_all = not tries_all  # finds everything that has no place at once, not a few at a time
    return Placement(
        _merged(base, {**found.targets, **kept}),
        found.unplaced,
        {**found.unmet, **_unmet(cordoned, kept, stays, rules)},
        len(leaving) > len(moved) or found.has_more or (len(stays) > len(homeless) and _is_change(members, found)),
    )


def _without_pause(base: Assignment, asked: Resources) -> Assignment:
    """The assignment, without its delay if nothing waits. Such a delay is the time between two rounds of the assignor's
    own moves (`design-3`). If other moves replace them, the assignor asks for the same round, and the same delay, each
    time: the group would be assigned again and again.
    """
    if base.scheduled_delay_ms > 0 and sum([len(each.resources) for each in base.members]) == len(asked):
        return attrs.evolve(base, scheduled_delay_ms=0)
    return base


def _is_change(members: Sequence[Member], found: Shape) -> bool:
    """Whether something runs elsewhere than before: that may have made room for what had no place."""
    return any(found.targets.get(member.member_id) != member.target for member in members)


def _may_end(cordoned: Sequence[Member], rules: Rules) -> Resources:
    """What may be stopped on cordoned workers if it has no other place. What is drained is not to be stopped."""
    if not rules.stops:
        return NOTHING
    return NOTHING.union(*[member.target for member in cordoned if not _is_drained(member, rules)])


def _all_cordoned(group: Group, base: Assignment, exists: Resources, rules: Rules) -> Placement:
    """All workers keep what they have; nothing new is placed. What waits for departed workers still waits, as in
    `base`.
    """
    targets = {member.member_id: member.target & exists for member in group.members}
    assigned = NOTHING.union(*[each.resources for each in base.members])
    base = _without_pause(base, exists)
    waits = exists - assigned if base.scheduled_delay_ms > 0 else NOTHING
    missing = exists.difference(waits, *targets.values())
    unmet = {
        resource: f"{why}, and {CORDONED}"
        for member in group.members
        for resource, why in _not_wanted(member, targets[member.member_id], targets[member.member_id], rules).items()
    }
    return Placement(_merged(base, targets), dict.fromkeys(missing, CORDONED), unmet)


def _homeless(
    cordoned: Sequence[Member], members: Sequence[Member], exists: Resources, rules: Rules
) -> dict[Resource, str]:
    """What is to leave cordoned workers, but no other worker is allowed to run."""
    leaving = _leaving(cordoned, exists, {}, rules)
    connectors = {name for name, _ in leaving}
    by_affinity: dict[tuple[tuple[str, ...], ...], set[str]] = {}
    for name in connectors:
        by_affinity.setdefault(rules.affinity_of(name, is_hard=True), set()).add(name)
    homeless = set[str]()
    for names in by_affinity.values():
        if not any(rules.allows(min(names), member) for member in members):
            homeless |= names
    return {
        resource: f"{why}, and no other worker is allowed to run it"
        for resource, why in leaving.items()
        if resource.connector in homeless
    }


def _leaving(
    cordoned: Sequence[Member], exists: Resources, stays: Mapping[Resource, str], rules: Rules
) -> dict[Resource, str]:
    """What is to leave cordoned workers, except what stays; and why it is to leave."""
    found: dict[Resource, str] = {}
    for member in cordoned:
        runs = member.target & exists
        found.update(_not_wanted(member, runs, runs & stays.keys(), rules))
    return {resource: why for resource, why in found.items() if resource not in stays}


def _not_wanted(member: Member, runs: Resources, stays: Resources, rules: Rules) -> Mapping[Resource, str]:
    """What a cordoned worker is not to run, and why: everything if it is drained, else what hard rules forbid."""
    if _is_drained(member, rules):
        return dict.fromkeys(sorted(runs), f"{member.member_id} is drained")
    return find_forbidden(member, runs, stays, rules) if rules.are_shaping else {}


def _unmet(
    cordoned: Sequence[Member], kept: Mapping[str, Resources], stays: Mapping[Resource, str], rules: Rules
) -> dict[Resource, str]:
    """What stays although it is not wanted there. (Something that it was not to be beside may have left meanwhile.)"""
    return {
        resource: stays[resource]
        for member in cordoned
        for resource in _not_wanted(member, kept[member.member_id], kept[member.member_id], rules)
        if resource in stays
    }


def _is_drained(member: Member, rules: Rules) -> bool:
    cordon = rules.cordon_of(member)
    return cordon is not None and cordon.drains


def _merged(base: Assignment, targets: Mapping[str, Resources]) -> Assignment:
    """The assignment with these targets; everything else in it stays as the assignor made it."""
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
