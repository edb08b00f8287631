"""SyncGroup (14): the leader brings the assignments of the generation, every member fetches its own.

v0-v2 are alike. v3 adds group.instance.id. v4 is flexible. v5 adds protocol type and name, which must be set and must
be the group's.
"""

from __future__ import annotations

from kcoord.group.classic.sync_group import sync_classic
from kcoord.group.classic_consumers.sync_group import sync_consumer
from kcoord.group.conversion.conversion_trigger import follow_when_stable
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.sync_group import sync_translated
from kcoord.protocol.messages import SyncGroupRequest


def sync_group(transition: Transition, request: SyncGroupRequest, context: RequestContext, token: Token) -> None:
    """Handle a SyncGroup; it may stay parked. A classic group whose rebalance it ends may be converted."""
    connect = transition.state.connect.get(request.group_id)
    if connect is not None:
        sync_translated(transition, connect, request, context, token)
        return
    consumers = transition.state.consumer.get(request.group_id)
    if consumers is not None:
        sync_consumer(transition, consumers, request, context, token)
        return
    group = transition.state.groups.get(request.group_id) or ClassicGroup(request.group_id)
    if sync_classic(transition, group, request, context, token):
        follow_when_stable(transition, group)
