"""Computing the group's assignment: how a chosen consumer gets the group, and how its assignment gets back.

The coordinator freezes what was prepared: the install names the group epoch of that input.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from kcoord.assign.consumer import ConsumerAssignment, ConsumerTarget, PreparedGroup, PreparedMember
from kcoord.consumer.setup import Setup
from kcoord.protocol.generated import consumer_group_install_assignment_request as install
from kcoord.protocol.messages import (
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
)
from kcoord.worker.computing import ASSIGNOR_FAILED, Step


@attrs.define
class ConsumerComputing:
    """The computation that this consumer was chosen for. Repeats of the choice change nothing while it runs."""

    step: Step = Step.IDLE
    number: int = -1
    """The number of the request under way, or of the Assign action."""
    group_epoch: int = -1
    assignment: ConsumerAssignment | None = None
    assignor: str | None = None
    """The assignor that the coordinator named last."""

    def stop(self) -> None:
        """Give up the computation; the coordinator asks again if it still wants it."""
        self.step, self.number, self.group_epoch, self.assignment = Step.IDLE, -1, -1, None


def prepare_request(setup: Setup, epoch: int) -> ConsumerGroupPrepareAssignmentRequest:
    """The request for the group."""
    return ConsumerGroupPrepareAssignmentRequest(setup.group_id, setup.member_id, epoch)


def group_of(response: ConsumerGroupPrepareAssignmentResponse) -> PreparedGroup:
    """The group as the assignor sees it. Equal subscriptions are one set."""
    subscriptions: dict[frozenset[bytes], frozenset[bytes]] = {}
    members = []
    for each in response.members:
        subscribed = frozenset(each.subscribed_topic_ids)
        member = PreparedMember(
            member_id=each.member_id,
            instance_id=each.instance_id,
            rack_id=each.rack_id,
            subscribed_topics=subscriptions.setdefault(subscribed, subscribed),
            target={topic.topic_id: frozenset(topic.partitions) for topic in each.topic_partitions},
            epoch=each.member_epoch,
            version=each.assignor.version,
            reason=each.assignor.reason,
            metadata=each.assignor.metadata,
        )
        members.append(member)
    topics = {each.topic_id: each.num_partitions for each in response.topics}
    return PreparedGroup(tuple(members), topics, {each.topic_id: each.topic_name for each in response.topics})


def by_topic(partitions: Iterable[tuple[bytes, int]]) -> ConsumerTarget:
    """The partitions of each topic."""
    topics: dict[bytes, set[int]] = {}
    for topic_id, number in partitions:
        topics.setdefault(topic_id, set()).add(number)
    return {topic_id: frozenset(numbers) for topic_id, numbers in topics.items()}


def install_request(
    setup: Setup, epoch: int, group_epoch: int, assignment: ConsumerAssignment | None
) -> ConsumerGroupInstallAssignmentRequest:
    """The request that installs `assignment`; None: the assignor has failed."""
    request = ConsumerGroupInstallAssignmentRequest(setup.group_id, setup.member_id, epoch, group_epoch)
    if assignment is None:
        request.error = ASSIGNOR_FAILED
        return request
    request.error = assignment.error
    request.members = [
        install.Member(
            member_id=each.member_id,
            topic_partitions=[
                install.TopicPartitions(topic_id, sorted(numbers))
                for topic_id, numbers in each.target.items()
                if numbers
            ],
            version=each.version,
            metadata=each.metadata,
        )
        for each in assignment.members
    ]
    return request
