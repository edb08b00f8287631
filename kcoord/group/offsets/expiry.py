"""Which offsets are forgotten, and when? And which groups?

| the group | an offset is forgotten when |
| --- | --- |
| Empty, of some protocol type | the group has been empty for the retention time |
| Stable, of type "consumer" | its topic is not subscribed to, and it was committed longer ago than the retention time |
| without protocol type (offsets only) | it was committed longer ago than the retention time |
| rebalancing, or of another type with members | never |

An offset that was committed with a retention time of its own (OffsetCommit v2-v4) goes by that. A group that is
Empty and has no offsets is removed. A connect group goes, with its history, when it has been empty for the retention
time.
"""

from __future__ import annotations

from kcoord.group.connect.records import deletion
from kcoord.group.generic.group import CONSUMER, GenericGroup
from kcoord.group.generic.records import tombstone as group_tombstone
from kcoord.group.generic.states import State
from kcoord.group.offsets.store import tombstone, tombstones
from kcoord.group.turn import Turn
from kcoord.protocol.records import OffsetCommitValue


def expire(turn: Turn) -> None:
    """Forget what has expired in all groups of the shard."""
    for group in list(turn.contents.groups.values()):
        _expire_offsets(turn, group)
        if group.state is State.EMPTY and not group.pending and not turn.contents.offsets.of_group(group.group_id):
            turn.write(group_tombstone(group.group_id))
    for connect in list(turn.contents.connect.values()):
        if not connect.members and _is_over(turn, connect.reason_wall_ms):
            offsets = tombstones(turn.contents.offsets, connect.group_id)  # of when it was a generic group
            for record in [*offsets, *deletion(connect)]:
                turn.write(record)


def _expire_offsets(turn: Turn, group: GenericGroup) -> None:
    offsets = turn.contents.offsets.of_group(group.group_id)
    if not offsets or not _may_expire(group):
        return
    subscribed = group.subscribed_topics()
    expired = [
        (topic, partition)
        for topic, partitions in offsets.items()
        if not group.is_subscribed(subscribed, topic)
        for partition, value in partitions.items()
        if _is_expired(turn, group, value)
    ]
    for topic, partition in expired:
        turn.write(tombstone(group.group_id, topic, partition))


def _may_expire(group: GenericGroup) -> bool:
    if not group.protocol_type or group.state is State.EMPTY:
        return True
    return group.state is State.STABLE and group.protocol_type == CONSUMER


def _is_expired(turn: Turn, group: GenericGroup, value: OffsetCommitValue) -> bool:
    if value.expire_timestamp != -1:
        return turn.wall_ms >= value.expire_timestamp
    since_ms = value.commit_timestamp
    if group.protocol_type and group.state is State.EMPTY and group.record.current_state_timestamp != -1:
        since_ms = group.record.current_state_timestamp
    return _is_over(turn, since_ms)


def _is_over(turn: Turn, since_wall_ms: int) -> bool:
    """Whether the retention time has passed since."""
    return turn.wall_ms - since_wall_ms >= turn.contents.settings.offsets_retention_ms
