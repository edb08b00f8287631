"""What instances say of the records that they can read: what may be written then, and who gets which partition."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcoord.instances.instance_map import Facts, Instance, InstanceMap
from kcoord.instances.map_assignment import next_map
from kcoord.protocol.generated.instance_address import InstanceAddress
from kcoord.protocol.record_levels import RELEASE_0_1_0

COUNT = 6


def instance(number: int, level: int) -> Instance:
    return Instance(instance_id=number, started_ms=number, host="h", port=number, record_level=level)


def says(number: int, *, level: int = 1, unreadable: frozenset[int] = frozenset()) -> Facts:
    return Facts(instance=instance(number, level), partitions=COUNT, unreadable=unreadable)


def next_round(members: Mapping[str, Facts], former: InstanceMap) -> InstanceMap:
    """One round in which everybody holds what the former map gave it."""
    said = {
        name: attrs.evolve(facts, owned=former.owned_by(facts.instance.instance_id), former=former)
        for name, facts in members.items()
    }
    return next_map(said, min(said)).map


def come_to_rest(members: Mapping[str, Facts]) -> InstanceMap:
    """The map that no further round changes."""
    former = next_map(members, min(members)).map
    for _ in range(8):
        found = next_round(members, former)
        if found.partitions == former.partitions:
            return found
        former = found
    pytest.fail(f"the map does not come to rest: {former.partitions}, {found.partitions}")


def test_instances_say_what_they_read() -> None:
    facts = says(1, level=3, unreadable=frozenset({2, 5}))
    assert Facts.decode(facts.encode()) == facts
    given = next_map({"a": facts, "b": says(2, level=1)}, "a").map
    assert [each.record_level for each in InstanceMap.decode(given.encode()).instances.values()] == [3, 1]
    assert given.record_level == 1


def test_release_0_1_0_says_nothing_and_is_understood() -> None:
    silent = InstanceAddress(instance_id=1, host="h", port=1).encode(0)
    assert Instance.decode(b"\0\0" + silent).record_level == RELEASE_0_1_0
    members = {"a": says(1), "b": says(2, level=RELEASE_0_1_0)}
    assert next_map(members, "a").map.record_level == RELEASE_0_1_0
    del members["b"]
    assert next_map(members, "a").map.record_level == 1


def test_nobody_is_no_reason_to_write_what_somebody_cannot_read() -> None:
    assert InstanceMap(epoch=0).record_level == RELEASE_0_1_0


def test_what_one_cannot_read_goes_to_another_and_stays_there() -> None:
    cannot = frozenset({0, 1, 2, 3})
    rest = come_to_rest({"a": says(1, unreadable=cannot), "b": says(2)})
    assert not rest.owned_by(1) & cannot
    assert not rest.in_transit


def test_what_nobody_can_read_stays_where_it_is() -> None:
    members = {"a": says(1), "b": says(2)}
    former = come_to_rest(members)
    everything = frozenset(range(COUNT))
    members = {name: attrs.evolve(facts, unreadable=everything) for name, facts in members.items()}
    assert next_round(members, former).partitions == former.partitions


@given(st.lists(st.frozensets(st.integers(0, COUNT - 1)), min_size=1, max_size=4))
def test_whoever_cannot_read_what(unreadable: list[frozenset[int]]) -> None:
    members = {f"m{number}": says(number, unreadable=cannot) for number, cannot in enumerate(unreadable)}
    rest = come_to_rest(members)
    for at, owner in enumerate(rest.partitions):
        assert owner is not None
        assert at not in unreadable[owner] or all(at in cannot for cannot in unreadable)
