"""Fingerprints of the input of a classic group's generation, and of its assignments (`repeated_rebalances`).

A static member is known by its instance id. In a consumer's metadata the generation that it joined last is left out:
with it, every JoinGroup would look different.
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_group import CONSUMER, ClassicGroup
from kcoord.group.state.groups.classic_member import ClassicMember, Protocols
from kcoord.group.state.groups.subscription import without_generation
from kcoord.group.state.repeated_rebalances import Given, fingerprint


def rebalance_input(group: ClassicGroup) -> Given:
    """The present input of the next generation."""
    are_consumers = group.protocol_type == CONSUMER
    metadata = {
        _name(each): _without_generations(each.protocols) if are_consumers else each.protocols
        for each in group.members.values()
    }
    return Given(fingerprint(group.protocol_type, frozenset(metadata)), fingerprint(frozenset(metadata.items())))


def rebalance_answer(group: ClassicGroup) -> int:
    """The fingerprint of the assignments that the leader has made."""
    return fingerprint(frozenset([(_name(each), each.assignment) for each in group.members.values()]))


def _name(member: ClassicMember) -> str:
    return member.member_id if member.instance_id is None else f"static {member.instance_id}"


def _without_generations(protocols: Protocols) -> Protocols:
    return tuple([(name, without_generation(name, metadata)) for name, metadata in protocols])
