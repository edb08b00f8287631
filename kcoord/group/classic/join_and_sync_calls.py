"""JoinGroup and SyncGroup requests in one form for all versions."""

from __future__ import annotations

from sys import intern

from kcoord.group.state.groups.classic_member import ClassicMember, Protocols
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.messages import JoinGroupRequest

REBALANCE_TIMEOUT_VERSION = 1
PREFIX_CHARS = 255
"""How many characters of a client's or instance's id go into a member id, which must stay a string that can be sent."""


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
    member: ClassicMember
    assignments: dict[str, bytes]
    """By member id; only the assignments that the leader sends count."""


def protocols_of(request: JoinGroupRequest) -> Protocols:
    """The protocols that a JoinGroup offers, each once."""
    protocols: dict[str, bytes] = {}
    for protocol in request.protocols:
        protocols.setdefault(intern(protocol.name), protocol.metadata)
    return tuple(protocols.items())


def new_member_id(transition: Transition, request: JoinGroupRequest, context: RequestContext) -> str:
    """A member id for a sender that has none yet."""
    prefix = context.client_id if request.group_instance_id is None else request.group_instance_id
    return f"{prefix[:PREFIX_CHARS]}-{transition.state.ids()}"


def join_of(
    request: JoinGroupRequest, context: RequestContext, token: Token, protocols: Protocols, member_id: str
) -> Join:
    """The JoinGroup in one form for all versions."""
    has_timeout = context.api_version >= REBALANCE_TIMEOUT_VERSION
    return Join(
        token=token,
        api_version=context.api_version,
        member_id=member_id,
        instance_id=request.group_instance_id,
        client_id=intern(context.client_id),
        client_host=intern(context.client_host),
        protocol_type=intern(request.protocol_type),
        protocols=protocols,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms if has_timeout else request.session_timeout_ms,
        reason=request.reason,
    )
