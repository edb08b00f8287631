"""Validation of consumers' requests by their fields alone. It looks at no state."""

from __future__ import annotations

from kcoord.group.modern.client_assignors import wrong_in_assignors, wrong_in_ids
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import Partitions
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest
from kcoord.protocol.messages import ConsumerGroupInstallAssignmentRequest as InstallRequest

MADE_BY_THE_COORDINATOR = 0
"""The version in which a member that joins may leave its id to the coordinator."""
UNSAID_MS = -1
"""The rebalance timeout of a request that does not say any."""


def wrong_in_heartbeat(request: ConsumerGroupHeartbeatRequest, version: int) -> str | None:
    """What is wrong; None: nothing."""
    joins, epoch = request.member_epoch == JOINING_EPOCH, request.member_epoch
    checks = (
        (not request.group_id, "GroupId is empty"),
        (not request.member_id and not (joins and version == MADE_BY_THE_COORDINATOR), "MemberId is empty"),
        (request.instance_id == "", "InstanceId is empty"),
        (request.rack_id == "", "RackId is empty"),
        (epoch < AWAY_EPOCH, "MemberEpoch is {0.member_epoch}: it must be -2 or more"),
        (
            epoch == AWAY_EPOCH and request.instance_id is None,
            "MemberEpoch -2 is for static members: InstanceId is missing",
        ),
        (joins and request.rebalance_timeout_ms == UNSAID_MS, "RebalanceTimeoutMs is missing in a request that joins"),
        (joins and request.topic_partitions is None, "TopicPartitions is missing in a request that joins"),
        (joins and bool(request.topic_partitions), "TopicPartitions is not empty in a request that joins"),
        (
            joins and request.subscribed_topic_names is None and request.subscribed_topic_regex is None,
            "a request that joins has neither SubscribedTopicNames nor SubscribedTopicRegex",
        ),
        (
            bool(request.client_assignors) and request.server_assignor is not None,
            "ServerAssignor and ClientAssignors cannot be used together",
        ),
        (
            any(number < 0 for each in request.topic_partitions or () for number in each.partitions),
            "TopicPartitions has a negative partition",
        ),
    )
    wrong = next((text.format(request) for wrong, text in checks if wrong), None)
    return wrong or wrong_in_assignors(request.client_assignors or ())


def unknown_assignor(request: ConsumerGroupHeartbeatRequest, settings: ConsumerSettings) -> str | None:
    """What is wrong with the assignor that the member wishes for, or with those that it lists; None: nothing."""
    wished, known = request.server_assignor, settings.assignor_names
    if request.client_assignors and not settings.client_assignors:
        return "consumers may not compute here: group.consumer.client.assignors.enable is false"
    if wished is None or wished in known:
        return None
    return f"ServerAssignor {wished} is not known; there are {', '.join(known)}"


def wrong_in_install(request: InstallRequest) -> str | None:
    """What is wrong in a ConsumerGroupInstallAssignment; None: nothing. The targets are judged by what was prepared."""
    if any(not each.member_id for each in request.members):
        return "a member's MemberId is empty"
    return wrong_in_ids(request)


def owned_by(request: ConsumerGroupHeartbeatRequest) -> Partitions | None:
    """What the member says that it consumes; None: it does not say."""
    if request.topic_partitions is None:
        return None
    return frozenset((each.topic_id, number) for each in request.topic_partitions for number in each.partitions)
