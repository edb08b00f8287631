"""Does what-if say that a replay and its log disagree, where and how much, and recommend nothing then?"""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kcoord.cli.whatif import shown
from kcoord.pipeline.policy_ranking import Spread
from kcoord.pipeline.whatif.advice import Advice, advise
from kcoord.pipeline.whatif.agreement import disagreements
from kcoord.pipeline.whatif.logged import Logged
from kcoord.pipeline.whatif.question import Asked, Question, question
from kcoord.pipeline.whatif.replay import replay_of
from kcoord.sim.scenario import Kind, built_in, load
from tests.pipeline.replayed import history
from tests.pipeline.test_whatif_advice import RECORDED, row, with_delay
from tests.pipeline.test_whatif_fleet import computed, owned, session, tables

HEARTBEAT, SHARE = 3.0, 2
"""Each of two workers has two of four tasks."""
AS_REPLAYED = Logged(unowned=100, longest_unowned=30, handed_over=10, epochs=8)


def asked() -> Question:
    """Two workers, of which one is stopped; four tasks."""
    rows = tables(
        sessions=[session("1", 0, url="u"), session("2", 0, 500_000, "worker left", url="v")],
        ownership=[owned("1", task, 0, speaks="generic") for task in range(4)],
        rebalances=[computed("sessioned")],
    )
    return question(rows, Asked(heartbeat=HEARTBEAT, delays=[0]))


def replayed(wanted: Question, *pieces: str, **besides: Any) -> Advice:
    """The replays say the same of each piece, in two seeds."""
    said = attrs.asdict(AS_REPLAYED) | besides
    rows = [row(RECORDED, 50, seed, piece, **said) for seed in (0, 1) for piece in pieces]
    return advise([*rows, *(row(with_delay(0), 10, seed, piece) for seed in (0, 1) for piece in pieces)], RECORDED)


@pytest.mark.parametrize(
    ("figure", "most"),
    [
        ("unowned", SHARE * 2 * HEARTBEAT),
        ("longest_unowned", 2 * HEARTBEAT),
        ("handed_over", SHARE),
        ("epochs", 2),
    ],
)
def test_what_no_log_says_may_differ_and_no_more(figure: str, most: float) -> None:
    """By a tenth, and by what a heartbeat interval, one worker's share, or two workers at a time make of it."""
    wanted = asked()
    advice = replayed(wanted, "p")
    replays = getattr(AS_REPLAYED, figure)
    for beyond, apart in ((most, []), (-most, []), (2 * most + 0.2 * replays, [figure])):
        recorded = attrs.evolve(AS_REPLAYED, **{figure: replays + beyond})
        assert [each.figure for each in disagreements(advice, wanted, {"p": recorded})] == apart


def test_the_spread_of_the_seeds_counts() -> None:
    wanted = asked()
    advice = replayed(wanted, "p")
    assert advice.recorded is not None
    wide = attrs.evolve(
        advice, recorded=attrs.evolve(advice.recorded, figures={**advice.recorded.figures, "epochs": Spread(8, 8, 20)})
    )
    recorded = {"p": attrs.evolve(AS_REPLAYED, epochs=20)}
    assert disagreements(advice, wanted, recorded)
    assert not disagreements(wide, wanted, recorded)


def test_where_they_disagree_is_said_and_nothing_is_recommended() -> None:
    wanted = asked()
    advice = replayed(wanted, "12:00", "13:00", "14:00")
    log = {"12:00": AS_REPLAYED, "13:00": attrs.evolve(AS_REPLAYED, unowned=400), "14:00": AS_REPLAYED}
    said = shown("g", wanted, advice, log)
    assert "Nothing is recommended: the replays of what was really run and the recorded log disagree." in said
    assert (
        "tasks had nobody for: 300 s in the replays, 600 s in the log (up to 72 s apart would count as agreement)."
        in said
    )
    assert "By pieces, from (UTC) 13:00: 100 s and 400 s." in said
    assert "ecommended:" not in said.replace("Nothing is recommended:", "")
    assert "recommended" not in said.split("Nothing is")[0]
    assert "Better than any delay alone" not in said
    assert "SAVED" not in said
    assert "The coordinator was away" not in said
    begins_ms = wanted.episodes[-1].from_ms
    away = attrs.evolve(wanted, outages=[{"from_at": begins_ms + 1_000, "to_at": begins_ms + 3_000}])
    assert "The coordinator was away for 2 s of that time" in shown("g", away, advice, log)
    agreed = shown("g", wanted, advice, dict.fromkeys(log, AS_REPLAYED))
    assert "Recommended: a delay of 0 s" in agreed
    assert "disagree" not in agreed


def test_pieces_that_could_not_be_played_are_not_compared() -> None:
    wanted = asked()
    failed = row(RECORDED, 0, episode="q") | {"error": "did not settle"}
    rows = [row(RECORDED, 50, seed, "p", **attrs.asdict(AS_REPLAYED)) for seed in (0, 1)]
    advice = advise([*rows, failed], RECORDED)
    log = {"p": AS_REPLAYED, "q": attrs.evolve(AS_REPLAYED, unowned=9_000)}
    assert not disagreements(advice, wanted, log)
    assert "the recorded log says 100 s" in shown("g", wanted, advice, log)


def test_a_real_history_that_is_played_with_another_delay_than_it_had() -> None:
    """Workers bounced behind a delay of five minutes, and somebody says that nothing waited."""
    past = history(load(built_in()["bounce"]), Kind.CONNECT, "design-2")
    wanted = question(past.tables, Asked(heartbeat=HEARTBEAT, seeds=2, policies=["design-2"], delays=[0, 300], delay=0))
    pieces = {each.name: each for each in wanted.episodes}
    advice = advise([replay_of(pieces[each.scenario], each) for each in wanted.cells], wanted.recorded)
    apart = disagreements(advice, wanted, wanted.logged_by_episode(past.tables))
    assert {each.figure for each in apart} & {"unowned", "handed_over"}
    assert all(each.pieces for each in apart)
    assert "Nothing is recommended" in shown("g", wanted, advice, wanted.logged_by_episode(past.tables))
