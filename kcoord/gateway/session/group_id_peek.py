"""The group id of a request, read without decoding the rest.

Requests about groups that are not kcoord's pass unchanged; kcoord reads only their first one or two fields.
"""

from __future__ import annotations

from kcoord.gateway.rewriting.api_versions import NEWER_HEARTBEATS
from kcoord.group.api_handlers_and_rights import API_TABLE
from kcoord.protocol.messages import FLEXIBLE_FROM, OWN_APIS, TxnOffsetCommitRequest, api_name
from kcoord.protocol.primitives import DecodeError, Malformed, read_uvarint
from kcoord.protocol.undecoded_call import Call

__all__ = ["ONE_GROUP", "peek_group"]

TXN_OFFSET_COMMIT = TxnOffsetCommitRequest.API_KEY
ONE_GROUP = frozenset(row.key for row in API_TABLE if row.names_one_group) - OWN_APIS | NEWER_HEARTBEATS
"""APIs of Kafka whose request names one group, as its first field (TxnOffsetCommit: its second)."""


def peek_group(call: Call) -> str:
    """The group id of a request of an API in ONE_GROUP. Raises DecodeError."""
    header = call.header
    flexible = header.api_version >= FLEXIBLE_FROM[header.api_key]
    pos = call.body_pos
    try:
        if header.api_key == TXN_OFFSET_COMMIT:
            _, pos = _string(call.frame, pos, flexible)
        return _string(call.frame, pos, flexible)[0]
    except (IndexError, Malformed):
        raise DecodeError(f"{api_name(header.api_key)} v{header.api_version}: no group id at byte {pos}") from None


def _string(frame: bytes, pos: int, flexible: bool) -> tuple[str, int]:
    if flexible:
        size, pos = read_uvarint(frame, pos)
        size -= 1
    else:
        size, pos = int.from_bytes(frame[pos : pos + 2], "big", signed=True), pos + 2
    stop = pos + size
    if size < 0 or stop > len(frame):
        raise Malformed("a string beyond the end, or null")
    return frame[pos:stop].decode("utf-8", "replace"), stop
