"""How is an answer said in a story? One function a response; errors by their names, none as "ok"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_fetch_response import OffsetFetchResponsePartition, OffsetFetchResponsePartitions
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import (
    DeleteGroupsResponse,
    DescribeGroupsResponse,
    HeartbeatResponse,
    JoinGroupResponse,
    LeaveGroupResponse,
    ListGroupsResponse,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    SyncGroupResponse,
)

Name = Callable[[str], str]
"""From a member id to the member's name."""


def say(response: Response, name: Name) -> str:
    """An answer in words."""
    return _WORDS[type(response)](response, name)


def say_error(code: int) -> str:
    """An error by its name, none as ok."""
    return ErrorCode(code).name if code else "ok"


def _join(response: JoinGroupResponse, name: Name) -> str:
    if response.error_code:
        return say_error(response.error_code)
    if response.members:
        role = "leads " + " ".join(name(member.member_id) for member in response.members)
    else:
        role = f"follows {name(response.leader)}"
    return f"gen {response.generation_id} {response.protocol_name} {role}" + ", skip" * response.skip_assignment


def _sync(response: SyncGroupResponse, name: Name) -> str:
    return say_error(response.error_code) if response.error_code else f"got {response.assignment.decode() or 'nothing'}"


def _heartbeat(response: HeartbeatResponse, name: Name) -> str:
    return say_error(response.error_code)


def _leave(response: LeaveGroupResponse, name: Name) -> str:
    if response.error_code or not response.members:
        return say_error(response.error_code)
    return ", ".join(
        f"{name(each.member_id) if each.member_id else each.group_instance_id or 'nobody'} {say_error(each.error_code)}"
        for each in response.members
    )


def _described(response: DescribeGroupsResponse, name: Name) -> str:
    said = []
    for group in response.groups:
        error = say_error(group.error_code) if group.error_code else ""
        members = [
            f"{name(each.member_id)}:{each.member_metadata.decode()}:{each.member_assignment.decode()}"
            for each in group.members
        ]
        words = [error, group.group_state, group.protocol_type, group.protocol_data, *members]
        said.append(" ".join(word for word in words if word))
    return "; ".join(said)


def _listed(response: ListGroupsResponse, name: Name) -> str:
    said = [f"{each.group_id}:{each.group_state}:{each.protocol_type}:{each.group_type}" for each in response.groups]
    return " ".join(sorted(said)) or "none"


def _deleted(response: DeleteGroupsResponse, name: Name) -> str:
    return _each([(result.group_id, result.error_code) for result in response.results])


def _partitions(response: OffsetCommitResponse | OffsetDeleteResponse, name: Name) -> str:
    if isinstance(response, OffsetDeleteResponse) and response.error_code:
        return say_error(response.error_code)
    return _each(
        [
            (f"{topic.name}-{each.partition_index}", each.error_code)
            for topic in response.topics
            for each in topic.partitions
        ]
    )


def _fetched(response: OffsetFetchResponse, name: Name) -> str:
    found: list[tuple[str, OffsetFetchResponsePartition | OffsetFetchResponsePartitions]]
    found = [(topic.name, each) for topic in response.topics for each in topic.partitions]
    found += [(topic.name, each) for group in response.groups for topic in group.topics for each in topic.partitions]
    said = []
    for topic_name, each in found:
        metadata = f":{each.metadata}" if each.metadata else ""
        error = f" {say_error(each.error_code)}" if each.error_code else ""
        said.append(f"{topic_name}-{each.partition_index}={each.committed_offset}{metadata}{error}")
    return " ".join(said) or "nothing"


def _each(errors: list[tuple[str, int]]) -> str:
    """One word where all fare alike."""
    if len({code for _, code in errors}) <= 1:
        return say_error(errors[0][1] if errors else 0)
    return ", ".join(f"{what} {say_error(code)}" for what, code in errors)


_WORDS: dict[type[Response], Callable[[Any, Name], str]] = {
    JoinGroupResponse: _join,
    SyncGroupResponse: _sync,
    HeartbeatResponse: _heartbeat,
    LeaveGroupResponse: _leave,
    DescribeGroupsResponse: _described,
    ListGroupsResponse: _listed,
    DeleteGroupsResponse: _deleted,
    OffsetCommitResponse: _partitions,
    OffsetFetchResponse: _fetched,
    OffsetDeleteResponse: _partitions,
}
