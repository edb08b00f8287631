"""The errors of a consumer, and what to do about each reason for which a coordinator refuses one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiokafka import TopicPartition

from kcoord.consumer.setup import Setup
from kcoord.consumer.transitions import error_name
from kcoord.protocol.errors import ErrorCode

_NAMED = 10
"""How many partitions are named in one text."""

ADVICE: Mapping[int, str] = {
    ErrorCode.UNRELEASED_INSTANCE_ID: "another consumer that is there has the instance id {instance}. Give each "
    "consumer its own. If that one was killed, its place is free when its session has ended",
    ErrorCode.FENCED_INSTANCE_ID: "another consumer has taken over the instance id {instance}. Give each consumer its "
    "own",
    ErrorCode.UNSUPPORTED_ASSIGNOR: "the coordinator does not have the assignor {assignor}",
    ErrorCode.GROUP_MAX_SIZE_REACHED: "the group has as many members as it may. Raise the coordinator's "
    "group.consumer.max.size, or start fewer consumers",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "this user may not use the group: allow it Read on the group",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "this user may not see a topic of {subscription}: allow it Describe and Read",
    ErrorCode.INVALID_REGULAR_EXPRESSION: "the coordinator cannot use the pattern {pattern}: write it in RE2's syntax",
    ErrorCode.UNSUPPORTED_VERSION: "the coordinator does not serve consumer groups of the new protocol (KIP-848). Use "
    "Apache Kafka 4.0 or later, or kcoord: without a cluster, or in front of one with group.consumer.enable=true",
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: "the group has members of the classic protocol that cannot be taken over. "
    "Stop them first, or use another group",
    ErrorCode.GROUP_ID_NOT_FOUND: "the group is of another kind. Use another group",
    ErrorCode.INVALID_REQUEST: "the coordinator does not accept these options",
}
"""By error code: why, and what to do."""


class ConsumerError(Exception):
    """The consumer cannot go on, or was not used as it can be. The text is one line: what, where, and what to do."""


class CommitFailed(ConsumerError):
    """The offsets were not committed. If others have the partitions by now, they begin at the last offset that was
    committed, so what this consumer has done since is done again there.
    """


class ConsumerStopped(ConsumerError):
    """A stop signal has come, or the consumer is closed: leave the `async with` block."""


def refusal(setup: Setup, error_code: int, message: str | None) -> ConsumerError:
    """The error of a consumer that may not be a member."""
    said = f" ({message})" if message else ""
    advice = ADVICE.get(error_code, "the coordinator refuses this consumer").format(
        instance=setup.instance_id,
        assignor=setup.server_assignor,
        pattern=setup.pattern,
        subscription=setup.pattern or ", ".join(setup.topics),
    )
    return ConsumerError(f"group {setup.group_id}: {error_name(error_code)}: {advice}{said}")


def name_some(partitions: Iterable[TopicPartition]) -> str:
    """The names of partitions, sorted; of many only the first ones."""
    ordered = sorted(partitions)
    names = [f"{each.topic}-{each.partition}" for each in ordered[:_NAMED]]
    more = len(ordered) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "") if names else "no partitions"
