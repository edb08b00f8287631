"""Does a replay of a history say what really happened? Of simulated fleets, whose true figures are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean, stdev
from typing import Any

import attrs
import pytest

from kcoord.pipeline.whatif.advice import WORST, Choice, advise
from kcoord.pipeline.whatif.agreement import disagreements
from kcoord.pipeline.whatif.episodes import Episode
from kcoord.pipeline.whatif.question import Asked, Question, question
from kcoord.pipeline.whatif.replay import replay_of
from kcoord.sim.scenario import Kind, built_in, load
from tests.cells import cells
from tests.pipeline.replayed import History, cell, history

SEEDS = range(8)
HEARTBEAT_S = 3.0
MEASURED = ("stopped", "longest_gap", "moved", "rebalances")
LOGGED = ("unowned", "handed_over", "epochs")
SHARE = 0.002
"""What a log leaves open besides, as a share: some milliseconds of each message."""

HISTORIES = [
    *((name, kind, "kip-415") for name in ("bounce", "death", "leader", "connectors") for kind in Kind),
    *((name, Kind.CONNECT, "design-2") for name in ("bounce", "death", "slow")),
    ("storm", Kind.INDIVIDUAL, "kip-415"),
    ("bounce", Kind.BARRIER, "eager"),
    ("scale", Kind.CONNECT, "kip-415"),
]
AT_EACH_COMMIT = {
    *(("bounce", kind, "kip-415") for kind in Kind),
    ("death", Kind.CONNECT, "design-2"),
    ("leader", Kind.BARRIER, "kip-415"),
    ("connectors", Kind.CONNECT, "kip-415"),
    ("storm", Kind.INDIVIDUAL, "kip-415"),
    ("bounce", Kind.BARRIER, "eager"),
}
"""Each scenario that is unlike the others, each kind of group and each policy; the rest is proved."""


def asked_about(past: History) -> Question:
    """What the log does not say is as the scenario had it."""
    settings = past.scenario.settings
    return question(
        past.tables, Asked(policy=past.policy, delay=settings.delay, heartbeat=HEARTBEAT_S, session=settings.session)
    )


def rows_of(past: History, wanted: Question, seeds: Iterable[int], policy: str | None = None) -> list[dict[str, Any]]:
    """A row a seed and piece, without how the fleet came about before the scenario began."""
    rows = [replay_of(each, cell(past, each.name, seed, policy)) for each in pieces_of(past, wanted) for seed in seeds]
    assert [row["error"] for row in rows] == [None] * len(rows)
    assert [row["doubles"] for row in rows] == [0] * len(rows)
    return rows


def pieces_of(past: History, wanted: Question) -> list[Episode]:
    """Those of the scenario."""
    return [each for each in wanted.episodes if each.from_ms > past.begins_ms - 60_000]


def totals(rows: Iterable[dict[str, Any]]) -> list[dict[str, float]]:
    """The figures of each seed."""
    by_seed: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_seed.setdefault(row["seed"], []).append(row)
    return [
        {name: (max if name in WORST else sum)([row[name] for row in mine]) for name in (*MEASURED, *LOGGED)}
        for mine in by_seed.values()
    ]


def within(value: float, values: Sequence[float], besides: float = 0.0) -> bool:
    """Whether it is within the spread: three standard deviations, as a few seeds' least and greatest tell less."""
    middle = mean(values)
    return abs(value - middle) <= 3 * stdev(values) + SHARE * abs(middle) + besides


@pytest.mark.long("plays each piece of a history with eight seeds")
@pytest.mark.parametrize(("name", "kind", "policy"), cells(HISTORIES, lambda cell: cell not in AT_EACH_COMMIT))
def test_what_was_really_run_is_predicted(name: str, kind: Kind, policy: str) -> None:
    """All figures, the true ones and those that are in the log. A longest gap is known to within a heartbeat; and as
    nobody says which tasks were whose when a piece begins, what moves to within what one worker has.
    """
    past = history(load(built_in()[name]), kind, policy)
    wanted = asked_about(past)
    assert wanted.recorded == Choice(kind, policy, past.scenario.settings.delay)
    rows = rows_of(past, wanted, SEEDS)
    found = totals(rows)
    connectors = past.scenario.connectors.values()
    share = sum(each.count * each.tasks for each in connectors) / past.scenario.workers
    for figure in MEASURED:
        besides = {"longest_gap": HEARTBEAT_S, "moved": share}.get(figure, 0.0)
        true = getattr(past.figures, figure)
        assert within(true, [each[figure] for each in found], besides), (figure, true, found)
    pieces = attrs.evolve(wanted, episodes=pieces_of(past, wanted))
    recorded = pieces.logged(past.tables)
    for figure in LOGGED:
        said = getattr(recorded, figure)
        besides = share if figure == "handed_over" else 0.0
        assert within(said, [each[figure] for each in found], besides), (figure, said, found)
    told = [row | {"policy": policy, "delay": past.scenario.settings.delay} for row in rows]
    assert not disagreements(advise(told, wanted.recorded), pieces, pieces.logged_by_episode(past.tables))


@pytest.mark.long("plays each piece of a history with eight seeds")
@pytest.mark.parametrize(
    ("name", "kind", "policy", "other", "figure"),
    [
        ("bounce", Kind.CONNECT, "design-2", "design-1", "stopped"),
        ("bounce", Kind.CONNECT, "design-2", "design-1", "moved"),
        ("death", Kind.CONNECT, "design-2", "kip-415", "stopped"),
        ("bounce", Kind.BARRIER, "kip-415", "design-2", "stopped"),
    ],
)
def test_another_policy_is_told_from_it(name: str, kind: Kind, policy: str, other: str, figure: str) -> None:
    """What a replay under another policy says is as true: it is what that policy really does to the same fleet."""
    scenario = load(built_in()[name])
    past = history(scenario, kind, policy)
    found = [each[figure] for each in totals(rows_of(past, asked_about(past), SEEDS, other))]
    assert not within(getattr(past.figures, figure), found)
    assert within(getattr(history(scenario, kind, other).figures, figure), found)


def test_what_is_recommended_is_what_would_have_been_best() -> None:
    """Java's workers bounce with a delay of five minutes, and were back after 14 s: told by playing all of it again."""
    past = history(load(built_in()["bounce"]), Kind.BARRIER, "kip-415")
    wanted = question(past.tables, Asked(heartbeat=HEARTBEAT_S, seeds=2, kinds=[Kind.BARRIER], delays=[0, 20]))
    assert wanted.recorded == Choice(Kind.BARRIER, "kip-415", 300)
    pieces = {each.name: each for each in wanted.episodes}
    advice = advise([replay_of(pieces[each.scenario], each) for each in wanted.cells], wanted.recorded)
    assert advice.recorded is not None
    truth = {}
    for delay in (0.0, 20.0, 300.0):
        settings = past.scenario.settings.model_copy(update={"delay": delay})
        varied = past.scenario.model_copy(update={"settings": settings})
        truth[delay] = history(varied, Kind.BARRIER, "kip-415", seed=7).figures.stopped
    assert advice.recommended.choice.delay == min(truth, key=lambda delay: truth[delay])
    saved = advice.saved(advice.recommended)
    assert saved is not None
    assert saved > 0.5 * (truth[300] - min(truth.values()))
