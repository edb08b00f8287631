"""Heartbeat (12): a member is alive, and learns whether it must join again.

v0-v2 are alike. v3 adds group.instance.id. v4 is flexible.
"""

from __future__ import annotations

from kcoord.group.classic.heartbeat import heartbeat_classic
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Turn
from kcoord.group.translation.heartbeat import heartbeat_translated
from kcoord.protocol.messages import HeartbeatRequest


def heartbeat(turn: Turn, request: HeartbeatRequest, context: RequestContext, token: Token) -> None:
    """Handle a Heartbeat."""
    connect = turn.contents.connect.get(request.group_id)
    if connect is None:
        heartbeat_classic(turn, request, token)
    else:
        heartbeat_translated(turn, connect, request, context, token)
