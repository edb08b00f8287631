"""Committed offsets: the requests of a member, and what the answers mean. Nothing here waits or asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TypeAlias

from aiokafka import TopicPartition

from kcoord.consumer.errors import ConsumerError, name_some
from kcoord.consumer.setup import Setup
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kcoord.protocol.generated.offset_fetch_response import OffsetFetchResponseTopic, OffsetFetchResponseTopics
from kcoord.protocol.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

Offset: TypeAlias = tuple[int, str]
"""An offset, and the text that is kept with it."""
_LARGEST = (1 << 63) - 1
_STABLE_FROM, _GROUPS_FROM, _MEMBERS_FROM = 7, 8, 9
"""The first versions of OffsetFetch that can wait for transactions, name several groups, and name a member."""


class Verdict(Enum):
    """What an error code in an answer about offsets means."""

    DONE = "it is done"
    AGAIN = "ask again after a back-off"
    STALE = "the member's epoch has moved: ask again with the new one"
    FENCED = "the consumer is not a member any more"
    REFUSED = "asking again will not help"


_VERDICTS: Mapping[int, Verdict] = {
    ErrorCode.NONE: Verdict.DONE,
    ErrorCode.STALE_MEMBER_EPOCH: Verdict.STALE,
    ErrorCode.UNKNOWN_MEMBER_ID: Verdict.FENCED,
    ErrorCode.FENCED_MEMBER_EPOCH: Verdict.FENCED,
    ErrorCode.ILLEGAL_GENERATION: Verdict.FENCED,
    ErrorCode.FENCED_INSTANCE_ID: Verdict.FENCED,
    ErrorCode.GROUP_ID_NOT_FOUND: Verdict.FENCED,
}


def verdict(error_code: int) -> Verdict:
    """What this error code means."""
    known = _VERDICTS.get(error_code)
    if known is not None:
        return known
    try:
        return Verdict.AGAIN if ErrorCode(error_code).retriable else Verdict.REFUSED
    except ValueError:
        return Verdict.REFUSED


def check_offset(partition: TopicPartition, offset: object) -> int:
    """The offset, if it can be one. Raises ConsumerError."""
    if not isinstance(offset, int) or not 0 <= offset <= _LARGEST:
        raise ConsumerError(f"{name_some([partition])}: there is no offset {offset!r}")
    return int(offset)


def check_commit(offsets: Mapping[TopicPartition, int | Offset]) -> dict[TopicPartition, Offset]:
    """What a program wants to commit, each offset with its text. Raises ConsumerError for what cannot be committed."""
    checked: dict[TopicPartition, Offset] = {}
    for partition, wanted in offsets.items():
        match wanted:
            case (offset, str(text)):
                checked[partition] = check_offset(partition, offset), text
            case _:
                checked[partition] = check_offset(partition, wanted), ""
    return checked


def commit_request(setup: Setup, epoch: int, offsets: Mapping[TopicPartition, Offset]) -> OffsetCommitRequest:
    """A commit by a member at its epoch."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, number), (offset, text) in sorted(offsets.items()):
        partition = OffsetCommitRequestPartition(number, offset, committed_metadata=text)
        topics.setdefault(topic, []).append(partition)
    return OffsetCommitRequest(
        group_id=setup.group_id,
        generation_id_or_member_epoch=epoch,
        member_id=setup.member_id,
        group_instance_id=setup.instance_id,
        topics=[OffsetCommitRequestTopic(name=name, partitions=listed) for name, listed in topics.items()],
    )


def commit_errors(response: OffsetCommitResponse) -> dict[TopicPartition, int]:
    """The error code of each partition of a commit."""
    return {
        TopicPartition(topic.name, each.partition_index): each.error_code
        for topic in response.topics
        for each in topic.partitions
    }


def fetch_request(
    setup: Setup, epoch: int | None, partitions: Iterable[TopicPartition], highest: int = OffsetFetchRequest.MAX_VERSION
) -> OffsetFetchRequest:
    """A question for committed offsets, by a member at its epoch; None: by nobody in particular. Offsets of
    transactions that are still open are waited for. `highest`: the version of OffsetFetch that the broker has. It may
    know no members of the new protocol, which then do without that check.
    """
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    if highest < _GROUPS_FROM:
        named = [OffsetFetchRequestTopic(name, listed) for name, listed in topics.items()]
        return OffsetFetchRequest(group_id=setup.group_id, topics=named, require_stable=highest >= _STABLE_FROM)
    is_named = epoch is not None and highest >= _MEMBERS_FROM
    asked = OffsetFetchRequestGroup(
        group_id=setup.group_id,
        member_id=setup.member_id if is_named else None,
        member_epoch=epoch if epoch is not None and is_named else -1,
        topics=[OffsetFetchRequestTopics(name=name, partition_indexes=listed) for name, listed in topics.items()],
    )
    return OffsetFetchRequest(groups=[asked], require_stable=True)


def fetched_offsets(response: OffsetFetchResponse) -> tuple[int, dict[TopicPartition, int | None]]:
    """The error code of the answer as a whole, and the offsets; None where nothing was committed.

    An error of one partition counts for the whole: there is no offset to begin at.
    """
    answer = response.groups[0] if response.groups else response
    if answer.error_code:
        return answer.error_code, {}
    topics: Sequence[OffsetFetchResponseTopics | OffsetFetchResponseTopic] = answer.topics
    offsets: dict[TopicPartition, int | None] = {}
    for topic in topics:
        for each in topic.partitions:
            if each.error_code:
                return each.error_code, {}
            offset = each.committed_offset
            offsets[TopicPartition(topic.name, each.partition_index)] = offset if offset >= 0 else None
    return 0, offsets
