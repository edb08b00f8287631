"""A batch in its bytes: what it names, slice by slice, and the limits that are judged before anything is decoded."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kcoord.group.error_responses import refuse
from kcoord.group.multi_group_requests import BatchAnswer, merge, split
from kcoord.group.request_limits import BATCHED
from kcoord.protocol.batch_splitting import WALKED_AT_ONCE, RequestBatch, has_too_many_elements
from kcoord.protocol.element_walk import MOST_TAGS, TooManyElements
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import RequestHeader, encode_request_header
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    RESPONSES,
    ConnectGroupDescribeRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    LeaveGroupRequest,
    OffsetFetchRequest,
    Request,
)
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.undecoded_call import call_of

NAMES = [f"group-{at}" for at in range(300)]
TOPICS = [OffsetFetchRequestTopics(name="topic", partition_indexes=list(range(5)))]
BATCHES: list[tuple[Request, tuple[int, ...]]] = [
    (DescribeGroupsRequest(groups=NAMES, include_authorized_operations=True), (3, 4, 5, 6)),
    (DescribeGroupsRequest(groups=NAMES), (0, 1, 2)),
    (ConnectGroupDescribeRequest(group_ids=NAMES, include_authorized_operations=True), (0,)),
    (DeleteGroupsRequest(groups_names=NAMES), (0, 1, 2)),
    (
        OffsetFetchRequest(
            groups=[
                OffsetFetchRequestGroup(group_id=name, topics=TOPICS if name[-1] == "7" else None) for name in NAMES
            ],
            require_stable=True,
        ),
        (8, 9),
    ),
    (
        DescribeConfigsRequest(
            resources=[DescribeConfigsResource(32, name, None if name[-1] == "3" else ["a", "b"]) for name in NAMES],
            include_synonyms=True,
        ),
        (1, 2, 3, 4),
    ),
    (
        IncrementalAlterConfigsRequest(
            resources=[AlterConfigsResource(32, name, [AlterableConfig("key", 0, "value")]) for name in NAMES],
            validate_only=True,
        ),
        (0, 1),
    ),
    (FindCoordinatorRequest(key_type=0, coordinator_keys=NAMES), (4, 5, 6)),
]
CASES = [
    pytest.param(each, version, id=f"{each.NAME} v{version}") for each, versions in BATCHES for version in versions
]


def frame_of(request: Request, version: int, body: bytes | None = None) -> bytes:
    head = encode_request_header(RequestHeader(request.API_KEY, version, 7, "tester"))
    data = head + (request.encode(version) if body is None else body)
    return len(data).to_bytes(4, "big") + data


def batch_of(request: Request, version: int, body: bytes | None = None) -> RequestBatch | None:
    kind = type(request)
    return RequestBatch.of(kind, BATCHED[kind], call_of(frame_of(request, version, body)), 2)


@pytest.mark.parametrize(("request_", "version"), CASES)
def test_slices_are_the_whole_in_order(request_: Request, version: int) -> None:
    batch = batch_of(request_, version)
    assert batch is not None
    assert batch.count == len(NAMES)
    walks = 1
    while not batch.walk_on(100):
        walks += 1
    assert walks >= len(NAMES) // WALKED_AT_ONCE + 1
    whole = type(request_).decode(request_.encode(version), version)
    slices = list(batch.slices(64, 10_000))
    assert [len(split(each) or []) for each in slices] == [64, 64, 64, 64, 44]
    assert [part for each in slices for part in split(each) or []] == split(whole)


@pytest.mark.parametrize(("request_", "version"), CASES)
def test_answers_to_slices_are_the_answer_to_the_whole(request_: Request, version: int) -> None:
    batch = batch_of(request_, version)
    assert batch is not None
    while not batch.walk_on(100):
        pass
    kind = RESPONSES[request_.API_KEY]
    answer = BatchAnswer(kind, version, 1 << 20)
    answers: list[Any] = []
    for at, each in enumerate(batch.slices(50, 10_000)):
        refused: Any = refuse(each, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        answers.append(attrs.evolve(refused, throttle_time_ms=at))
        assert len(list(answer.add(each, answers[-1]))) >= 4
    assert not answer.is_full
    whole = kind.decode(answer.encode(version), version)
    assert whole == kind.decode(merge(answers).encode(version), version)


def test_what_does_not_fit_an_answer_is_refused_in_its_place() -> None:
    request = DescribeGroupsRequest(groups=["a", "b", "c"])
    answer = BatchAnswer(RESPONSES[request.API_KEY], 5, limit=60)
    full: Any = refuse(request, ErrorCode.NONE)
    full.groups[1].group_state = "x" * 100
    for _ in answer.add(request, full):
        pass
    assert answer.is_full
    answer.refuse(DescribeGroupsRequest(groups=["d"]))
    decoded: Any = RESPONSES[request.API_KEY].decode(answer.encode(5), 5)
    assert [(each.group_id, each.error_code) for each in decoded.groups] == [
        ("a", ErrorCode.NONE),
        ("b", ErrorCode.INVALID_REQUEST),
        ("c", ErrorCode.INVALID_REQUEST),
        ("d", ErrorCode.INVALID_REQUEST),
    ]


def test_slices_are_by_weight_too() -> None:
    topics = [OffsetFetchRequestTopics(name="topic", partition_indexes=list(range(1000)))]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=name, topics=topics) for name in NAMES[:10]])
    batch = batch_of(request, 8)
    assert batch is not None
    while not batch.walk_on(2000):
        pass
    assert [len(each.groups) for each in batch.slices(64, 2000)] == [2] * 5  # type: ignore[attr-defined]
    again = batch_of(request, 8)
    assert again is not None
    with pytest.raises(TooManyElements):
        again.walk_on(1000)


@pytest.mark.parametrize(("request_", "version"), CASES)
def test_a_batch_that_does_not_decode_is_refused_before_its_first_slice(request_: Request, version: int) -> None:
    body = request_.encode(version)
    for broken in (body[:-1], body + b"\0", body[: len(body) // 2]):
        batch = batch_of(request_, version, broken)
        assert batch is not None
        with pytest.raises(DecodeError):
            while not batch.walk_on(100):
                pass


def test_small_ones_are_no_batches() -> None:
    assert batch_of(DescribeGroupsRequest(groups=["one"]), 5) is None
    assert batch_of(OffsetFetchRequest(group_id="one", topics=None), 7) is None
    assert batch_of(FindCoordinatorRequest(key="one"), 3) is None
    assert batch_of(DescribeGroupsRequest(), 0, b"\x7f\xff\xff\xff") is None, "a count that its bytes cannot hold"


@pytest.mark.parametrize(("extra", "too_many"), [(0, False), (1, True)])
def test_elements_are_counted_without_decoding(extra: int, too_many: bool) -> None:
    members = [MemberIdentity(member_id="m", group_instance_id=None) for _ in range(1000 + extra)]
    request = LeaveGroupRequest(group_id="g", members=members)
    assert has_too_many_elements(LeaveGroupRequest, call_of(frame_of(request, 4)), 1000) is too_many


def test_unknown_tagged_fields_count_as_elements() -> None:
    request = LeaveGroupRequest(group_id="g", unknown_tagged_fields=tuple((1000 + at, b"ab") for at in range(900)))
    assert has_too_many_elements(LeaveGroupRequest, call_of(frame_of(request, 4)), 899)
    assert not has_too_many_elements(LeaveGroupRequest, call_of(frame_of(request, 4)), 900)
    request.unknown_tagged_fields = tuple((1000 + at, b"") for at in range(MOST_TAGS + 1))
    assert has_too_many_elements(LeaveGroupRequest, call_of(frame_of(request, 4)), MOST_TAGS + 1)
