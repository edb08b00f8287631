"""Which targets of consumers are refused? (`kcoord.assign.consumer.target_validity`)"""

from __future__ import annotations

import pytest

from kcoord.assign.consumer import NotValid, SubscribedGroup, Subscriber, check_targets

A, B, C = (bytes([number]) * 16 for number in (1, 2, 3))
GROUP = SubscribedGroup(
    (Subscriber("a", subscribed_topics=frozenset({A, B})), Subscriber("b", subscribed_topics=frozenset({A, C}))),
    topics={A: 2, B: 1},
    names={A: "orders", B: "payments"},
)
ALL = {"a": {A: {0}, B: {0}}, "b": {A: {1}}}


@pytest.mark.parametrize(
    "targets",
    [
        ALL,
        {"a": {A: {0, 1}, B: {0}}},
        {**ALL, "b": {A: {1}, B: set()}},
    ],
    ids=["each has something", "one has all", "nothing of a topic"],
)
def test_each_partition_once_is_valid(targets: dict[str, dict[bytes, set[int]]]) -> None:
    check_targets(GROUP, targets)


@pytest.mark.parametrize(
    ("targets", "says"),
    [
        ({**ALL, "c": {}}, "c is no member of the group"),
        ({"a": {A: {0}}, "b": {A: {1}, B: {0}}}, "b does not subscribe to topic payments"),
        ({**ALL, "b": {A: {0, 1}}}, "orders-0 is assigned to a and to b"),
        ({"a": {A: {0}, B: {0}}}, "orders-1 is assigned to nobody"),
        ({}, "orders-0 is assigned to nobody"),
        ({"a": {A: {0, 2}, B: {0}}, "b": {A: {1}}}, "topic orders has no partition 2"),
        ({"a": {A: {0}, B: {0}}, "b": {A: {1}, C: {0}}}, f"topic {C.hex()} has no partition 0"),
    ],
)
def test_anything_else_is_not(targets: dict[str, dict[bytes, set[int]]], says: str) -> None:
    with pytest.raises(NotValid, match=says):
        check_targets(GROUP, targets)
