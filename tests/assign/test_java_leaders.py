"""Are simulated Java leaders true ones? Connect's own classes go through the same rounds, in one JVM."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from kcoord.assign import CONNECTOR
from kcoord.assign.incremental.hashing import copied, hashed, sort_key
from tests.assign.java_leaders import Pair, asked
from tests.assign.random_fleets import LETTERS, RandomFleet
from tests.kafka.java import Java

FLEETS, ROUNDS = 80, 25


@pytest.fixture(scope="module")
def newer_java(java: Java) -> bool:
    """Whether this Java makes tables that are filled to the brim (`hashing.copied`)."""
    names = [f"n{at * 37}" for at in range(12)]
    assert copied(names) != copied(names, newer_java=True)
    (rows,) = asked(java, [{"do": "hash", "names": names}])
    return bool(rows["copied"] == copied(names, newer_java=True))


def test_every_round_is_as_connect_has_it(java: Java, newer_java: bool) -> None:
    """Who is told to start and to stop what, in which order; the delay; the leader's memory; what is reported next."""
    pair = Pair(newer_java)
    for seed in range(FLEETS):
        RandomFleet.of(pair, seed).play(ROUNDS)
    answers = asked(java, pair.orders)
    assert len(answers) == len(pair.orders)
    for order, expected, told in zip(pair.orders, pair.answers, answers, strict=True):
        assert told == expected, order


@pytest.mark.long("plays all fleets of the comparison with Java")
def test_when_nothing_happens_any_more_all_runs_once_and_evenly() -> None:
    for seed in range(FLEETS):
        fleet = RandomFleet.of(Pair(), seed)
        fleet.play(ROUNDS)
        fleet.come_to_rest()
        rows = [fleet.pair.processes[key].row for key in fleet.members]
        assert sorted(itertools.chain(*rows)) == sorted(fleet.history[-1].resources()), seed
        for kind in (True, False):
            sizes = [sum((task == CONNECTOR) == kind for _, task in row) for row in rows]
            assert max(sizes) - min(sizes) <= 1, (seed, sizes)


def test_names_come_in_javas_order(java: Java, newer_java: bool) -> None:
    random = Random(1)
    orders = []
    for size in [*range(30), 47, 48, 49, 96, 97, 192, 1_000] * 5:
        names = ["".join(random.choices(LETTERS, k=random.randrange(1, 9))) for _ in range(size)]
        orders.append({"do": "hash", "names": names if size < 9 else [f"{name}{at}" for at, name in enumerate(names)]})
    for order, told in zip(orders, asked(java, orders), strict=True):
        names = list(order["names"])
        assert told["hashed"] == hashed(names)
        assert told["copied"] == copied(names, newer_java)
        assert told["sorted"] == sorted(names, key=sort_key)
