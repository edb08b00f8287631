"""Which group is a request about, and how is a request for several groups taken apart and its answer put together?

Some requests name several groups (gateway rule 18). A shard, and the real coordinator behind a gateway, answer for one
group at a time: so such a request is split into one for each group, and the answers are merged in the order of the
question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import attrs

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

Merge = Callable[[Sequence[Response]], Response]


def group_of(request: Request) -> str:
    """The group that a request for one group names."""
    return cast(str, getattr(request, "group_id"))  # noqa: B009


def named_group(request: Request) -> str | None:
    """The one group that a request to a shard is about; None for a request that names none (ListGroups)."""
    group_id = getattr(request, "group_id", None)
    if group_id is not None and not isinstance(request, OffsetFetchRequest):
        return cast(str, group_id)
    parts = split(request)
    if parts:
        return parts[0][0]
    return group_id or None


def split(request: Request) -> list[tuple[str, Request]] | None:
    """One request for each group that `request` names, in its order; None for a request of the kind that names only
    one.

    FindCoordinator v4+ and OffsetFetch v8+ name their groups in a list, earlier versions one at the top. Of
    DescribeConfigs and IncrementalAlterConfigs each resource must be a group.
    """
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
    """One response out of several of the same kind (at least one), in their order; the longest throttle time holds."""
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


class Gathering:
    """Collects the answers to the parts of one request, in any order, and hands on the merged one after the last."""

    def __init__(self, parts: int, deliver: Callable[[Response], None], merged: Merge = merge) -> None:
        self._answers: list[Response | None] = [None] * parts
        self._missing = parts
        self._deliver = deliver
        self._merged = merged

    def taker(self, at: int) -> Callable[[Response, object], None]:
        """Where the answer to part `at` goes; what the hot path might remember of a part is left."""

        def take(response: Response, _remember: object) -> None:
            self._answers[at] = response
            self._missing -= 1
            if not self._missing:
                self._deliver(self._merged([answer for answer in self._answers if answer is not None]))

        return take
