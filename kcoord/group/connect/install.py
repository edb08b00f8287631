"""The check and the install of an assignment (CG-18, CG-21, CG-22).

`check` judges the assignment by the frozen input that it was computed from. If no worker ever said what exists, the
assignment itself defines it (CG-21). The install then takes account of what has changed since the freeze:

1. A member that has departed since gets its new target as a departed member. A member that has joined since keeps its
   target, less what the assignment gives to others.
2. Resources that were deleted since are taken out.
3. With a delay, the targets of departed members stay, less what the assignment gives to others. Without a delay, the
   targets that the input showed as departed are dropped. Targets of departed members whose workers are back (`merged`)
   are dropped in any case.
4. The assignment epoch is the frozen group epoch.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs

from kcoord.assign.model import Assignment, MemberAssignment
from kcoord.assign.model import Group as AssignorInput
from kcoord.assign.model import Member as AssignorMember
from kcoord.group.connect.repetition_brake import rebalance_answer
from kcoord.group.modern import history
from kcoord.group.state.classic_workers.session import QUIET_MS
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import (
    NO_DEADLINE,
    UNKNOWN_DELAY,
    ConnectGroup,
    Frozen,
    Placed,
    Resources,
    Target,
)
from kcoord.group.state.metrics import CONNECT
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition
from kcoord.resource import CONNECTOR, Resource, resources_of


class NotValid(Exception):
    """An assignment breaks a rule. The text says which rule, and where."""


def check(given: AssignorInput, assignment: Assignment, unplaced: Collection[Resource] = ()) -> None:
    """Raise NotValid unless the assignment names only known members and existing resources, each once, and all
    resources that must be assigned. `unplaced`: the resources that placement rules give to nobody.
    """
    members = {member.member_id for member in given.members}
    named: set[str] = set()
    for each in assignment.members:
        if each.member_id not in members:
            raise NotValid(f"there is no member {each.member_id}")
        if each.member_id in named:
            raise NotValid(f"member {each.member_id} is named twice")
        named.add(each.member_id)
    assigned = frozenset[tuple[str, int]]().union(*[each.resources for each in assignment.members])
    if len(assigned) != sum([len(each.resources) for each in assignment.members]):
        raise NotValid(_assigned_twice(assignment))
    if given.configured is None or given.configured == assigned:
        return
    unknown = assigned - given.configured
    if unknown:
        raise NotValid(f"{_tell(min(unknown))} is not configured")
    missing = given.configured - assigned
    missing = missing.difference(unplaced) if unplaced else missing
    if missing and assignment.scheduled_delay_ms <= 0:
        raise NotValid(f"{_tell(min(missing))} is assigned to nobody, and no delay is scheduled")


def _assigned_twice(assignment: Assignment) -> str:
    owners: dict[tuple[str, int], str] = {}
    for each in assignment.members:
        for resource in sorted(each.resources):
            if resource in owners:
                return f"{_tell(resource)} is assigned to {owners[resource]} and to {each.member_id}"
            owners[resource] = each.member_id
    return "nothing is assigned twice"


def _tell(resource: tuple[str, int]) -> str:
    connector, task = resource
    return f"connector {connector}" if task == CONNECTOR else f"task {connector}-{task}"


def install(
    transition: Transition,
    group: ConnectGroup,
    frozen: Frozen,
    assignment: Assignment,
    computed_by: str | None,
    assignor: str,
) -> None:
    """Make the assignment the group's target. The caller has checked it against the frozen input."""
    led = group.computed_by
    before = {member_id: target.resources for member_id, target in group.targets.items()}
    targets = _new_targets(group, frozen, assignment)
    for member_id, target in targets.items():
        known = group.targets.get(member_id)
        if known is not target and known != target:
            transition.write(records.member_target(group.group_id, member_id, target))
    deadline_wall_ms, delay_ms = _set_delay(transition, group, frozen, assignment.scheduled_delay_ms)
    leader, leader_url, offset = _leader(group, frozen, computed_by)
    transition.write(
        records.target_assignment(
            group,
            leader,
            assignor,
            deadline_wall_ms,
            epoch=frozen.epoch,
            computed_by_url=leader_url,
            computed_offset=offset,
            delay_ms=delay_ms,
        )
    )
    if group.computed_by != led:
        group.touched.update(group.classic.members)  # they must learn who leads them (CM-11)
    transition.state.counters.installed[assignor] += 1
    group.end_computation()
    if computed_by is not None:
        group.placed = Placed(transition.state.effective(group.group_id).placement, is_followed=False)
    group.retry_due_ms = NEVER_MS
    if computed_by is not None or not group.classic.members:
        group.failures = 0  # otherwise the coordinator may compute in place of workers that still fail
    if group.repetition.end(rebalance_answer(group), transition.now_ms):
        transition.state.counters.repeated[CONNECT] += 1
    after = {member_id: target.resources for member_id, target in group.targets.items()}
    if group.classic.members and before != after:
        group.classic.map_due_ms = transition.now_ms + QUIET_MS
    history.installed(transition, group, history.moves_between(before, after))


def _leader(group: ConnectGroup, frozen: Frozen, computed_by: str | None) -> tuple[str | None, str | None, int]:
    """The leader from now on, its url, and the offset as of which the configured set is known. If the coordinator
    computes beside classic members, the leader that they know stays.
    """
    if computed_by is None and group.classic.members:
        return group.computed_by, group.computed_by_url, group.computed_offset
    computing = group.members.get(computed_by or "")
    return computed_by, None if computing is None else computing.metadata.url, frozen.input.config_offset


def _new_targets(group: ConnectGroup, frozen: Frozen, assignment: Assignment) -> dict[str, Target | None]:
    """Every target that may change, by member id; None: the target is dropped. An unchanged target is the same object,
    so that it is quick to compare.
    """
    exists = None if group.configured is None else group.configured.resources
    deleted = exists is not None and exists is not frozen.input.configured  # otherwise `check` made sure that all exist
    given: set[tuple[str, int]] = set()
    targets: dict[str, Target | None] = {}
    assigned = {each.member_id: each for each in assignment.members}
    for frozen_member in frozen.input.members:
        each = assigned.get(frozen_member.member_id)
        resources = frozenset[tuple[str, int]]() if each is None else each.resources
        if deleted and exists is not None and not resources <= exists:
            resources &= exists
        given |= resources
        member_id = _today(group, frozen_member)
        targets[member_id] = _target(group.targets.get(member_id), frozen_member, resources, each)
    _others(group, frozen, exists, assignment.scheduled_delay_ms > 0, given, targets)
    return targets


def _target(
    known: Target | None,
    member: AssignorMember,
    resources: frozenset[tuple[str, int]],
    given: MemberAssignment | None,
) -> Target:
    """The member's new target; `known` itself if nothing differs."""
    version, metadata = (0, b"") if given is None else (given.version, given.metadata)
    if (
        known is not None
        and known.resources == resources
        and (known.version, known.metadata) == (version, metadata)
        and (known.instance_id, known.url) == (member.instance_id, member.url)
    ):
        return known
    return Target(resources_of(resources), version, metadata, member.instance_id, member.url)


def _today(group: ConnectGroup, frozen_member: AssignorMember) -> str:
    """The member's id now: a static member may have come back under another id, which moves no epoch (CG-28)."""
    member_id, instance_id = frozen_member.member_id, frozen_member.instance_id
    if member_id in group.members or instance_id is None:
        return member_id
    return group.static_ids.get(instance_id, member_id)


def _others(
    group: ConnectGroup,
    frozen: Frozen,
    exists: Resources | None,
    delayed: bool,
    given: set[tuple[str, int]],
    targets: dict[str, Target | None],
) -> None:
    """Add the targets that the assignment does not name. Drop the empty ones of members that no longer take part."""
    went_before = {each.member_id for each in frozen.input.departed}
    for member_id, known in group.targets.items():
        if member_id not in targets:
            # a merged target is decided: the input showed it as a target of the worker that is back
            decided = member_id in frozen.merged or (member_id in went_before and not delayed)
            gone = decided and not group.takes_part(member_id)
            left = known.resources - given
            if exists is not None and not left <= exists:
                left &= exists
            targets[member_id] = None if gone else attrs.evolve(known, resources=left)
    for member_id, target in list(targets.items()):
        if target is not None and not target.resources and not group.takes_part(member_id):
            targets[member_id] = None  # nothing is left that waits


def _set_delay(transition: Transition, group: ConnectGroup, frozen: Frozen, scheduled_delay_ms: int) -> tuple[int, int]:
    """Set the new delay in place of the last one (CG-22). Return its deadline in Unix time and the time until then, in
    ms. The delay counts from the freeze: the assignor saw then how much of the last delay remained, and the time that
    it took must not prolong the delay.
    """
    if scheduled_delay_ms <= 0:
        group.delay_due_ms = NEVER_MS
        return NO_DEADLINE, UNKNOWN_DELAY
    delay_ms = min(scheduled_delay_ms, transition.state.settings.connect.max_rebalance_delay_ms)
    group.delay_due_ms = frozen.at_ms + delay_ms
    transition.wake(group, group.delay_due_ms)
    left_ms = max(0, group.delay_due_ms - transition.now_ms)
    return transition.wall_ms + left_ms, left_ms
