"""ConsumerGroupDescribe (69): the state of consumer groups now. v1: the type of each member (KIP-1099).

kcoord's own client also asks for the history of each group, for what its members must let go of, and for who computes.
These stand in tagged fields that nobody else is sent. It also hears that a group is in quarantine, by a message without
an error code.
"""

from __future__ import annotations

from collections.abc import Mapping

from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Partitions, by_topic
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_describe_response import (
    Assignment,
    DescribedGroup,
    HistoryEntry,
    Member,
    Move,
    TopicPartitions,
)
from kcoord.protocol.messages import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from kcoord.protocol.records import ConsumerGroupHistoryValue

CLASSIC_TYPE, CONSUMER_TYPE = 0, 1
"""`MemberType` of a member, by the protocol that it speaks."""


def consumer_group_describe(
    transition: Transition, request: ConsumerGroupDescribeRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConsumerGroupDescribe for groups of this shard."""
    described = [_describe(transition, group_id, request.include_history) for group_id in request.group_ids]
    transition.answer(token, ConsumerGroupDescribeResponse(groups=described))


def _describe(transition: Transition, group_id: str, with_history: bool) -> DescribedGroup:
    group = transition.state.consumer.get(group_id)
    if group is None:
        return DescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"Group {bounded_name(group_id)} {_why_not(transition, group_id)}.",
            group_id=group_id,
        )
    names = {topic.id: topic.name for topic in group.topics.values()}
    described = DescribedGroup(
        group_id=group_id,
        group_state=group.shown_state.label,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor or transition.state.settings.consumer.assignors[0].name,
        members=[_member(group, member, names) for _, member in sorted(group.members.items())],
    )
    if with_history:
        known = transition.state.quarantine.get(group_id)
        failure = (
            None if group.failure is None else f"no new assignment for epoch {group.failure.epoch}: {group.failure.why}"
        )
        described.error_message = failure if known is None else known.text()
        every_name = {**transition.state.topic_names, **names}
        described.history = [_entry(epoch, entry, every_name) for epoch, entry in group.history.items()]
        described.computing_member_id = group.chosen()
        for member in described.members:
            member.pending = _by_name(group.members[member.member_id].pending, every_name)
    return described


def _why_not(transition: Transition, group_id: str) -> str:
    return "is a connect group: describe it as one" if group_id in transition.state.connect else "not found"


def _entry(epoch: int, entry: ConsumerGroupHistoryValue, names: Mapping[bytes, str]) -> HistoryEntry:
    moves = [
        Move(
            move.from_,
            move.to,
            [
                TopicPartitions(each.topic_id, names.get(each.topic_id, ""), each.partitions)
                for each in move.topic_partitions
            ],
        )
        for move in entry.moves
    ]
    return HistoryEntry(
        epoch=epoch,
        reason=entry.reason,
        timestamp_ms=entry.timestamp,
        installed_ms=entry.installed_timestamp,
        converged_ms=entry.converged_timestamp,
        moved_count=entry.moved_count,
        moves=moves,
    )


def _by_name(partitions: Partitions, names: Mapping[bytes, str]) -> list[TopicPartitions]:
    """Partitions by topic. The name of a topic that is gone is empty."""
    return [
        TopicPartitions(topic_id, names.get(topic_id, ""), numbers)
        for topic_id, numbers in by_topic(partitions).items()
    ]


def _member(group: ConsumerGroup, member: ConsumerMember, names: dict[bytes, str]) -> Member:
    metadata = member.metadata
    return Member(
        member_id=member.member_id,
        instance_id=metadata.instance_id,
        rack_id=metadata.rack_id,
        member_epoch=member.epoch,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        subscribed_topic_names=sorted(metadata.subscribed_topic_names),
        subscribed_topic_regex=metadata.subscribed_topic_regex or "",
        assignment=_assignment(member.current, names),
        target_assignment=_assignment(group.target_of(member) or frozenset(), names),
        member_type=CLASSIC_TYPE if member.is_classic else CONSUMER_TYPE,
    )


def _assignment(partitions: Partitions, names: dict[bytes, str]) -> Assignment:
    """Partitions of topics that still exist."""
    return Assignment(
        [
            TopicPartitions(topic_id, names[topic_id], numbers)
            for topic_id, numbers in by_topic(partitions).items()
            if topic_id in names
        ]
    )


def refuse_consumer_group_describe(
    request: ConsumerGroupDescribeRequest, error: ErrorCode
) -> ConsumerGroupDescribeResponse:
    """The answer with the same error for each group."""
    return ConsumerGroupDescribeResponse(
        groups=[DescribedGroup(error_code=error, group_id=group_id) for group_id in request.group_ids]
    )
