"""What does each policy do when workers join, leave and bounce?

"the paper" in a story's name is the one that designs I to III are of (docs/assignors.md).
"""

from __future__ import annotations

import attrs
import pytest

from kcoord.assign import CONNECTOR, ConnectAssignor, Departed, EagerAssignor, Group, Member
from kcoord.assign.policies import DESIGN_1, DESIGN_2, DESIGN_3, IncrementalAssignor, Kip415Assignor, Policy, Weights
from tests.assign.fleet import Fleet, lines, resources

ONE, TWO, THREE = (IncrementalAssignor(each) for each in (DESIGN_1, DESIGN_2, DESIGN_3))
ONE_BY_ONE = IncrementalAssignor(attrs.evolve(DESIGN_3, at_most=1, interval_ms=10_000))
KIP_415 = Kip415Assignor()

ALL_INCREMENTAL = {
    "the paper: a member joins": """
        they have                 | A: T1 T4 | B: T2 | C: T3
        D joins                   | A: T1    | B: T2 | C: T3 | D: T4
        """,
    "a connector is removed": """
        they have                 | W1: AC0 AT0 AT1 | W2: BC0 BT0 BT1 | W3: AT2
        BC0 BT0 BT1 removed       | W1: AC0 AT0     | W2: AT1         | W3: AT2
        """,
}

AT_ONCE = {
    "the paper, design I: a member leaves": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1 T4 | B: T2 | C: T3
        """,
    "the paper, design I: a member bounces": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1 T4 | B: T2 | C: T3
        D returns                 | A: T1    | B: T2 | C: T3 | D: T4
        """,
}

DEFERRED = {
    "the paper, design II: a member leaves": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1    | B: T2 | C: T3 | 300 s
        300 seconds               | A: T1 T4 | B: T2 | C: T3
        """,
    "the paper, design II: a member bounces, and is known": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1    | B: T2 | C: T3 | 300 s
        D returns                 | A: T1    | B: T2 | C: T3 | D: T4
        """,
    "another departure prolongs nothing": """
        they have                 | A: T1       | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1       | B: T2 | C: T3 | 300 s
        100 seconds               | A: T1       | B: T2 | C: T3 | 200 s
        C leaves                  | A: T1       | B: T2 | 200 s
        200 seconds               | A: T1 T3    | B: T2 T4
        """,
    "new resources do not wait": """
        they have                 | A: T1       | B: T2 | C: T3
        C leaves                  | A: T1       | B: T2 | 300 s
        T4 T5 added               | A: T1 T4    | B: T2 T5 | 300 s
        300 seconds               | A: T1 T3 T4 | B: T2 T5
        """,
}

TAKEN_OVER = {
    "the paper, design II: a member bounces, as D' whom nobody knows": """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        D leaves                  | A: T1    | B: T2 | C: T3 | 300 s
        D' joins                  | A: T1    | B: T2 | C: T3 | D': T4
        """,
    "two leave, and one comes: it gets what the one had that had more": """
        they have                 | A: T1 T2 | B: T3 T4 | C: T5 T6 T7 | D: T8
        C D leave                 | A: T1 T2 | B: T3 T4 | 300 s
        E joins                   | A: T1 T2 | B: T3 T4 | E: T5 T6 T7 | 300 s
        F joins                   | A: T1 T2 | B: T3 T4 | E: T5 T6 | F: T7 T8
        """,
    "one leaves, two come: one is in its place, the other is one more": """
        they have                 | A: T1 T2 T3 | B: T4 T5 T6
        B leaves                  | A: T1 T2 T3 | 300 s
        C D join                  | A: T1 T2    | C: T4 T6 | D: T3 T5
        """,
    "nobody has to stop anything while something waits": """
        they have                 | A: T1 T2 T3 T4 | B: T5 | C: T6
        B C leave                 | A: T1 T2 T3 T4 | 300 s
        D joins                   | A: T1 T2 T3 T4 | D: T5 | 300 s
        300 seconds               | A: T1 T2 T3    | D: T4 T5 T6
        """,
    "with fewer resources than workers nobody can tell who is new": """
        they have                 | A: T1 | B: T2 | C:
        B leaves                  | A: T1 | C:    | 300 s
        300 seconds               | A: T1 | C: T2
        """,
}

CONNECTS_OWN = {
    "a worker that is new gets nothing of what waits; then all, and balance takes back": """
        they have                 | A: T1 T2 | B: T3 T4 | C: T5 T6
        C leaves                  | A: T1 T2 | B: T3 T4 | 300 s
        D joins                   | A: T1 T2 | B: T3 T4 | D:    | 300 s
        300 seconds               | A: T1 T2 | B: T3 T4 | D: T5 T6
        """,
}

STEP_BY_STEP = {
    "scaling up: one moves each ten seconds": """
        they have                 | A: T1 T2 T3 | B: T4 T5 T6
        C joins                   | A: T1 T2    | B: T4 T5 T6 | C: T3    | 10 s
        10 seconds                | A: T1 T2    | B: T4 T5    | C: T3 T6
        """,
    "between two rounds nothing moves": """
        they have                 | A: T1 T2 T3 | B: T4 T5 T6
        C joins                   | A: T1 T2    | B: T4 T5 T6 | C: T3    | 10 s
        4 seconds                 | A: T1 T2    | B: T4 T5 T6 | C: T3    | 6 s
        6 seconds                 | A: T1 T2    | B: T4 T5    | C: T3 T6
        """,
    "what is new is given at once, and may be what was missing": """
        they have                 | A: T1 T2 T3 | B: T4 T5 T6
        C joins                   | A: T1 T2    | B: T4 T5 T6 | C: T3    | 10 s
        T7 T8 added               | A: T1 T2 T7 | B: T4 T5 T6 | C: T3 T8
        """,
    "the paper: a connector that was large goes, and the rest is uneven": """
        they have                 | A: T1 T2 T3 T4 | B: AT1 AT2 AT3 AT4
        AT1 AT2 AT3 AT4 removed   | A: T1 T3 T4    | B: T2    | 10 s
        10 seconds                | A: T1 T3       | B: T2 T4
        """,
    "what is lost is given away all at once when its time is over": """
        they have                 | A: T1       | B: T2 | C: T3 T4 T5
        C leaves                  | A: T1       | B: T2 | 300 s
        300 seconds               | A: T1 T3 T5 | B: T2 T4
        """,
    "who goes between two rounds is waited for as ever, but for one resource": """
        they have                 | A: T1 T2 T3 | B: T4 T5 T6
        C joins                   | A: T1 T2    | B: T4 T5 T6 | C: T3    | 10 s
        B leaves                  | A: T1 T2    | C: T3 T4 | 300 s
        B returns                 | A: T1 T2    | B: T5 T6 | C: T3 T4
        """,
}


def table(*parts: tuple[list[ConnectAssignor], dict[str, str]]) -> list[object]:
    return [
        pytest.param(assignor, story, id=f"{assignor.name}: {name}")
        for assignors, stories in parts
        for name, story in stories.items()
        for assignor in assignors
    ]


@pytest.mark.parametrize(
    ("assignor", "story"),
    table(
        ([ONE, TWO, THREE], ALL_INCREMENTAL),
        ([ONE], AT_ONCE),
        ([TWO, THREE, KIP_415], DEFERRED),
        ([TWO, THREE], TAKEN_OVER),
        ([KIP_415], CONNECTS_OWN),
        ([ONE_BY_ONE], STEP_BY_STEP),
    ),
)
def test_a_story(assignor: ConnectAssignor, story: str) -> None:
    assert Fleet(assignor).play(lines(story)) == lines(story)


@pytest.mark.parametrize("story", AT_ONCE.values(), ids=AT_ONCE)
@pytest.mark.parametrize("assignor", [TWO, THREE, KIP_415], ids=lambda each: each.name)
def test_without_a_delay_nothing_waits(assignor: ConnectAssignor, story: str) -> None:
    played = Fleet(assignor, rebalance_delay_ms=0).play(lines(story))
    assert [sorted(map(len, line)) for line in played] == [sorted(map(len, line)) for line in lines(story)]


def test_where_lost_work_is_not_to_wait_it_does_not_wait_between_rounds_either() -> None:
    """The group's delay was set to 0, and what runs may be the time between two rounds."""
    members = (Member("c", target=frozenset({("A", 6)})), Member("d"))
    gone = (
        Departed("a", target=frozenset({("A", at) for at in range(4)})),
        Departed("b", target=frozenset({("A", 4), ("A", 5)})),
    )
    group = Group(members=members, departed=gone, remaining_delay_ms=1_000, rebalance_delay_ms=0)
    given = THREE.assign(group)
    assert frozenset().union(*(each.resources for each in given.members)) == {("A", at) for at in range(7)}


def test_connects_own_balances_at_once_where_nothing_is_to_wait_any_more() -> None:
    """A delay ran when the group's was set to 0."""
    members = (Member("b", target=frozenset({("A", 0), ("A", 1)})), Member("c"))
    gone = (Departed("a", target=frozenset({("A", CONNECTOR)})),)
    group = Group(members=members, departed=gone, remaining_delay_ms=1_000, rebalance_delay_ms=0)
    given = KIP_415.assign(group)
    assert sorted(len(each.resources - {("A", CONNECTOR)}) for each in given.members) == [1, 1]
    assert (sum(len(each.resources) for each in given.members), given.scheduled_delay_ms) == (3, 0)


def test_heavy_resources_do_not_hold_up_light_ones() -> None:
    """Design III: rounds of the light ones come first, and a heavy one is in none of theirs."""
    weights = Weights({"H": 10})
    assignor = IncrementalAssignor(attrs.evolve(DESIGN_3, at_most=2), weights)
    held = resources("HT1 HT2 HT3 HT4 T1 T2 T3 T4 T5 T6")
    group = Group((Member("A", target=held), Member("B")), held)
    rounds = []
    while True:
        given = assignor.assign(group)
        now, moved = given.members[0].resources, group.members[0].target - given.members[0].resources
        rounds.append(sorted(moved))
        members = (Member("A", target=now), Member("B", target=given.members[1].resources))
        group = attrs.evolve(group, members=members, remaining_delay_ms=0 if given.scheduled_delay_ms else -1)
        if not given.scheduled_delay_ms:
            break
    assert all(len({name for name, _ in moved}) == 1 and len(moved) <= 2 for moved in rounds)
    assert [moved[0][0] for moved in rounds] == sorted((moved[0][0] for moved in rounds), reverse=True)
    assert abs(sum(10 if name == "H" else 1 for name, _ in now) - 23) <= 5


def test_a_policy_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="say how long after comes the next"):
        Policy("mine", at_most=3)
    with pytest.raises(ValueError, match="at_most"):
        Policy("mine", at_most=0, interval_ms=1)
    with pytest.raises(ValueError, match="weights are whole numbers from 1"):
        Weights({"heavy-*": 0})


def test_eager_deals_anew() -> None:
    """What the designs are compared with: in a connect group the coordinator lets go on what stays where it was."""
    story = """
        they have                 | A: T1    | B: T2 | C: T3 | D: T4
        A leaves                  | B: T1 T4 | C: T2 | D: T3
        """
    assert Fleet(EagerAssignor()).play(lines(story)) == lines(story)
