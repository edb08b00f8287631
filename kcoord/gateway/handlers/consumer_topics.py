"""What a consumer group needs from outside with its members' requests, in front of a cluster. Rules (KG-17, KG-19):

1. What the cluster shows of the topics to which a member subscribes comes with the request that says so: a heartbeat of
   the new protocol, or a JoinGroup. Later heartbeats bring what has been seen since (`topic_watch.py`).
2. A consumer that joins may make a consumer group of a classic one, which nobody has told of topics. So its heartbeat
   brings what is seen of those of the classic members, too. What the joining client may not describe, one of their own
   connections shows. The same brings each heartbeat of a classic group whose members are to be led one by one, and a
   JoinGroup that may begin such a group what is seen of its sender's topics (KG-26).
3. A member may go on over a new connection without saying again what it subscribes to. The group knows.
4. The sentinel stands for the group's *fence epoch*: the last at which somebody lost partitions without having let go
   of them. No answer that gives partitions leaves before the sentinel does so for the present one. So upstream refuses
   a commit of that somebody which is still under way.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.gateway.ownership.access.group_ownership import OwnershipContext, facts_of
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.access.paused_sessions import PausedSessions
from kcoord.gateway.ownership.maintenance.group_appearances import GroupAppearances
from kcoord.gateway.ownership.sentinel.appearance import CONSUMER
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.connection_context import Spawner
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.gateway.topology.topic_watch import News, TopicWatch
from kcoord.group.state.seen_topics import SeenTopics
from kcoord.group.state.step import RequestContext
from kcoord.protocol.consumer_embedded import decode_subscription
from kcoord.protocol.embedded import EmbeddedError
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_describe_response import Member
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
)
from kcoord.protocol.primitives import DecodeError
from kcoord.topic_patterns import PatternError

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = [
    "ConsumerTopicsContext",
    "find_out",
    "is_of_consumers",
    "seen_by_classic",
    "seen_by_consumer",
    "stand",
    "with_news",
]

JOINING_EPOCH = 0
NO_NEWS = News(SeenTopics({}, {}), None)
LEAVING_EPOCHS = frozenset({-1, -2})
GATHERED_S = 0.5
"""How long kcoord gathers consumers of which only their group knows what they subscribe to, in seconds."""


class ConsumerTopicsContext(OwnershipContext, Spawner, Protocol):
    """What this module needs from the gateway."""

    appearances: GroupAppearances
    guarded: GuardedGroups
    paused_sessions: PausedSessions
    topics: TopicWatch

    def member_sessions(self, group_id: str) -> list[ClientSession]: ...


def is_of_consumers(gateway: ConsumerTopicsContext, group_id: str) -> bool:
    """Whether the group is a consumer group, by the facts known without asking."""
    return gateway.groups.known_facts(group_id).consumer_epoch is not None


def with_news(context: RequestContext, news: News | None) -> RequestContext:
    """The context of a request that tells its group of that news."""
    return context if news is None else attrs.evolve(context, seen=news.seen, resolved=news.resolved)


async def seen_by_consumer(
    gateway: ConsumerTopicsContext, session: ClientSession, request: ConsumerGroupHeartbeatRequest
) -> News | None:
    """What the group is to be told with a heartbeat of the new protocol. Raises TopicsRefused, PatternError,
    UpstreamLost, DecodeError.
    """
    topics, group_id = gateway.topics, request.group_id
    if request.member_epoch in LEAVING_EPOCHS:
        return None
    names, pattern = request.subscribed_topic_names, request.subscribed_topic_regex
    if names is None and pattern is None:
        return topics.news(session, group_id)
    await session.ready()
    others = await _of_classic_members(gateway, group_id) if request.member_epoch == JOINING_EPOCH else frozenset()
    had = partial(_topics_of, gateway, group_id)
    news = await topics.follow(session, group_id, names, pattern, had)
    return await topics.beside(news, others, [session, *gateway.member_sessions(group_id)]) if others else news


async def _of_classic_members(gateway: ConsumerTopicsContext, group_id: str) -> frozenset[str]:
    """The topics of a classic group that has members here."""
    facts = await facts_of(gateway, group_id)
    is_classic = facts.has_members and facts.consumer_epoch is None
    return await gateway.appearances.of_classic_consumers(group_id) if is_classic else frozenset()


async def seen_by_classic(
    gateway: ConsumerTopicsContext, session: ClientSession, request: JoinGroupRequest | HeartbeatRequest
) -> News | None:
    """What a consumer group is to be told with a request of a classic member; None also in a group of another kind.
    Raises UpstreamLost, DecodeError.
    """
    topics, group_id = gateway.topics, request.group_id
    facts = gateway.groups.known_facts(group_id)
    is_theirs = facts.consumer_epoch is not None
    is_consumers = isinstance(request, HeartbeatRequest) or request.protocol_type == CONSUMER
    if not is_consumers or not (is_theirs or facts.is_led_alone):
        topics.forget(session, group_id)
        return None
    if isinstance(request, HeartbeatRequest):
        return topics.news(session, group_id) if is_theirs else await _of_whole_group(gateway, session, group_id)
    try:
        said = decode_subscription(request.protocols[0].metadata)
    except EmbeddedError:
        return None  # the group refuses it
    return await topics.follow(session, group_id, list(said.topics), "", refuses=False)


async def _of_whole_group(gateway: ConsumerTopicsContext, session: ClientSession, group_id: str) -> News | None:
    """What the cluster shows of all topics of a classic group, which becomes a consumer group when it knows that."""
    names = await _of_classic_members(gateway, group_id)
    sessions = [session, *gateway.member_sessions(group_id)]
    return await gateway.topics.beside(NO_NEWS, names, sessions) if names else None


async def _topics_of(gateway: ConsumerTopicsContext, group_id: str) -> frozenset[str]:
    """The topics that the group shares out now."""
    return await gateway.appearances.of_consumers(group_id) or frozenset()


def find_out(gateway: ConsumerTopicsContext, session: ClientSession, group_id: str, member_id: str) -> None:
    """Find out what a member subscribes to, unless it is known (rule 3 above)."""
    topics = gateway.topics
    if not topics.follows(session, group_id) and topics.find_out(session, group_id, member_id):
        gateway.spawn(_follow_known(gateway, group_id))


async def _follow_known(gateway: ConsumerTopicsContext, group_id: str) -> None:
    """After a restart many members come by new connections, and one description is for all."""
    await asyncio.sleep(GATHERED_S)
    coming = gateway.topics.to_find_out(group_id)
    described = await gateway.guarded.describe(ConsumerGroupDescribeRequest(group_ids=[group_id]))
    assert isinstance(described, ConsumerGroupDescribeResponse)
    members = {each.member_id: each for each in described.groups[0].members}
    await asyncio.gather(
        *(
            _follow_one(gateway, session, group_id, members[member_id])
            for session, member_id in coming.items()
            if member_id in members and not session.gone
        )
    )


async def _follow_one(gateway: ConsumerTopicsContext, session: ClientSession, group_id: str, member: Member) -> None:
    names, pattern = member.subscribed_topic_names, member.subscribed_topic_regex or ""
    with contextlib.suppress(PatternError, UpstreamLost, DecodeError):  # the next heartbeat tries again
        had = partial(_topics_of, gateway, group_id)
        await gateway.topics.follow_known(session, group_id, names, pattern, had)


async def stand(
    gateway: ConsumerTopicsContext, session: ClientSession, sentinel: Sentinel, member_id: str
) -> ErrorCode:
    """Make sure that the sentinel stands for the present fence epoch (rule 4 above), or say why it cannot now.

    The member's session is paused meanwhile, because a member that waits for its answer cannot send heartbeats.
    """
    group_id = sentinel.group_id

    async def current() -> int | None:
        return (await facts_of(gateway, group_id)).generation

    with gateway.paused_sessions.waiting(group_id, member_id, gateway.now_ms()):
        try:
            while True:
                fence = await current()
                if fence is None or sentinel.mark == fence:
                    return ErrorCode.NONE
                await session.ready()
                error = await sentinel.hold(session, fence, current)
                if error:  # if the cluster has the group now, the next heartbeat finds it out
                    lacks = error == ErrorCode.GROUP_AUTHORIZATION_FAILED
                    return error if lacks else ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        except UpstreamLost:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
