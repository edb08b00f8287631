"""The end of the load of a group without a barrier: what `connect_replay` and `consumer_replay` have in common."""

from __future__ import annotations

from typing import Any

from kcoord.group.state.groups.classic_group import NO_RECORD
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.shard_state import ShardState


def replay_history(group: AnyGroup, epoch: int, entry: Any) -> None:
    """The history of one group epoch; None: it is forgotten."""
    if entry is None:
        group.history.pop(epoch, None)
    else:
        group.history[epoch] = entry


def complete(state: ShardState, group: AnyGroup, unsaid: Any) -> None:
    """Drop the members whose own record never came (their metadata is `unsaid`), and build the indexes."""
    for member_id in [each for each, member in group.members.items() if member.metadata is unsaid]:
        del group.members[member_id]
    group.history = dict(sorted(group.history.items()))
    group.index()
    shell = state.groups.get(group.group_id)  # made for offsets that were read before the group
    if shell is not None and shell.record is NO_RECORD:
        del state.groups[group.group_id]
