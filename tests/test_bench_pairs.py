"""When is one commit called worse than another? The statistics of `bench.pairs`, and the journal of `bench.against`."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from bench.against import Journal
from bench.pairs import interval_of, t_95


def test_the_interval_is_students() -> None:
    """Worked out by hand: logs of 1, 1.1 and 1.21 have the mean ln 1.1 and the deviation ln 1.1."""
    interval = interval_of([(1, 1), (1, 1.1), (1, 1.21)])
    half = 4.303 * math.log(1.1) / math.sqrt(3)
    assert interval.ratio == pytest.approx(1.1)
    assert interval.low == pytest.approx(1.1 / math.exp(half))
    assert interval.high == pytest.approx(1.1 * math.exp(half))


def test_worse_is_what_lies_beyond_the_allowance_whole() -> None:
    noise = random.Random(1)

    def pairs(ratio: float, spread: float) -> list[tuple[float, float]]:
        return [(100, 100 * ratio * math.exp(noise.gauss(0, spread))) for _ in range(15)]

    assert interval_of(pairs(1.20, 0.02)).is_worse
    assert not interval_of(pairs(1.02, 0.001)).is_worse
    assert not interval_of(pairs(1.06, 0.20)).is_worse
    assert not interval_of(pairs(0.80, 0.01)).is_worse


@pytest.mark.parametrize(
    ("degrees", "point"), [(1, 12.706), (14, 2.145), (15, 2.131), (19, 2.131), (20, 2.086), (200, 1.98)]
)
def test_more_pairs_make_the_interval_narrower(degrees: int, point: float) -> None:
    assert t_95(degrees) == point


def test_pairs_of_other_commits_do_not_count(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "pairs" / "kept.jsonl")
    assert journal.pairs("joins", "a", "b") == []
    journal.add("joins", "a", "b", (1.0, 2.0))
    journal.add("joins", "a", "c", (3.0, 4.0))
    journal.add("beats", "a", "b", (5.0, 6.0))
    journal.add("joins", "a", "b", (7.0, 8.0))
    assert Journal(journal.path).pairs("joins", "a", "b") == [(1.0, 2.0), (7.0, 8.0)]
