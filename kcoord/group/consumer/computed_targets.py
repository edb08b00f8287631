"""What a consumer that computes is shown, and what becomes of its targets (KG-27; CG-18).

`freeze` takes all that an assignor may look at as of one moment, and the targets are judged by that. The install then
takes account of what has changed since:

1. A static member that has been replaced passes its part on. The part of a member that has gone is nobody's.
2. A member that has joined since gets nothing yet. Topics that are gone may be in a target; nobody is told them (KG-8).
3. The assignment epoch is the frozen group epoch. If the group has moved on, the next computation follows.
"""

from __future__ import annotations

from collections.abc import Mapping

from kcoord.assign.consumer.model import ConsumerTargets
from kcoord.group.consumer.next_assignment import input_of
from kcoord.group.modern import history
from kcoord.group.state.groups.consumer_group import (
    NO_NOTE,
    NOTHING,
    ConsumerGroup,
    FrozenConsumers,
    Note,
    Target,
)
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.transition import Transition


def freeze(group: ConsumerGroup) -> FrozenConsumers:
    """The input of an assignor as it is now."""
    return FrozenConsumers(group.epoch, input_of(group))


def install(
    transition: Transition,
    group: ConsumerGroup,
    frozen: FrozenConsumers,
    targets: ConsumerTargets,
    notes: Mapping[str, Note],
) -> None:
    """Make these targets the group's. The caller has checked them against the frozen input."""
    computation = group.computation
    assert computation is not None
    before = {member_id: target.resources for member_id, target in group.targets.items()}
    after = _new_targets(group, frozen, targets, notes)
    for member_id in before.keys() - after.keys():
        transition.write(records.member_target(group.group_id, member_id, None))
    for member_id, target in after.items():
        if target != group.targets.get(member_id):
            transition.write(records.member_target(group.group_id, member_id, target))
    name = computation.assignor
    transition.write(records.target_assignment(group.group_id, frozen.epoch, name, transition.wall_ms))
    group.computed_by, group.failure = computation.chosen, None
    group.assignment_ms, group.took_ms = transition.now_ms, 0
    group.end_computation()
    group.touched |= group.unconverged
    transition.state.consumer_counters.installed[name] += 1
    moves = history.moves_between(before, {member_id: target.resources for member_id, target in after.items()})
    history.installed(transition, group, moves)


def _new_targets(
    group: ConsumerGroup, frozen: FrozenConsumers, targets: ConsumerTargets, notes: Mapping[str, Note]
) -> dict[str, Target]:
    after = {member_id: Target(NOTHING) for member_id in group.members}
    for seen in frozen.input.members:
        member_id = _today(group, seen.member_id, seen.instance_id)
        if member_id is not None:
            share = targets.get(seen.member_id, {})
            partitions = frozenset((topic_id, number) for topic_id, numbers in share.items() for number in numbers)
            after[member_id] = Target(partitions, *notes.get(seen.member_id, NO_NOTE))
    return after


def _today(group: ConsumerGroup, member_id: str, instance_id: str | None) -> str | None:
    """The member's id now: a static member may have come back under another id. None: it has gone."""
    if member_id in group.members:
        return member_id
    return None if instance_id is None else group.static_ids.get(instance_id)
