"""Is each row of the API table complete, and does everybody else take what they know of APIs from it?"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import kcoord
from kcoord.gateway.handlers import batches, request_dispatch
from kcoord.gateway.ownership.access import guarded_groups
from kcoord.gateway.rewriting.api_versions import NEWER_HEARTBEATS
from kcoord.group import shard
from kcoord.group.api_handlers_and_rights import ALL_APIS, API_TABLE, ApiRow, InFront, Writes
from kcoord.group.error_responses import refuse
from kcoord.group.multi_group_requests import BATCHED_ANSWERS, empty_answer, merge, split
from kcoord.instances import relayed_calls
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.layout import Field
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequest,
    DescribeConfigsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    OffsetFetchRequest,
    Request,
    api_name,
    response_class,
)
from kcoord.server import standalone, standalone_authorizer
from schemas.generator.model import snake_case

ROOT = Path(kcoord.__file__).parent
APIS = ROOT / "group" / "apis"
OF_THE_HOST = {DescribeConfigsRequest, IncrementalAlterConfigsRequest}
"""Settings of groups: the shell around the shard answers, because it knows the server's settings."""
WITH_CODE_OF_THEIR_OWN = {
    "group/api_handlers_and_rights.py",
    "group/group_content_limits.py",  # what is measured in a request
    "group/request_slices.py",  # which partitions of a large request are cut
    "gateway/handlers/request_dispatch.py",  # what the gateway does with it
    "gateway/handlers/batches.py",  # the same for a part of a batch
}
"""Modules that may name several APIs in one list: each has a function or a field of its own for each of them."""

REFUSALS_OF_PARTS = {
    "refuse_offset_commit",  # tests/group/test_offsets.py and tests/gateway have partitions
    "refuse_txn_offset_commit",
    "refuse_create_topics",  # tests/group/consumer/test_declared_topics.py has topics
    "refuse_create_partitions",
    "refuse_delete_topics",
}
"""What refuses a request of which each part has an error, and the whole has none."""

each_row = pytest.mark.parametrize("row", ALL_APIS, ids=lambda row: api_name(row.key))
each_batch = pytest.mark.parametrize(
    "row", [row for row in ALL_APIS if row.batch is not None], ids=lambda row: api_name(row.key)
)


def field_of(row: ApiRow) -> Field:
    """The request's field that names several groups."""
    assert row.batch is not None
    return next(each for each in row.request.FIELDS if each.attribute == row.batch.names)


def naming(row: ApiRow, *names: str) -> Any:
    """A request of a batched API that names these groups."""
    field = field_of(row)
    elements: list[Any] = list(names)
    if field.struct is not None:
        name = next(each.attribute for each in field.struct.FIELDS if each.attribute in ("group_id", "resource_name"))
        elements = [field.struct(**{name: each}) for each in names]
    kind: Any = row.request
    return kind(**{field.attribute: elements})


def errors_in(answer: Any) -> set[int]:
    """The error codes that an answer has at the top, or in its parts."""
    found = {answer.error_code} if hasattr(answer, "error_code") else set()
    for name in ("groups", "results", "responses", "coordinators"):
        found |= {part.error_code for part in getattr(answer, name, ())}
    return found


# -- each row ---------------------------------------------------------------------------------------------------------


def test_an_api_has_one_row() -> None:
    assert len({row.request for row in ALL_APIS}) == len(ALL_APIS)


def test_an_api_has_a_file_in_apis_and_a_file_in_apis_has_a_row() -> None:
    files = {path.stem for path in APIS.glob("*.py")} - {"__init__"}
    assert files == {snake_case(api_name(row.key)) for row in ALL_APIS}


@each_row
def test_whoever_asks_can_be_refused_in_each_version(row: ApiRow) -> None:
    for version in range(row.request.MIN_VERSION, row.request.MAX_VERSION + 1):
        names_several = row.batch is not None and field_of(row).is_in(version)
        answer = refuse(naming(row, "a", "b") if names_several else row.request(), ErrorCode.NOT_COORDINATOR)
        assert type(answer) is response_class(row.key)
        assert answer.encode(version)


@each_row
def test_a_refusal_says_the_error(row: ApiRow) -> None:
    if row.batch is not None:
        assert errors_in(refuse(naming(row, "a", "b"), ErrorCode.NOT_COORDINATOR)) >= {ErrorCode.NOT_COORDINATOR}
    elif any(each.attribute == "error_code" for each in response_class(row.key).FIELDS):
        assert errors_in(refuse(row.request(), ErrorCode.NOT_COORDINATOR)) == {ErrorCode.NOT_COORDINATOR}
    else:
        assert row.refusal.__name__ in REFUSALS_OF_PARTS


@each_row
def test_a_shard_handles_it_unless_another_floor_does(row: ApiRow) -> None:
    assert (row.handler is None) == (row.request in OF_THE_HOST or not row.relayed)


@each_row
def test_what_instances_relay_can_be_written_and_read_in_each_version(row: ApiRow) -> None:
    for version in range(row.request.MIN_VERSION, row.request.MAX_VERSION + 1):
        assert row.request.decode(row.request().encode(version), version) == row.request()


@each_row
def test_what_may_be_carried_out_twice_writes_nothing(row: ApiRow) -> None:
    assert not (row.repeatable and row.writes is not Writes.NEVER)


@each_row
def test_what_creates_a_group_writes(row: ApiRow) -> None:
    assert not (row.creates and row.writes is Writes.NEVER)


@each_row
def test_a_client_needs_a_right_where_it_names_a_group_of_kcoords(row: ApiRow) -> None:
    assert (row.right is not None) == (row.in_front is not InFront.NOT_OFFERED and _names_groups(row))


def _names_groups(row: ApiRow) -> bool:
    return row.names_one_group or (row.batch is not None and row.request is not FindCoordinatorRequest)


def test_only_heartbeats_of_new_protocols_are_looked_at_before_it_is_known_whether_they_write() -> None:
    """`Shard.may_write` has code for it."""
    assert [row.request for row in ALL_APIS if row.writes is Writes.NEWS] == [
        ConnectGroupHeartbeatRequest,
        ConsumerGroupHeartbeatRequest,
    ]


# -- batches ----------------------------------------------------------------------------------------------------------


@each_batch
def test_a_batch_is_split_into_requests_for_one_group_and_their_answers_are_merged(row: ApiRow) -> None:
    request = naming(row, "a", "b")
    parts = split(request)
    assert parts == [("a", naming(row, "a")), ("b", naming(row, "b"))]
    answers = [refuse(part, ErrorCode.NOT_COORDINATOR) for _, part in parts]
    assert merge(answers) == refuse(request, ErrorCode.NOT_COORDINATOR)


@each_batch
def test_a_batch_that_names_no_group_is_empty_or_names_one_in_the_way_of_older_versions(row: ApiRow) -> None:
    assert row.batch is not None
    if row.batch.older_name_one:
        assert split(naming(row)) is None
        with pytest.raises(TypeError, match="always names a group"):
            empty_answer(naming(row))
    else:
        assert split(naming(row)) == []
        assert getattr(empty_answer(naming(row)), row.batch.answers) == []


@each_batch
def test_the_rest_of_a_batchs_answer_is_its_throttle_time(row: ApiRow) -> None:
    """So `BatchAnswer` can put an answer together from the bytes of its parts."""
    answer = response_class(row.key)
    newest = {each.attribute for each in answer.FIELDS if each.is_in(answer.MAX_VERSION)}
    assert newest == {"throttle_time_ms", BATCHED_ANSWERS[answer]}


def test_an_api_that_is_no_batch_is_not_split() -> None:
    for row in API_TABLE:
        if row.batch is None:
            assert split(row.request()) is None


# -- who reads the table ----------------------------------------------------------------------------------------------


def test_no_other_module_lists_apis() -> None:
    """What is true of an API stands in its row. A list elsewhere would be forgotten when an API is added."""
    names = {row.request.__name__ for row in API_TABLE}
    rooms = ("group", "server", "instances", "gateway")
    found = {
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if any(_lists(node, names) for node in ast.walk(ast.parse(path.read_text())))
    }
    assert found == WITH_CODE_OF_THEIR_OWN


def _lists(node: ast.AST, names: set[str]) -> bool:
    """Whether it is a list of some kind that names three of them."""
    elements: list[Any] = []
    if isinstance(node, ast.Dict):
        elements = [key for key in node.keys if key is not None]
    elif isinstance(node, ast.Set | ast.Tuple | ast.List):
        elements = list(node.elts)
    named = [part.id for each in elements for part in ast.walk(each) if isinstance(part, ast.Name)]
    return len(names.intersection(named)) > 2


def test_a_shard_has_the_handlers_of_the_table() -> None:
    assert {row.request: row.handler for row in ALL_APIS if row.handler} == shard.HANDLERS


def test_instances_relay_what_a_shard_or_its_host_carries_out() -> None:
    assert set(relayed_calls.RELAYED.values()) == set(shard.HANDLERS) | OF_THE_HOST


def test_a_kcoord_alone_serves_all_that_its_shards_can_and_a_client_may_ask() -> None:
    served = {*standalone.GROUP_APIS, *standalone.CONNECT_GROUP_APIS, *standalone.CONSUMER_GROUP_APIS}
    offered = {row.request for row in ALL_APIS if row.in_front is not InFront.NOT_OFFERED}
    assert served == set(relayed_calls.RELAYED.values()) & offered
    assert all(request in standalone_authorizer.NEEDED or not _names_groups(_row(request)) for request in served)


def _row(request: type[Request]) -> ApiRow:
    return next(row for row in ALL_APIS if row.request is request)


def test_the_gateway_has_a_handler_for_all_that_it_reads() -> None:
    """FindCoordinator is answered apart from the others, and in slices like them. Metadata is not about groups: it is
    read where consumer groups are served.
    """
    unread = {InFront.PASSED, InFront.NOT_OFFERED}
    read = {row.key for row in API_TABLE if row.in_front not in unread} - {FindCoordinatorRequest.API_KEY}
    assert set(request_dispatch.HANDLERS) == read | NEWER_HEARTBEATS | {MetadataRequest.API_KEY}


def test_the_gateway_has_a_handler_for_a_slice_of_each_batch() -> None:
    """OffsetFetch passes as a whole, and the handler for settings that change gets what is named twice in addition."""
    batched = {row.request for row in API_TABLE if row.batch is not None}
    assert set(batches.SLICE_HANDLERS) == batched - {OffsetFetchRequest, IncrementalAlterConfigsRequest}


def test_the_gateway_guards_what_needs_a_right_and_is_kcoords_to_answer() -> None:
    for row in API_TABLE:
        assert (row.request in guarded_groups.NEEDED) == (row.in_front is InFront.GUARDED)
