"""Requests that name several groups: the split into one request for each group, and the merge of the answers.

Some requests name several groups (GW-18). A shard, or the real coordinator behind a gateway, answers for one group at a
time. So such a request is split into one for each group, and the answers are merged in the order of the request. A
request that names many groups is first cut into slices (`kcoord.protocol.batch_splitting`), and the answers to the
slices are joined as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, cast

import attrs

from kcoord.group.api_handlers_and_rights import ALL_APIS, Batch
from kcoord.group.error_responses import refuse
from kcoord.group.state.records.topic_records import TOPICS
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.layout import regular_fields
from kcoord.protocol.messages import OffsetFetchRequest, Request, Response, response_class
from kcoord.protocol.primitives import write_uvarint
from kcoord.protocol.sliced_encoding import encode_in_slices, large_arrays

Merge = Callable[[Sequence[Response]], Response]

BATCHES: dict[type[Request], Batch] = {row.request: row.batch for row in ALL_APIS if row.batch is not None}
"""The requests that may name several groups."""
BATCHED_ANSWERS: dict[type[Response], str] = {
    response_class(kind.API_KEY): batch.answers for kind, batch in BATCHES.items()
}
"""The responses to batches, each with the field that has an answer for each group."""
THROTTLE, THROTTLE_BYTES = "throttle_time_ms", 4


def group_of(request: Request) -> str:
    """The id of the group that a request for one group names; for declared topics the name that stands for all."""
    group_id: str = getattr(request, "group_id", TOPICS)
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
    batch = BATCHES.get(type(request))
    if batch is None:  # nearly all requests
        return None
    named = getattr(request, batch.names)
    if not named and batch.older_name_one:
        return None
    return [(batch.name_of(each), _naming(request, batch.names, each)) for each in named]


def _naming(request: Any, field: str, only: object) -> Request:
    """The same request, with `only` as the one element of its array `field`."""
    part: Request = attrs.evolve(request, **{field: [only]})
    return part


def merge(responses: Sequence[Response]) -> Response:
    """One response from several of the same kind (at least one), in their order, with the longest throttle time."""
    first: Any = responses[0]
    field = BATCHED_ANSWERS.get(type(first))
    if field is None:
        raise TypeError(f"{type(first).__name__} answers for one group: there is nothing to merge")
    throttle = max(cast(int, getattr(each, THROTTLE)) for each in responses)
    parts = [part for each in responses for part in getattr(each, field)]
    merged: Response = attrs.evolve(first, **{THROTTLE: throttle, field: parts})
    return merged


def empty_answer(request: Request) -> Response:
    """The answer to a batched request that names no group."""
    batch = BATCHES.get(type(request))
    if batch is None or batch.older_name_one:
        raise TypeError(f"{type(request).__name__} always names a group")
    return response_class(request.API_KEY)()


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
