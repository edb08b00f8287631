"""The watch of topics: what the cluster shows of the topics to which consumers behind kcoord subscribe (KG-17).

In front of a cluster topics are the cluster's. kcoord has no credentials, so it asks over the consumers' own
connections, and never for topics to be created. Rules:

1. A heartbeat that says what its sender subscribes to waits for one look at these topics, on its own connection. So a
   join has partitions in its first answer, and a topic that the client may not describe is refused.
2. All topics that somebody subscribes to are looked at again every `gateway.topics.interval.ms`, each over one
   connection that may ask. What is new is told to the group with the next heartbeat of each consumer that it concerns.
3. More partitions count at once, and so does another id, which means another topic by the same name. Fewer partitions,
   or no such topic, count only when looks agree (`seen_facts.py`): a broker that has just started knows less than there
   is. While nobody can be asked, nothing changes.
4. A regular expression is matched against all topics that the client may describe: when the client brings it, and every
   `PATTERNS_EVERY_MS`.
5. If the cluster has no ids of topics (before Kafka 2.8, or another product), each is made of the cluster's id and the
   name. A topic that is deleted and made anew then goes unnoticed.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Protocol

from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.gateway.settings import GatewaySettings
from kcoord.gateway.topology.seen_facts import Followed, News, SeenFacts
from kcoord.group.state.groups.consumer_group import Topic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.metadata_response import MetadataResponseTopic
from kcoord.protocol.messages import MetadataRequest, MetadataResponse
from kcoord.protocol.primitives import DecodeError
from kcoord.topic_patterns import matching

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["NO_ID", "News", "TopicWatch", "TopicsRefused", "made_up_id"]

log = logging.getLogger("kcoord.gateway")

MAKES_NO_TOPICS = 4
"""The first version of Metadata that can ask without creating topics."""
PATTERNS_EVERY_MS = 30_000
"""How often all topics are matched against the regular expressions, in ms."""
MANY = 1_000
"""The most names that are matched on the event loop."""
NO_ID = bytes(16)
ID_BYTES = 16


class TopicsRefused(Exception):
    """The client may not describe a topic to which it subscribes."""


class WatchContext(Protocol):
    """What `TopicWatch` needs from the gateway."""

    settings: GatewaySettings

    def now_ms(self) -> int: ...


class TopicWatch:
    """What this process knows of topics, and for whom."""

    def __init__(self, gateway: WatchContext) -> None:
        self._gateway = gateway
        self._known: SeenFacts[ClientSession] = SeenFacts()
        self._sessions: dict[ClientSession, None] = {}
        """Those of consumers, in their order, so that a run can be repeated."""
        self._patterns_due_ms = 0

    # -- what handlers use --------------------------------------------------------------------------------------------

    def follows(self, session: ClientSession, group_id: str) -> bool:
        """Whether it is known what the consumer of that group on this connection subscribes to."""
        return self._known.of((session, group_id)) is not None

    async def follow(self, session: ClientSession, group_id: str, names: list[str] | None, pattern: str | None) -> News:
        """The consumer subscribes to these topics from now on, or goes on with those of before (None). Look at them.

        Raises TopicsRefused, PatternError, UpstreamLost, DecodeError.
        """
        former = self._known.of((session, group_id)) or Followed()
        followed = Followed(
            former.names if names is None else frozenset(names), former.pattern if pattern is None else pattern
        )
        if followed.pattern:
            shown = await self._look(session, None)
            followed.resolved = await _matching(followed.pattern, shown)
            self._note({name: shown[name] for name in followed.resolved})
        missing = followed.names - followed.resolved
        if missing:
            self._note(await self._look(session, missing))
        if not session.gone:
            self._sessions[session] = None
            self._known.follow((session, group_id), followed)
        return self._known.told(followed, self._gateway.now_ms())

    def news(self, session: ClientSession, group_id: str) -> News | None:
        """What the group of this consumer has not been told yet; None: nothing."""
        return self._known.news((session, group_id), self._gateway.now_ms())

    async def check(self, session: ClientSession, names: Iterable[str]) -> None:
        """Raises TopicsRefused if the client may not describe all of these topics, UpstreamLost, DecodeError."""
        wanted = frozenset(names)
        if wanted:
            await self._look(session, wanted)

    async def names_of(self, session: ClientSession, ids: AbstractSet[bytes]) -> dict[bytes, str | None]:
        """The names of the topics with these ids that the client may describe; None: it is shown no such topic. Raises
        UpstreamLost, DecodeError.
        """
        known = self._known.names_by_id()
        named = {known[each] for each in ids if each in known}
        shown = await self._look(session, named, refuses=False) if len(named) == len(ids) else {}
        found = {topic.id: name for name, topic in shown.items() if topic is not None}
        if not ids <= found.keys():
            shown = await self._look(session, None)
            found = {topic.id: name for name, topic in shown.items() if topic is not None}
        return {each: found.get(each) for each in ids}

    def untold(self, session: ClientSession, group_id: str) -> None:
        """The group has not heard what it was to be told with the last heartbeat: tell it with the next one."""
        self._known.untold((session, group_id))

    def drop(self, session: ClientSession) -> None:
        """The client has gone."""
        if self._sessions.pop(session, self) is None:
            self._known.drop(session)

    # -- the watch ----------------------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Look again and again; does not return."""
        while True:
            await asyncio.sleep(self._gateway.settings.topics_interval_ms / 1000 * random.uniform(0.8, 1.2))
            try:
                await self.look()
            except Exception:
                log.exception("a fault of kcoord's own while topics were looked at")

    async def look(self) -> None:
        """Look once at all topics that somebody subscribes to."""
        wanted = self._askers()
        if not wanted:
            return
        self._known.forget_unused()
        for session, names in wanted.items():
            try:
                self._note(await self._look(session, names, refuses=False))
            except (UpstreamLost, DecodeError) as lost:
                log.debug("no look at topics over %s: %s", session.client.peer, lost)
        if self._gateway.now_ms() >= self._patterns_due_ms:
            self._patterns_due_ms = self._gateway.now_ms() + PATTERNS_EVERY_MS
            await self._resolve_again()
        for (session, _), followed in self._known.consumers():
            if self._known.has_news(followed, self._gateway.now_ms()):
                session.client.forget_answers()

    def _askers(self) -> dict[ClientSession, set[str]]:
        """Which topics to look at over which connection: each over one, not always the same."""
        able = [session for session in self._sessions if session.may_ask]
        random.shuffle(able)
        wanted: dict[ClientSession, set[str]] = {session: set() for session in able}
        for (session, _), followed in self._known.consumers():
            if session in wanted:
                wanted[session] |= followed.topics
        assigned: set[str] = set()
        for names in wanted.values():
            names -= assigned
            assigned |= names
        return {session: names for session, names in wanted.items() if names}

    async def _resolve_again(self) -> None:
        """Match all regular expressions again."""
        for session in list(self._sessions):
            patterned = [each for (whose, _), each in self._known.consumers() if whose is session and each.pattern]
            if not patterned or not session.may_ask:
                continue
            try:
                shown = await self._look(session, None)
            except (UpstreamLost, DecodeError) as lost:
                log.debug("no look at all topics over %s: %s", session.client.peer, lost)
                continue
            for each in patterned:
                resolved = await _matching(each.pattern, shown)
                self._known.resolve(each, resolved)
                self._note({name: shown[name] for name in resolved})

    async def _look(
        self, session: ClientSession, names: Iterable[str] | None, *, refuses: bool = True
    ) -> dict[str, Topic | None]:
        """The topics among `names` that the cluster shows to this client now, and None for those that do not exist;
        without names, all that it shows. What it does not say anything about is left out. Raises TopicsRefused if one
        may not be described and that `refuses`.
        """
        response = await _ask(session, names)
        topics: dict[str, Topic | None] = {}
        for each in response.topics:
            if each.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED and names is not None and refuses:
                raise TopicsRefused(f"topic {each.name} may not be described")
            topic = _topic(each, response.cluster_id)
            if topic is not None:
                topics[topic.name] = topic
            elif each.name and each.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                topics[each.name] = None
        return topics

    def _note(self, shown: Mapping[str, Topic | None]) -> None:
        self._known.note_all(shown, self._gateway.now_ms())


async def _ask(asker: Asker, names: Iterable[str] | None) -> MetadataResponse:
    """The cluster's answer about these topics, or about all. Raises UpstreamLost, DecodeError."""
    version = await asker.version(MetadataRequest)
    if version is None or version < MAKES_NO_TOPICS:
        raise UpstreamLost("upstream is too old to be asked for topics without creating them (Kafka 0.11)")
    topics = None if names is None else [MetadataRequestTopic(name=name) for name in sorted(names)]
    response = await asker.ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False), version)
    assert isinstance(response, MetadataResponse)
    return response


def _topic(shown: MetadataResponseTopic, cluster_id: str | None) -> Topic | None:
    """The topic that an answer shows; None: it does not exist, is not ready, or may not be described."""
    if shown.error_code or not shown.name or not shown.partitions:
        return None
    topic_id = shown.topic_id if shown.topic_id != NO_ID else made_up_id(shown.name, cluster_id)
    return Topic(shown.name, topic_id, len(shown.partitions))


def made_up_id(name: str, cluster_id: str | None) -> bytes:
    """The id of a topic in a cluster that has none: the same in each process, and after each restart."""
    return hashlib.sha256(f"{cluster_id or ''}/{name}".encode()).digest()[:ID_BYTES]


async def _matching(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that the regular expression matches. Raises PatternError."""
    known = list(names)
    if len(known) > MANY:
        return await asyncio.to_thread(matching, pattern, known)
    return matching(pattern, known)
