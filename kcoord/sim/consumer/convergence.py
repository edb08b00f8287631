"""The state at the end of a run with consumer groups: what must be so once nothing goes wrong any more.

| invariant | rules |
| --- | --- |
| liveness: the members are the consumers that live; all are at the group epoch, and read their target | KG-3 to KG-11 |
| | every partition of a topic that somebody subscribes to is read by one consumer of each group | KG-7 |
| replay: the log gives the state that is running, whole or compacted | |
"""

from __future__ import annotations

from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.records.consumer_replay import settle_load
from kcoord.group.state.shard_state import ShardState
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.process import ConsumerProcess
from kcoord.sim.coordinator import UP, Coordinator


def wrong_in(context: ConsumerContext, group: ConsumerGroup | None, consumers: list[ConsumerProcess]) -> str | None:
    """What is not well yet in one group, whose consumers are these. None: all is well."""
    if group is None or not group.members:
        return "consumers have no group" if consumers else None
    if consumers and (group.state is not ModernState.STABLE or group.epoch != group.assignment_epoch):
        return f"{group.group_id} is {group.state.label}"
    ids = sorted(each.member_id for each in consumers)
    if sorted(group.members) != ids:
        return f"members of {group.group_id} are {sorted(group.members)}, consumers are {ids}"
    for process in consumers:
        member, membership = group.members[process.member_id], process.membership
        epochs = (membership.epoch, member.epoch)
        if epochs != (group.epoch, group.epoch) or member.stage is not Stage.STABLE:
            return f"{process.name} is {member.stage.name} at {epochs} of {group.epoch}"
        if not process.is_settled or not membership.owned == member.current == (group.target_of(member) or NOTHING):
            return f"{process.name} has not come to its target"
    reads = sorted(each for process in consumers for each in process.consumption.partitions)
    subscribed = frozenset[str]().union(*(process.membership.subscribed for process in consumers))
    topics = [topic for name, topic in context.topics.items() if name in subscribed]
    exist = sorted((topic.id, number) for topic in topics for number in range(topic.partitions))
    return None if reads == exist else f"{len(exist)} partitions are to be read in {group.group_id}, {len(reads)} are"


def replays(coordinator: Coordinator, *, compacted: bool) -> None:
    """Check that the log, with what is on its way, gives the state that is running."""
    if coordinator.stage is not UP:
        return
    replayed = coordinator.replayed(compacted=compacted, everything=True).state
    settle_load(replayed)
    running = coordinator.shard.state
    if durable(replayed) != durable(running) or offsets(replayed) != offsets(running):
        how = "compacted" if compacted else "whole"
        raise Violation("replay", f"the {how} log gives {durable(replayed)}, running is {durable(running)}")


def offsets(state: ShardState) -> object:
    """The committed offsets that a load must restore."""
    return {group_id: state.offsets.of_group(group_id) for group_id in state.consumer}


def durable(state: ShardState) -> object:
    """What a load must restore of consumer groups."""
    return {group_id: _durable_group(group) for group_id, group in state.consumer.items()}


def _durable_group(group: ConsumerGroup) -> object:
    return (
        (group.epoch, group.reason, group.reason_wall_ms, group.fence_epoch, group.recorded),
        (group.assignment_epoch, group.assignor, group.assignment_wall_ms),
        (dict(group.topics), group.resolved, group.history),
        {member_id: _durable_member(member) for member_id, member in sorted(group.members.items())},
        {member_id: target.resources for member_id, target in sorted(group.targets.items())},
        (group.static_ids, group.owners, group.claimants, group.unconverged),
    )


def _durable_member(member: ConsumerMember) -> object:
    return (
        (member.metadata, member.stage, member.assigned, member.current),
        {each: member.epochs.get(each, 0) for each in member.current},
        (member.recorded, member.recorded_epoch, member.recorded_previous),
    )
