"""Limits of what one request may ask for, checked in its bytes before it is decoded.

1. A request that names several groups is carried out in slices, because one group's answer may be large: one group at a
   time here, `SLICE` groups at a time in front of a cluster. It may name `request.max.groups` groups.
2. The other arrays of a request may have `request.max.elements` elements together. In a batch this holds for each
   group.
3. A request with too many elements is answered INVALID_REQUEST if its API's response has an error field at the top.
   Otherwise, and if it names too many groups, its connection is closed.
"""

from __future__ import annotations

import attrs

from kcoord.group.api_handlers_and_rights import ALL_APIS
from kcoord.group.error_responses import refuse
from kcoord.protocol.batch_splitting import RequestBatch, has_too_many_elements
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.layout import regular_fields
from kcoord.protocol.messages import RESPONSES, JoinGroupRequest, Request, Response, api_name
from kcoord.protocol.undecoded_call import Call

__all__ = ["LARGE_FRAME", "SLICE", "SLICE_WEIGHT", "RequestLimits", "TooLarge", "judge"]

SLICE = 16
"""Groups that the gateway asks the cluster about in one request."""
SEVERAL = 2
"""The number of groups from which on a request is carried out in slices."""
SLICE_WEIGHT = 1000
"""Elements (topics, partitions, keys) of groups that one slice has at most, unless one group alone has more."""
LARGE_FRAME = 16 * 1024
"""The size of a frame, in bytes, from which on counting, decoding and handling each have their own turn of the loop."""
JOIN_ELEMENTS = 2000
"""Protocols that a JoinGroup may name, whatever is set. Each one is compared with those of all other members."""

BATCHED = {row.request: row.batch.names for row in ALL_APIS if row.batch is not None}
"""The requests that may name several groups, resources or keys, and the field that names them."""


@attrs.frozen
class RequestLimits:
    """How much one request may name, and how large the answer to a batch may be."""

    groups: int = 100_000
    """`request.max.groups`"""
    elements: int = 20_000
    """`request.max.elements`"""
    answer_bytes: int = 64 << 20
    """`response.max.bytes`"""


class TooLarge(Exception):
    """The request is too large and gets `answer`, an error. The text says why, for the log."""

    def __init__(self, reason: str, answer: Response) -> None:
        super().__init__(reason)
        self.answer = answer


def judge(kind: type[Request], call: Call, limits: RequestLimits) -> RequestBatch | None:
    """The batch in `call`, if it must be sliced; None if the request can be decoded as a whole.

    Raises TooLarge, or FrameRefused if the API's response cannot say so.
    """
    field = BATCHED.get(kind)
    batch = None if field is None else RequestBatch.of(kind, field, call, SEVERAL)
    if batch is not None:
        if batch.count > limits.groups:
            raise FrameRefused(
                f"{api_name(kind.API_KEY)} v{call.header.api_version} names {batch.count} groups, "
                f"{limits.groups} are allowed (request.max.groups)"
            )
        return batch
    most = min(limits.elements, JOIN_ELEMENTS) if kind is JoinGroupRequest else limits.elements
    if len(call.frame) > most and has_too_many_elements(kind, call, most):  # an element takes at least one byte
        raise too_many_elements(kind, call.header.api_version, limits)
    return None


def too_many_elements(kind: type[Request], version: int, limits: RequestLimits) -> TooLarge | FrameRefused:
    """The exception to raise for a request with more elements than allowed."""
    reason = (
        f"{api_name(kind.API_KEY)} v{version} has more than {limits.elements} elements in its arrays "
        "(request.max.elements)"
    )
    answered = RESPONSES[kind.API_KEY]
    if any(each.attribute == "error_code" for each in regular_fields(answered.FIELDS, version)):
        try:
            return TooLarge(reason, refuse(kind(), ErrorCode.INVALID_REQUEST))
        except KeyError:  # not a group API
            pass
    return FrameRefused(reason)
