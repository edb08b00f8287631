"""What does what-if make of a history's rows? Who came and went when, what was configured, and how it is cut."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.lab import Cell
from kcoord.pipeline.whatif.episodes import SETTLES_MS, Fitted, episodes
from kcoord.pipeline.whatif.fleet import Configured, End, Fleet, Span, Stay, Tables, fleet_of
from kcoord.pipeline.whatif.logged import Logged, logged
from kcoord.pipeline.whatif.replay import replay_of
from kcoord.pipeline.whatif.stopping import Stopping, stopping
from kcoord.sim.scenario import Kind
from kcoord.sim.scenario.description import What

NAMES = ("epochs", "sessions", "ownership", "connectors", "rebalances", "gaps")
JOINING, HEARTBEAT, SESSION = 50, 3_000, 10_000
FITTED = Fitted(delay=60, session=10, heartbeat=3, start=1, stop=2, rebalance=60)
REST_MS = 70_000 + SETTLES_MS


def tables(**rows: list[Row]) -> Tables:
    found: dict[str, Any] = {name: rows.get(name, []) for name in NAMES}
    return Tables(**found)


def session(member: str, from_at: int, to_at: int | None = None, ended: str | None = None, **fields: Any) -> Row:
    known = {"instance_id": None, "url": "u", "speaks": "connect", "session_timeout_ms": SESSION}
    return (
        {"member_id": member, "from_at": from_at, "from_offset": from_at, "to_at": to_at, "ended": ended}
        | known
        | fields
    )


def owned(
    member: str, task: int, from_at: int, to_at: int | None = None, ended: str | None = None, **fields: Any
) -> Row:
    known = {"connector": "a", "speaks": "connect", "from_offset": from_at}
    return {"member_id": member, "task": task, "from_at": from_at, "to_at": to_at, "ended": ended} | known | fields


# -- who came and went -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sessions", "stays"),
    [
        ([session("1", 100_000)], [(100_000, End.STAYS, None)]),
        ([session("1", 100_000, 200_000, "worker left")], [(100_000, End.IN_ORDER, (200_000, 200_000))]),
        ([session("1", 100_000, 200_000, "member left")], [(100_000, End.IN_ORDER, (200_000, 200_000))]),
        ([session("1", 100_000, 200_000, "session expired")], [(100_000, End.LOST, (190_000, 193_000))]),
        (
            [session("1", 100_000, 200_000, "session expired"), session("2", 192_000)],
            [(100_000, End.LOST, (190_000, 191_949)), (192_000, End.STAYS, None)],
        ),
        (
            [session("1", 100_000, 200_000, "worker joined"), session("2", 200_000)],
            [(100_000, End.LOST, (190_000, 199_949)), (200_000, End.STAYS, None)],
        ),
        (
            [session("1", 100_000, 200_000, "rebalance timeout"), session("2", 201_000)],
            [(100_000, End.STAYS, None)],
        ),
        ([session("1", 100_000, 200_000, "rebalance timeout")], [(100_000, End.LOST, (190_000, 200_000))]),
        ([session("1", 100_000, 101_000, "session expired")], [(100_000, End.LOST, (100_000, 100_000))]),
        (
            [session("1", 100_000), session("2", 195_000)],
            [(100_000, End.LOST, (185_000, 194_949)), (195_000, End.STAYS, None)],
        ),
    ],
    ids=["stays", "left", "left, generic", "lost", "back before it expired", "replaced", "slow", "put out",
         "lost at once", "expires yet"],
)  # fmt: skip
def test_when_a_worker_came_and_went(sessions: list[Row], stays: list[tuple[int, End, tuple[int, int] | None]]) -> None:
    found = fleet_of(tables(sessions=sessions), HEARTBEAT).stays
    assert found == [
        Stay("u", Span(came - JOINING, came), end, None if went is None else Span(*went)) for came, end, went in stays
    ]


def test_a_static_worker_that_goes_for_a_while_went_when_it_let_go_of_all() -> None:
    """CG-28: its session goes on until it is back."""
    sessions = [session("1", 0, 90_000, "gone", instance_id="i"), session("2", 90_000, instance_id="i")]
    found = fleet_of(tables(sessions=sessions, ownership=[owned("1", 0, 5_000, 40_000, "released")]), HEARTBEAT)
    assert [(each.end, each.went) for each in found.stays] == [
        (End.IN_ORDER, Span(40_000, 40_000)),
        (End.STAYS, None),
    ]
    assert found.absences_ms() == ([90_000 - JOINING // 2 - 40_000], 0)


def test_who_was_lost_while_the_coordinator_was_away_went_at_some_time_in_it() -> None:
    """Sessions began afresh when it was back, at 60 s: who never came back is known to be gone a session later."""
    sessions = [session("1", 10_000, 70_100, "session expired"), session("2", 20_000, 90_000, "worker left", url="v")]
    outage = {"from_at": 30_000, "to_at": 60_000}
    stays = {each.worker: each.went for each in fleet_of(tables(sessions=sessions), HEARTBEAT).stays}
    assert stays == {"u": Span(60_100, 63_100), "v": Span(90_000, 90_000)}
    rows = attrs.evolve(tables(sessions=sessions), outages=[outage])
    stays = {each.worker: each.went for each in fleet_of(rows, HEARTBEAT).stays}
    assert stays == {"u": Span(30_000, 63_100), "v": Span(90_000, 90_000)}


@pytest.mark.parametrize(
    ("first", "second", "workers"),
    [
        ({"instance_id": "i", "url": "u"}, {"instance_id": "i", "url": "v"}, {"i"}),
        ({"url": "u"}, {"url": "u"}, {"u"}),
        ({"url": "u"}, {"url": "v"}, {"u", "v"}),
        ({"url": None}, {"url": None}, {"1", "2"}),
    ],
)
def test_who_is_the_same_worker(first: Row, second: Row, workers: set[str]) -> None:
    rows = [session("1", 0, 50_000, "worker left", **first), session("2", 80_000, **second)]
    assert {each.worker for each in fleet_of(tables(sessions=rows), HEARTBEAT).stays} == workers


def test_in_classic_groups_things_happened_when_the_rebalance_began() -> None:
    """One came, alone: exactly then. Two others came to the next one: the first of them when it began."""
    epochs = [{"at": 9_000, "began": 6_000}, {"at": 90_000, "began": 80_000}]
    sessions = [session("1", 9_000, url="a"), session("2", 90_000, url="b"), session("3", 90_000, url="c")]
    found = fleet_of(tables(epochs=epochs, sessions=sessions), HEARTBEAT)
    assert [each.came for each in found.stays] == [
        Span(6_000 - JOINING, 6_000),
        Span(80_000 - JOINING, 90_000),
        Span(80_000 - JOINING, 90_000),
    ]


# -- what was configured, and what was really run ----------------------------------------------------------------------


def test_what_workers_say_is_configured_counts() -> None:
    rows = [
        {"connector": "a", "tasks": 2, "from_at": 10, "to_at": 50},
        {"connector": "a", "tasks": 3, "from_at": 50, "to_at": None},
    ]
    found = fleet_of(tables(connectors=rows, ownership=[owned("1", 0, 20)]), HEARTBEAT)
    assert found.configured == [Configured("a", 2, 10, 50), Configured("a", 3, 50, None)]


def test_in_classic_groups_what_was_ever_assigned_is_configured() -> None:
    """Task 1 was away for a while and came back; task 2 came late, and went for good; connector b is deleted."""
    rows = [
        owned("1", -1, 10),
        owned("1", 0, 10),
        owned("1", 1, 10, 40, "released"),
        owned("2", 1, 60),
        owned("2", 2, 80, 120, "released"),
        owned("2", 0, 10, 30, "released", connector="b"),
        owned("3", 0, 10, 30, "gone", connector="c"),
    ]
    found = fleet_of(tables(ownership=[row | {"speaks": "generic"} for row in rows]), HEARTBEAT)
    assert found.configured == [
        Configured("a", 2, 10, 80),
        Configured("a", 3, 80, 120),
        Configured("a", 2, 120, None),
        Configured("b", 1, 10, 30),
        Configured("c", 1, 10, None),
    ]
    assert (found.kind, found.is_mixed) == (Kind.BARRIER, False)


def computed(assignor: str | None, delay_ms: int | None = None, installed: int = 0, by: str | None = None) -> Row:
    return {"assignor": assignor, "delay_ms": delay_ms, "started": installed, "installed": installed, "computed_by": by}


@pytest.mark.parametrize(
    ("assignors", "policy"),
    [
        (["cooperative", "cooperative", "uniform"], "design-2"),
        (["sessioned"], "kip-415"),
        (["connect"], "kip-415"),
        (["default"], "eager"),
        (["design-3"], "design-3"),
        (["ours"], "ours"),
        ([None], None),
    ],
)
def test_what_was_really_run(assignors: list[str | None], policy: str | None) -> None:
    rows = [computed(assignor, delay) for assignor, delay in zip(assignors, (None, 60_000, 20_000), strict=False)]
    found = fleet_of(tables(rebalances=rows, sessions=[session("1", 0)]), HEARTBEAT)
    assert (found.policy, found.session_ms) == (policy, SESSION)
    assert found.delay_ms == (60_000 if len(rows) > 1 else None)


def test_a_fleet_that_was_migrated_is_of_the_kind_that_it_was_longest() -> None:
    rows = [owned("1", 0, 0, 100_000, "released", speaks="generic"), owned("1", 0, 100_000, 130_000, "released")]
    found = fleet_of(tables(ownership=rows), HEARTBEAT)
    assert (found.kind, found.is_mixed) == (Kind.BARRIER, True)


# -- stopping ----------------------------------------------------------------------------------------------------------


def released(member: str, connector: str, installed: int, took: int) -> Row:
    return owned(member, 0, 0, installed + took, "released", connector=connector)


ROUNDS = [computed("x", installed=at) for at in range(0, 1_000_000, 100_000)]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([], Stopping()),
        ([("1", "a", 1, 900), ("2", "b", 2, 1_100), ("1", "b", 3, 1_000)], Stopping(1_000)),
        (
            [
                ("1", "a", 1, 1_000),
                ("2", "b", 2, 30_000),
                ("2", "a", 3, 20_000),
                ("1", "b", 4, 1_000),
                ("3", "a", 5, 900),
            ],
            Stopping(1_000, workers={"2": 20.0}),
        ),
        (
            [
                ("1", "a", 1, 1_000),
                ("1", "b", 2, 30_000),
                ("2", "b", 3, 40_000),
                ("2", "a", 4, 1_000),
                ("3", "a", 5, 900),
            ],
            Stopping(1_000, connectors_ms={"b": 30_000}),
        ),
        ([("1", "a", 1, 100), ("1", "b", 2, 2_000), ("2", "a", 3, 100)], Stopping(100)),
    ],
    ids=["nothing", "as usual", "a worker", "a connector", "short"],
)
def test_what_stops_slowly(rows: list[tuple[str, str, int, int]], found: Stopping) -> None:
    ownership = [released(member, connector, at * 100_000, took) for member, connector, at, took in rows]
    assert stopping(ownership, ROUNDS, {}) == found


def test_where_assignments_follow_on_each_other_it_cannot_be_told_how_long_stopping_took() -> None:
    soon = [*ROUNDS[:2], computed("x", installed=105_000)]
    assert stopping([released("1", "a", 100_000, 7_000)], soon, {}) == Stopping()


# -- pieces ------------------------------------------------------------------------------------------------------------


def fleet(stays: list[Stay], configured: list[Configured] | None = None, **fields: Any) -> Fleet:
    known: dict[str, Any] = {
        "kind": Kind.CONNECT, "is_mixed": False, "policy": "design-2", "assignor": None, "delay_ms": None,
        "session_ms": SESSION, "stopping": Stopping(), "leaders": [],
    }  # fmt: skip
    return Fleet(stays, configured if configured is not None else [Configured("a", 2, 500)], **(known | fields))


def stay(worker: str, came: int, went: int | None = None, end: End = End.LOST, after: int = 0) -> Stay:
    if went is None:
        return Stay(worker, Span(came, came))
    return Stay(worker, Span(came, came), end, Span(went, went + after))


HOUR = 3_600_000


def test_a_history_is_cut_where_nothing_happened_for_long() -> None:
    """Two workers; one dies after an hour and is back; another hour later it is stopped in order, for good."""
    stays = [
        stay("u", 0),
        stay("v", 1_000, HOUR, after=3_000),
        stay("v", HOUR + 30_000, 2 * HOUR, End.IN_ORDER),
    ]
    first, second, third = episodes(fleet(stays, leaders=[(500, "v")]), FITTED, 60)
    assert [each.do for each in first.scenario.events] == [What.CREATE, What.START]
    assert (first.scenario.workers, first.scenario.leads) == (1, "")
    assert [(each.at, each.within, each.do, each.workers) for each in second.scenario.events] == [
        (0, 3, What.KILL, ("w0",)),
        (30, 0, What.START, ("w0",)),
    ]
    assert (second.scenario.workers, second.scenario.leads) == (2, "w0")
    assert second.scenario.connectors["c0"].tasks == 2
    assert second.scenario.lasts == (30_000 + REST_MS) / 1000
    (stopped,) = third.scenario.events
    assert (stopped.do, stopped.within) == (What.STOP, 0.01), "it took its two seconds to stop before it said so"
    assert second.to_ms <= third.from_ms


def test_while_nobody_is_there_nothing_is_played() -> None:
    stays = [stay("u", 0, HOUR), stay("u", HOUR + 10_000), stay("v", HOUR + 20_000)]
    found = episodes(fleet(stays, [Configured("a", 1, 0)]), FITTED, 60)
    assert [[each.do for each in piece.scenario.events] for piece in found] == [[What.KILL], [What.START]]
    assert found[1].scenario.workers == 1


def test_connectors_that_lived_alike_are_one_kind() -> None:
    times = [("a", 2, 500, None), ("b", 2, 500, None), ("c", 2, HOUR, None), ("d", 1, 500, HOUR), ("d", 4, HOUR, None)]
    (piece,) = episodes(fleet([stay("u", -HOUR)], [Configured(*each) for each in times]), FITTED, 60)[1:]
    kinds = {name: (each.count, each.tasks, each.from_the_start) for name, each in piece.scenario.connectors.items()}
    assert kinds == {"c0": (2, 2, True), "c1": (1, 1, True), "c2": (1, 2, False)}
    assert [(each.do, each.connectors, each.tasks) for each in piece.scenario.events] == [
        (What.CREATE, "c2", None),
        (What.RESIZE, "c1", 4),
    ]


def test_who_and_what_stops_slowly_does_so_again() -> None:
    slow = Stopping(1_000, workers={"v": 9.0}, connectors_ms={"b": 20_000})
    configured = [Configured("a", 2, 500), Configured("b", 2, 500)]
    stays = [stay("u", 0), stay("v", 500), stay("w", 1_000, HOUR)]
    patient = attrs.evolve(FITTED, rebalance=400)
    piece = episodes(fleet(stays, configured, stopping=slow), patient, 60)[-1]
    assert sorted((each.count, each.stop) for each in piece.scenario.connectors.values()) == [(1, 2), (1, 20)]
    assert piece.scenario.slow == {"w1": 9.0}


def test_a_piece_lasts_some_hours_at_most() -> None:
    """Somebody restarts each minute for a day."""
    stays = [stay("u", 0), *(stay("v", at * 60_000, at * 60_000 + 30_000) for at in range(24 * 60))]
    found = episodes(fleet(stays), FITTED, 60)
    assert 4 <= len(found) <= 12
    assert max(each.scenario.lasts for each in found) < 7 * 3_600
    assert sum(len(each.scenario.events) for each in found) >= 2 * 24 * 60 - 1


# -- what a log says ---------------------------------------------------------------------------------------------------


def test_what_a_log_says_of_a_time() -> None:
    rows = tables(
        sessions=[session("1", 0, url="u"), session("2", 0, url="v"), session("3", 0, url="u")],
        ownership=[
            owned("1", 0, 0, 20_000, "gone"),
            owned("2", 0, 50_000),
            owned("1", 1, 0, 20_000, "gone"),
            owned("3", 1, 21_000),
            owned("1", -1, 0, 20_000, "gone"),
            owned("2", -1, 60_000),
        ],
        gaps=[
            {"task": 0, "from_at": 20_000, "to_at": 50_000},
            {"task": 1, "from_at": 20_000, "to_at": 21_000},
            {"task": -1, "from_at": 20_000, "to_at": 60_000},
            {"task": 2, "from_at": 70_000, "to_at": None},
        ],
        rebalances=[computed("x", installed=at) for at in (0, 20_000, 50_000)],
    )
    assert logged(rows, 10_000, 100_000) == Logged(unowned=30 + 1 + 30, longest_unowned=30, handed_over=1, epochs=2)
    assert logged(rows, 30_000, 40_000) == Logged(unowned=10, longest_unowned=10, handed_over=0, epochs=0)


def gap(task: int, from_at: int, to_at: int | None) -> Row:
    return {"task": task, "from_at": from_at, "to_at": to_at}


DESERTED = tables(
    sessions=[
        session("1", 0, 100_000, "worker left", url="u"),
        session("2", 20_000, 80_000, "session expired", url="v"),
        session("3", 130_000, url="u"),
    ],
    gaps=[gap(0, 80_000, 85_000), gap(0, 100_000, 133_000), gap(1, 100_000, None), gap(-1, 100_000, None)],
    rebalances=[computed("x", installed=150_000)],
)
"""A fleet that was gone for half a minute, and whose log is cut short:

| task | had nobody | with a worker there | until the log's last moment, 150 s |
| --- | --- | --- | --- |
| 0 | 80 to 85 s, 100 to 133 s | 80 to 85 s, 130 to 133 s | 5 s + 3 s |
| 1 | from 100 s on | from 130 s on | 20 s |
"""


def test_while_nobody_was_there_a_log_tells_of_no_loss() -> None:
    found = logged(DESERTED, 0, 150_000)
    assert (found.unowned, found.longest_unowned) == (5 + 3 + 20, 20)
    assert logged(DESERTED, 100_000, 130_000).unowned == 0


def test_a_log_that_ends_in_the_middle_of_something_is_cut_short() -> None:
    """Worker v is stopped at 60 s, and what was its waits yet when the log ends at 75 s: nobody knows for how long."""
    gone = session("2", 0, 60_000, "worker left", url="v")
    waits = tables(sessions=[session("1", 0), gone], gaps=[gap(0, 60_000, None)])
    assert waits.is_cut_short()
    assert waits.told_until_ms() == 60_000
    assert attrs.evolve(waits, last_ms=75_000).told_until_ms() == 75_000, "another group went on"
    at_rest = attrs.evolve(waits, gaps=[gap(0, 60_000, 70_000)])
    assert not at_rest.is_cut_short(), "at rest: nothing more happened"
    assert not attrs.evolve(waits, sessions=[gone]).is_cut_short(), "and without workers nothing is counted anyway"
    over, not_over = computed("x") | {"settled": 5_000}, computed("x", installed=60_000) | {"settled": None}
    assert attrs.evolve(at_rest, rebalances=[over, not_over]).is_cut_short(), "its last rebalance is not over"
    assert not attrs.evolve(at_rest, rebalances=[not_over, over]).is_cut_short()


STOPPED = [stay("u", 0), stay("v", 500, HOUR, End.IN_ORDER)]
"""Two workers, and one of them is stopped, for good."""


def test_where_a_log_is_cut_short_its_last_piece_ends_with_it() -> None:
    """Under every choice: nobody knows what came then, so nothing of it counts."""
    configured = [Configured("a", 2, 600)]
    (piece,) = episodes(fleet(STOPPED, configured, ends_ms=HOUR + 15_000, is_cut_short=True), FITTED, 60)[1:]
    assert piece.to_ms == HOUR + 15_000
    assert piece.compared_ms() == 15_000 + 2_010, "from when it began to stop"
    assert piece.scenario.lasts == pytest.approx(17.01)


def test_where_a_log_ends_at_rest_its_window_ends_with_it_and_a_long_delay_costs_what_it_costs() -> None:
    """Nothing of the log is behind its end. The replays go on, or what waits for a delay yet would seem to be free."""
    (piece,) = episodes(fleet(STOPPED, [Configured("a", 2, 600)], ends_ms=HOUR + 15_000), FITTED, 60)[1:]
    assert piece.to_ms == HOUR + 15_000
    assert piece.scenario.lasts > REST_MS / 1000
    assert piece.compared_ms() > piece.to_ms - piece.begins_ms + 60_000, "longer than the delay"


def test_a_gap_that_is_open_when_the_log_ends_is_counted_until_then() -> None:
    """In the recorded log and in a replay's alike."""
    configured = [Configured("a", 2, 600)]
    rows = tables(
        sessions=[session("1", 0), session("2", 500, HOUR, "worker left", url="v")], gaps=[gap(0, HOUR, None)]
    )
    ends = attrs.evolve(rows, last_ms=HOUR + 15_000)
    found = fleet(STOPPED, configured, ends_ms=fleet_of(ends, HEARTBEAT).ends_ms, is_cut_short=ends.is_cut_short())
    (piece,) = episodes(found, FITTED, 60)[1:]
    assert logged(ends, piece.from_ms, piece.to_ms).unowned == pytest.approx(15, abs=0.001)
    played = replay_of(piece, Cell(piece.name, Kind.CONNECT, "design-2", 60, 0))
    assert played["longest_unowned"] == pytest.approx(15, abs=0.1)
    assert played["longest_gap"] == pytest.approx(17, abs=0.1), "from when it began to stop"


def test_what_two_pieces_have_in_common_is_counted_once() -> None:
    """All went, and the first one is back before a longest delay can be over."""
    stays = [stay("u", 0, HOUR), stay("u", HOUR + 3_000), stay("v", HOUR + 20_000)]
    first, second = episodes(fleet(stays, [Configured("a", 1, 0)]), FITTED, 60)
    assert first.to_ms == second.from_ms == second.begins_ms == HOUR + 3_000
    assert first.compared_ms() == 3_000
