"""Which answers wait until they would say something new, and for how long; and when the member is to come again.

All clients send one heartbeat at a time. So an answer never waits while its member has something to confirm: the
confirmation would wait with it.

From an answer to the member's next heartbeat nobody can tell it anything. So what need not be told waits as well, and
the fewer consumers there are, the shorter is their interval (KG-25).
"""

from __future__ import annotations

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import ConsumerMember, Stage
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.transition import Transition
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest

COUNTED_EVERY_MS = 1_000
ABOUT_RIGHT = 4
"""An interval that is at most this many times as long as it must be stays as it is."""
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


@frozen(slots=True)
class Pace:
    """How often a member comes, and how long its answers wait, in ms."""

    shortest_ms: int
    """The shortest interval that it is told, unless its group's own is shorter."""
    round_trip_ms: int
    """The part of the interval that is left for the round trip."""


OF_PATIENT = Pace(500, 200)
"""Of clients that wait for an answer for longer than an interval. Java's uses CPU for as long as it is late."""
OF_OTHERS = Pace(1_000, 500)
"""librdkafka gives up a heartbeat one interval after it has sent it, and closes the connection."""


def wants_all(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the answer must have the assignment although it is as before: for a join, and for a request that says all
    that a join does.
    """
    subscribes = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    is_full = request.rebalance_timeout_ms != -1 and subscribes and request.topic_partitions is not None
    return request.member_epoch == JOINING_EPOCH or is_full


def told_interval(transition: Transition, group_id: str, member: ConsumerMember) -> int:
    """The interval that the member is told with an answer, in ms: one with which all consumers here send no more
    heartbeats than they may. It stays while it is about right: Java's consumer waits for a whole interval more whenever
    it is told another one.
    """
    settings, shortest_ms = transition.state.consumer_settings(group_id), _pace(member).shortest_ms
    longest_ms = settings.heartbeat_interval_ms
    if settings.wait_ms <= 0:
        return longest_ms
    least_ms = max(shortest_ms, 1_000 * _consumers(transition) // settings.heartbeats_per_s)
    if least_ms <= member.told_interval_ms <= ABOUT_RIGHT * least_ms:
        return min(longest_ms, member.told_interval_ms)
    return min(longest_ms, shortest_ms << (-(-least_ms // shortest_ms) - 1).bit_length())


def _consumers(transition: Transition) -> int:
    """How many members the groups here had at the last count, which is a second old at most."""
    census, now_ms = transition.state.census, transition.now_ms
    if now_ms >= census.due_ms:
        census.consumers = sum(len(group.members) for group in transition.state.consumer.values())
        census.due_ms = now_ms + COUNTED_EVERY_MS
    return census.consumers


def _pace(member: ConsumerMember) -> Pace:
    return OF_PATIENT if member.is_patient else OF_OTHERS


def _last_told(member: ConsumerMember) -> int:
    """The interval that the member was told last. On a new connection it may be any: the shortest counts."""
    return member.told_interval_ms or _pace(member).shortest_ms


def _waits_ms(settings: ConsumerSettings, member: ConsumerMember, interval_ms: int) -> int:
    """How long an answer waits, in ms, if there is no news. That leaves the member time for the round trip."""
    told_ms = min(interval_ms, settings.heartbeat_interval_ms)
    return min(settings.wait_ms, told_ms - min(_pace(member).round_trip_ms, told_ms // 2))


def how_long_to_hold(
    transition: Transition,
    member: ConsumerMember,
    request: ConsumerGroupHeartbeatRequest,
    *,
    has_news: bool,
    is_behind: bool,
) -> Delay:
    """How long the answer to a heartbeat waits. `has_news`: the member is told to consume something else than before.
    `is_behind`: it has waited for the answer to another request of its connection, and nobody knows how long. Its
    client may not wait for a whole interval more.
    """
    settings = transition.state.consumer_settings(request.group_id)
    if settings.wait_ms <= 0 or has_news:
        return NONE
    is_late = is_behind and not member.is_patient
    if request.member_epoch == JOINING_EPOCH:
        waits_for_others = member.stage is Stage.UNRELEASED and not member.assigned
        interval_ms = settings.heartbeat_interval_ms if member.is_patient else _last_told(member)
        return Delay(_waits_ms(settings, member, interval_ms)) if waits_for_others and not is_late else NONE
    if says_more(request):
        return NONE
    fuse_ms = max(0, member.answered_ms + LEAST_APART_MS - transition.now_ms)
    if member.stage is not Stage.UNREVOKED and member.reported == member.assigned and not is_late:
        return Delay(max(_waits_ms(settings, member, _last_told(member)), fuse_ms))
    return Delay(fuse_ms, is_fuse=True)


def says_more(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether it says more than ids, the epoch and what the member owns."""
    return (
        request.rebalance_timeout_ms != -1
        or request.subscribed_topic_names is not None
        or request.subscribed_topic_regex is not None
        or request.server_assignor is not None
        or request.rack_id is not None
        or request.client_assignors is not None
    )
