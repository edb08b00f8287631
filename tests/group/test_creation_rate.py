"""How many groups one connection may create: a burst, then so many a second, each connection by itself."""

from __future__ import annotations

from kcoord.group.creation_rate import SWEPT_AT, CreationRate


def created(rate: CreationRate, connection: int, asked: int, now_ms: int) -> int:
    return sum(rate.take(connection, now_ms) for _ in range(asked))


def test_a_burst_then_so_many_a_second() -> None:
    rate = CreationRate(per_s=10, burst=50)
    assert created(rate, 1, 100, 0) == 50
    assert created(rate, 1, 100, 99) == 0
    assert created(rate, 1, 100, 1_000) == 10
    assert created(rate, 1, 100, 3_000) == 20
    assert created(rate, 1, 100, 60_000) == 50


def test_small_pauses_add_up() -> None:
    rate = CreationRate(per_s=1, burst=1)
    assert sum(rate.take(1, now_ms) for now_ms in range(0, 10_001, 100)) == 11


def test_another_connection_has_its_own() -> None:
    rate = CreationRate(per_s=1, burst=5)
    assert created(rate, 1, 10, 0) == 5
    assert created(rate, 2, 10, 0) == 5


def test_a_clock_that_stands_or_goes_back_gives_nothing() -> None:
    rate = CreationRate(per_s=1_000, burst=2)
    assert created(rate, 1, 3, 500) == 2
    assert created(rate, 1, 3, 100) == 0


def test_what_has_gone_or_has_its_whole_burst_again_is_not_remembered() -> None:
    rate = CreationRate(per_s=1, burst=5)
    rate.take(1, 0)
    rate.forget(1)
    assert len(rate) == 0
    for connection in range(2 * SWEPT_AT):
        rate.take(connection, connection * 10_000)
    assert len(rate) <= 2
