"""Requests that name several groups: the split into one request for each group, and the merge of the answers.

Some requests name several groups (GW-18). A shard, or the real coordinator behind a gateway, answers for one group at a
time. So such a request is split into one for each group, and the answers are merged in the order of the request. A
request that names many groups is first cut into slices (`kcoord.protocol.request_batch`), and the answers to the slices
are joined as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import cast

import attrs

from kcoord.group.refuse import refuse
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.layout import regular_fields
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Request,
    Response,
)
from kcoord.protocol.primitives import write_uvarint
from kcoord.protocol.sliced_encoding import encode_in_slices, large_arrays

Merge = Callable[[Sequence[Response]], Response]

SPLIT = frozenset(
    {
        DescribeGroupsRequest,
        ConnectGroupDescribeRequest,
        DeleteGroupsRequest,
        OffsetFetchRequest,
        DescribeConfigsRequest,
        IncrementalAlterConfigsRequest,
        FindCoordinatorRequest,
    }
)
"""The requests that may name several groups."""


def group_of(request: Request) -> str:
    """The id of the group that a request for one group names."""
    group_id: str = getattr(request, "group_id")  # noqa: B009
    return group_id


def named_group(request: Request) -> str | None:
    """The id of the one group that a request to a shard is about; None for a request that names none (ListGroups)."""
    group_id: str | None = getattr(request, "group_id", None)
    if group_id is not None and not isinstance(request, OffsetFetchRequest):
        return group_id
    parts = split(request)
    if parts:
        return parts[0][0]
    return group_id or None


def split(request: Request) -> list[tuple[str, Request]] | None:
    """One request for each group that `request` names, in its order; None if its API or version names only one.

    FindCoordinator v4+ and OffsetFetch v8+ name their groups in a list; earlier versions name one at the top. Each
    resource of a DescribeConfigs or IncrementalAlterConfigs must be a group.
    """
    if type(request) not in SPLIT:  # nearly all requests
        return None
    match request:
        case DescribeGroupsRequest():
            return [(group, attrs.evolve(request, groups=[group])) for group in request.groups]
        case ConnectGroupDescribeRequest():
            return [(group, attrs.evolve(request, group_ids=[group])) for group in request.group_ids]
        case DeleteGroupsRequest():
            return [(group, attrs.evolve(request, groups_names=[group])) for group in request.groups_names]
        case OffsetFetchRequest(groups=[_, *_]):
            return [(group.group_id, attrs.evolve(request, groups=[group])) for group in request.groups]
        case DescribeConfigsRequest():
            return [(each.resource_name, attrs.evolve(request, resources=[each])) for each in request.resources]
        case IncrementalAlterConfigsRequest():
            return [(each.resource_name, attrs.evolve(request, resources=[each])) for each in request.resources]
        case FindCoordinatorRequest(coordinator_keys=[_, *_]):
            return [(key, attrs.evolve(request, coordinator_keys=[key])) for key in request.coordinator_keys]
        case _:
            return None


def merge(responses: Sequence[Response]) -> Response:
    """One response from several of the same kind (at least one), in their order, with the longest throttle time."""
    first = responses[0]
    throttle = max(cast(int, getattr(each, "throttle_time_ms")) for each in responses)  # noqa: B009
    match first:
        case DescribeGroupsResponse():
            described = cast(Sequence[DescribeGroupsResponse], responses)
            return attrs.evolve(first, throttle_time_ms=throttle, groups=[g for each in described for g in each.groups])
        case ConnectGroupDescribeResponse():
            connect = cast(Sequence[ConnectGroupDescribeResponse], responses)
            return attrs.evolve(first, throttle_time_ms=throttle, groups=[g for each in connect for g in each.groups])
        case DeleteGroupsResponse():
            deleted = cast(Sequence[DeleteGroupsResponse], responses)
            return attrs.evolve(first, throttle_time_ms=throttle, results=[r for each in deleted for r in each.results])
        case DescribeConfigsResponse():
            configs = cast(Sequence[DescribeConfigsResponse], responses)
            return attrs.evolve(first, throttle_time_ms=throttle, results=[r for each in configs for r in each.results])
        case IncrementalAlterConfigsResponse():
            altered = cast(Sequence[IncrementalAlterConfigsResponse], responses)
            return attrs.evolve(
                first, throttle_time_ms=throttle, responses=[r for each in altered for r in each.responses]
            )
        case OffsetFetchResponse():
            fetched = cast(Sequence[OffsetFetchResponse], responses)
            return attrs.evolve(first, throttle_time_ms=throttle, groups=[g for each in fetched for g in each.groups])
        case FindCoordinatorResponse():
            found = cast(Sequence[FindCoordinatorResponse], responses)
            return attrs.evolve(
                first, throttle_time_ms=throttle, coordinators=[c for each in found for c in each.coordinators]
            )
        case _:
            raise TypeError(f"{type(first).__name__} answers for one group: there is nothing to merge")


def empty_answer(request: Request) -> Response:
    """The answer to a batched request that names no group."""
    match request:
        case DescribeGroupsRequest():
            return DescribeGroupsResponse()
        case ConnectGroupDescribeRequest():
            return ConnectGroupDescribeResponse()
        case DeleteGroupsRequest():
            return DeleteGroupsResponse()
        case DescribeConfigsRequest():
            return DescribeConfigsResponse()
        case IncrementalAlterConfigsRequest():
            return IncrementalAlterConfigsResponse()
        case _:
            raise TypeError(f"{type(request).__name__} always names a group")


BATCHED_ANSWERS: dict[type[Response], str] = {
    DescribeGroupsResponse: "groups",
    ConnectGroupDescribeResponse: "groups",
    DeleteGroupsResponse: "results",
    DescribeConfigsResponse: "results",
    IncrementalAlterConfigsResponse: "responses",
    OffsetFetchResponse: "groups",
    FindCoordinatorResponse: "coordinators",
}
"""The responses to batches, each with the field that has an answer for each group. The throttle time is the only other
field.
"""
THROTTLE, THROTTLE_BYTES = "throttle_time_ms", 4


class BatchAnswer(Response):
    """The answer to a batch that is carried out slice by slice.

    Each part is encoded when it is added, so there is never an object of the whole answer.

    When a part does not fit into `limit` bytes, it and all later parts are answered INVALID_REQUEST, each in its place.
    Then the caller need not carry out the remaining slices (`is_full`).
    """

    __slots__ = (
        "_body",
        "_count",
        "_flexible",
        "_has_throttle",
        "_kind",
        "_limit",
        "_name",
        "_throttle_ms",
        "_version",
        "is_full",
    )

    def __init__(self, kind: type[Response], version: int, limit: int) -> None:
        self._kind = kind
        self._name = BATCHED_ANSWERS[kind]
        self._version = version
        self._flexible = version >= kind.FLEXIBLE_FROM
        self._has_throttle = any(each.attribute == THROTTLE for each in regular_fields(kind.FIELDS, version))
        self._limit = limit
        self._body = bytearray()
        self._count = 0
        self._throttle_ms = 0
        self.is_full = False
        """Whether a part did not fit."""

    def add(self, request: Request, response: Response) -> Iterator[None]:
        """Add the answer to the slice `request`. Yields at least once for each part, and more often for a large part.
        Raises EncodeError.
        """
        self._throttle_ms = max(self._throttle_ms, cast(int, getattr(response, THROTTLE)))
        refused: list[object] = []
        for at, part in enumerate(cast(list[object], getattr(response, self._name))):
            written = b"" if self.is_full else (yield from self._written_in_slices(part))
            self.is_full = self.is_full or len(self._body) + len(written) > self._limit
            if self.is_full:
                refused = refused or getattr(refuse(request, ErrorCode.INVALID_REQUEST), self._name)
                written = self._written(refused[at])
            self._body += written
            self._count += 1
            yield

    def refuse(self, request: Request) -> None:
        """Refuse a slice that is not carried out because the answer is full. Raises EncodeError."""
        for part in getattr(refuse(request, ErrorCode.INVALID_REQUEST), self._name):
            self._body += self._written(part)
            self._count += 1

    def _written(self, part: object) -> bytes:
        """The bytes of one part: what stands between the count and the end of an answer with this part alone."""
        return self._cut(self._alone(part).encode(self._version))

    def _written_in_slices(self, part: object) -> Generator[None, None, bytes]:
        """The bytes of one part, as `_written` gives them; yields between the slices of a large part."""
        alone = self._alone(part)
        arrays = large_arrays(alone)
        if arrays is None:
            return self._written(part)
        pieces = []
        for piece in encode_in_slices(alone, self._version, arrays):
            pieces.append(piece)
            yield
        return self._cut(b"".join(pieces))

    def _alone(self, part: object) -> Response:
        return self._kind(**{self._name: [part]})

    def _cut(self, alone: bytes) -> bytes:
        before = THROTTLE_BYTES if self._has_throttle else 0
        return alone[before + 1 : -1] if self._flexible else alone[before + 4 :]

    def encode(self, version: int) -> bytes:
        """The whole body. `version` must be the one that the answer was made for."""
        return b"".join(self.pieces())

    def pieces(self) -> tuple[bytes, bytearray, bytes]:
        """The body in three pieces. The second one is not copied."""
        throttle = self._throttle_ms.to_bytes(THROTTLE_BYTES, "big") if self._has_throttle else b""
        count = write_uvarint(self._count + 1) if self._flexible else self._count.to_bytes(4, "big")
        return throttle + count, self._body, b"\0" if self._flexible else b""


class Gathering:
    """Collects the answers to the parts of one request, in any order. Delivers the merged answer after the last one."""

    def __init__(self, parts: int, deliver: Callable[[Response], None], merged: Merge = merge) -> None:
        self._answers: list[Response | None] = [None] * parts
        self._missing = parts
        self._deliver = deliver
        self._merged = merged

    def taker(self, at: int) -> Callable[[Response, object], None]:
        """The function that takes the answer to part `at`. It ignores what the hot path might remember of that part."""

        def take(response: Response, _cached: object) -> None:
            self._answers[at] = response
            self._missing -= 1
            if not self._missing:
                self._deliver(self._merged([answer for answer in self._answers if answer is not None]))

        return take
