"""ConsumerGroupPrepareAssignment (32110): the chosen consumer fetches the input of its assignor. This freezes the input
(KG-27; KIP-848's first draft).
"""

from __future__ import annotations

from kcoord.assign.consumer.model import Subscriber
from kcoord.group.consumer.computed_targets import freeze
from kcoord.group.consumer.computing_member import check_computing
from kcoord.group.consumer.settle import settle
from kcoord.group.modern.client_assignors import wrong_in_ids
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, FrozenConsumers
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_prepare_assignment_response import (
    Assignor,
    Member,
    Topic,
    TopicPartitions,
)
from kcoord.protocol.messages import ConsumerGroupPrepareAssignmentRequest, ConsumerGroupPrepareAssignmentResponse


def consumer_group_prepare_assignment(
    transition: Transition, request: ConsumerGroupPrepareAssignmentRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConsumerGroupPrepareAssignment. A second one freezes the input again."""
    wrong = wrong_in_ids(request)
    if wrong is not None:
        transition.answer(token, _refused(ErrorCode.INVALID_REQUEST, wrong))
        return
    try:
        group, computation = _as_of_now(transition, request, context)
    except Refused as refused:
        transition.answer(token, _refused(refused.error, refused.message))
        return
    computation.frozen = freeze(group)
    given, name = computation.frozen.input, computation.assignor
    transition.answer(
        token,
        ConsumerGroupPrepareAssignmentResponse(
            group_epoch=computation.frozen.epoch,
            assignor_name=name,
            members=[_member(group.members[each.member_id], name, each) for each in given.members],
            topics=[Topic(topic_id, given.names[topic_id], number) for topic_id, number in given.topics.items()],
        ),
    )


def _as_of_now(
    transition: Transition, request: ConsumerGroupPrepareAssignmentRequest, context: RequestContext
) -> tuple[ConsumerGroup, Computation[FrozenConsumers]]:
    """The computation of this member. What was frozen before counts no more, so the coordinator first chooses again who
    computes, and with which assignor. Raises Refused if this member is not chosen.
    """
    group, _, computation = check_computing(transition, request, context)
    computation.frozen = None
    settle(transition, group)
    group, _, computation = check_computing(transition, request, context)
    if computation.epoch != group.epoch:
        raise Refused(ErrorCode.STALE_MEMBER_EPOCH, "the group has changed, and its next assignment has to wait")
    return group, computation


def _refused(error: ErrorCode, message: str) -> ConsumerGroupPrepareAssignmentResponse:
    return ConsumerGroupPrepareAssignmentResponse(error_code=error, error_message=bounded_text(message))


def _member(member: ConsumerMember, assignor: str, seen: Subscriber) -> Member:
    said = next(each for each in member.metadata.client_assignors if each.name == assignor)
    return Member(
        member.member_id,
        member.epoch,
        seen.instance_id,
        seen.rack_id,
        sorted(seen.subscribed_topics),
        Assignor(said.version, said.reason, said.metadata),
        [TopicPartitions(topic_id, sorted(numbers)) for topic_id, numbers in sorted(seen.target.items())],
    )
