"""How does a group come to rest under placement rules, and what has moved on the way?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from kcoord.assign import (
    CONNECTOR,
    NO_DELAY,
    Assignment,
    Group,
    Member,
    Resource,
    UniformAssignor,
)
from kcoord.assign.placement import (
    Placement,
    Rules,
    place,
)

UNIFORM = UniformAssignor().assign
Resources = frozenset[Resource]


def tasks(name: str, count: int) -> Resources:
    """A connector with its tasks."""
    return frozenset([Resource(name, task) for task in range(CONNECTOR, count)])


def group(targets: Mapping[str, Resources], exists: Resources, **more: Any) -> Group:
    """Workers at `http://<id>.host` with these targets."""
    members = tuple(Member(name, None, f"http://{name}", target) for name, target in targets.items())
    return attrs.evolve(Group(members, exists), **more)


def after(before: Group, placed: Placement) -> Group:
    """The group once the placement has come about, and its delay is over."""
    targets = {each.member_id: each.resources for each in placed.assignment.members}
    members = tuple(attrs.evolve(each, target=targets[each.member_id], epoch=1) for each in before.members)
    if placed.assignment.scheduled_delay_ms:
        return attrs.evolve(before, members=members, remaining_delay_ms=0)
    return attrs.evolve(before, members=members, departed=(), remaining_delay_ms=NO_DELAY)


def settled(
    before: Group, rules: Rules, assign: Callable[[Group], Assignment] = UNIFORM
) -> tuple[Group, Placement, int]:
    """The group when no more is to move and nothing waits; what the last placement left undone; in how many steps."""
    for step in range(1, 200):
        placed = place(before, assign, rules)
        then = after(before, placed)
        if not placed.has_more and not placed.assignment.scheduled_delay_ms:
            return then, placed, step
        assert runs(then) != runs(before) or then.departed, "more is to move, and nothing has"
        before = then
    raise AssertionError("it never ends")


def runs(found: Group) -> dict[str, Resources]:
    return {each.member_id: each.target for each in found.members}


def moved(before: Group, then: Group) -> Resources:
    """What somebody had, and somebody else has."""
    had = {resource: each.member_id for each in before.members for resource in each.target}
    return frozenset(
        [
            resource
            for each in then.members
            for resource in each.target
            if had.get(resource, each.member_id) != each.member_id
        ]
    )


def paced(before: Group, then: Group) -> Resources:
    """What has moved to workers that had something."""
    takers = {resource: each.member_id for each in then.members for resource in each.target}
    return frozenset([each for each in moved(before, then) if runs(before)[takers[each]]])


THREE = {"w1": tasks("a", 2), "w2": tasks("b", 2), "w3": tasks("c", 2)}
ALL = tasks("a", 2) | tasks("b", 2) | tasks("c", 2)
