"""Does each round of the instances' group give everything to somebody, evenly, by preference, and never to two at once?

Stories as tables, then whatever hypothesis thinks of: instances come, go, fall out and return, brokers' leaders move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcoord.instances.instance_map import Facts, Instance, InstanceMap
from kcoord.instances.map_assignment import next_map, preferred_owners
from kcoord.protocol.primitives import DecodeError

COUNT = 12


def says(
    number: int,
    owned: Iterable[int] = (),
    *,
    former: InstanceMap | None = None,
    started_ms: int | None = None,
    brokers: Iterable[int] = (),
    leaders: tuple[int | None, ...] = (),
    partitions: int = COUNT,
) -> Facts:
    instance = Instance(
        instance_id=number,
        started_ms=number if started_ms is None else started_ms,
        host=f"host-{number}",
        port=9092,
        internal=(f"host-{number}", 9099),
    )
    return Facts(
        instance=instance,
        partitions=partitions,
        owned=frozenset(owned),
        brokers=frozenset(brokers),
        leaders=leaders,
        former=former,
    )


def letters(given: InstanceMap) -> str:
    """A map's owners in one word: 0 to 9 by their numbers, a dot for nobody."""
    return "".join("." if owner is None else str(owner) for owner in given.partitions)


def round_of(members: Mapping[str, Facts]) -> InstanceMap:
    return next_map(members, min(members)).map


def test_one_alone_gets_everything() -> None:
    assert letters(round_of({"a": says(1)})) == "1" * COUNT


def test_who_comes_gets_its_share_in_two_rounds_and_nobody_else_is_disturbed() -> None:
    first = round_of({"a": says(1), "b": says(2)})
    assert letters(first) == "121212121212" or Counter(first.partitions) == {1: 6, 2: 6}
    members = {"a": says(1, first.owned_by(1), former=first), "b": says(2, first.owned_by(2), former=first)}
    withdrawn = round_of({**members, "c": says(3)})
    assert len(withdrawn.in_transit) == 4
    assert withdrawn.owned_by(1) < first.owned_by(1)
    assert withdrawn.owned_by(2) < first.owned_by(2)
    assert not withdrawn.owned_by(3)
    third = round_of(
        {
            "a": says(1, withdrawn.owned_by(1), former=withdrawn),
            "b": says(2, withdrawn.owned_by(2), former=withdrawn),
            "c": says(3, former=withdrawn),
        }
    )
    assert third.owned_by(3) == withdrawn.in_transit
    assert (third.owned_by(1), third.owned_by(2)) == (withdrawn.owned_by(1), withdrawn.owned_by(2))
    assert third.epoch == first.epoch + 2


def test_who_goes_leaves_its_share_to_the_others_in_one_round() -> None:
    before = InstanceMap(epoch=7, partitions=(1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3))
    after = round_of({"a": says(1, {0, 1, 2, 3}, former=before), "b": says(2, {4, 5, 6, 7}, former=before)})
    assert letters(after).startswith("11112222")
    assert Counter(after.partitions) == {1: 6, 2: 6}
    assert after.epoch == 8


def test_who_was_away_for_a_moment_gets_back_what_is_still_free() -> None:
    before = InstanceMap(epoch=3, partitions=(1,) * 6 + (2,) * 6)
    after = round_of({"a": says(1, range(6), former=before), "anew": says(2, started_ms=99)})
    assert letters(after) == "111111222222"


@pytest.mark.parametrize(
    ("leaders", "brokers", "expected"),
    [
        pytest.param((1, 2, 3) * 4, {1, 2, 3}, "same", id="each partition goes where its clients come by"),
        pytest.param((1,) * 12, {1, 2, 3}, "one", id="also when that is all to one"),
        pytest.param((1, 2, 3), {1, 2, 3}, "even", id="but not when the topics differ in their number"),
        pytest.param((None,) * 12, {1, 2, 3}, "even", id="nor when nobody knows"),
    ],
)
def test_preference(leaders: tuple[int | None, ...], brokers: set[int], expected: str) -> None:
    """GW-20."""
    given = round_of({name: says(at, brokers=brokers, leaders=leaders) for at, name in enumerate("abc")})
    front = [None if leader is None else given.brokers[leader] for leader in leaders]
    counts = Counter(given.partitions)
    if expected == "same":
        assert list(given.partitions) == front
    elif expected == "one":
        assert counts == {front[0]: COUNT}
    else:
        assert set(counts.values()) == {4}


def test_partitions_without_a_leader_fill_up_who_has_least() -> None:
    leaders = (1, 1, 1, 1, 1, 1, None, None, None, None, None, None)
    given = round_of({"a": says(1, brokers={1}, leaders=leaders), "b": says(2, brokers={1})})
    front = given.brokers[1]
    assert Counter(given.partitions) == {front: 6, 3 - front: 6}


def test_brokers_stand_where_they_stood_until_an_instance_comes_or_goes() -> None:
    """GW-19."""
    one = round_of({"a": says(1, brokers={1, 2, 3, 4}), "b": says(2)})
    assert Counter(one.brokers.values()) == {1: 2, 2: 2}
    two = round_of({"a": says(1, brokers={1, 2, 3, 5}, former=one), "b": says(2, former=one)})
    assert {each: two.brokers[each] for each in one.brokers} == one.brokers
    assert two.brokers.keys() == {1, 2, 3, 4, 5}
    three = round_of({"b": says(2, brokers={1, 2, 3, 5}, former=two), "c": says(3)})
    assert three.brokers.keys() == {1, 2, 3, 5}
    kept = [each for each in three.brokers if two.brokers[each] == 2]
    assert sum(three.brokers[each] == 2 for each in kept) == min(2, len(kept))
    assert three.instance_of_broker(9) is not None
    assert three.instance_of_broker(9) == InstanceMap.decode(three.encode()).instance_of_broker(9)


def test_of_two_with_one_number_the_elder_counts_and_the_newer_is_told() -> None:
    predecessor, newer = says(1, started_ms=10), says(1, started_ms=20)
    outcome = next_map({"x": newer, "y": predecessor}, "x")
    assert outcome.map.instances[1].member_id == "y"
    assert "started 20" in outcome.refused["x"]
    assert "started 10" in outcome.refused["x"]
    assert "instance.id" in outcome.refused["x"]
    assert letters(outcome.map) == "1" * COUNT
    alone = round_of({"x": attrs.evolve(newer, former=outcome.map)})
    assert alone.instances[1].member_id == "x"


def test_who_has_taken_part_stays_whatever_the_others_clock_says() -> None:
    before = round_of({"y": says(1, started_ms=20)})
    outcome = next_map({"x": says(1, started_ms=10), "y": says(1, range(COUNT), started_ms=20, former=before)}, "x")
    assert outcome.map.instances[1].member_id == "y"
    assert "x" in outcome.refused
    assert letters(outcome.map) == "1" * COUNT


def test_who_counts_partitions_otherwise_takes_no_part() -> None:
    before = round_of({"a": says(1)})
    outcome = next_map({"a": says(1, range(COUNT), former=before), "b": says(2, partitions=50)}, "b")
    assert "50 partitions" in outcome.refused["b"]
    assert letters(outcome.map) == "1" * COUNT


def test_what_two_hold_is_nobodys_until_one_has_let_go() -> None:
    both = round_of({"a": says(1, {0}), "b": says(2, {0})})
    assert both.partitions[0] is None


def test_maps_and_facts_come_back_from_bytes_and_newer_ones_are_refused() -> None:
    given = round_of({"a": says(1, brokers={1, 2}), "b": says(2)})
    given = attrs.evolve(given, partitions=(*given.partitions[1:], None))
    assert InstanceMap.decode(given.encode()) == given
    facts = says(3, {1, 5}, former=given, brokers={7}, leaders=(7, None))
    facts = attrs.evolve(facts, instance=attrs.evolve(facts.instance, broker_ports={7: 99}, internal=None))
    assert Facts.decode(facts.encode()) == facts
    for data in (b"", b"\0", b"\0\1" + given.encode()[2:], given.encode()[:-1]):
        with pytest.raises(DecodeError):
            InstanceMap.decode(data)


def test_where_a_broker_is_reached() -> None:
    instance = Instance(instance_id=1, started_ms=0, host="h", port=9092, broker_ports={5: 7000})
    assert [instance.address_of_broker(each) for each in (0, 4, 5)] == [("h", 9093), ("h", 9097), ("h", 7000)]
    assert instance.address_of_broker(100_000) is None
    assert InstanceMap(epoch=1).address_of_broker(1) is None


# -- whatever may happen -----------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["come", "go", "fall out", "miss", "lead", "round"]),
        st.integers(0, 4),
        st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=COUNT, max_size=COUNT),
    ),
    max_size=40,
)


@settings(deadline=None)
@given(events=EVENTS)
def test_whatever_comes_and_goes(events: list[tuple[str, int, list[int | None]]]) -> None:
    """Each partition has one owner at most; no two live instances own one in successive maps without a map between in
    which it was nobody's; what is withdrawn is given in the next round; loads are even but for preferences.
    """
    holding: dict[str, tuple[int, frozenset[int], InstanceMap | None]] = {}
    leaders: tuple[int | None, ...] = ()
    serial = 0
    newest: InstanceMap | None = None
    for at, (what, number, moved) in enumerate([*events, ("round", 0, []), ("round", 0, [])]):
        if what == "come":
            serial += 1
            holding[f"m{serial}"] = (number, frozenset(), None)
        elif what == "go" and holding:
            del holding[sorted(holding)[number % len(holding)]]
        elif what == "fall out" and holding:  # it comes back by a new name, and holds nothing
            number, _, knew = holding.pop(sorted(holding)[number % len(holding)])
            serial += 1
            holding[f"m{serial}"] = (number, frozenset(), knew)
        elif what == "lead":
            leaders = tuple(moved)
        elif what in ("round", "miss") and holding:
            members = {
                name: attrs.evolve(
                    says(number, owned, former=knew, brokers=range(4), leaders=leaders), instance=_started(number, name)
                )
                for name, (number, owned, knew) in holding.items()
            }
            given = next_map(members, min(members), at).map
            assert newest is None or given.epoch > newest.epoch
            for name, (_, owned, _) in holding.items():
                assert all(given.partitions[each] is None or _member(given, each) == name for each in owned), (
                    "given to another while it was held"
                )
            missing = sorted(holding)[number % len(holding)] if what == "miss" else None
            for name, (number, _, _) in list(holding.items()):
                if name == missing:
                    continue
                mine = frozenset(at for at in range(COUNT) if _member(given, at) == name)
                holding[name] = (number, mine, given)
            everything = [each for _, owned, _ in holding.values() for each in owned]
            assert len(everything) == len(set(everything)), "two hold one"
            newest = given
    if holding and newest is not None:
        assert not newest.in_transit or not _settled(holding)
        wanted = preferred_owners(leaders, newest.brokers, COUNT)
        if not newest.in_transit:
            assert all(newest.partitions[at] == owner for at, owner in wanted.items())
            loads = {number: len(newest.owned_by(number)) for number in newest.instances}
            preferred = Counter(wanted.values())
            spread = [load for number, load in loads.items() if load > preferred[number]]
            assert not spread or max(spread) - min(loads.values()) <= 1
        fronts = Counter(dict.fromkeys(newest.instances, 0))
        fronts.update(newest.brokers.values())
        assert max(fronts.values()) - min(fronts.values()) <= 1


def _started(number: int, name: str) -> Instance:
    return Instance(instance_id=number, started_ms=int(name[1:]), host="h", port=1)


def _member(given: InstanceMap, partition: int) -> str | None:
    owner = given.owner(partition)
    return None if owner is None else owner.member_id


def _settled(holding: Mapping[str, tuple[int, frozenset[int], InstanceMap | None]]) -> bool:
    """Nobody has missed the last round."""
    return len({None if knew is None else knew.epoch for _, _, knew in holding.values()}) == 1


@settings(deadline=None)
@given(
    count=st.integers(1, 60),
    before=st.lists(st.integers(0, 5), min_size=60, max_size=60),
    there=st.sets(st.integers(0, 5), min_size=1),
)
def test_no_more_moves_than_must(count: int, before: list[int], there: set[int]) -> None:
    """Who has no more than its share keeps all of it; who has more keeps its share."""
    former = InstanceMap(epoch=1, partitions=tuple(before[:count]))
    given = round_of(
        {
            f"m{number}": says(number, former.owned_by(number), former=former, partitions=count)
            for number in sorted(there)
        }
    )
    least = count // len(there)
    for number in there:
        had, has = former.owned_by(number), given.owned_by(number)
        assert len(had & has) >= min(len(had), least)
        if len(had) <= least:
            assert had <= has
