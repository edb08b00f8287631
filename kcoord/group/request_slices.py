"""Slices of a large request for one group: its partitions or members are handled in several smaller requests.

What such a request asks for one partition or member does not depend on the others, and its answer has an error for each
of them. A slice is a request of its own. If the group changes between two slices, each slice gets the answer of its own
moment. A request that is refused as a whole is refused by its first slice. A request for all offsets of a group gets
those that the group has at the first slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from kcoord.group.apis.offset_fetch import TOPIC_ID_VERSION
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestTopic, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Request,
    Response,
)

__all__ = ["ROWS", "fetch_of", "fetches_all", "is_refused", "merge_slices", "slices_of"]

ROWS = 500
"""Partitions or members in one slice."""

PARTITIONS: dict[type[Request], str] = {
    OffsetCommitRequest: "partitions",
    OffsetFetchRequest: "partition_indexes",
    OffsetDeleteRequest: "partitions",
}
"""Requests with a list of topics, each with the name of a topic's field for partitions."""
SLICED = frozenset({LeaveGroupRequest, *PARTITIONS})


def slices_of(request: Request) -> list[Request] | None:
    """The slices of the request, in order; None for a request that is small enough."""
    if type(request) not in SLICED:  # nearly all requests
        return None
    if isinstance(request, LeaveGroupRequest):
        members = request.members
        if len(members) <= ROWS:
            return None
        return [attrs.evolve(request, members=members[at : at + ROWS]) for at in range(0, len(members), ROWS)]
    inner = PARTITIONS[type(request)]
    large: Any = request
    if isinstance(request, OffsetFetchRequest) and request.groups:
        group = request.groups[0]  # a request that gets here names only one group
        if not _is_large(group.topics or (), inner):
            return None
        parts = _parts(group.topics or (), inner)
        return [attrs.evolve(request, groups=[attrs.evolve(group, topics=part)]) for part in parts]
    if not _is_large(large.topics or (), inner):
        return None
    return [attrs.evolve(large, topics=part) for part in _parts(large.topics, inner)]


def fetches_all(request: Request, version: int) -> bool:
    """Whether it is an OffsetFetch of all offsets of its one group, and could name the partitions instead."""
    if not isinstance(request, OffsetFetchRequest) or version >= TOPIC_ID_VERSION:
        return False
    return request.groups[0].topics is None if request.groups else request.topics is None


def fetch_of(request: OffsetFetchRequest, partitions: Mapping[str, list[int]]) -> OffsetFetchRequest:
    """The same request, for these partitions (by topic)."""
    if not request.groups:
        named = [OffsetFetchRequestTopic(topic, indexes) for topic, indexes in partitions.items()]
        return attrs.evolve(request, topics=named)
    topics = [OffsetFetchRequestTopics(topic, partition_indexes=indexes) for topic, indexes in partitions.items()]
    return attrs.evolve(request, groups=[attrs.evolve(request.groups[0], topics=topics)])


def _is_large(topics: Sequence[Any], inner: str) -> bool:
    return len(topics) + sum(len(getattr(topic, inner)) for topic in topics) > ROWS


def _parts(topics: Sequence[Any], inner: str) -> Iterator[list[Any]]:
    """The topics in parts of at most `ROWS` partitions. A large topic is in several parts."""
    part: list[Any] = []
    room = ROWS
    for topic in topics:
        partitions = getattr(topic, inner)
        at = 0
        while True:
            some = partitions[at : at + room]
            part.append(attrs.evolve(topic, **{inner: some}))
            at += len(some)
            room -= len(some) + 1
            if room <= 0:
                yield part
                part, room = [], ROWS
            if at >= len(partitions):
                break
    if part:
        yield part


def is_refused(response: Response) -> bool:
    """Whether a slice was refused as a whole: then the whole request is."""
    groups: Any = getattr(response, "groups", ())
    return bool(getattr(response, "error_code", 0)) or any(group.error_code for group in groups)


def merge_slices(responses: Sequence[Response]) -> Response:
    """One answer from the answers to the slices, in order. If a slice was refused as a whole, its answer counts."""
    refused = next((each for each in responses if is_refused(each)), None)
    if refused is not None:
        return refused
    first: Any = responses[0]
    if isinstance(first, LeaveGroupResponse):
        members = [member for each in responses for member in getattr(each, "members")]  # noqa: B009
        with_members: Response = attrs.evolve(first, members=members)
        return with_members
    if isinstance(first, OffsetFetchResponse) and first.groups:
        groups = [each.groups[0] for each in responses if isinstance(each, OffsetFetchResponse)]
        return attrs.evolve(first, groups=[attrs.evolve(groups[0], topics=_merged_topics(groups))])
    with_topics: Response = attrs.evolve(first, topics=_merged_topics(responses))
    return with_topics


def _merged_topics(answers: Sequence[Any]) -> list[Any]:
    topics: list[Any] = []
    for each in answers:
        for topic in each.topics:
            last = topics[-1] if topics else None
            if last is not None and _name(last) == _name(topic):
                last.partitions.extend(topic.partitions)
            else:
                topics.append(attrs.evolve(topic, partitions=list(topic.partitions)))
    return topics


def _name(topic: Any) -> tuple[str, object]:
    return topic.name, getattr(topic, "topic_id", None)
