"""Expiry of committed offsets, and of groups without members.

| the group | an offset is removed when |
| --- | --- |
| Empty, of some protocol type | the group has been empty for the retention time |
| Stable, of type "consumer" | its topic is not subscribed to, and it was committed longer ago than the retention time |
| without protocol type (offsets only) | it was committed longer ago than the retention time |
| a consumer group of KIP-848 | as of a classic one that is Stable |
| rebalancing, or of another type with members | never |

An offset that was committed with a retention time of its own (OffsetCommit v2-v4) goes by that time. A classic group
or consumer group that is Empty and has no offsets is removed. A connect group is removed, with its history, when it has
been empty for the retention time. If a shard has more than `MOST_EMPTY` of them without offsets, those that have been
empty longest are removed sooner: a client that makes groups and leaves them must not fill the memory.

The time of a commit is known in Unix time only. A wrong clock must not delete an offset (Apache Kafka's brokers delete
it at once). So:

1. While the shard runs, the time of day goes on as the steps' clock does since the load. If the clock is set forward,
   nothing expires sooner. If it is set back, the new time counts.
2. After a load nothing expires for `GRACE_MS`, or for the retention time if that is shorter: the clock of a machine
   that has just started is usually corrected in that time.
"""

from __future__ import annotations

from kcoord.group.state.committed_offsets import tombstone, tombstones
from kcoord.group.state.groups.classic_group import CONSUMER, ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.records import consumer_records
from kcoord.group.state.records.classic_records import tombstone as group_tombstone
from kcoord.group.state.records.connect_records import deletion
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition
from kcoord.protocol.records import OffsetCommitValue

GRACE_MS = 60 * 60_000
NEVER_YET = -(1 << 62)
"""A time of day at which nothing has expired."""


MOST_EMPTY = 1_000
"""How many connect groups without members and offsets a shard keeps for the retention time."""


def surplus_groups(state: ShardState) -> frozenset[str]:
    """The surplus connect groups without members and offsets: those that became empty first."""
    empty = [
        group for group in state.connect.values() if not group.members and not state.offsets.of_group(group.group_id)
    ]
    if len(empty) <= MOST_EMPTY:
        return frozenset()
    empty.sort(key=lambda group: group.reason_wall_ms)
    return frozenset(group.group_id for group in empty[:-MOST_EMPTY])


def expire(transition: Transition, group_id: str, is_surplus: bool = False) -> None:
    """Remove what has expired in one group, or the whole connect group if it is surplus."""
    wall_ms = _wall_ms(transition)
    group = transition.state.groups.get(group_id)
    if group is not None:
        _expire_offsets(transition, group, wall_ms)
        if group.state is ClassicState.EMPTY and not group.pending and not transition.state.offsets.of_group(group_id):
            transition.write(group_tombstone(group_id))
    consumer = transition.state.consumer.get(group_id)
    if consumer is not None:
        _expire_consumer_group(transition, consumer, wall_ms)
    connect = transition.state.connect.get(group_id)
    if connect is None or connect.members:
        return
    if is_surplus or _is_over(transition, connect.reason_wall_ms, wall_ms):
        offsets = tombstones(transition.state.offsets, group_id)  # from the time when it was a classic group
        for record in [*offsets, *deletion(connect)]:
            transition.write(record)


def _wall_ms(transition: Transition) -> int:
    """The time of day that retention goes by (rules 1 and 2 above)."""
    state = transition.state
    passed_ms = transition.now_ms - state.loaded_ms
    if passed_ms < min(GRACE_MS, state.settings.offsets_retention_ms):
        return NEVER_YET
    return min(transition.wall_ms, state.loaded_wall_ms + passed_ms)


def _expire_offsets(transition: Transition, group: ClassicGroup, wall_ms: int) -> None:
    offsets = transition.state.offsets.of_group(group.group_id)
    if not offsets or not _may_expire(group):
        return
    subscribed = group.subscribed_topics()
    expired = [
        (topic, partition)
        for topic, partitions in offsets.items()
        if not group.is_subscribed(subscribed, topic)
        for partition, value in partitions.items()
        if _is_expired(transition, group, value, wall_ms)
    ]
    for topic, partition in expired:
        transition.write(tombstone(group.group_id, topic, partition))


def _expire_consumer_group(transition: Transition, group: ConsumerGroup, wall_ms: int) -> None:
    """Remove offsets of topics that nobody subscribes to, and the group if it has neither members nor offsets."""
    state, group_id, subscribed = transition.state, group.group_id, group.all_names()
    expired = [
        (topic, partition)
        for topic, partitions in state.offsets.of_group(group_id).items()
        if topic not in subscribed
        for partition, value in partitions.items()
        if _is_old(transition, value, value.commit_timestamp, wall_ms)
    ]
    for topic, partition in expired:
        transition.write(tombstone(group_id, topic, partition))
    if not group.members and not state.offsets.of_group(group_id):
        for record in consumer_records.deletion(group):
            transition.write(record)


def _may_expire(group: ClassicGroup) -> bool:
    if not group.protocol_type or group.state is ClassicState.EMPTY:
        return True
    return group.state is ClassicState.STABLE and group.protocol_type == CONSUMER


def _is_expired(transition: Transition, group: ClassicGroup, value: OffsetCommitValue, wall_ms: int) -> bool:
    since_ms = value.commit_timestamp
    if group.protocol_type and group.state is ClassicState.EMPTY and group.record.current_state_timestamp != -1:
        since_ms = group.record.current_state_timestamp
    return _is_old(transition, value, since_ms, wall_ms)


def _is_old(transition: Transition, value: OffsetCommitValue, since_ms: int, wall_ms: int) -> bool:
    """Whether an offset that nobody has needed since `since_ms` is too old to keep."""
    if value.expire_timestamp != -1:
        return wall_ms >= value.expire_timestamp
    return _is_over(transition, since_ms, wall_ms)


def _is_over(transition: Transition, since_wall_ms: int, wall_ms: int) -> bool:
    """Whether the retention time has passed since `since_wall_ms`."""
    return wall_ms - since_wall_ms >= transition.state.settings.offsets_retention_ms
