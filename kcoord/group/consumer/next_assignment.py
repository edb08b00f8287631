"""The next assignment of a consumer group: when it is made, by which assignor, of what, and its records.

It is made with the bump, unless the last one is too recent. Then it waits, and the group is Assigning: members go on
towards the last targets, and newcomers have none. What changes meanwhile comes into the one assignment.

A consumer may have to compute it (`computing_choice.py`). An assignor of somebody else's may fail: it raises, or what
it makes is not valid. The group then waits in the same way, and tries again after 1 s, then 2 s, up to 60 s, or at once
when the group epoch moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from kcoord.assign.consumer.interface import ConsumerAssignor
from kcoord.assign.consumer.model import ConsumerTargets, SubscribedGroup, Subscriber
from kcoord.assign.consumer.target_validity import NotValid, check_targets
from kcoord.group.modern import history
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.connect_settings import ClassicMode
from kcoord.group.state.groups.consumer_group import (
    FIRST_EPOCH,
    NOTHING,
    AssignmentFailure,
    ConsumerGroup,
    ConsumerMember,
    Partition,
    Partitions,
    Target,
    TargetByTopic,
)
from kcoord.group.state.groups.modern_group import LONG_AGO_MS
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.step import Unassigned
from kcoord.group.state.transition import Transition

RESTS = 10
"""After an assignment that took long, the next one comes so many times that time later at the earliest."""
LONG_MS = 20
"""An assignment that takes less needs no rest."""
LONGEST_REST_MS = 15_000
"""The longest rest, however long the assignment took."""
GATHER_MS, AT_ONCE_MS = 4_000, 1_000
"""How long classic members that must let go of something wait for each other at most, after an assignment: longer than
most clients take to send the next heartbeat. After that, how long each is called at once at least, whatever else is
assigned meanwhile.
"""
BACK_OFF_MS, LONGEST_BACK_OFF_MS = 1_000, 60_000
"""How long the group waits after an assignor has failed for the first time, and at most."""


def due_ms(transition: Transition, group: ConsumerGroup) -> int:
    """When the next assignment may be made, in ms on the steps' clock."""
    interval_ms, took_ms = transition.state.consumer_settings(group.group_id).assignment_interval_ms, group.took_ms
    rest_ms = min(RESTS * took_ms, LONGEST_REST_MS) if took_ms >= LONG_MS else 0
    at_ms, failure = group.assignment_ms + max(interval_ms, rest_ms), group.failure
    return at_ms if failure is None or failure.epoch != group.epoch else max(at_ms, failure.retry_ms)


def time_of_last(transition: Transition, group: ConsumerGroup) -> int:
    """When the last assignment of a loaded group was made, in ms on the steps' clock. If the time of day has gone back
    since, it counts as made now.
    """
    if not group.assignment_wall_ms:
        return LONG_AGO_MS
    return transition.now_ms - max(0, transition.wall_ms - group.assignment_wall_ms)


def compute(transition: Transition, group: ConsumerGroup) -> None:
    """Make the targets for the group epoch. They are installed at once, unless the assignor fails."""
    assignor = wished_assignor(transition, group)
    before = {member_id: target.resources for member_id, target in group.targets.items()}
    given = {member_id: _by_topic(group, member_id) for member_id in group.members}
    untaken = _untaken(transition, group)
    given |= {member_id: _sets_by_topic(before[member_id] - free) for member_id, free in untaken.items()}
    transition.step.computed.append(group.group_id)
    try:
        targets = _assigned(group, assignor, given)
    except HasFailed as failed:
        note_failure(transition, group, assignor.name, str(failed))
        return
    name, group.failure, group.computed_by = assignor.name, None, None
    after = {
        member_id: _flat(targets[member_id], None if member_id in untaken else given[member_id], before.get(member_id))
        for member_id in group.members
    }
    for member_id in before.keys() - after.keys():
        transition.write(records.member_target(group.group_id, member_id, None))
    for member_id, partitions in after.items():
        if partitions is not before.get(member_id):
            transition.write(records.member_target(group.group_id, member_id, Target(partitions)))
    transition.write(records.target_assignment(group.group_id, group.epoch, name, transition.wall_ms))
    group.targets_by_topic = {each: (group.targets[each].resources, targets[each]) for each in group.members}
    group.touched |= group.unconverged  # also who is to have again what it dropped, so that its target is the same
    group.assignment_ms = transition.now_ms
    if transition.now_ms >= group.gathering_ms + GATHER_MS + AT_ONCE_MS:
        group.gathering_ms = transition.now_ms
    transition.state.consumer_counters.installed[name] += 1
    history.installed(transition, group, history.moves_between(before, after))


class HasFailed(Exception):
    """The assignor has failed. The text says how."""


def begin_with_nothing(transition: Transition, group: ConsumerGroup, name: str) -> None:
    """If there have never been any targets, and there are none now, then from now on nobody is to have anything:
    members need an epoch to be at.
    """
    if group.assignment_epoch == JOINING_EPOCH:
        epoch = max(FIRST_EPOCH, group.epoch - 1)
        transition.write(records.target_assignment(group.group_id, epoch, name, transition.wall_ms))


def note_failure(transition: Transition, group: ConsumerGroup, name: str, how: str) -> None:
    """Note that there are no new targets, and when to try again."""
    begin_with_nothing(transition, group, name)
    former, why = group.failure, f"assignor {name} {how}"
    times = former.times + 1 if former is not None and former.epoch == group.epoch else 1
    back_off_ms = min(BACK_OFF_MS << min(times - 1, 10), LONGEST_BACK_OFF_MS)
    group.failure = AssignmentFailure(group.epoch, bounded_text(why), times, transition.now_ms + back_off_ms)
    group.assignment_ms = transition.now_ms  # an assignor that takes long and fails needs its rest, too
    transition.state.consumer_counters.failed[name] += 1
    transition.step.unassigned.append(Unassigned(group.group_id, group.failure.why, times))


def wished_assignor(transition: Transition, group: ConsumerGroup) -> ConsumerAssignor:
    """The assignor that most members wish for; of several the one that stands first in the settings. If nobody wishes
    for any, the first. In individual mode a classic consumer wishes for what its own first assignor does.
    """
    settings = transition.state.consumer_settings(group.group_id)
    counts_classic = settings.classic_mode is ClassicMode.INDIVIDUAL
    wishes = Counter(
        transition.consumer.classic.wish(member)
        if counts_classic and member.is_classic
        else member.metadata.server_assignor
        for member in group.members.values()
    )
    return max(settings.assignors, key=lambda each: wishes[each.name])  # max takes the first of several


def _assigned(
    group: ConsumerGroup, assignor: ConsumerAssignor, given: Mapping[str, TargetByTopic]
) -> dict[str, TargetByTopic]:
    """What each member is to consume. Raises HasFailed."""
    seen = input_of(group, given)
    targets = assignor.assign(seen) if assignor.name in CONSUMER_ASSIGNORS else _of_somebody_else(assignor, seen)
    return {member_id: targets.get(member_id, {}) for member_id in group.members}


def input_of(group: ConsumerGroup, given: Mapping[str, TargetByTopic] | None = None) -> SubscribedGroup:
    """The group as assignors see it. `given`: the members' present targets, where they are not to see all of them."""
    return SubscribedGroup(
        tuple(
            [
                _seen(group, member, _by_topic(group, member_id) if given is None else given[member_id])
                for member_id, member in group.members.items()
            ]
        ),
        {topic.id: topic.partitions for topic in group.topics.values()},
        {topic.id: topic.name for topic in group.topics.values()},
    )


def _of_somebody_else(assignor: ConsumerAssignor, seen: SubscribedGroup) -> ConsumerTargets:
    """What an installed assignor makes, as values of our own, which it cannot change later. Whatever it raises is its
    fault, not one of the shard. Raises HasFailed.
    """
    try:
        targets = {
            member_id: {topic_id: frozenset(numbers) for topic_id, numbers in target.items()}
            for member_id, target in assignor.assign(seen).items()
        }
        check_targets(seen, targets)
    except NotValid as wrong:
        raise HasFailed(f"made targets that are not valid: {wrong}") from wrong
    except Exception as fault:
        raise HasFailed(f"failed: {type(fault).__name__}: {fault}") from fault
    return targets


def _seen(group: ConsumerGroup, member: ConsumerMember, target: TargetByTopic) -> Subscriber:
    """A member as assignors see it."""
    metadata = member.metadata
    return Subscriber(member.member_id, metadata.instance_id, metadata.rack_id, group.subscribed_ids(member), target)


def _by_topic(group: ConsumerGroup, member_id: str) -> TargetByTopic:
    """The present target of a member by topic: the one that an assignor has made, unless the target is another now."""
    partitions = group.targets[member_id].resources if member_id in group.targets else NOTHING
    known = group.targets_by_topic.get(member_id)
    return known[1] if known is not None and known[0] is partitions else _sets_by_topic(partitions)


def _sets_by_topic(partitions: Partitions) -> TargetByTopic:
    found: dict[bytes, set[int]] = {}
    for topic_id, number in partitions:
        found.setdefault(topic_id, set()).add(number)
    return {topic_id: frozenset(numbers) for topic_id, numbers in found.items()}


def _untaken(transition: Transition, group: ConsumerGroup) -> dict[str, Partitions]:
    """In individual mode, by classic member, what it is to have and nobody has: it cannot be told before its next
    heartbeat. The assignor does not see that it was to have this. So a newcomer may get it, who can have it at once.
    """
    if transition.state.consumer_settings(group.group_id).classic_mode is not ClassicMode.INDIVIDUAL:
        return {}
    found: dict[str, set[Partition]] = {}
    for partition in group.claimants.keys() - group.owners.keys():
        member = group.members.get(group.claimants[partition])
        if member is not None and member.is_classic:
            found.setdefault(member.member_id, set()).add(partition)
    return {member_id: frozenset(free) for member_id, free in found.items()}


def _flat(target: TargetByTopic, given: TargetByTopic | None, before: Partitions | None) -> Partitions:
    """The same as a set of partitions; `before` itself if that has not changed. `given`: `before` by topic; None: the
    assignor has seen something else.
    """
    if before is not None and target == given:
        return before
    partitions = frozenset([(topic_id, number) for topic_id, numbers in target.items() for number in numbers])
    return before if before is not None and partitions == before else partitions
