"""What does a group hear of its consumers' topics, look by look? (KG-17)"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs
import pytest

from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.gateway.settings import GatewaySettings
from kcoord.gateway.topology.seen_facts import KEPT_MS
from kcoord.gateway.topology.topic_watch import News, TopicsRefused, TopicWatch, made_up_id
from kcoord.group.state.seen_topics import SeenTopics
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kcoord.protocol.messages import MetadataRequest, MetadataResponse, Request
from kcoord.topic_patterns import PatternError

OLD, NEW = b"old-old-old-old-", b"new-new-new-new-"
Shown = Mapping[str, tuple[bytes, int]]
"""What the cluster shows: an id and a number of partitions by name."""


@attrs.define(eq=False)
class Connection:
    """A consumer's connection to a cluster that shows what the test says. It notes which topics it is asked for."""

    shows: Shown
    highest: int = 12
    errors: Mapping[str, ErrorCode] = attrs.Factory(dict)
    may_ask: bool = True
    hangs: bool = False
    gone: bool = False
    forgotten: int = 0
    asked: list[list[str | None] | None] = attrs.Factory(list)

    @property
    def client(self) -> Any:
        return self

    @property
    def peer(self) -> str:
        return "a consumer"

    def forget_answers(self) -> None:
        self.forgotten += 1

    async def version(self, _request: type[Request], _highest: int | None = None) -> int | None:
        return self.highest

    async def ask(self, request: Request, version: int, _client_id: str | None = None) -> MetadataResponse:
        assert isinstance(request, MetadataRequest)
        assert not request.allow_auto_topic_creation
        if self.hangs:
            await asyncio.Event().wait()
        if not self.may_ask:
            raise UpstreamLost("it is away")
        names = sorted(self.shows) if request.topics is None else [each.name or "" for each in request.topics]
        self.asked.append(None if request.topics is None else [*names])
        return MetadataResponse(cluster_id="c", topics=[self._topic(name, version) for name in names])

    def _topic(self, name: str, version: int) -> MetadataResponseTopic:
        if name in self.errors:
            return MetadataResponseTopic(self.errors[name], name)
        if name not in self.shows:
            return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        topic_id, count = self.shows[name]
        partitions = [MetadataResponsePartition(partition_index=number) for number in range(count)]
        return MetadataResponseTopic(0, name, topic_id if version >= 10 else bytes(16), partitions=partitions)


@attrs.define(eq=False)
class Watched:
    """A watch whose clock the test drives."""

    clock_ms: int = 0
    settings: GatewaySettings = attrs.Factory(lambda: cast("GatewaySettings", None))
    watch: TopicWatch = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.watch = TopicWatch(self)

    def now_ms(self) -> int:
        return self.clock_ms

    async def follow(self, connection: Connection, *names: str, pattern: str = "") -> News:
        return await self.watch.follow(cast("Any", connection), "g", list(names), pattern)

    async def look_after(self, wait_ms: int) -> None:
        self.clock_ms += wait_ms
        await self.watch.look()

    def news(self, connection: Connection) -> Mapping[str, tuple[bytes, int] | None] | None:
        """What the group hears with the next heartbeat: None: nothing."""
        told = self.watch.news(cast("Any", connection), "g")
        return None if told is None else heard(told)


def heard(news: News) -> Mapping[str, tuple[bytes, int] | None]:
    """Topics as the group takes them in: what is certain, and what was seen once."""
    topics = {**news.seen.there, **news.seen.certain}
    return {name: None if topic is None else (topic.id, topic.partitions) for name, topic in topics.items()}


LOOKS: Sequence[tuple[str, Sequence[tuple[int, Shown, object]]]] = [
    ("more partitions count at once", [(5_000, {"t": (OLD, 4)}, {"t": (OLD, 4)})]),
    ("another topic by that name counts at once", [(5_000, {"t": (NEW, 1)}, {"t": (NEW, 1)})]),
    ("fewer partitions count when three looks over ten seconds agree",
     [(5_000, {"t": (OLD, 1)}, None), (5_000, {"t": (OLD, 1)}, None), (5_000, {"t": (OLD, 1)}, {"t": (OLD, 1)})]),
    ("three looks within less time are not enough",
     [(100, {"t": (OLD, 1)}, None), (100, {"t": (OLD, 1)}, None), (100, {"t": (OLD, 1)}, None)]),
    ("no such topic counts when three looks agree", [(5_000, {}, None), (5_000, {}, None), (5_000, {}, {"t": None})]),
    ("a look that shows it again begins anew",
     [(5_000, {}, None), (5_000, {}, None), (5_000, {"t": (OLD, 2)}, None), (5_000, {}, None),
      (5_000, {}, None), (5_000, {}, {"t": None})]),
    ("a broker that lags behind does not bring back the topic that had the name before",
     [(5_000, {"t": (NEW, 1)}, {"t": (NEW, 1)}), (5_000, {"t": (OLD, 2)}, None), (5_000, {"t": (OLD, 2)}, None),
      (5_000, {"t": (NEW, 1)}, None), (5_000, {"t": (OLD, 2)}, None)]),
    ("a topic that comes again after that is there at once",
     [(5_000, {}, None), (5_000, {}, None), (5_000, {}, {"t": None}), (5_000, {"t": (NEW, 3)}, {"t": (NEW, 3)})]),
]  # fmt: skip
"""What the cluster shows, look by look after so many ms, and what the group hears then."""


@pytest.mark.parametrize("looks", [looks for _, looks in LOOKS], ids=[what for what, _ in LOOKS])
async def test_what_looks_show_is_told_once_it_counts(looks: Sequence[tuple[int, Shown, object]]) -> None:
    watched, consumer = Watched(), Connection({"t": (OLD, 2)})
    assert heard(await watched.follow(consumer, "t")) == {"t": (OLD, 2)}
    for wait_ms, shows, told in looks:
        consumer.shows = shows
        await watched.look_after(wait_ms)
        assert watched.news(consumer) == told
        assert watched.news(consumer) is None, "it is told once"


async def test_what_a_first_look_does_not_show_is_not_said_to_be_gone() -> None:
    """The group may know it from before a restart, and the broker may just have started."""
    watched, consumer = Watched(), Connection({})
    news = await watched.follow(consumer, "t")
    assert (news.seen.there, news.seen.certain) == ({}, {})
    for told in (None, {"t": None}):
        await watched.look_after(5_000)
        assert watched.news(consumer) == told


async def test_a_topic_of_a_classic_group_that_is_not_there_is_gone_when_looks_agree() -> None:
    """KG-23: nobody subscribes to it here yet, so only the group's own requests make looks at it."""
    watched, consumer = Watched(), Connection({})
    told = []
    for _ in range(3):
        await watched.look_after(5_000)
        news = await watched.watch.beside(News(SeenTopics({}, {}), None), {"t"}, [cast("Any", consumer)])
        told.append(heard(news))
    assert told == [{}, {}, {"t": None}]
    assert news.seen.agreed_ms == 10_000
    await watched.look_after(KEPT_MS)
    news = await watched.watch.beside(News(SeenTopics({}, {}), None), {"t"}, [cast("Any", consumer)])
    assert heard(news) == {}, "what was seen long ago is forgotten"


async def test_only_what_is_new_is_told() -> None:
    """Of the rest another instance may have seen more since: told again it would take that away."""
    watched, consumer = Watched(), Connection({"t": (OLD, 2), "u": (NEW, 1)})
    await watched.follow(consumer, "t", "u")
    consumer.shows = {**consumer.shows, "u": (NEW, 5)}
    await watched.look_after(1_000)
    assert watched.news(consumer) == {"u": (NEW, 5)}


async def test_a_broker_that_hangs_stops_no_other_look(monkeypatch: pytest.MonkeyPatch) -> None:
    watched, consumers = Watched(), [Connection({"t": (OLD, 2)}), Connection({"u": (NEW, 1)})]
    for consumer, topic in zip(consumers, "tu", strict=True):
        await watched.follow(consumer, topic)
    monkeypatch.setattr("kcoord.gateway.topology.topic_watch.LOOK_WITHIN_S", 0.05)
    consumers[0].hangs = True
    consumers[1].shows = {"u": (NEW, 5)}
    await watched.look_after(60_000)
    assert watched.news(consumers[1]) == {"u": (NEW, 5)}


async def test_each_topic_is_asked_for_over_one_connection() -> None:
    watched = Watched()
    consumers = [Connection({"t": (OLD, 2)}), Connection({"t": (OLD, 2)}), Connection({}, may_ask=False)]
    for consumer in consumers[:2]:
        await watched.follow(consumer, "t")
    before = sum(len(consumer.asked) for consumer in consumers)
    await watched.look_after(5_000)
    assert sum(len(consumer.asked) for consumer in consumers) == before + 1
    for consumer in consumers[:2]:
        consumer.shows = {"t": (OLD, 3)}
    await watched.look_after(5_000)
    assert [watched.news(consumer) for consumer in consumers[:2]] == [{"t": (OLD, 3)}] * 2
    assert all(consumer.forgotten for consumer in consumers[:2]), "no remembered answer is repeated"


async def test_nothing_changes_while_nobody_can_be_asked() -> None:
    watched, consumer = Watched(), Connection({"t": (OLD, 2)})
    await watched.follow(consumer, "t")
    consumer.may_ask = False
    for _ in range(5):
        await watched.look_after(60_000)
        assert watched.news(consumer) is None


async def test_a_topic_that_the_client_may_not_describe_is_refused() -> None:
    watched, consumer = Watched(), Connection({"t": (OLD, 2)})
    consumer.errors = {"secret": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    with pytest.raises(TopicsRefused, match="secret"):
        await watched.follow(consumer, "t", "secret")
    assert not watched.watch.follows(cast("Any", consumer), "g")


@pytest.mark.parametrize("error", [ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.LEADER_NOT_AVAILABLE])
async def test_a_topic_that_is_not_shown_later_is_not_gone(error: ErrorCode) -> None:
    """The right may be withdrawn, or the topic not be ready: the cluster does not say that there is none."""
    watched, consumer = Watched(), Connection({"t": (OLD, 2)})
    await watched.follow(consumer, "t")
    consumer.errors = {"t": error}
    for _ in range(5):
        await watched.look_after(60_000)
        assert watched.news(consumer) is None


async def test_a_regular_expression_matches_what_the_client_is_shown() -> None:
    watched, consumer = Watched(), Connection({"t-1": (OLD, 2), "other": (NEW, 1)})
    news = await watched.follow(consumer, pattern="t-.*")
    assert (news.resolved, heard(news)) == (frozenset({"t-1"}), {"t-1": (OLD, 2)})
    consumer.shows = {**consumer.shows, "t-2": (NEW, 4)}
    await watched.look_after(60_000)
    told = watched.watch.news(cast("Any", consumer), "g")
    assert told is not None
    assert (told.resolved, heard(told)) == (frozenset({"t-1", "t-2"}), {"t-1": (OLD, 2), "t-2": (NEW, 4)})


async def test_ids_are_made_where_the_cluster_has_none() -> None:
    """KG-18: the same in each process, another for each topic and each cluster."""
    watched, consumer = Watched(), Connection({"t": (OLD, 2)}, highest=9)
    made = made_up_id("t", "c")
    assert heard(await watched.follow(consumer, "t")) == {"t": (made, 2)}
    assert len({made, made_up_id("u", "c"), made_up_id("t", "d"), bytes(16)}) == 4
    assert len(made) == 16


async def test_members_of_a_group_share_what_matches_their_expression() -> None:
    """Also when all of them come at once, after a restart."""
    watched = Watched()
    consumers = [Connection({"t-1": (OLD, 2)}) for _ in range(5)]
    told = await asyncio.gather(*(watched.follow(consumer, pattern="t-.*") for consumer in consumers))
    assert [(news.resolved, heard(news)) for news in told] == [(frozenset({"t-1"}), {"t-1": (OLD, 2)})] * 5
    assert sum(consumer.asked.count(None) for consumer in consumers) == 1
    other = Connection({})
    assert (await watched.follow(other, pattern="t-.")).resolved == frozenset(), "another expression"


async def test_a_member_without_an_answer_keeps_the_others_waiting_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may not read its answers, and so kcoord reads none for it."""
    monkeypatch.setattr("kcoord.gateway.topology.topic_watch.LOOK_WITHIN_S", 0.05)
    watched, shows = Watched(), {"t-1": (OLD, 2)}
    both = [Connection(shows, hangs=True), Connection(shows)]
    first, second = await asyncio.gather(
        *(watched.follow(consumer, pattern="t-.*") for consumer in both), return_exceptions=True
    )
    assert isinstance(first, UpstreamLost)
    assert isinstance(second, News)
    assert heard(second) == {"t-1": (OLD, 2)}


async def test_a_topic_that_is_gone_is_not_looked_for_among_all() -> None:
    """Its consumers ask for it by id again and again, until they have let go of it."""
    watched, consumer = Watched(), Connection({"t": (OLD, 2)})
    await watched.follow(consumer, "t")
    consumer.shows = {}
    assert await watched.watch.names_of(cast("Any", consumer), {OLD}) == {OLD: None}
    assert None not in consumer.asked


async def test_what_matches_and_is_not_shown_at_first_is_not_said_to_be_gone() -> None:
    """The broker may just have started, another member may have been shown more, or another instance."""
    watched, consumer = Watched(), Connection({"t-1": (OLD, 2)})

    async def had() -> frozenset[str]:
        return frozenset({"t-1", "t-2", "other"})

    news = await watched.watch.follow(cast("Any", consumer), "g", [], "t-.*", had)
    assert news.resolved == frozenset({"t-1", "t-2"})
    assert news.seen.certain == {}
    heard_of: dict[str, object] = {}
    for _ in range(2):
        await watched.look_after(5_000)
        heard_of |= watched.news(consumer) or {}
    assert heard_of == {"t-1": (OLD, 2), "t-2": None}


async def test_names_are_found_by_ids() -> None:
    watched, consumer = Watched(), Connection({"t": (OLD, 2), "u": (NEW, 1)})
    await watched.follow(consumer, "t")
    missing = bytes(16)
    found = await watched.watch.names_of(cast("Any", consumer), {OLD, NEW, missing})
    assert found == {OLD: "t", NEW: "u", missing: None}


async def test_what_a_group_did_not_take_in_is_forgotten() -> None:
    watched, consumer = Watched(), Connection({"t": (OLD, 2)})
    await watched.follow(consumer, "t")
    watched.watch.forget(cast("Any", consumer), "g")
    assert not watched.watch.follows(cast("Any", consumer), "g")
    await watched.look_after(5_000)
    assert consumer.asked == [["t"]], "nobody subscribes to it any more"


async def test_what_a_group_knows_is_told_with_the_next_heartbeat() -> None:
    watched, consumer = Watched(), Connection({"t": (OLD, 2), "u": (NEW, 1)})
    await watched.watch.follow_known(cast("Any", consumer), "g", ["t"], "")
    assert watched.news(consumer) == {"t": (OLD, 2)}
    await watched.follow(consumer, "u")
    await watched.watch.follow_known(cast("Any", consumer), "g", ["t"], "")
    await watched.look_after(5_000)
    assert consumer.asked[-1] == ["u"], "what the consumer itself has said since counts"
    watched.watch.drop(cast("Any", consumer))
    assert watched.news(consumer) is None


async def test_a_regular_expression_is_matched_again_for_the_whole_group_at_once() -> None:
    """An answer about all topics is large: one for each member would keep kcoord busy."""
    watched, shows = Watched(), {"t-1": (OLD, 2)}
    consumers = [Connection(shows) for _ in range(5)]
    for consumer in consumers:
        await watched.follow(consumer, pattern="t-.*")
        consumer.asked.clear()
        consumer.shows = {**shows, "t-2": (NEW, 4)}
    await watched.look_after(60_000)
    assert sum(consumer.asked.count(None) for consumer in consumers) == 1
    assert [watched.news(consumer) for consumer in consumers] == [{"t-1": (OLD, 2), "t-2": (NEW, 4)}] * 5


async def test_a_name_that_is_gone_is_left_out_of_what_matches_in_the_end() -> None:
    """Else topics that come and go would make what matches grow for ever."""
    watched, consumer = Watched(), Connection({"t-1": (OLD, 2), "t-2": (NEW, 1)})
    await watched.follow(consumer, pattern="t-.*")
    consumer.shows = {"t-1": (OLD, 2)}
    heard_of: dict[str, object] = {}
    for _ in range(15):
        await watched.look_after(5_000)
        heard_of |= watched.news(consumer) or {}
    assert heard_of == {"t-1": (OLD, 2), "t-2": None}
    assert consumer.asked[-1] == ["t-1"]


async def test_one_expression_that_takes_too_long_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    watched, consumers = Watched(), [Connection({"t-1": (OLD, 2)}) for _ in range(2)]
    for consumer, pattern in zip(consumers, ("t-[0-9]", "t-.*"), strict=True):
        await watched.follow(consumer, pattern=pattern)
        consumer.shows = {"t-1": (OLD, 2), "t-2": (NEW, 4)}

    def takes_too_long(pattern: str, names: Sequence[str]) -> frozenset[str]:
        if pattern == "t-[0-9]":
            raise PatternError("it takes too long")
        return frozenset(names)

    monkeypatch.setattr("kcoord.gateway.topology.topic_watch.matching", takes_too_long)
    await watched.look_after(60_000)
    assert watched.news(consumers[1]) == {"t-1": (OLD, 2), "t-2": (NEW, 4)}
