"""Which protocol does a group speak, and may a member join with what it offers?

Only a protocol that every member supports can be chosen. Each member votes for the first of its own that can be;
most votes win, and between equals the one that the eldest member voted for (Apache Kafka leaves that open).
"""

from __future__ import annotations

from kcoord.group.generic.group import GenericGroup
from kcoord.group.generic.member import Protocols
from kcoord.group.generic.states import State


def may_join(group: GenericGroup, protocol_type: str, protocols: Protocols) -> bool:
    """Whether a JoinGroup of this type with these protocols agrees with what the members speak. Everything suits an
    empty group.
    """
    if group.state in (State.EMPTY, State.DEAD):
        return bool(protocol_type and protocols)
    size = len(group.members)
    return protocol_type == group.protocol_type and any(group.support.get(name, 0) == size for name, _ in protocols)


def elect_protocol(group: GenericGroup) -> str:
    """The protocol that the members vote for. There is always one: nobody gets in who shares none with all others
    (`may_join`).
    """
    size = len(group.members)
    candidates = {name for name, count in group.support.items() if count == size}
    votes: dict[str, int] = {}
    for member in group.members.values():
        vote = next(name for name, _ in member.protocols if name in candidates)
        votes[vote] = votes.get(vote, 0) + 1
    return max(votes, key=lambda name: votes[name])
