"""Heartbeat (12): a member is alive, and learns whether it must join again.

v0-v2 are alike. v3 adds group.instance.id. v4 is flexible.
"""

from __future__ import annotations

from kcoord.group.classic.heartbeat import heartbeat_classic
from kcoord.group.classic_consumers.heartbeat import heartbeat_consumer
from kcoord.group.classic_consumers.individual_mode import is_to_be_led_alone
from kcoord.group.classic_consumers.to_consumer_group import lead_alone
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.heartbeat import heartbeat_translated
from kcoord.protocol.messages import HeartbeatRequest


def heartbeat(transition: Transition, request: HeartbeatRequest, context: RequestContext, token: Token) -> None:
    """Handle a Heartbeat. A classic group of consumers that are to be led one by one may be converted."""
    connect = transition.state.connect.get(request.group_id)
    consumers = transition.state.consumer.get(request.group_id)
    if connect is not None:
        heartbeat_translated(transition, connect, request, context, token)
        return
    if consumers is not None:
        heartbeat_consumer(transition, consumers, request, context, token)
        return
    group = transition.state.groups.get(request.group_id)
    is_led_alone = group is not None and is_to_be_led_alone(transition.state, group)
    heartbeat_classic(transition, request, token, is_repeatable=not is_led_alone)
    if group is not None and is_led_alone:
        lead_alone(transition, group, context)
