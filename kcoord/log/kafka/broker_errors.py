"""The meaning of a broker's error codes for writing and reading the log: retry, find another broker, or give up.

One table serves all APIs that the log uses, because their errors mean the same everywhere. An error that is not in the
table is final.
"""

from __future__ import annotations

from enum import Enum

from kcoord.protocol.errors import ErrorCode


class Refused(Exception):
    """A broker refuses, and a retry would not help. The text names the error."""


class Then(Enum):
    """What to do after an answer."""

    DONE = "done"
    SOON = "ask again at once: it is a matter of a ms or two"
    AGAIN = "ask again after a pause"
    SEEK = "it is another broker that must be asked: find out which"
    FENCED = "somebody else has taken the partition over"
    FINAL = "asking again would not help"


_THEN = {
    Then.DONE: [
        ErrorCode.NONE,
        ErrorCode.DUPLICATE_SEQUENCE_NUMBER,  # a repeated batch had arrived the first time
    ],
    Then.SOON: [
        ErrorCode.CONCURRENT_TRANSACTIONS,  # the last transaction's markers are being written
    ],
    Then.AGAIN: [
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    ],
    Then.SEEK: [
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,  # a broker that does not know its new partition yet; or a deleted topic
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NETWORK_EXCEPTION,
    ],
    Then.FENCED: [
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
    ],
}
_OF = {code: then for then, codes in _THEN.items() for code in codes}

_RIGHTS = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "kcoord may not read or write the topic",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "kcoord may not write with that transactional id",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "kcoord may not do this in the cluster",
}


def then(code: int) -> Then:
    """What to do after an answer with the error `code`."""
    return _OF.get(code, Then.FINAL)  # type: ignore[call-overload, no-any-return]


def said(code: int) -> str:
    """The error's name, and advice if there is any."""
    try:
        error = ErrorCode(code)
    except ValueError:
        return f"error {code}"
    if error in _RIGHTS:
        return f"{error.name}: {_RIGHTS[error]}; give its user the rights that docs/log.md lists"
    return error.name
