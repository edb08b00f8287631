"""Is what is said of another host's clock always true, and is it worth anything?"""

from __future__ import annotations

from math import floor
from random import Random

import pytest

from kcoord.instances.peer_clock import PeerClock


def theirs_at(real_ms: float, ahead_ms: float, rate: float) -> float:
    """What the other's clock shows when this one shows `real_ms`."""
    return real_ms * rate + ahead_ms


@pytest.mark.parametrize("seed", range(50))
def test_what_lay_between_two_times_here_lay_between_those_there(seed: int) -> None:
    """However long questions and answers take, and whatever the clocks show; they drift by 0.05 %."""
    random = Random(seed)
    ahead_ms, rate = random.uniform(-1e10, 1e10), 1 + random.uniform(-0.0005, 0.0005)
    clock, now = PeerClock(), random.uniform(0, 1e9)
    for _ in range(20):
        asked = now
        written = asked + random.choice((0.1, 5, 30_000)) * random.random()
        answered = written + random.choice((0.1, 5, 30_000)) * random.random()
        clock.note(int(asked), floor(theirs_at(written, ahead_ms, rate)), int(answered) + 1)
        now = answered + random.choice((100, 10_000)) * random.random()
        event = now - random.choice((0, 100, 3_600_000)) * random.random()
        made = clock.theirs(int(event), int(event) + 1)
        assert made is not None
        assert made[0] <= theirs_at(event, ahead_ms, rate) <= made[1]


def test_one_quick_answer_outweighs_slow_ones() -> None:
    clock = PeerClock()
    assert clock.theirs(0, 0) is None
    clock.note(1_000, 501_900, 2_000)
    clock.note(2_000, 502_002, 2_004)
    clock.note(3_000, 503_500, 9_000)
    made = clock.theirs(3_000, 3_000)
    assert made is not None
    assert 502_990 <= made[0] <= 503_000 <= made[1] <= 503_010


def test_what_was_measured_long_ago_is_measured_anew() -> None:
    clock = PeerClock()
    clock.note(0, 0, 0)
    clock.note(100_000, 100_030, 100_060)
    assert clock.measured_ms == 100_060
