"""How much one request may ask for, judged in its bytes, before it is decoded.

1. A request that names several groups is carried out in slices, since one group's answer may be large: here a group at
   a time, in front of a cluster `SLICE` groups. It may name `request.max.groups`.
2. All other arrays of a request, those of each group that a batch names too, may have `request.max.elements` in all.
3. A request above these is answered INVALID_REQUEST where its API's answer has a place for an error at the top, else
   its connection is closed.
"""

from __future__ import annotations

import attrs

from kcoord.group.refuse import refuse
from kcoord.protocol.call import Call
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.framing import FrameRefused
from kcoord.protocol.layout import regular_fields
from kcoord.protocol.messages import RESPONSES, JoinGroupRequest, Request, Response, api_name
from kcoord.protocol.request_batch import BATCHED, RequestBatch, has_too_many_elements

__all__ = ["LARGE_FRAME", "SLICE", "SLICE_WEIGHT", "RequestLimits", "TooLarge", "judge"]

SLICE = 16
"""Groups that the cluster behind a gateway is asked about in one go."""
SEVERAL = 2
"""From so many groups on a request is carried out in slices."""
SLICE_WEIGHT = 1000
"""Elements (topics, partitions, keys) of groups that are gone through in one go, as far as groups can be parted."""
LARGE_FRAME = 16 * 1024
"""Bytes of a frame from which on counting, decoding and carrying out have a turn of the loop each."""
JOIN_ELEMENTS = 2000
"""Protocols that a JoinGroup may name, whatever is set: each is compared with those of all other members."""


@attrs.frozen
class RequestLimits:
    """What one request may name, and how large the answer to a batch may be."""

    groups: int = 100_000
    """`request.max.groups`"""
    elements: int = 20_000
    """`request.max.elements`"""
    answer_bytes: int = 64 << 20
    """`response.max.bytes`"""


class TooLarge(Exception):
    """A request that is answered by an error; the text says why, for the log."""

    def __init__(self, reason: str, answer: Response) -> None:
        super().__init__(reason)
        self.answer = answer


def judge(kind: type[Request], call: Call, limits: RequestLimits) -> RequestBatch | None:
    """The batch that `call` is, if it must be sliced; None if it can be decoded whole.

    Raises TooLarge, or FrameRefused where its API has no answer that says so.
    """
    batch = RequestBatch.of(kind, call, SEVERAL) if kind in BATCHED else None
    if batch is not None:
        if batch.count > limits.groups:
            raise FrameRefused(
                f"{api_name(kind.API_KEY)} v{call.header.api_version} names {batch.count} groups, "
                f"{limits.groups} are allowed (request.max.groups)"
            )
        return batch
    most = min(limits.elements, JOIN_ELEMENTS) if kind is JoinGroupRequest else limits.elements
    if len(call.frame) > most and has_too_many_elements(kind, call, most):  # an element has a byte at least
        raise too_many_elements(kind, call.header.api_version, limits)
    return None


def too_many_elements(kind: type[Request], version: int, limits: RequestLimits) -> TooLarge | FrameRefused:
    """What to raise for a request with more elements than allowed."""
    reason = (
        f"{api_name(kind.API_KEY)} v{version} has more than {limits.elements} elements in its arrays "
        "(request.max.elements)"
    )
    answered = RESPONSES[kind.API_KEY]
    if any(each.attribute == "error_code" for each in regular_fields(answered.FIELDS, version)):
        try:
            return TooLarge(reason, refuse(kind(), ErrorCode.INVALID_REQUEST))
        except KeyError:  # an API that is no group's
            pass
    return FrameRefused(reason)
