"""The state at the end of a run with consumer groups: what must be so once nothing goes wrong any more.

| invariant | rules |
| --- | --- |
| liveness: the members are the consumers that live; all are at the group epoch, and read their target | KG-3 to KG-11 |
| | every partition of a topic that somebody subscribes to is read by one consumer of each group | KG-7 |
| replay: the log gives the state that is running, whole or compacted | |
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.records.consumer_replay import settle_load
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.consumer_embedded import decode_assignment
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.any_consumer import AnyConsumer
from kcoord.sim.consumer.classic.process import ClassicConsumerProcess
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.process import ConsumerProcess
from kcoord.sim.coordinator import UP, Coordinator


def wrong_in(context: ConsumerContext, group: ConsumerGroup | None, consumers: list[AnyConsumer]) -> str | None:
    """What is not well yet in one group, whose consumers are these. None: all is well."""
    if group is None or not group.members:
        return "consumers have no group" if consumers else None
    if consumers and (group.state is not ModernState.STABLE or group.epoch != group.assignment_epoch):
        return f"{group.group_id} is {group.state.label}"
    ids = sorted(each.member_id for each in consumers)
    if sorted(group.members) != ids:
        return f"members of {group.group_id} are {sorted(group.members)}, consumers are {ids}"
    are_classic = bool(consumers) and all(isinstance(each, ClassicConsumerProcess) for each in consumers)
    if are_classic and context.consumers.downgrades and not context.consumers.individual:
        return f"{group.group_id} has classic consumers only, and is a consumer group"
    for process in consumers:
        member = group.members[process.member_id]
        told = member.epoch if isinstance(process, ConsumerProcess) else member.generation
        if (process.epoch, member.epoch) != (told, group.epoch) or member.stage is not Stage.STABLE:
            return f"{process.name} is {member.stage.name} at {process.epoch} and {member.epoch} of {group.epoch}"
        if not process.is_settled or not process.reads == member.current == (group.target_of(member) or NOTHING):
            return f"{process.name} has not come to its target"
    return _not_read(context, group.group_id, consumers)


def wrong_in_classic(context: ConsumerContext, group: ClassicGroup, consumers: list[AnyConsumer]) -> str | None:
    """As `wrong_in`, for a group that speaks the classic protocol."""
    if consumers and context.consumers.individual and _is_known(context, group):
        return f"{group.group_id} has a leader, though its consumers are to be led one by one"
    if consumers and group.state is not ClassicState.STABLE:
        return f"{group.group_id} is {group.state.label}, and classic"
    ids = sorted(each.member_id for each in consumers)
    if sorted(group.members) != ids:
        return f"members of {group.group_id}, which is classic, are {sorted(group.members)}, consumers are {ids}"
    for process in consumers:
        if not isinstance(process, ClassicConsumerProcess):
            return f"{process.name} is in a classic group"
        if not process.is_settled or process.epoch != group.generation:
            return f"{process.name} is at {process.epoch} of {group.generation}"
    # what has come while a static leader was away is not dealt out when it is back, as at Kafka
    may_lack = any(member.instance_id is not None for member in group.members.values())
    return None if may_lack else _not_read(context, group.group_id, consumers)


def _is_known(context: ConsumerContext, group: ClassicGroup) -> bool:
    """Whether all topics of which a member has partitions exist. In front of a cluster nobody shows what is gone."""
    assignments = [decode_assignment(member.assignment) for member in group.members.values()]
    return all(name in context.topics for each in assignments for name, _ in each.partitions)


def _not_read(context: ConsumerContext, group_id: str, consumers: list[AnyConsumer]) -> str | None:
    """Whether each partition that somebody wants is read once."""
    there = {topic.id for topic in context.topics.values()}
    reads = sorted(each for process in consumers for each in process.reads if each[0] in there)
    subscribed = frozenset[str]().union(*(process.subscribed for process in consumers))
    topics = [topic for name, topic in context.topics.items() if name in subscribed]
    exist = sorted((topic.id, number) for topic in topics for number in range(topic.partitions))
    return None if reads == exist else f"{len(exist)} partitions are to be read in {group_id}, {len(reads)} are"


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
    return {group_id: state.offsets.of_group(group_id) for group_id in state.consumer.keys() | state.groups.keys()}


def durable(state: ShardState) -> object:
    """What a load must restore of groups."""
    classic = {group_id: group.record for group_id, group in state.groups.items()}
    return classic, {group_id: _durable_group(group) for group_id, group in state.consumer.items()}


def _durable_group(group: ConsumerGroup) -> object:
    return (
        (group.epoch, group.reason, group.reason_wall_ms, group.fence_epoch, group.recorded),
        (group.assignment_epoch, group.assignor, group.assignment_wall_ms),
        (dict(group.topics), group.resolved, group.history),
        {member_id: _durable_member(member) for member_id, member in sorted(group.members.items())},
        {member_id: (each.resources, each.version, each.metadata) for member_id, each in sorted(group.targets.items())},
        (group.static_ids, group.owners, group.claimants, group.unconverged),
    )


def _durable_member(member: ConsumerMember) -> object:
    return (
        (member.metadata, member.stage, member.assigned, member.current),
        {each: member.epochs.get(each, 0) for each in member.current},
        (member.recorded, member.recorded_epoch, member.recorded_previous),
    )
