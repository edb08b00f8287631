"""Has the cluster given out a group's work without a client? AD-17, by its description of the group."""

from __future__ import annotations

import pytest

from kcoord.gateway.ownership.sentinel.described_groups import is_given_out_without
from kcoord.protocol.generated.describe_groups_response import DescribedGroup, DescribedGroupMember

OTHERS, SENTINEL, NAMELESS = ("other", None), ("kcoord", "kcoord"), ("", None)


@pytest.mark.parametrize(
    ("state", "members", "client_id", "instance_id", "is_without"),
    [
        pytest.param("Stable", [OTHERS], "mine", None, True, id="others have it"),
        pytest.param("CompletingRebalance", [OTHERS], "mine", None, True, id="others are given it"),
        pytest.param("PreparingRebalance", [OTHERS], "mine", None, False, id="members join"),
        pytest.param("Empty", [], "mine", None, False, id="nobody has it"),
        pytest.param("Stable", [SENTINEL], "mine", None, False, id="kcoord has it"),
        pytest.param("Stable", [SENTINEL, OTHERS], "mine", None, False, id="kcoord lets members in"),
        pytest.param("Stable", [OTHERS, ("mine", None)], "mine", None, False, id="it may be there by another id"),
        pytest.param("Stable", [NAMELESS], None, None, False, id="a client without a client id may be there"),
        pytest.param("Stable", [OTHERS], None, None, True, id="a client without a client id is not there"),
        pytest.param("Stable", [("other", "i1")], "mine", "i1", False, id="its static member is there"),
        pytest.param("Stable", [("other", "i2")], "mine", "i1", True, id="another static member is there"),
    ],
)
def test_17_work_is_given_out_without_a_client(
    state: str, members: list[tuple[str, str | None]], client_id: str | None, instance_id: str | None, is_without: bool
) -> None:
    described = DescribedGroup(
        group_id="g",
        group_state=state,
        members=[DescribedGroupMember(client_id=client, group_instance_id=instance) for client, instance in members],
    )
    assert is_given_out_without(described, client_id, instance_id, is_released=True) == is_without


@pytest.mark.parametrize(
    ("state", "members", "is_without"),
    [
        pytest.param("PreparingRebalance", ["other"], True, id="others had it when the next one came"),
        pytest.param("PreparingRebalance", ["other", "mine"], False, id="it may be one of those who join"),
        pytest.param("Empty", [], False, id="nobody has it"),
    ],
)
def test_17_who_joins_had_the_group_if_it_is_not_being_released(
    state: str, members: list[str], is_without: bool
) -> None:
    described = DescribedGroup(
        group_id="g", group_state=state, members=[DescribedGroupMember(client_id=each) for each in members]
    )
    assert is_given_out_without(described, "mine", None, is_released=False) == is_without
