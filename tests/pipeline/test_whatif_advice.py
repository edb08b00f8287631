"""What does what-if recommend, and why? Of rows made by hand."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.policy_ranking import Spread
from kcoord.pipeline.schemas import WHATIF
from kcoord.pipeline.whatif.advice import NAMES, Choice, NotReplayed, advise, delays, reason
from kcoord.pipeline.whatif.question import Asked, question
from kcoord.sim.scenario import Kind
from tests.pipeline.test_whatif_fleet import computed, owned, session, tables

RECORDED = Choice(Kind.BARRIER, "kip-415", 300)


def row(choice: Choice, stopped: float, seed: int = 0, episode: str = "1", **fields: Any) -> dict[str, Any]:
    made = dict.fromkeys(NAMES, 0.0) | {"moved": 10, "longest_gap": 1.0, "longest_unowned": 1.0, "balanced_after": 1.0}
    told = attrs.asdict(choice) | {"scenario": episode, "seed": seed, "doubles": 0, "error": None}
    return made | told | {"kind": choice.kind.value, "stopped": stopped} | fields


def with_delay(delay: float) -> Choice:
    return attrs.evolve(RECORDED, delay=delay)


def test_rows_are_those_of_the_table() -> None:
    assert set(row(RECORDED, 1.0)) == {column.name for column in WHATIF.columns}


def test_episodes_are_summed_and_of_gaps_the_longest_counts() -> None:
    rows = [
        row(RECORDED, stopped, seed, episode, longest_gap=gap)
        for seed, episode, stopped, gap in [(0, "1", 10, 3), (0, "2", 5, 7), (1, "1", 11, 2), (1, "2", 7, 4)]
    ]
    advice = advise(rows, RECORDED)
    assert advice.recorded is advice.recommended is advice.best
    assert advice.best.figures["stopped"] == Spread(15, 15, 18)
    assert advice.best.figures["longest_gap"] == Spread(4, 4, 7)
    assert advice.best.figures["moved"] == Spread(20, 20, 20)


@pytest.mark.parametrize(
    ("stopped", "moved", "best"),
    [
        ({0: (50, 60), 60: (20, 30), 300: (90, 100)}, {}, 60),
        ({0: (20, 30), 60: (25, 35), 300: (90, 100)}, {0: 20, 60: 10}, 60),
        ({0: (20, 30), 60: (25, 35), 300: (90, 100)}, {0: 10, 60: 10}, 0),
        ({0: (20, 30), 60: (31, 35), 300: (90, 100)}, {0: 20, 60: 10}, 0),
        ({0: (90, 91), 60: (91, 92), 300: (90, 100)}, {}, 300),
        ({0: (90, 90), 60: (94, 94), 300: (99, 99)}, {0: 20, 60: 10}, 60),
    ],
    ids=[
        "the least",
        "not to be told apart: who moves less",
        "and as much: the shorter",
        "to be told apart",
        "nothing is better than what it was",
        "hardly more",
    ],
)
def test_which_delay_is_best(stopped: dict[int, tuple[float, float]], moved: dict[int, int], best: int) -> None:
    rows = [
        row(with_delay(delay), value, seed, moved=moved.get(delay, 5))
        for delay, values in stopped.items()
        for seed, value in enumerate(values)
    ]
    advice = advise(rows, RECORDED)
    assert advice.recommended.choice == with_delay(best)
    assert advice.saved(advice.recommended) == min(stopped[300]) - min(stopped[best])


def test_recommended_is_a_delay_for_what_the_group_has() -> None:
    """Another kind does better; that is the best, and said beside it."""
    other = Choice(Kind.INDIVIDUAL, "kip-415", 300)
    advice = advise([row(RECORDED, 90), row(with_delay(30), 60), row(other, 10)], RECORDED)
    assert advice.recommended.choice == with_delay(30)
    assert advice.best.choice == other
    nobody_knows = advise([row(RECORDED, 90), row(other, 10)], None)
    assert nobody_knows.recommended.choice == other
    assert nobody_knows.saved(nobody_knows.best) is None


def test_what_cannot_be_played_under_one_choice_counts_under_none() -> None:
    failed = row(RECORDED, 0, episode="2") | dict.fromkeys(NAMES) | {"error": "did not settle"}
    rows = [row(RECORDED, 9), row(with_delay(0), 8), row(with_delay(0), 50, episode="2"), failed]
    advice = advise(rows, RECORDED)
    assert [each.stopped.middle for each in advice.outcomes] == [8, 9]
    assert advice.failed == ["2: did not settle"]
    with pytest.raises(NotReplayed, match="2: did not settle"):
        advise([failed], RECORDED)


def test_delays_that_a_history_asks_for() -> None:
    """Half of the workers were back within 12 s, all within 171 s: five seconds more each, in steps of five."""
    assert delays(300, []) == [0, 30, 60, 120, 300]
    assert delays(90, [4_000, 12_000, 38_000, 171_000]) == [0, 30, 45, 60, 90, 120, 180, 300]


def test_the_reason_names_what_workers_did_and_what_other_delays_would_do() -> None:
    rows = [
        row(with_delay(delay), stopped, seed, moved=moved)
        for delay, stopped, moved in [(0, 40, 30), (30, 20, 10), (60, 20, 10), (300, 90, 10)]
        for seed in (0, 1)
    ]
    said = reason(advise(rows, RECORDED), [8_000, 12_000, 12_000, 14_000], never=1)
    assert said == (
        "5 workers went, 4 came back, half of them within 12 s, nine tenths within 14 s. A shorter one (0 s) would "
        "have stopped 20 task-seconds more, with 20 more moved. A longer one (60 s) cannot be told from it by what "
        "stands still, with as many moved."
    )
    assert reason(advise(rows, RECORDED), [], 0).startswith("No worker went")


def test_what_is_tried() -> None:
    """Java's workers bring their own policy; ours are tried with the three designs. What knows no delay comes once."""
    history = tables(
        sessions=[session("1", 0, url="u"), session("2", 0, 500_000, "worker left", url="v")],
        ownership=[owned("1", 0, 0)],
        rebalances=[computed("cooperative", 60_000)],
    )
    wanted = question(history, Asked(seeds=2, delays=[0, 30]))
    assert wanted.recorded == Choice(Kind.CONNECT, "design-2", 60)
    assert {(each.kind, each.policy, each.delay) for each in wanted.cells} == {
        (Kind.CONNECT, "design-1", 60),
        *((Kind.CONNECT, policy, delay) for policy in ("design-2", "design-3") for delay in (0, 30, 60)),
    }
    assert {each.seed for each in wanted.cells} == {0, 1}
    assert (wanted.fitted.heartbeat, wanted.fitted.session) == (5, 10)
    java = attrs.evolve(history, ownership=[owned("1", 0, 0, speaks="generic")], rebalances=[computed("sessioned")])
    wanted = question(java, Asked(delays=[30]))
    assert wanted.recorded == Choice(Kind.BARRIER, "kip-415", 300)
    assert {(each.kind, each.policy, each.delay) for each in wanted.cells} == {
        (kind, "kip-415", delay) for kind in (Kind.BARRIER, Kind.INDIVIDUAL) for delay in (30, 300)
    }


def test_what_cannot_be_asked() -> None:
    with pytest.raises(PipelineError, match="ever ran anything"):
        question(tables(sessions=[session("1", 0)]), Asked())
    quiet = tables(sessions=[session("1", 0)], ownership=[owned("1", 0, -1_000, speaks="generic")])
    with pytest.raises(PipelineError, match="nothing happened in this group's history but that it began"):
        question(quiet, Asked())
