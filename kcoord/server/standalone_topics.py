"""The topics of a kcoord without a cluster: what clients hear of them, and how changes reach the groups (KG-14).

One partition of the log has the declared topics. Each instance asks for all of them: at its start, when one of its own
clients has changed some, and every `LOOK_EVERY_S`. What it hears goes to all of its shards and into its answers to
Metadata. It also says which topics match the regular expressions by which consumers subscribe.

The topics never have any data. A partition is empty at any offset that a consumer asks for, so that no position of a
consumer is out of range; its beginning and its end are offset 0. Fetch is answered when its time to wait is over, or
when the client sends something else on that connection. Whoever produces is refused. (librdkafka fetches from a broker
only if that offers Produce, too: without it, it asks again and again and keeps a core busy.)

Until this instance has heard of the topics, nobody is told that there are none: a classic consumer that leads its group
would take everything away from all.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import ParamSpec, Protocol, TypeVar

from kcoord.group.state.records.topic_records import TOPICS
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.group.state.topic import Topic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.create_partitions_request import CreatePartitionsTopic
from kcoord.protocol.generated.create_topics_request import CreatableTopic
from kcoord.protocol.generated.fetch_request import FetchTopic
from kcoord.protocol.generated.fetch_response import FetchableTopicResponse, PartitionData
from kcoord.protocol.generated.list_offsets_request import ListOffsetsTopic
from kcoord.protocol.generated.list_offsets_response import ListOffsetsPartitionResponse, ListOffsetsTopicResponse
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kcoord.protocol.generated.produce_response import PartitionProduceResponse, TopicProduceResponse
from kcoord.protocol.messages import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeclaredTopicsRequest,
    DeclaredTopicsResponse,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ProduceRequest,
    ProduceResponse,
    Request,
    Response,
)
from kcoord.server.standalone_nodes import Node
from kcoord.topic_patterns import PatternError, matching

log = logging.getLogger("kcoord.server")

P = ParamSpec("P")
T = TypeVar("T")

Ask = Callable[[Request, RequestContext], Awaitable[tuple[Response, CachedReply | None]]]
"""Has a request carried out by the instance whose partition has the topics."""

LOOK_EVERY_S = 5.0
"""How often an instance asks for all topics. Each pause is longer or shorter by a fifth at most."""
AGAIN_S = 0.2
"""The pause while nobody can say which topics there are."""
IDS_IN_METADATA, IDS_IN_FETCH = 12, 13
"""The first versions in which a client can name a topic by its id alone."""
LONGEST_WAIT_MS = 30_000
"""How long Fetch is held at most, whatever it says."""
NO_DATA = "a kcoord without a cluster keeps no data: its topics are for sharing work"
"""What producers are told."""
END, BEGINNING, LOCAL_BEGINNING = -1, -2, -4
"""The times in ListOffsets that have an offset in a topic without data."""


class Shards(Protocol):
    """The shards of this instance, as far as they are about topics: the coordinator."""

    def patterns(self) -> set[str]: ...
    def learn_topics(self, topics: Mapping[str, Topic], resolutions: Mapping[str, frozenset[str]], /) -> None: ...


class StandaloneTopics:
    """What this instance knows of the declared topics. `ask` reaches the shard that has them, wherever that is.
    `declared`: topics that `topics` in the settings names, with their numbers of partitions.
    """

    def __init__(self, ask: Ask, shards: Shards, declared: Mapping[str, int] | None = None) -> None:
        self.known: Mapping[str, Topic] = {}
        self._by_id: Mapping[bytes, Topic] = {}
        self._ask = ask
        self._shards = shards
        self._resolutions: dict[str, frozenset[str]] = {}
        self._declared = dict(declared or {})
        self.has_heard = asyncio.Event()
        """Set when this instance has heard of the topics, and those that the settings name have been created."""
        self._looks = asyncio.Lock()

    # -- how changes get about ----------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Ask again and again, for as long as kcoord runs."""
        while True:
            try:
                if await self.look():
                    if self._declared:
                        await self._declare()
                    self.has_heard.set()
            except Exception:
                log.exception("a fault of kcoord's own while topics were looked at")
            pause_s = LOOK_EVERY_S * random.uniform(0.8, 1.2) if self.has_heard.is_set() else AGAIN_S
            await asyncio.sleep(pause_s)

    async def look(self) -> bool:
        """Ask for all topics, and pass on what has changed. False if nobody could say."""
        async with self._looks:
            answer, _ = await self._ask(DeclaredTopicsRequest(TOPICS), _context(DeclaredTopicsRequest))
            assert isinstance(answer, DeclaredTopicsResponse)
            if answer.error_code:
                return False
            known = {each.name: Topic(each.name, each.topic_id, each.partitions) for each in answer.topics}
            has_changed = known != self.known or not self.has_heard.is_set()
            if has_changed:
                self.known, self._by_id = known, {each.id: each for each in known.values()}
            patterns = self._shards.patterns()
            if has_changed or not patterns <= self._resolutions.keys():
                self._resolutions = await asyncio.to_thread(_resolved, patterns, list(known))
                self._shards.learn_topics(self.known, self._resolutions)
            return True

    async def resolve(self, pattern: str) -> frozenset[str]:
        """The topics that match a regular expression. Raises PatternError."""
        return await asyncio.to_thread(matching, pattern, list(self.known))

    async def _declare(self) -> None:
        """Create and enlarge topics as the settings say: each once, so that a topic which is deleted later stays so."""
        wanted = self._declared
        new = [name for name in wanted if name not in self.known]
        small = [name for name, topic in self.known.items() if topic.partitions < wanted.get(name, 0)]
        self._declared = {name: wanted[name] for name in (*new, *small)}
        if new:
            create = CreateTopicsRequest([CreatableTopic(name, wanted[name], -1) for name in new])
            answer, _ = await self._ask(create, _context(CreateTopicsRequest))
            assert isinstance(answer, CreateTopicsResponse)
            self._settle((each.name, each.error_code, each.error_message) for each in answer.topics)
        if small:
            grow = CreatePartitionsRequest([CreatePartitionsTopic(name, wanted[name], None) for name in small])
            answer, _ = await self._ask(grow, _context(CreatePartitionsRequest))
            assert isinstance(answer, CreatePartitionsResponse)
            self._settle((each.name, each.error_code, each.error_message) for each in answer.results)
        if new or small:
            await self.look()

    def _settle(self, results: Iterable[tuple[str, int, str | None]]) -> None:
        """Forget the topics that are there now, and those that cannot be had, which are named in the log. If nobody
        could carry it out, the next look tries again.
        """
        for name, error, message in results:
            if error and message is None:
                continue
            partitions = self._declared.pop(name)
            if error not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                log.error("topics=%s:%d: %s", name, partitions, message)

    # -- what clients hear --------------------------------------------------------------------------------------------

    def metadata(
        self, wanted: Sequence[MetadataRequestTopic] | None, version: int, nodes: Sequence[Node]
    ) -> list[MetadataResponseTopic]:
        """The topics in an answer to Metadata; None: all."""
        if wanted is None or (version == 0 and not wanted):
            return [_described(topic, nodes) for topic in self.known.values()]
        return [self._metadata(each, version, nodes) for each in wanted]

    def _metadata(self, wanted: MetadataRequestTopic, version: int, nodes: Sequence[Node]) -> MetadataResponseTopic:
        if wanted.name:
            topic, error = self.known.get(wanted.name), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif version >= IDS_IN_METADATA:
            topic, error = self._by_id.get(wanted.topic_id), ErrorCode.UNKNOWN_TOPIC_ID
        else:  # v10 and v11 have a field for the id, but no broker answers by id in these versions
            topic, error = None, ErrorCode.INVALID_REQUEST
        if topic is not None:
            return _described(topic, nodes)
        name = wanted.name if version >= IDS_IN_METADATA else wanted.name or ""
        return MetadataResponseTopic(error_code=error, name=name, topic_id=wanted.topic_id)

    def list_offsets(self, request: ListOffsetsRequest) -> ListOffsetsResponse:
        """The answer to ListOffsets: a partition begins and ends at offset 0, and has no record at any time."""
        return ListOffsetsResponse(topics=[self._offsets(each) for each in request.topics])

    def _offsets(self, topic: ListOffsetsTopic) -> ListOffsetsTopicResponse:
        known = self.known.get(topic.name)
        there = 0 if known is None else known.partitions
        return ListOffsetsTopicResponse(
            topic.name,
            [
                ListOffsetsPartitionResponse(
                    each.partition_index, offset=0 if each.timestamp in (END, BEGINNING, LOCAL_BEGINNING) else -1
                )
                if 0 <= each.partition_index < there
                else ListOffsetsPartitionResponse(each.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                for each in topic.partitions
            ],
        )

    def produce(self, request: ProduceRequest) -> ProduceResponse:
        """The answer to Produce: nothing is kept here."""
        return ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name=topic.name,
                    topic_id=topic.topic_id,
                    partition_responses=[
                        PartitionProduceResponse(
                            each.index, ErrorCode.POLICY_VIOLATION, base_offset=-1, error_message=NO_DATA
                        )
                        for each in topic.partition_data
                    ],
                )
                for topic in request.topic_data
            ]
        )

    def fetch(self, request: FetchRequest, version: int) -> tuple[FetchResponse, int]:
        """The answer to Fetch, and how long it may wait, in ms. There are no fetch sessions: a client that asks for one
        is told that it has none, and names all its partitions each time.
        """
        answer = FetchResponse(responses=[self._fetched(each, version) for each in request.topics])
        has_errors = any(part.error_code for topic in answer.responses for part in topic.partitions)
        waits = request.topics and request.min_bytes > 0 and not has_errors
        return answer, min(max(request.max_wait_ms, 0), LONGEST_WAIT_MS) if waits else 0

    def _fetched(self, wanted: FetchTopic, version: int) -> FetchableTopicResponse:
        by_id = version >= IDS_IN_FETCH
        topic = self._by_id.get(wanted.topic_id) if by_id else self.known.get(wanted.topic)
        there = 0 if topic is None else topic.partitions
        error = ErrorCode.UNKNOWN_TOPIC_ID if by_id and topic is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return FetchableTopicResponse(
            topic=wanted.topic,
            topic_id=wanted.topic_id,
            partitions=[
                PartitionData(
                    each.partition,
                    high_watermark=max(each.fetch_offset, 0),
                    last_stable_offset=max(each.fetch_offset, 0),
                    log_start_offset=0,
                    records=b"",
                )
                if 0 <= each.partition < there
                else PartitionData(each.partition, error, high_watermark=-1, records=b"")
                for each in wanted.partitions
            ],
        )


def _resolved(patterns: Iterable[str], names: Sequence[str]) -> dict[str, frozenset[str]]:
    """The names that match each regular expression. One that cannot be used (any more) is left out: its members keep
    what they have.
    """
    found: dict[str, frozenset[str]] = {}
    for pattern in patterns:
        with contextlib.suppress(PatternError):
            found[pattern] = matching(pattern, names)
    return found


def _described(topic: Topic, nodes: Sequence[Node]) -> MetadataResponseTopic:
    """A topic in Metadata. Any instance serves any partition, so they are spread over all."""
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        partitions=[
            MetadataResponsePartition(
                partition_index=number,
                leader_id=(node := nodes[number % len(nodes)].id),
                leader_epoch=-1,
                replica_nodes=[node],
                isr_nodes=[node],
            )
            for number in range(topic.partitions)
        ],
    )


def _context(request: type[Request]) -> RequestContext:
    """The context of a request of kcoord's own, in its latest version."""
    return RequestContext(api_version=request.MAX_VERSION, client_id="kcoord", client_host="", connection=0, wall_ms=0)
