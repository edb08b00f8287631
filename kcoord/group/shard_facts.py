"""What a shard knows of one group, for parts of kcoord that do not coordinate it: its `GroupFacts`."""

from __future__ import annotations

from kcoord.group.classic_consumers.individual_mode import is_led_alone
from kcoord.group.group_facts import GroupFacts
from kcoord.group.state.owner_setting import OWNER, Owner
from kcoord.group.state.shard_state import ShardState

__all__ = ["facts_of"]


def facts_of(state: ShardState, group_id: str, *, loaded: bool) -> GroupFacts:
    """What a shard knows of the group."""
    consumer = state.consumer.get(group_id)
    return GroupFacts(
        known=True,
        has_members=_has_members(state, group_id),
        generation=_generation(state, group_id),
        loaded=loaded,
        owner=state.configurations.get(group_id, {}).get(OWNER, Owner.AUTO),
        consumer_epoch=None if consumer is None else consumer.epoch,
        is_led_alone=is_led_alone(state, group_id),
    )


def _has_members(state: ShardState, group_id: str) -> bool:
    """Whether the group has members. In a classic group, clients that were given a member id count too."""
    modern = state.modern_group(group_id)
    if modern is not None:
        return bool(modern.members)
    group = state.groups.get(group_id)
    return group is not None and bool(group.members or group.pending or group.record.members)


def _generation(state: ShardState, group_id: str) -> int | None:
    consumer = state.consumer.get(group_id)
    if consumer is not None:
        return consumer.fence_epoch + 1
    modern = state.modern_group(group_id)
    if modern is not None:
        return modern.epoch
    group = state.groups.get(group_id)
    return None if group is None else group.generation
