"""Which answers wait until they would say something new, and for how long; and when the member is to come again.

All clients send one heartbeat at a time. So an answer never waits while its member has something to confirm: the
confirmation would wait with it.

From an answer to the member's next heartbeat nobody can tell it anything. So one that has just been told something is
to come again soon, and then after twice as long each time, until that is the interval of its group (KG-25).
"""

from __future__ import annotations

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import ConsumerMember, Stage
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.transition import Transition
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest

SOON_MS = 500
"""After an answer with news, the interval until the next heartbeat that the member is told at most."""
ROUND_TRIP_MS = 500
"""The part of a short interval that is left for the round trip: librdkafka gives up a heartbeat one interval after it
has sent it.
"""
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


def told_interval(settings: ConsumerSettings, member: ConsumerMember, *, is_news: bool) -> int:
    """The interval that the member is told with an answer, in ms. `is_news`: its share, its epoch or its list of what
    it owns has changed.
    """
    if settings.wait_ms <= 0:
        return settings.heartbeat_interval_ms
    return min(settings.heartbeat_interval_ms, SOON_MS if is_news else 2 * _last_told(member))


def _last_told(member: ConsumerMember) -> int:
    """The interval that the member was told last. After a load it may be any: the shortest counts."""
    return member.told_interval_ms or SOON_MS


def _waits_ms(settings: ConsumerSettings, member: ConsumerMember) -> int:
    """How long an answer waits: as large a part of the interval that the member was told as of the group's own. A short
    interval leaves time for the round trip first.
    """
    told_ms = min(_last_told(member), settings.heartbeat_interval_ms)
    part_ms = settings.wait_ms * told_ms // settings.heartbeat_interval_ms
    return part_ms if told_ms == settings.heartbeat_interval_ms else max(0, min(part_ms, told_ms - ROUND_TRIP_MS))


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
    settings = transition.state.consumer_settings(request.group_id)
    if settings.wait_ms <= 0 or has_news:
        return NONE
    if request.member_epoch == JOINING_EPOCH:
        waits_for_others = member.stage is Stage.UNRELEASED and not member.assigned
        return Delay(settings.wait_ms) if waits_for_others and not is_behind else NONE
    if request.member_epoch != member.epoch or not repeats or says_more(request):
        return NONE
    fuse_ms = max(0, member.answered_ms + LEAST_APART_MS - transition.now_ms)
    if member.stage is not Stage.UNREVOKED and member.reported == member.assigned and not is_behind:
        return Delay(max(_waits_ms(settings, member), fuse_ms))
    return Delay(fuse_ms, is_fuse=True)


def says_more(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether it says more than ids, the epoch and what the member owns."""
    return (
        request.rebalance_timeout_ms != -1
        or request.subscribed_topic_names is not None
        or request.subscribed_topic_regex is not None
        or request.server_assignor is not None
        or request.rack_id is not None
    )
