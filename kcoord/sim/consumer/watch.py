"""Two processes in front of a cluster, as far as topics go: each has half of the connections, looks for itself, and
tells the groups with heartbeats, and with JoinGroups, what it has seen (KG-17).

What a process keeps of its looks is the gateway's own code. A look may come late, and while things go wrong it may miss
topics, as one at a broker that has just started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from kcoord.gateway.topology.seen_facts import Followed, News, SeenFacts
from kcoord.group.shard import Shard
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.seen_topics import SeenTopics
from kcoord.group.state.step import RequestContext
from kcoord.group.state.topic import Topic
from kcoord.protocol.consumer_embedded import decode_assignment, decode_subscription
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, HeartbeatRequest, JoinGroupRequest
from kcoord.sim.consumer.context import ConsumerContext

Telling = ConsumerGroupHeartbeatRequest | JoinGroupRequest | HeartbeatRequest
"""A request that tells a consumer group of topics."""
NO_NEWS = News(SeenTopics({}, {}), None)
PROCESSES = 2
LOOK_MS = 2_000
"""How often a process looks, in ms, at most a quarter more."""
MISSES = 0.2
"""The share of looks, while things go wrong, that miss topics or partitions."""
MISSED_IN_A_ROW = 2
"""How many looks of both processes in a row miss a topic at most: fewer than have to agree."""


class SimulatedWatch:
    """What both processes know."""

    def __init__(self, context: ConsumerContext) -> None:
        self._context = context
        self._processes: list[SeenFacts[int]] = []
        self._life = 0
        self._missed: Counter[tuple[int, str]] = Counter()
        """By process and topic, how many looks in a row have missed it."""
        self.begin_anew()

    def begin_anew(self) -> None:
        """The processes have been started again: they know nothing."""
        self._life += 1
        self._processes = [SeenFacts() for _ in range(PROCESSES)]
        for number in range(PROCESSES):
            self._look_later(number, self._life)

    def _look_later(self, number: int, life: int) -> None:
        after_ms = int(LOOK_MS * (1 + self._context.random.random() / 4))
        self._context.events.after(after_ms, self._look, number, life)

    def _look(self, number: int, life: int) -> None:
        if life != self._life:
            return
        process, context = self._processes[number], self._context
        process.forget_unused(context.events.now_ms)
        names = frozenset[str]().union(*(followed.topics for _, followed in process.consumers()))
        process.note_all(self._shown(number, names), context.events.now_ms)
        self._look_later(number, life)

    def _shown(self, number: int, names: frozenset[str]) -> Mapping[str, Topic | None]:
        """What the cluster shows that process of these topics."""
        context, chance = self._context, self._context.random.random
        misses = context.faulty and chance() < MISSES
        shown: dict[str, Topic | None] = {}
        for name in sorted(names):
            topic = shown[name] = context.topics.get(name)
            if topic is None or not misses or chance() < 0.5 or self._missed[number, name] >= MISSED_IN_A_ROW:
                self._missed[number, name] = 0
                continue
            self._missed[number, name] += 1
            fewer = int(chance() * topic.partitions)
            shown[name] = attrs.evolve(topic, partitions=fewer) if fewer else None
        return shown

    # -- heartbeats ---------------------------------------------------------------------------------------------------

    def told(self, shard: Shard, request: Telling, connection: int, context: RequestContext) -> RequestContext:
        """The context of a request, with what is to be told of its sender's topics."""
        if isinstance(request, ConsumerGroupHeartbeatRequest):
            if request.member_epoch < JOINING_EPOCH:
                return context
            news = self._news(shard, request, connection, request.subscribed_topic_names)
            if news is not None and request.member_epoch == JOINING_EPOCH:
                news = self._beside(shard, request.group_id, connection, news)
        elif request.group_id not in shard.state.consumer and not shard.facts(request.group_id).is_led_alone:
            self._processes[connection % PROCESSES].forget((connection, request.group_id))
            return context
        elif request.group_id not in shard.state.consumer and isinstance(request, HeartbeatRequest):
            news = self._beside(shard, request.group_id, connection, NO_NEWS)
        else:
            said = decode_subscription(request.protocols[0].metadata) if isinstance(request, JoinGroupRequest) else None
            news = self._news(shard, request, connection, None if said is None else said.topics)
        return context if news is None else attrs.evolve(context, seen=news.seen)

    def _beside(self, shard: Shard, group_id: str, connection: int, news: News) -> News:
        """That news, and what the cluster shows of the topics of the members of a classic group."""
        classic = shard.state.groups.get(group_id)
        if classic is None or not classic.members:
            return news
        names = {
            name
            for member in classic.members.values()
            for name in (
                *decode_subscription(member.protocols[0][1]).topics,
                *(topic for topic, _ in decode_assignment(member.assignment).partitions),
            )
        }
        process, now_ms = self._processes[connection % PROCESSES], self._context.events.now_ms
        process.note_all(self._shown(connection % PROCESSES, frozenset(names)), now_ms)
        return attrs.evolve(news, seen=process.told(Followed(frozenset(names)), now_ms).seen.with_these(news.seen))

    def _news(self, shard: Shard, request: Telling, connection: int, names: Sequence[str] | None) -> News | None:
        """`names`: what the request's sender says that it subscribes to; None: it says nothing of that."""
        process, consumer = self._processes[connection % PROCESSES], (connection, request.group_id)
        if names is not None:
            followed = Followed(frozenset(names))
            process.note_all(self._shown(connection % PROCESSES, followed.names), self._context.events.now_ms)
            process.follow(consumer, followed)
            return process.told(followed, self._context.events.now_ms)
        if process.of(consumer) is None:
            group = shard.state.consumer.get(request.group_id)
            member = None if group is None else group.members.get(request.member_id)
            if member is not None:  # over a new connection it says nothing of that again: the group knows
                process.follow(consumer, Followed(member.names))
        return process.news(consumer, self._context.events.now_ms)

    def refused(self, request: Telling, connection: int) -> None:
        """The group has not heard what the request was to tell it."""
        self._processes[connection % PROCESSES].untold((connection, request.group_id))

    def closed(self, connection: int) -> None:
        """A connection has ended."""
        self._processes[connection % PROCESSES].drop(connection)
