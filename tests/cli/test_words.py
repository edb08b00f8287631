"""Are names, spans and connectors told as people want them?"""

from typing import Any

import pytest

from kcoord.assign import CONNECTOR, Resource
from kcoord.cli.calls.connect_groups import ClassicPart, ConnectGroup, Departed, Worker
from kcoord.cli.calls.consumer_groups import Consumer, ConsumerGroup
from kcoord.cli.calls.modern_groups import Epoch, Move
from kcoord.cli.output.explanation import explained
from kcoord.cli.output.group_tables import of_members
from kcoord.cli.output.resource_texts import counted, resources_json, resources_text
from kcoord.cli.output.short_names import Names
from kcoord.cli.output.times import ago, clock, span
from kcoord.printable import printable
from kcoord.resource import connector, resources_of, task

NOTHING = frozenset[Resource]()


@pytest.mark.parametrize(
    ("members", "names"),
    [
        (["w-1-3f2a90c1d5e6b7a8-0bf3b4b4"], ["w-1-b4b4"]),
        (["w-0123456789abcdef-0bf3b4b4", "w-0123456789abcdef-1111b4b4"], None),
        (["consumer-0a1b2c3d-0001-4abc-9def-0123456789ab"], ["consumer-89ab"]),
        (["worker-1", "abcd"], None),
    ],
)
def test_members_are_named_as_short_as_they_can_be_told_apart(members: list[str], names: list[str] | None) -> None:
    assert list(map(Names(members), members)) == (names or members)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        *((0, "0 ms"), (-5, "0 ms"), (999, "999 ms"), (1_000, "1.0 s"), (9_949, "9.9 s"), (9_950, "10 s")),
        *((59_999, "60 s"), (60_000, "1 min"), (5_400_000, "2 h"), (86_400_000 * 3, "3 d")),
    ],
)
def test_spans(ms: int, text: str) -> None:
    assert span(ms) == text
    assert ago(1_000, 1_000 + ms) == f"{text} ago"


def test_connectors_and_tasks() -> None:
    resources = resources_of([("b", 0), ("a", CONNECTOR), ("a", 3), ("a", 0), ("a", 1), ("c", CONNECTOR)])
    assert resources_text(resources) == "a: connector, 0-1, 3; b: 0; c: connector"
    assert resources_text(NOTHING, "nothing") == "nothing"
    assert resources_json(resources) == {"connectors": ["a", "c"], "tasks": {"a": [0, 1, 3], "b": [0]}}
    assert (counted(1), counted(2)) == ("1 connector or task", "2 connectors and tasks")


def worker(member: str, **others: object) -> Worker:
    nothing = dict.fromkeys(("owns", "target", "waits_for", "must_release"), NOTHING)
    fields: dict[str, Any] = {**nothing, **others}
    return Worker(member, None, "c", "h", 3, "Stable", **fields)


def test_a_history_with_all_that_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was never assigned, what never came to be in place, more moves than are named, an error, a delay."""
    w1, w2, gone = "w1-0123456789abcdef-00000001", "w2-0123456789abcdef-00000002", "w3-0123456789abcdef-00000003"
    a, a0, a1 = connector("a"), task("a", 0), task("a", 1)
    history = (
        Epoch(1, f"worker joined: {w1}", 1_000, None, None, 0, ()),
        Epoch(
            2,
            f"session expired: {gone}, {w2} and 2 more",
            2_000,
            2_004,
            None,
            9,
            (Move(None, w1, frozenset({a})), Move(gone, None, frozenset({a0})), Move(w2, w1, frozenset({a1}))),
        ),
        Epoch(3, "rebalance delay over", 3_000, 3_000, 4_200, 0, ()),
        Epoch(4, "connectors or tasks changed", 5_000, None, None, 0, ()),
    )
    group = ConnectGroup(
        group="g",
        coordinator="h:1 (0)",
        state="Assigning",
        epoch=4,
        assignment_epoch=3,
        assignor="mine",
        workers=(worker(w1, owns=frozenset({a, a1})),),
        computing=w1,
        configured=None,
        departed=(Departed(gone, None, None, frozenset({a0})),),
        delay_ms=12_000,
        error=4,
        error_message="it fell over",
        history=history,
        classic=ClassicPart("barrier", "bidirectional", "default", "w4 speaks only default"),
    )
    monkeypatch.setattr("kcoord.cli.output.times.time.time_ns", lambda: 6_000 * 1_000_000)
    lines = explained(group, 10).splitlines()
    assert lines == [
        "g: Assigning at epoch 4, 1 worker; all that has happened",
        "",
        f"epoch 1  {clock(1_000)}  (5.0 s ago)  worker joined: w1-0001",
        "    never assigned: the group had changed again",
        "",
        f"epoch 2  {clock(2_000)}  (4.0 s ago)  session expired: w3-0003, w2-0002 and 2 more",
        "    to w1-0001               a: connector",
        "    from w3-0003, to nobody  a: 0",
        "    from w2-0002 to w1-0001  a: 1",
        "                             and 6 connectors and tasks more",
        "    assigned after 4 ms, the group changed again before it was in place",
        "",
        f"epoch 3  {clock(3_000)}  (3.0 s ago)  rebalance delay over",
        "    nothing changed hands",
        "    assigned at once, in place everywhere after 1.2 s",
        "",
        f"epoch 4  {clock(5_000)}  (1.0 s ago)  connectors or tasks changed",
        "    not assigned yet",
        "",
        "w1-0001 computes the assignment",
        "barrier among the workers of the classic protocol: w4 speaks only default",
        "assignment error 4: it fell over",
        "a: 0 waits another 12 s for the return of w3-0003",
    ]


def test_of_very_many_moves_the_largest_are_told() -> None:
    """As they were told, in their order."""
    takers = [f"w{number}-0123456789abcdef-{number:08x}" for number in range(30)]
    moves = tuple(
        Move(None, taker, frozenset(Resource(f"c{number}", task_id) for task_id in range(2 if number >= 10 else 1)))
        for number, taker in enumerate(takers)
    )
    history = (Epoch(1, "connectors or tasks changed", 1_000, 1_000, 1_000, 60, moves),)
    group = ConnectGroup("g", "h:1 (0)", "Stable", 1, 1, "mine", (), history, None, None, (), None, 0, None)
    lines = explained(group, 10).splitlines()
    told = [line.split()[1:] for line in lines if line.startswith("    to ")]
    assert told == [[f"w{number}-{takers[number][-4:]}", f"c{number}:", "0-1"] for number in range(10, 30)]
    assert lines[-2].strip() == "and 20 connectors and tasks more"


def consumer(member: str, client: str) -> Consumer:
    nothing = frozenset[tuple[str, int]]()
    return Consumer(
        *(member, None, client, "h", 3, "Stable", nothing, nothing, nothing, nothing), None, ("orders",), "", "consumer"
    )


def test_consumers_are_named_by_their_clients() -> None:
    """One that is gone keeps its id. So do two that would have the same name. Topics in a reason stay as they are."""
    history = (
        Epoch(2, "consumer joined: 5f-abcd1234, gone-00001111", 1_000, None, None, 0, ()),
        Epoch(3, "topics changed: orders-20261127", 1_000, None, None, 0, ()),
    )
    members = (consumer("5f-abcd1234", "ada"), consumer("x1-same", "bob"), consumer("x2-same", "bob"))
    group = ConsumerGroup("g", "h:1 (0)", "Stable", 3, 3, "uniform", members, history, True)
    names = Names.of(group)
    assert [names(each.member) for each in members] == ["ada-1234", "x1-same", "x2-same"]
    assert names.in_reason(history[0].reason) == "consumer joined: ada-1234, gone-00001111"
    assert names.in_reason(history[1].reason) == history[1].reason


def test_why_a_consumer_group_is_not_assigned() -> None:
    history = (Epoch(2, "consumer joined: a", 1_000, None, None, 0, ()),)
    why = "no new assignment for epoch 2: assignor mine failed: ValueError: \x1b[2Jno"
    group = ConsumerGroup(
        "g", "h:1 (0)", "Assigning", 2, 1, "uniform", (consumer("5f-abcd1234", "ada"),), history, True, note=why
    )
    assert explained(group, 10).splitlines()[-1] == printable(why)
    assert printable(why) in of_members([group]).splitlines()


def test_who_computes_the_assignment_of_a_consumer_group() -> None:
    """KG-27"""
    group = ConsumerGroup(
        "g", "h:1 (0)", "Assigning", 2, 1, "own", (consumer("5f-abcd1234", "ada"),), (), True, computing="5f-abcd1234"
    )
    for shown in (explained(group, 10), of_members([group])):
        assert "ada-1234 computes the assignment" in shown.splitlines()


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [(2, 3, "all that has happened"), (1, 3, "all that has happened"), (5, 6, "its last 2 of 5 epochs")],
)
def test_how_much_of_a_consumer_groups_history_is_told(first: int, last: int, told: str) -> None:
    """A new group is at epoch 1, without a history; one that was a classic group may begin its history with that."""
    history = tuple(Epoch(each, "consumer left: a", 1_000, 1_000, 1_000, 0, ()) for each in range(first, last + 1))
    group = ConsumerGroup("g", "h:1 (0)", "Stable", last, last, "uniform", (), history, True)
    assert explained(group, 10).splitlines()[0] == f"g: Stable at epoch {last}, no consumers; {told}"
