"""Is what client-side assignors of consumers get and return good for the coordinator's assignors and checks?"""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kcoord.assign.consumer import (
    ClientSideAssignor,
    ConsumerAssignment,
    ConsumerMemberAssignment,
    Metadata,
    PreparedGroup,
    PreparedMember,
    RangeConsumerAssignor,
    UniformConsumerAssignor,
    check_targets,
)
from tests.assign.test_documentation import DOCUMENT, examples

A, B = bytes([1]) * 16, bytes([2]) * 16


def member(member_id: str, topics: set[bytes], **fields: Any) -> PreparedMember:
    return PreparedMember(member_id, subscribed_topics=frozenset(topics), **fields)


class Plain(ClientSideAssignor):
    name = "plain"
    maximum_version = 3

    def assign(self, group: PreparedGroup) -> ConsumerAssignment:
        return ConsumerAssignment.of(UniformConsumerAssignor().assign(group))


def targets_of(assignment: ConsumerAssignment) -> dict[str, Any]:
    return {each.member_id: each.target for each in assignment.members}


@pytest.mark.parametrize("assignor", [UniformConsumerAssignor(), RangeConsumerAssignor()])
def test_the_coordinators_assignors_take_what_was_prepared(
    assignor: UniformConsumerAssignor | RangeConsumerAssignor,
) -> None:
    group = PreparedGroup((member("a", {A, B}, metadata=b"1"), member("b", {A})), {A: 4, B: 1})
    targets = assignor.assign(group)
    check_targets(group, targets)
    assert targets_of(ConsumerAssignment.of(targets)) == targets


def test_targets_become_an_assignment_without_metadata() -> None:
    assignment = ConsumerAssignment.of({"a": {A: {0}}})
    assert assignment == ConsumerAssignment((ConsumerMemberAssignment("a", {A: {0}}, version=0, metadata=b""),), 0)


def test_an_assignor_says_its_newest_version_and_ignores_what_it_is_told() -> None:
    assignor = Plain()
    assert assignor.metadata() == Metadata(reason=0, version=3, metadata=b"")
    assignor.on_assignment(ConsumerMemberAssignment("a"))


def test_one_that_cannot_assign_is_none() -> None:
    with pytest.raises(TypeError, match="assign"):
        ClientSideAssignor()  # type: ignore[abstract]


PRIORITIES: dict[str, tuple[list[PreparedMember], dict[str, dict[bytes, set[int]]]]] = {
    "the first one has everything": (
        [member("a", {A}, metadata=b"1"), member("b", {A}, metadata=b"2")],
        {"a": {}, "b": {A: {0, 1}}},
    ),
    "equals share": (
        [member("a", {A}, metadata=b"2"), member("b", {A}, metadata=b"2"), member("c", {A}, metadata=b"1")],
        {"a": {A: {0}}, "b": {A: {1}}, "c": {}},
    ),
    "others have what the first one does not subscribe to": (
        [member("a", {A, B}, metadata=b"1"), member("b", {A}, metadata=b"2")],
        {"a": {B: {0}}, "b": {A: {0, 1}}},
    ),
    "the first one takes over": (
        [member("a", {A}, metadata=b"1", target={A: {0, 1}}), member("b", {A}, metadata=b"10")],
        {"a": {}, "b": {A: {0, 1}}},
    ),
}


@pytest.mark.parametrize("name", PRIORITIES)
def test_the_assignor_of_the_page_does_what_the_page_says(name: str) -> None:
    assignor = examples(DOCUMENT)["PriorityAssignor"](7)
    members, expected = PRIORITIES[name]
    topics = {A: 2, B: 1} if any(B in each.subscribed_topics for each in members) else {A: 2}
    group = PreparedGroup(tuple(members), topics)
    targets = targets_of(assignor.assign(group))
    check_targets(group, targets)
    assert targets == expected
    assert assignor.metadata().metadata == b"7"


def test_a_prepared_group_can_be_changed_in_a_copy() -> None:
    group = PreparedGroup((member("a", {A}),), {A: 1})
    assert attrs.evolve(group, topics={A: 2}).members is group.members
