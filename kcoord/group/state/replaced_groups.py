"""Replaced groups: a group without members is deleted when a group of the other protocol takes its name."""

from __future__ import annotations

from kcoord.group.state.records import connect_records
from kcoord.group.state.records.classic_records import tombstone
from kcoord.group.state.transition import Transition


def replace_classic(transition: Transition, group_id: str) -> None:
    """Delete the empty classic group whose name a connect group takes."""
    if group_id in transition.state.groups:
        transition.write(tombstone(group_id))


def make_room(transition: Transition, group_id: str) -> bool:
    """Delete a connect group without members, so that a classic group can take its name. False if it has members."""
    group = transition.state.connect.get(group_id)
    if group is None:
        return True
    if group.members:
        return False
    for record in connect_records.deletion(group):
        transition.write(record)
    return True
