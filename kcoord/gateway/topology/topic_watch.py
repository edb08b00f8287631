"""The watch of topics: what the cluster shows of the topics to which consumers behind kcoord subscribe (KG-17).

In front of a cluster topics are the cluster's. kcoord has no credentials, so it asks over the consumers' own
connections, and never for topics to be created. Rules:

1. A heartbeat that says what its sender subscribes to waits for one look at these topics, on its own connection. So a
   join has partitions in its first answer, and a topic that the client may not describe is refused. So does a classic
   consumer's JoinGroup in a consumer group, but it is not refused for a topic: as in Kafka, its group shares out what
   other members may describe.
2. All topics that somebody subscribes to are looked at again every `gateway.topics.interval.ms`, each over one
   connection that may ask. What is new is told to the group with the next heartbeat of each consumer that it concerns.
3. More partitions count at once, and so does another id, which means another topic by the same name. Fewer partitions,
   or no such topic, count only when looks agree (`seen_facts.py`): a broker that has just started knows less than there
   is. So it is with the topic that had the name before: a broker may lag behind. While nobody can be
   asked, nothing changes. Nor does it if the one that is asked may not describe a topic any more: others may.
4. A regular expression is matched against all topics that the client may describe: when it comes into a group, and
   every `PATTERNS_EVERY_MS`, for all members of the group over the connection of one of them. An answer about all
   topics is large, and takes its time.
5. If the cluster has no ids of topics (before Kafka 2.8, or another product), each is made of the cluster's id and the
   name. A topic that is deleted and created again then goes unnoticed.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

import attrs

from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.gateway.settings import GatewaySettings
from kcoord.gateway.topology.seen_facts import Followed, News, SeenFacts
from kcoord.group.state.topic import Topic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.metadata_response import MetadataResponseTopic
from kcoord.protocol.messages import MetadataRequest, MetadataResponse
from kcoord.protocol.primitives import DecodeError
from kcoord.topic_patterns import PatternError, matching

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["NO_ID", "News", "TopicWatch", "TopicsRefused", "made_up_id"]

log = logging.getLogger("kcoord.gateway")

MAKES_NO_TOPICS = 4
"""The first version of Metadata that can ask without creating topics."""
LOOK_WITHIN_S = 5.0
"""How long the watch waits for an answer, in seconds."""
ASKED_IN_TURN = 4
"""Over how many connections a join looks at the same topics, at most."""
PATTERNS_EVERY_MS = 30_000
"""How often all topics are matched against the regular expressions, in ms."""
TELLING = frozenset({ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
"""What is said of a topic that exists, or that does not. Any other error leaves it open."""
NO_ID = bytes(16)
ID_BYTES = 16


Had = Callable[[], Awaitable[frozenset[str]]]
"""Asks for the topics that a group shares out now."""


async def _nothing() -> frozenset[str]:
    return frozenset()


class TopicsRefused(Exception):
    """The client may not describe a topic to which it subscribes."""


@attrs.frozen
class _Shown:
    """What one look has shown."""

    topics: Mapping[str, Topic]
    untold: frozenset[str]
    """Topics of which the cluster has not said whether they exist."""


class WatchContext(Protocol):
    """What `TopicWatch` needs from the gateway."""

    settings: GatewaySettings

    def now_ms(self) -> int: ...


class TopicWatch:
    """What this process knows of topics, and for whom."""

    def __init__(self, gateway: WatchContext) -> None:
        self._gateway = gateway
        self._known: SeenFacts[ClientSession] = SeenFacts()
        self._patterns_due_ms = 0
        self._unknown: dict[str, dict[ClientSession, str]] = {}
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """By group and regular expression: who finds out what matches."""

    # -- what handlers use --------------------------------------------------------------------------------------------

    def follows(self, session: ClientSession, group_id: str) -> bool:
        """Whether it is known what the consumer of that group on this connection subscribes to."""
        return self._known.of((session, group_id)) is not None

    async def follow(
        self,
        session: ClientSession,
        group_id: str,
        names: list[str] | None,
        pattern: str | None,
        had: Had = _nothing,
        *,
        refuses: bool = True,
    ) -> News:
        """The consumer subscribes to these topics from now on, or goes on with those of before (None). Look at them.
        `had`: which topics its group has had, if it subscribes by a regular expression. `refuses`: it must be allowed
        to describe those that it names.

        Raises TopicsRefused, PatternError, UpstreamLost, DecodeError.
        """
        former = self._known.of((session, group_id)) or Followed()
        followed = Followed(
            former.names if names is None else frozenset(names), former.pattern if pattern is None else pattern
        )
        await self._look_first(session, group_id, followed, had, refuses=refuses)
        if not session.gone:
            self._known.follow((session, group_id), followed)
        return self._known.told(followed, self._gateway.now_ms())

    async def beside(self, news: News, names: AbstractSet[str], sessions: Iterable[ClientSession]) -> News:
        """That news, and what the cluster shows of these topics now. What it does not show to the client of one
        connection, it may show to the client of the next; a few are asked.
        """
        untold = set(names)
        for session in islice((each for each in sessions if each.may_ask), ASKED_IN_TURN):
            shown = await self._look_again(session, untold) if untold else None
            if shown is not None:
                self._note(shown, untold)
                untold &= shown.untold
        others = self._known.told(Followed(frozenset(names)), self._gateway.now_ms())
        return attrs.evolve(news, seen=others.seen.with_these(news.seen))

    async def follow_known(
        self, session: ClientSession, group_id: str, names: list[str], pattern: str, had: Had = _nothing
    ) -> None:
        """The consumer goes on with a subscription that its group knows, unless it says another one meanwhile. Its
        group is told with its next heartbeat. Raises PatternError, UpstreamLost, DecodeError.
        """
        followed = Followed(frozenset(names), pattern)
        await self._look_first(session, group_id, followed, had, refuses=False)
        if not session.gone and not self.follows(session, group_id):
            self._known.follow((session, group_id), followed)

    async def _look_first(
        self, session: ClientSession, group_id: str, followed: Followed, had: Had, *, refuses: bool
    ) -> None:
        if followed.names:
            self._note(await self._look(session, followed.names, refuses=refuses), followed.names)
        if not followed.pattern:
            return
        key = group_id, followed.pattern
        async with self._turns.setdefault(key, asyncio.Lock()):  # a restart brings all members at once
            followed.resolved = await self._matching(session, *key, had)

    async def _matching(self, session: ClientSession, group_id: str, pattern: str, had: Had) -> frozenset[str]:
        """What matches an expression: what is known of another member's, or what the client is shown now. What the
        group has had may be there still: it counts as gone when looks agree (rule 3 above).
        """
        for (other, of), peer in self._known.consumers():
            if other is not session and of == group_id and peer.pattern == pattern:
                return peer.resolved
        try:
            async with asyncio.timeout(LOOK_WITHIN_S):  # others wait, and this client may not read its answers
                shown = await self._look(session, None)
        except TimeoutError:
            raise UpstreamLost("there is no answer about all topics") from None
        matched = await _matching(pattern, shown.topics.keys() | await had())
        self._note(shown, matched)
        return matched

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
        found: dict[bytes, str] = {}
        if named:
            shown = await self._look(session, named, refuses=False)
            found = {topic.id: name for name, topic in shown.topics.items()}
        if not ids <= known.keys():  # an id stands for one name for ever: one that is known is not looked for
            shown = await self._look(session, None)
            found |= {topic.id: name for name, topic in shown.topics.items()}
        return {each: found.get(each) for each in ids}

    def find_out(self, session: ClientSession, group_id: str, member_id: str) -> bool:
        """It is to be found out what this consumer subscribes to. Returns whether it is the first of its group, so that
        somebody must begin to.
        """
        unknown = self._unknown.setdefault(group_id, {})
        unknown[session] = member_id
        return len(unknown) == 1

    def to_find_out(self, group_id: str) -> dict[ClientSession, str]:
        """Of which consumers of that group it is to be found out: their connections and member ids. They are told only
        once.
        """
        return self._unknown.pop(group_id, {})

    def forget(self, session: ClientSession, group_id: str) -> None:
        """The group has not taken in what the client said, or the client is no member of it (any more)."""
        self._known.forget((session, group_id))

    def drop(self, session: ClientSession) -> None:
        """The client has gone."""
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
        self._known.forget_unused(self._gateway.now_ms())
        await asyncio.gather(*(self._look_at(session, names) for session, names in wanted.items()))
        if self._gateway.now_ms() >= self._patterns_due_ms:
            self._patterns_due_ms = self._gateway.now_ms() + PATTERNS_EVERY_MS
            await self._resolve_again()
        for (session, _), followed in self._known.consumers():
            if self._known.has_news(followed, self._gateway.now_ms()):
                session.client.forget_answers()

    async def _look_at(self, session: ClientSession, names: set[str]) -> None:
        shown = await self._look_again(session, names)
        if shown is not None:
            self._note(shown, names)

    async def _look_again(self, session: ClientSession, names: set[str] | None) -> _Shown | None:
        """As `_look`; None if there is no answer within `LOOK_WITHIN_S`. One broker that hangs stops no other look."""
        try:
            async with asyncio.timeout(LOOK_WITHIN_S):
                return await self._look(session, names, refuses=False)
        except (UpstreamLost, DecodeError, TimeoutError) as lost:
            log.debug("no look at topics over %s: %s", session.client.peer, lost)
            return None

    def _askers(self) -> dict[ClientSession, set[str]]:
        """Which topics to look at over which connection: each over one, not always the same."""
        found: dict[ClientSession, set[str]] = {}
        assigned: set[str] = set()
        for session, of in self._able():
            names = frozenset[str]().union(*(each.topics for each in of.values())) - assigned
            if names:
                found[session] = set(names)
                assigned |= names
        return found

    def _able(self) -> list[tuple[ClientSession, dict[str, Followed]]]:
        """The connections that may ask now, in any order, each with what its consumers subscribe to, by group."""
        able: dict[ClientSession, dict[str, Followed]] = {}
        for (session, group_id), followed in self._known.consumers():
            if session.may_ask:
                able.setdefault(session, {})[group_id] = followed
        return random.sample(list(able.items()), len(able))

    async def _resolve_again(self) -> None:
        """Match all regular expressions again, each of a group over one connection, not always the same."""
        done: set[tuple[str, str]] = set()
        for session, of in self._able():
            due = {(group_id, each.pattern) for group_id, each in of.items() if each.pattern} - done
            if not due:
                continue
            shown = await self._look_again(session, None)
            if shown is None:
                continue
            for group_id, pattern in sorted(due):
                try:
                    matched = await _matching(pattern, shown.topics)
                except PatternError as wrong:
                    log.debug("group %s: %s is not matched again: %s", group_id, pattern, wrong)
                    matched = frozenset[str]()
                self._note(shown, matched)
                self._known.add_matching(group_id, pattern, matched)
            done |= due

    async def _look(self, session: ClientSession, names: Iterable[str] | None, *, refuses: bool = True) -> _Shown:
        """What the cluster shows to this client now of `names`; without names, of all topics. Raises TopicsRefused if
        one may not be described and that `refuses`, UpstreamLost, DecodeError.
        """
        response = await _ask(session, names)
        if refuses and names is not None:
            for each in response.topics:
                if each.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                    raise TopicsRefused(f"topic {each.name} may not be described")
        topics = (_topic(each, response.cluster_id) for each in response.topics)
        return _Shown(
            {topic.name: topic for topic in topics if topic is not None},
            frozenset(each.name or "" for each in response.topics if each.error_code not in TELLING),
        )

    def _note(self, shown: _Shown, names: Iterable[str]) -> None:
        told = {name: shown.topics.get(name) for name in names if name not in shown.untold}
        self._known.note_all(told, self._gateway.now_ms())


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
    """The topic that an answer shows; None: it does not exist, or is not ready."""
    if shown.error_code or not shown.name or not shown.partitions:
        return None
    topic_id = shown.topic_id if shown.topic_id != NO_ID else made_up_id(shown.name, cluster_id)
    return Topic(shown.name, topic_id, len(shown.partitions))


def made_up_id(name: str, cluster_id: str | None) -> bytes:
    """The id of a topic in a cluster that has none: the same in each process, and after each restart."""
    return hashlib.sha256(f"{cluster_id or ''}/{name}".encode()).digest()[:ID_BYTES]


async def _matching(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that the regular expression matches. Raises PatternError."""
    return await asyncio.to_thread(matching, pattern, list(names))
