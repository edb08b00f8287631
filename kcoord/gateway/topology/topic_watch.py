"""The watch of topics: what the cluster shows of the topics to which consumers behind kcoord subscribe (KG-17).

In front of a cluster topics are the cluster's. kcoord has no credentials, so it asks over the consumers' own
connections, and never for topics to be created. Rules:

1. A heartbeat that says what its sender subscribes to waits for one look at these topics, on its own connection. So a
   join has partitions in its first answer, and a topic that the client may not describe is refused.
2. All topics that somebody subscribes to are looked at again every `gateway.topics.interval.ms`, each over one
   connection that may ask. What is new is told to the group with the next heartbeat of each consumer that it concerns.
3. More partitions count at once, and so does another id, which means another topic by the same name. Fewer partitions,
   or no such topic, count only when `AGREEING` looks over `AGREE_MS` say the same: a broker that has just started knows
   less than there is. So it is with the topic that had the name before: a broker may lag behind. While nobody can be
   asked, nothing changes. Nor does it if the one that is asked may not describe a topic any more: others may.
4. A regular expression is matched against all topics that the client may describe: when it comes into a group, and
   every `PATTERNS_EVERY_MS`, for all members of the group over the connection of one of them. An answer about all
   topics is large, and takes its time.
5. If the cluster has no ids of topics (before Kafka 2.8, or another product), each is made of the cluster's id and the
   name. A topic that is deleted and made anew then goes unnoticed.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

import attrs

from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.state.groups.consumer_group import Topic
from kcoord.group.state.seen_topics import SeenTopics
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
AGREEING, AGREE_MS = 3, 10_000
"""How many looks must agree that there is less than before, and the time in ms from the first of them to the last."""
LOOK_WITHIN_S = 5.0
"""How long the watch waits for an answer, in seconds."""
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
class News:
    """What a group is to be told with a consumer's heartbeat."""

    seen: SeenTopics
    resolved: frozenset[str] | None
    """The topics that match the consumer's regular expression; None: it has none."""


@attrs.frozen
class _Shown:
    """What one look has shown."""

    topics: Mapping[str, Topic]
    untold: frozenset[str]
    """Topics of which the cluster has not said whether they exist."""


@attrs.define
class _Fact:
    """What the looks at one topic have shown."""

    topic: Topic | None
    since_ms: int
    """When it was first seen so."""
    changed_at: int
    """The number of the change that it was, or of its becoming certain."""
    former_id: bytes = NO_ID
    """The id of the topic that had this name before."""
    looks: int = 1
    is_certain: bool = False
    less: _Fact | None = None
    """What the last looks have shown, if that is less."""


@attrs.define
class _Followed:
    """What one consumer subscribes to."""

    names: frozenset[str] = frozenset()
    pattern: str = ""
    resolved: frozenset[str] = frozenset()
    told_at: int = -1
    """The number of the last change that its group was told of."""

    @property
    def topics(self) -> frozenset[str]:
        """The names that it subscribes to in one way or the other."""
        return self.names | self.resolved


class WatchContext(Protocol):
    """What `TopicWatch` needs from the gateway."""

    settings: GatewaySettings

    def now_ms(self) -> int: ...


class TopicWatch:
    """What this process knows of topics, and for whom."""

    def __init__(self, gateway: WatchContext) -> None:
        self._gateway = gateway
        self._facts: dict[str, _Fact] = {}
        self._followed: dict[ClientSession, dict[str, _Followed]] = {}  # in their order, so that a run can be repeated
        self._change = 0
        self._patterns_due_ms = 0
        self._unknown: dict[str, dict[ClientSession, str]] = {}
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """By group and regular expression: who finds out what matches."""

    # -- what handlers use --------------------------------------------------------------------------------------------

    def follows(self, session: ClientSession, group_id: str) -> bool:
        """Whether it is known what the consumer of that group on this connection subscribes to."""
        return group_id in self._followed.get(session, {})

    async def follow(
        self, session: ClientSession, group_id: str, names: list[str] | None, pattern: str | None, had: Had = _nothing
    ) -> News:
        """The consumer subscribes to these topics from now on, or goes on with those of before (None). Look at them.
        `had`: which topics its group has had, if it subscribes by a regular expression.

        Raises TopicsRefused, PatternError, UpstreamLost, DecodeError.
        """
        former = self._followed.get(session, {}).get(group_id, _Followed())
        followed = _Followed(
            former.names if names is None else frozenset(names), former.pattern if pattern is None else pattern
        )
        await self._look_first(session, group_id, followed, had)
        if not session.gone:
            self._followed.setdefault(session, {})[group_id] = followed
        return self._told(followed)

    async def follow_known(
        self, session: ClientSession, group_id: str, names: list[str], pattern: str, had: Had = _nothing
    ) -> None:
        """The consumer goes on with a subscription that its group knows, unless it says another one meanwhile. Its
        group is told with its next heartbeat. Raises as `follow`.
        """
        followed = _Followed(frozenset(names), pattern)
        await self._look_first(session, group_id, followed, had)
        if not session.gone and not self.follows(session, group_id):
            self._followed.setdefault(session, {})[group_id] = followed

    async def _look_first(self, session: ClientSession, group_id: str, followed: _Followed, had: Had) -> None:
        if followed.names:
            self._note_all(await self._look(session, followed.names), followed.names)
        if not followed.pattern:
            return
        key = group_id, followed.pattern
        async with self._turns.setdefault(key, asyncio.Lock()):  # a restart brings all members at once
            followed.resolved = await self._matching(session, *key, had)

    async def _matching(self, session: ClientSession, group_id: str, pattern: str, had: Had) -> frozenset[str]:
        """What matches an expression: what is known of another member's, or what the client is shown now. What the
        group has had may be there still: it counts as gone when looks agree (rule 3 above).
        """
        for other, of in self._followed.items():
            peer = of.get(group_id)
            if other is not session and peer is not None and peer.pattern == pattern:
                return peer.resolved
        try:
            async with asyncio.timeout(LOOK_WITHIN_S):  # others wait, and this client may not read its answers
                shown = await self._look(session, None)
        except TimeoutError:
            raise UpstreamLost("there is no answer about all topics") from None
        matched = await _matching(pattern, shown.topics.keys() | await had())
        self._note_all(shown, matched)
        return matched

    def news(self, session: ClientSession, group_id: str) -> News | None:
        """What the group of this consumer has not been told yet; None: nothing."""
        followed = self._followed.get(session, {}).get(group_id)
        return self._told(followed) if followed is not None and self._has_news(followed) else None

    async def check(self, session: ClientSession, names: Iterable[str]) -> None:
        """Raises TopicsRefused if the client may not describe all of these topics, UpstreamLost, DecodeError."""
        wanted = frozenset(names)
        if wanted:
            await self._look(session, wanted)

    async def names_of(self, session: ClientSession, ids: AbstractSet[bytes]) -> dict[bytes, str | None]:
        """The names of the topics with these ids that the client may describe; None: it is shown no such topic. Raises
        UpstreamLost, DecodeError.
        """
        known = {fact.topic.id: name for name, fact in self._facts.items() if fact.topic is not None}
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
        followed = self._followed.get(session, {})
        followed.pop(group_id, None)
        if not followed:
            self._followed.pop(session, None)

    def drop(self, session: ClientSession) -> None:
        """The client has gone."""
        self._followed.pop(session, None)

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
        in_use = frozenset().union(*(each.topics for of in self._followed.values() for each in of.values()))
        self._facts = {name: fact for name, fact in self._facts.items() if name in in_use}
        await asyncio.gather(*(self._look_at(session, names) for session, names in wanted.items()))
        if self._gateway.now_ms() >= self._patterns_due_ms:
            self._patterns_due_ms = self._gateway.now_ms() + PATTERNS_EVERY_MS
            await self._resolve_again()
        for session, of in self._followed.items():
            if any(map(self._has_news, of.values())):
                session.client.forget_answers()

    async def _look_at(self, session: ClientSession, names: set[str]) -> None:
        shown = await self._look_again(session, names)
        if shown is not None:
            self._note_all(shown, names)

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
        able = [session for session in self._followed if session.may_ask]
        random.shuffle(able)
        found: dict[ClientSession, set[str]] = {}
        assigned: set[str] = set()
        for session in able:
            names = frozenset().union(*(each.topics for each in self._followed[session].values())) - assigned
            if names:
                found[session] = set(names)
                assigned |= names
        return found

    async def _resolve_again(self) -> None:
        """Match all regular expressions again, each of a group over one connection, not always the same."""
        able = [session for session in self._followed if session.may_ask]
        random.shuffle(able)
        done: set[tuple[str, str]] = set()
        for session in able:
            of = self._followed.get(session, {})
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
                self._note_all(shown, matched)
                self._add_matching(group_id, pattern, matched)
            done |= due

    def _add_matching(self, group_id: str, pattern: str, matched: frozenset[str]) -> None:
        """Add what matches anew for all in the group that subscribe by that expression. Names that are gone count when
        looks agree (rule 3 above), and are left out once the group has been told.
        """
        for of in self._followed.values():
            each = of.get(group_id)
            if each is None or each.pattern != pattern:
                continue
            each.resolved -= {name for name in each.resolved - matched if self._is_gone(name, each.told_at)}
            if matched - each.resolved:
                each.resolved, each.told_at = each.resolved | matched, -1

    def _is_gone(self, name: str, told_at: int) -> bool:
        fact = self._facts.get(name)
        return fact is not None and fact.topic is None and fact.is_certain and fact.changed_at <= told_at

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

    # -- what is known ------------------------------------------------------------------------------------------------

    def _note_all(self, shown: _Shown, names: Iterable[str]) -> None:
        for name in sorted(names):
            if name not in shown.untold:
                self._note(name, shown.topics.get(name))

    def _note(self, name: str, topic: Topic | None) -> None:
        """Note what a look has shown of one topic."""
        now_ms, known = self._gateway.now_ms(), self._facts.get(name)
        if known is None:
            self._facts[name] = _Fact(topic, now_ms, self._next_change())
        elif known.topic != topic and not _is_less(topic, known):
            former_id = known.former_id if known.topic is None else known.topic.id
            self._facts[name] = _Fact(topic, now_ms, self._next_change(), former_id)
        elif known.topic == topic:
            known.less = None
            if _agrees(known, now_ms) and not known.is_certain:
                known.is_certain, known.changed_at = True, self._next_change()
        elif known.less is None or known.less.topic != topic:
            known.less = _Fact(topic, now_ms, 0)
        elif _agrees(known.less, now_ms):
            self._facts[name] = attrs.evolve(known.less, is_certain=True, changed_at=self._next_change())

    def _next_change(self) -> int:
        self._change += 1
        return self._change

    def _has_news(self, followed: _Followed) -> bool:
        facts = (self._facts.get(name) for name in followed.topics)
        return followed.told_at < 0 or any(fact is not None and fact.changed_at > followed.told_at for fact in facts)

    def _told(self, followed: _Followed) -> News:
        """What is new of a consumer's topics, which its group is told now. Nothing else: another instance may have seen
        more since.
        """
        since, followed.told_at = followed.told_at, self._change
        facts = {
            name: fact
            for name in sorted(followed.topics)
            if (fact := self._facts.get(name)) is not None and fact.changed_at > since
        }
        return News(
            SeenTopics(
                there={
                    name: fact.topic for name, fact in facts.items() if fact.topic is not None and not fact.is_certain
                },
                certain={name: fact.topic for name, fact in facts.items() if fact.is_certain},
            ),
            followed.resolved if followed.pattern else None,
        )


def _agrees(fact: _Fact, now_ms: int) -> bool:
    """Another look has shown the same: do enough of them agree by now?"""
    fact.looks += 1
    return fact.looks >= AGREEING and now_ms - fact.since_ms >= AGREE_MS


def _is_less(topic: Topic | None, known: _Fact) -> bool:
    """Whether a look shows less than is known, or a topic that had the name before: that broker may lag behind."""
    if topic is None or known.topic is None:
        return known.topic is not None
    if topic.id == known.topic.id:
        return topic.partitions < known.topic.partitions
    return topic.id == known.former_id


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
