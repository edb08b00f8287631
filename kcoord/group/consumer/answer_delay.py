"""Which answers wait until they would say something new, and for how long.

All clients send one heartbeat at a time. So an answer never waits while its member has something to confirm: the
confirmation would wait with it.
"""

from __future__ import annotations

from kcoord.group.state.groups.consumer_group import ConsumerMember, Stage
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.transition import Transition
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest

LEAST_APART_MS = 100
"""An answer without news goes out so long after the last one. Java's consumer asks again without any pause as long as
its metadata lacks a topic that it is assigned.
"""


@frozen(slots=True)
class Delay:
    """How long an answer waits."""

    ms: int
    """0: not at all."""
    is_fuse: bool = False
    """It only leaves some time after the last one (KG-13)."""


NONE = Delay(0)


def wants_all(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the answer must have the assignment although it is as before: for a join, and for a request that says all
    that a join does.
    """
    subscribes = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    is_full = request.rebalance_timeout_ms != -1 and subscribes and request.topic_partitions is not None
    return request.member_epoch == JOINING_EPOCH or is_full


def how_long_to_hold(
    transition: Transition,
    member: ConsumerMember,
    request: ConsumerGroupHeartbeatRequest,
    *,
    repeats: bool,
    has_news: bool,
    is_behind: bool,
) -> Delay:
    """How long the answer to a heartbeat waits. `repeats`: it says no other partitions than the heartbeats before.
    `has_news`: the member is told to consume something else than before. `is_behind`: it has waited for the answer to
    another request of its connection, and nobody knows how long. Its client may not wait for a whole interval more.
    """
    wait_ms = transition.state.consumer_settings(request.group_id).wait_ms
    if wait_ms <= 0 or has_news:
        return NONE
    if request.member_epoch == JOINING_EPOCH:
        waits_for_others = member.stage is Stage.UNRELEASED and not member.assigned
        return Delay(wait_ms) if waits_for_others and not is_behind else NONE
    if request.member_epoch != member.epoch or not repeats or says_more(request):
        return NONE
    if member.stage is not Stage.UNREVOKED and member.reported == member.assigned and not is_behind:
        return Delay(wait_ms)
    return Delay(max(0, member.answered_ms + LEAST_APART_MS - transition.now_ms), is_fuse=True)


def says_more(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether it says more than ids, the epoch and what the member owns."""
    return (
        request.rebalance_timeout_ms != -1
        or request.subscribed_topic_names is not None
        or request.subscribed_topic_regex is not None
        or request.server_assignor is not None
        or request.rack_id is not None
    )
