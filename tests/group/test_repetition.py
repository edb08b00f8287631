"""Are rebalances that repeat themselves noticed and slowed down, and no others?"""

from __future__ import annotations

from itertools import count, cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcoord.group.state.repeated_rebalances import FREE, KEPT, LONGEST_MS, QUIET_MS, Given, Repetition, fingerprint

START_MS = 1_000_000
HOUR_MS = 3_600_000


def rebalance(repetition: Repetition, given: Given, answer: int, now_ms: int) -> int:
    """One rebalance that lasts no time, as soon as it may begin. Returns when it was."""
    at_ms = repetition.due(given, now_ms)
    repetition.begin(given, at_ms)
    repetition.end(answer, at_ms)
    return at_ms


def test_the_same_answer_to_the_same_input_is_slowed_down_more_and_more() -> None:
    repetition, now_ms, waited = Repetition(), START_MS, []
    for _ in range(FREE + 10):
        at_ms = rebalance(repetition, Given(1, 1), 7, now_ms)
        waited.append((at_ms - now_ms) // 1_000)
        now_ms = at_ms
    assert waited == [0] * (FREE + 1) + [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert repetition.times == FREE + 9


@pytest.mark.parametrize(
    ("given", "waits"),
    [
        (Given(1, 1), True),
        (Given(1, 2), False),
        (Given(2, 1), False),
    ],
    ids=["the same", "another state", "another scope"],
)
def test_what_is_new_begins_at_once(given: Given, waits: bool) -> None:
    repetition = Repetition()
    for _ in range(FREE + 3):
        now_ms = rebalance(repetition, Given(1, 1), 7, START_MS)
    assert (repetition.due(given, now_ms) > now_ms) == waits
    repetition.begin(given, now_ms)


def test_another_answer_to_the_same_input_is_a_change() -> None:
    repetition = Repetition()
    for answer in range(10):
        assert rebalance(repetition, Given(1, 1), answer, START_MS) == START_MS
    assert repetition.times == 0


def test_after_a_quiet_time_all_is_forgotten() -> None:
    repetition, now_ms = Repetition(), START_MS
    for _ in range(FREE + 3):
        now_ms = rebalance(repetition, Given(1, 1), 7, now_ms)
    assert repetition.due(Given(1, 1), now_ms + QUIET_MS) == now_ms + QUIET_MS
    assert repetition.due(Given(1, 1), now_ms + 1) > now_ms + 1
    for _ in range(FREE + 1):
        now_ms = rebalance(repetition, Given(1, 1), 7, now_ms + QUIET_MS)
    assert repetition.times == 0, "each was quiet for itself"


def test_a_circle_is_noticed_as_well() -> None:
    repetition, now_ms = Repetition(), START_MS
    for _, state in zip(range(40), cycle((1, 2, 3)), strict=False):
        now_ms = rebalance(repetition, Given(1, state), state, now_ms)
    assert now_ms - START_MS > 30 * LONGEST_MS // 2


def test_whoever_cannot_wait_that_long_waits_no_longer() -> None:
    repetition, now_ms = Repetition(), START_MS
    for _ in range(FREE + 9):
        now_ms = rebalance(repetition, Given(1, 1), 7, now_ms)
    assert repetition.due(Given(1, 1), now_ms, longest_ms=3_000) == now_ms + 3_000


def test_what_ends_without_a_beginning_is_nothing() -> None:
    repetition = Repetition()
    assert not repetition.end(7, START_MS)
    assert not repetition.end(7, START_MS)
    assert repetition.times == 0


def test_the_memory_is_bounded() -> None:
    repetition = Repetition()
    for state in range(3 * KEPT):
        rebalance(repetition, Given(1, state), state, START_MS)
    assert len(repetition._seen) == KEPT


def test_the_reason_says_it_only_where_the_next_one_waits() -> None:
    repetition, now_ms = Repetition(), START_MS
    for _ in range(FREE):
        now_ms = rebalance(repetition, Given(1, 1), 7, now_ms)
        assert repetition.tell() == ""
    now_ms = rebalance(repetition, Given(1, 1), 7, now_ms)
    assert repetition.tell() == " (the last 3 rebalances changed nothing: the next one waits 1 s)"


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=12))
def test_any_storm_in_one_scope_ends_in_one_rebalance_a_minute(storm: list[tuple[int, int]]) -> None:
    """Whatever is answered to whichever of a few inputs, and however soon it is asked for again."""
    repetition, now_ms, begun = Repetition(), START_MS, 0
    for state, answer in cycle(storm):
        now_ms = rebalance(repetition, Given(1, state), answer, now_ms)
        begun += 1
        if now_ms > START_MS + HOUR_MS or begun > 1_000:
            break
    growing = 1 + FREE + len((1, 2, 4, 8, 16, 32))
    assert begun <= len(set(storm)) * growing + HOUR_MS // LONGEST_MS + 1


@given(st.lists(st.integers(), unique=True, max_size=100))
def test_nothing_that_is_new_each_time_ever_waits(states: list[int]) -> None:
    repetition = Repetition()
    for state in states:
        assert rebalance(repetition, Given(1, state), 7, START_MS) == START_MS


def test_members_that_come_and_go_are_never_slowed_down() -> None:
    repetition = Repetition()
    for members, _ in zip(cycle((frozenset("ab"), frozenset("abc"))), range(100), strict=False):
        assert rebalance(repetition, Given(fingerprint(members), 1), 7, START_MS) == START_MS


def test_fingerprints_are_equal_for_equal_parts() -> None:
    assert fingerprint("a", frozenset("bc")) == fingerprint("a", frozenset("cb"))
    numbers = {fingerprint(part) for part, _ in zip(count(), range(1_000), strict=False)}
    assert len(numbers) == 1_000
