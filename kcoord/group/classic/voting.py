"""The vote for a classic group's protocol, and whether a member may join with the protocols that it offers.

Only a protocol that every member supports can be chosen. Each member votes for the first such protocol of its own. Most
votes win; in a tie the protocol wins that the oldest member voted for (Apache Kafka leaves that open).
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import Protocols
from kcoord.group.state.groups.classic_states import ClassicState


def may_join(group: ClassicGroup, protocol_type: str, protocols: Protocols) -> bool:
    """Whether a JoinGroup of this type with these protocols agrees with what the members speak. An empty group accepts
    everything.
    """
    if group.state in (ClassicState.EMPTY, ClassicState.DEAD):
        return bool(protocol_type and protocols)
    size = len(group.members)
    return protocol_type == group.protocol_type and any(group.support.get(name, 0) == size for name, _ in protocols)


def elect_protocol(group: ClassicGroup) -> str:
    """The protocol that the members vote for. There is always one: nobody is let in without a protocol that all others
    have (`may_join`).
    """
    size = len(group.members)
    candidates = {name for name, count in group.support.items() if count == size}
    votes: dict[str, int] = {}
    for member in group.members.values():
        vote = next(name for name, _ in member.protocols if name in candidates)
        votes[vote] = votes.get(vote, 0) + 1
    return max(votes, key=lambda name: votes[name])
