"""Invariants of a shard's durable state: what is true between any two steps, and after the replay of a log.

| of | invariant | rules |
| --- | --- | --- |
| a connect group | no resource is in two targets, or in the current of two members that were granted it | CG-2 |
| | the assignment epoch is not above the group epoch, and no member's epoch is above the assignment epoch | CG-10 |
| | a member at the assignment epoch owns exactly its target | CG-10 |
| | a classic member's generation is not above the group epoch, and says nothing about its target | CM-2 |
| | a classic member speaks some embedded protocol, and lists no assignors | |
| | each record about a member belongs to a member, and each record about a group to a group | |
| | a group without members has no target, no configured set, and no assignment to compute | CG-21, CG-22 |
| | the history has no gap and ends at the group epoch | |
| a consumer group | no partition is in two targets, or in the current of two members | KG-8 |
| | what a member is assigned is a part of its current, and no epoch is above the one that it follows | KG-3, KG-8 |
| | each record belongs to a member or to the group; the history has no gap and ends at the group epoch | |
| a classic group | its leader is a member; no member id and no instance id occurs twice | |
| | Empty has no members; CompletingRebalance and Stable have some | |

`verify` checks this for a log. The tests check it for every shard after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kcoord.group.state.groups.classic_states import LABELS, ClassicState
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Partition, Stage
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, R
from kcoord.group.state.records.connect_replay import UNSAID
from kcoord.group.state.records.consumer_replay import UNSAID as UNSAID_CONSUMER
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.records import GroupMetadataValue
from kcoord.resource import Resource

_NOTHING: Resources = frozenset()


def complaints(state: ShardState) -> Iterator[str]:
    """Everything that is wrong, one sentence each; nothing if all is sound. For a live shard, or for one after the
    replay of its log and before `settle_load`.
    """
    for group_id, group in state.connect.items():
        if group_id in state.groups and state.groups[group_id].record.state:
            yield f"{group_id} is a classic group and a connect group at once"
        yield from (f"connect group {group_id}: {each}" for each in of_connect_group(group))
    for group_id, consumer in state.consumer.items():
        if group_id in state.connect or (group_id in state.groups and state.groups[group_id].record.state):
            yield f"{group_id} is a consumer group and one of another kind at once"
        yield from (f"consumer group {group_id}: {each}" for each in of_consumer_group(consumer))
    for group_id, classic in state.groups.items():
        yield from (f"group {group_id}: {each}" for each in of_classic_record(classic.record))


def of_connect_group(group: ConnectGroup) -> Iterator[str]:
    """What is wrong with a connect group."""
    if not group.epoch:
        if group.targets or group.configured is not None or group.history or _recorded(group):
            yield "there are records of it, but none of the group itself"
        return
    currents = ((at, member.current) for at, member in group.members.items() if granted(member))
    yield from _twice("current", currents, named)
    yield from _twice("target", ((at, target.resources) for at, target in group.targets.items()), named)
    yield from _epochs(group)
    for member_id, member in group.members.items():
        if member.metadata is UNSAID and member.recorded:
            yield f"{member_id} has a current assignment and is no member"
    if not any(member.metadata is not UNSAID for member in group.members.values()):
        yield from _empty(group)
    yield from _history(group)


def _history(group: AnyGroup) -> Iterator[str]:
    if group.history:
        epochs = sorted(group.history)
        if epochs != list(range(epochs[0], group.epoch + 1)):
            yield f"the group epoch is {group.epoch}, and its history has epochs {_ranges(epochs)}"


def of_consumer_group(group: ConsumerGroup) -> Iterator[str]:
    """What is wrong with a consumer group."""
    members = {each: member for each, member in group.members.items() if member.metadata is not UNSAID_CONSUMER}
    if not group.recorded:
        if group.members or group.targets or group.history:
            yield "there are records of it, but none of the group itself"
        return
    yield from _twice("current", ((each, member.current) for each, member in group.members.items()), partition_named)
    yield from _twice("target", ((each, target.resources) for each, target in group.targets.items()), partition_named)
    yield from (f"{each} has a record and is no member" for each in sorted(group.members.keys() - members.keys()))
    yield from (f"{each} has a target and is no member" for each in sorted(group.targets.keys() - members.keys()))
    if group.assignment_epoch > group.epoch:
        yield f"the group epoch is {group.epoch}, below the assignment's"
    for member_id, member in members.items():
        yield from (f"{member_id} {what}" for what in _of_consumer(group, member))
    yield from _history(group)


def _of_consumer(group: ConsumerGroup, member: ConsumerMember) -> Iterator[str]:
    if member.epoch > group.assignment_epoch:
        yield f"is at {member.epoch}, above the assignment epoch {group.assignment_epoch}"
    if not member.assigned <= member.current:
        yield "is assigned what is not in its current"
    if (member.stage is Stage.UNREVOKED) != bool(member.pending):
        yield f"is {member.stage.name} and must let go of {len(member.pending)} partitions"
    if not member.epochs.keys() <= member.current:
        yield "has assignment epochs of what it has not"


def partition_named(partition: Partition) -> str:
    """The partition in words. Of its topic only the id is known."""
    return f"partition {partition[1]} of topic {partition[0].hex()}"


def of_classic_record(record: GroupMetadataValue) -> Iterator[str]:
    """What is wrong with the record of a classic group. Records of other coordinators have no state in them."""
    ids = [member.member_id for member in record.members]
    if len(set(ids)) < len(ids):
        yield f"a member is there twice: {sorted(each for each in set(ids) if ids.count(each) > 1)}"
    statics = [member.group_instance_id for member in record.members if member.group_instance_id is not None]
    if len(set(statics)) < len(statics):
        yield f"two members have one group.instance.id: {sorted(e for e in set(statics) if statics.count(e) > 1)}"
    if record.leader and record.leader not in ids:
        yield f"its leader {record.leader} is no member"
    if record.state not in LABELS:
        return
    state = ClassicState(LABELS.index(record.state))
    if state is ClassicState.EMPTY and ids:
        yield f"it is Empty and has {len(ids)} members"
    if state in (ClassicState.COMPLETING, ClassicState.STABLE) and not ids:
        yield f"it is {state.label} and has no members"


def _recorded(group: ConnectGroup) -> bool:
    return any(member.recorded or member.metadata is not UNSAID for member in group.members.values())


def _twice(what: str, given: Iterable[tuple[str, frozenset[R]]], name: Callable[[R], str]) -> Iterator[str]:
    first: dict[R, str] = {}
    for member_id, resources in given:
        for resource in sorted(resources, key=name):
            if resource in first:
                yield f"{name(resource)} is in the {what} of {first[resource]} and of {member_id} (CG-2)"
            first[resource] = member_id


def _epochs(group: ConnectGroup) -> Iterator[str]:
    if group.assignment_epoch > group.epoch:
        yield f"its assignment epoch {group.assignment_epoch} is above the group's {group.epoch} (CG-10)"
    for member_id, member in group.members.items():
        if member.metadata is UNSAID:
            continue
        if member.metadata.classic is not None:
            yield from _classic(group, member)
            continue
        if member.epoch > group.assignment_epoch:
            yield f"{member_id} is at {member.epoch}, above the assignment epoch {group.assignment_epoch} (CG-10)"
        if JOINING_EPOCH < member.epoch == group.assignment_epoch and not member.evicted:
            target = group.target_of(member) or _NOTHING
            if member.current != target:
                yield f"{member_id} is at the assignment epoch {member.epoch} and does not own its target (CG-10)"


def granted(member: ConnectMember) -> bool:
    """Whether everything that the member may be running was granted to it. A classic member may join with what it runs
    already, and gives up what others have by then (CM-12).
    """
    return member.metadata.classic is None


def _classic(group: ConnectGroup, member: ConnectMember) -> Iterator[str]:
    classic = member.metadata.classic
    assert classic is not None
    if member.epoch > group.epoch:
        yield f"{member.member_id} is at generation {member.epoch}, above the group epoch {group.epoch} (CM-2)"
    if not classic.protocols:
        yield f"{member.member_id} is a classic worker and speaks no embedded protocol"
    if member.metadata.assignors or member.metadata.server_assignor is not None:
        yield f"{member.member_id} is a classic worker and lists assignors"


def _empty(group: ConnectGroup) -> Iterator[str]:
    if group.targets:
        yield f"it has no members, and targets of {sorted(group.targets)}"
    if group.configured is not None:
        yield "it has no members, and something is configured"
    if group.epoch != group.assignment_epoch:
        yield f"it has no members, and group epoch {group.epoch} at assignment epoch {group.assignment_epoch}"


def named(resource: Resource) -> str:
    """The resource in words: `connector NAME`, or `task NAME-0` for its task 0, as Connect names tasks."""
    connector, task = resource
    return f"connector {connector}" if task < 0 else f"task {connector}-{task}"


def _ranges(epochs: list[int]) -> str:
    parts: list[list[int]] = []
    for epoch in epochs:
        if parts and parts[-1][1] == epoch - 1:
            parts[-1][1] = epoch
        else:
            parts.append([epoch, epoch])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)
