"""JoinGroup and SyncGroup requests in one form for all versions."""

from __future__ import annotations

from kcoord.group.generic.member import Member, Protocols
from kcoord.group.step import Token
from kcoord.protocol.frozen import frozen


@frozen(slots=True, eq=False)
class Join:
    """A JoinGroup that has passed all checks that do not depend on the group's state."""

    token: Token
    api_version: int
    member_id: str
    """The sender's own member id, or the one that it was just given."""
    instance_id: str | None
    client_id: str
    client_host: str
    protocol_type: str
    protocols: Protocols
    session_timeout_ms: int
    rebalance_timeout_ms: int
    reason: str | None


@frozen(slots=True, eq=False)
class Sync:
    """A SyncGroup of a member, at the current generation."""

    token: Token
    member: Member
    assignments: dict[str, bytes]
    """By member id; only the assignments that the leader sends count."""
