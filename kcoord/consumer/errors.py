"""The errors of a consumer, and what to do about each reason for which a coordinator refuses one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from aiokafka import TopicPartition
from aiokafka.errors import (
    KafkaError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    RecordTooLargeError,
    TopicAuthorizationFailedError,
)

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
CLIENT_SIDE_ADVICE: Mapping[int, str] = {
    ErrorCode.UNSUPPORTED_ASSIGNOR: "the coordinator takes no client-side assignors from consumers (here "
    "{client_side}). Set group.consumer.client.assignors.enable=true in kcoord, or leave out `assignors`",
    ErrorCode.UNSUPPORTED_VERSION: "the coordinator does not know client-side assignors of consumers (here "
    "{client_side}). Use kcoord: without a cluster, or in front of one with group.consumer.enable=true, and with "
    "group.consumer.client.assignors.enable=true. Or leave out `assignors`: then the coordinator assigns",
}
"""The same, for a consumer that has assignors of its own."""
_STOP_THE_OTHERS = "stop the members of the classic protocol first, or use another group"
REASON_ADVICE: Mapping[str, str] = {
    "migration policy": "set consumer.migration.policy of the group to bidirectional or upgrade, or "
    + _STOP_THE_OTHERS,
    "kcoord does not coordinate this group": "add it to the groups that kcoord may have (its setting groups), or use "
    "another group",
    "the classic protocol": _STOP_THE_OTHERS,
    "another protocol": _STOP_THE_OTHERS,
}
"""What to do where the coordinator's own reason has these words. The first entry counts, before the error code."""
_HINT_TO_JAVA = re.compile(r":? set group\.protocol=classic.*$")
"""kcoord says this to clients that have both protocols. This one does not."""


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
    reason = _HINT_TO_JAVA.sub("", message or "").rstrip(".")
    advice = _advice(setup, error_code, reason)
    text = f"{reason}. {advice[0].upper()}{advice[1:]}" if reason else advice
    return ConsumerError(f"group {setup.group_id}: {error_name(error_code)}: {text}")


def _advice(setup: Setup, error_code: int, reason: str) -> str:
    for words, advice in REASON_ADVICE.items():
        if words in reason:
            return advice
    advices = {**ADVICE, **CLIENT_SIDE_ADVICE} if setup.client_assignors else ADVICE
    return advices.get(error_code, "the coordinator refuses this consumer").format(
        instance=setup.instance_id,
        assignor=setup.server_assignor,
        client_side=", ".join(setup.client_assignors),
        pattern=setup.pattern,
        subscription=setup.pattern or ", ".join(setup.topics),
    )


def unreadable(group_id: str, error: KafkaError) -> ConsumerError:
    """What a failure of aiokafka means."""
    group = f"group {group_id}"
    match error:
        case OffsetOutOfRangeError():
            where = ", ".join(f"{name_some([each])} at {offset}" for each, offset in error.args[0].items())
            return ConsumerError(
                f"{group}: there are no records any more where the group left off: {where}. Seek to another "
                "offset, or set auto_offset_reset"
            )
        case NoOffsetForPartitionError():
            return ConsumerError(
                f"{group}: no offset was committed for {name_some(error.args)}, and auto_offset_reset is 'none'. "
                "Commit one, seek in on_assigned, or set auto_offset_reset"
            )
        case TopicAuthorizationFailedError():
            return ConsumerError(f"{group}: this user may not read the topic {error.args[0]}: allow it Read on it")
        case RecordTooLargeError():
            return ConsumerError(
                f"{group}: a record is larger than a fetch may be and is left out: raise max_partition_fetch_bytes "
                f"in fetch_options ({error})"
            )
    return ConsumerError(f"{group}: records cannot be fetched: {error}")


def name_some(partitions: Iterable[TopicPartition]) -> str:
    """The names of partitions, sorted; of many only the first ones."""
    ordered = sorted(partitions)
    names = [f"{each.topic}-{each.partition}" for each in ordered[:_NAMED]]
    more = len(ordered) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "") if names else "no partitions"
