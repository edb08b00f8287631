"""Late commits: responses to commits of a member, or of a generation, that is over (AD-17; rule 5 of `release.py`)."""

from __future__ import annotations

import struct
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from kcoord.gateway.handlers.group_calls import GroupCallContext
from kcoord.gateway.ownership.sentinel.upstream_errors import LOST, STRANGER
from kcoord.gateway.session.collected_responses import decode, encoded
from kcoord.gateway.session.upstream import Expected, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["join_instead", "pass_commit"]

_SIZE = struct.Struct(">i")


async def pass_commit(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: OffsetCommitRequest | TxnOffsetCommitRequest
) -> None:
    """Pass on a commit of a member upstream, or a late commit. Raises UpstreamLost."""
    gateway.release_calls.hear(request.group_id, request.member_id)
    is_ours = await gateway.former_ids.is_ours(session, call, request)
    hidden = LOST if is_ours else LOST - STRANGER

    def deliver(owed: Expected, frame: bytes) -> None:
        response = decode(owed, frame)
        is_told = _told_to_join(response, hidden)
        session.to_client(encoded(owed, response) if is_told else _SIZE.pack(len(frame)) + frame)

    session.pass_on(call, deliver)


def join_instead(request: OffsetCommitRequest | TxnOffsetCommitRequest) -> ErrorCode:
    """The error for a member whose commit comes too late: it makes the member join."""
    is_transactional = isinstance(request, TxnOffsetCommitRequest)
    return ErrorCode.ILLEGAL_GENERATION if is_transactional else ErrorCode.REBALANCE_IN_PROGRESS


def _told_to_join(response: object, hidden: AbstractSet[ErrorCode]) -> bool:
    """Replace the errors in `hidden` by one that makes the member join. Returns False if there are none."""
    assert isinstance(response, OffsetCommitResponse | TxnOffsetCommitResponse)
    is_transactional = isinstance(response, TxnOffsetCommitResponse)
    instead = ErrorCode.ILLEGAL_GENERATION if is_transactional else ErrorCode.REBALANCE_IN_PROGRESS
    found = [each for topic in response.topics for each in topic.partitions if error_of(each.error_code) in hidden]
    for each in found:
        each.error_code = instead
    return bool(found)
