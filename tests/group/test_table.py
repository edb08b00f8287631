"""The state table: every cell is reached by a story, and the documentation shows the table as it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import attrs
import pytest

from kcoord.group.classic import state_table
from kcoord.group.classic.state_table import Row, unreachable
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import LABELS, MOVES, ClassicState
from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.records import GroupMetadataKey, Record
from tests.group.situations import GATHERING, JOINED, STABLE, STATIC
from tests.group.story import Story
from tests.group.world import World

DOCUMENT = Path(__file__).parents[2] / "docs" / "classic-groups.md"
ROWS = {name: row for name, row in vars(state_table).items() if isinstance(row, Row)}
VERDICTS = {name for name, row in ROWS.items() if isinstance(row.empty, ErrorCode)}

EMPTY = "0 A join -> MEMBER_ID_REQUIRED"
STATIC_JOINING = STATIC + "7000 A join -> parked"
STATIC_JOINED = """
    0     A join static=a1       -> parked
    0     B join static=b1       -> parked
    6000  time                   -> nothing else
          A                      -> gen 1 range leads A B
          B                      -> gen 1 range follows A
"""
AGAIN = STABLE + "7000 A join -> parked"
WITH_PENDING = "7001 C join -> MEMBER_ID_REQUIRED\n"

CELLS = {
    # (row, state): (how it comes to it, the event)
    ("NEEDS_ID", "Empty"): (EMPTY, "1 B join -> MEMBER_ID_REQUIRED"),
    ("NEEDS_ID", "PreparingRebalance"): (GATHERING, "1 C join -> MEMBER_ID_REQUIRED"),
    ("NEEDS_ID", "CompletingRebalance"): (JOINED, "6001 C join -> MEMBER_ID_REQUIRED"),
    ("NEEDS_ID", "Stable"): (STABLE, "7000 C join -> MEMBER_ID_REQUIRED"),
    ("NEEDS_ID", "Dead"): ("", "0 A join -> MEMBER_ID_REQUIRED"),
    ("NEWCOMER", "Empty"): (EMPTY, "1 A join -> parked"),
    ("NEWCOMER", "PreparingRebalance"): (GATHERING, "1 C join v3 -> parked"),
    ("NEWCOMER", "CompletingRebalance"): (JOINED, "6001 C join v3 -> parked"),
    ("NEWCOMER", "Stable"): (STABLE, "7000 C join v3 -> parked"),
    ("NEWCOMER", "Dead"): ("", "0 A join v3 -> parked"),
    ("REJOIN_SAME", "PreparingRebalance"): (
        AGAIN,
        "7001 B join -> gen 2 range follows A\n A -> gen 2 range leads A B",
    ),
    ("REJOIN_SAME", "CompletingRebalance"): (JOINED, "6001 B join -> gen 1 range follows A"),
    ("REJOIN_SAME", "Stable"): (STABLE, "7000 B join -> gen 1 range follows A"),
    ("REJOIN_LEADER", "PreparingRebalance"): (STABLE + "7000 C join v3 -> parked", "7001 A join -> parked"),
    ("REJOIN_LEADER", "CompletingRebalance"): (JOINED, "6001 A join -> gen 1 range leads A B"),
    ("REJOIN_LEADER", "Stable"): (STABLE, "7000 A join -> parked"),
    ("REJOIN_CHANGED", "PreparingRebalance"): (
        AGAIN,
        "7001 B join protocols=range:n -> gen 2 range follows A\n A -> gen 2 range leads A B",
    ),
    ("REJOIN_CHANGED", "CompletingRebalance"): (JOINED, "6001 B join protocols=range:n -> parked"),
    ("REJOIN_CHANGED", "Stable"): (STABLE, "7000 B join protocols=range:n -> parked"),
    ("STATIC_RETURN", "PreparingRebalance"): (
        STATIC_JOINING,
        "7001 B join new -> gen 2 range follows A\n A -> gen 2 range leads A B",
    ),
    ("STATIC_RETURN", "CompletingRebalance"): (STATIC_JOINED, "6001 B join new -> parked"),
    ("STATIC_RETURN", "Stable"): (STATIC, "7000 B join new -> gen 1 range follows A"),
    ("SYNC", "PreparingRebalance"): (AGAIN, "7001 B sync -> REBALANCE_IN_PROGRESS"),
    ("SYNC", "CompletingRebalance"): (JOINED, "6001 B sync -> parked"),
    ("SYNC", "Stable"): (STABLE, "7000 B sync -> got b"),
    ("SYNC_LEADER", "PreparingRebalance"): (
        STABLE + "7000 B join protocols=range:n -> parked",
        "7001 A sync -> REBALANCE_IN_PROGRESS",
    ),
    ("SYNC_LEADER", "CompletingRebalance"): (JOINED, "6001 A sync A=a B=b -> got a"),
    ("SYNC_LEADER", "Stable"): (STABLE, "7000 A sync A=new -> got a"),
    ("GONE", "PreparingRebalance"): (AGAIN, "7001 B leave -> B ok\n A -> gen 2 range leads A"),
    ("GONE", "CompletingRebalance"): (JOINED, "6001 B leave -> B ok"),
    ("GONE", "Stable"): (STABLE, "7000 B leave -> B ok"),
    ("PENDING_GONE", "Empty"): (EMPTY, "1 A leave -> A ok"),
    ("PENDING_GONE", "PreparingRebalance"): (AGAIN + "\n" + WITH_PENDING, "7002 C leave -> C ok"),
    ("PENDING_GONE", "CompletingRebalance"): (JOINED + WITH_PENDING, "7002 C leave -> C ok"),
    ("PENDING_GONE", "Stable"): (STABLE + WITH_PENDING, "7002 C leave -> C ok"),
    ("JOIN_DUE", "PreparingRebalance"): (
        "0 A join v3 -> parked",
        "3000 time -> nothing else\n A -> gen 1 range leads A",
    ),
    ("SYNC_DUE", "CompletingRebalance"): (
        "0 A join v3 session=60000 -> parked\n 3000 time -> nothing else\n A -> gen 1 range leads A",
        "33000 time -> nothing",
    ),
    ("SYNC_DUE", "Stable"): (
        GATHERING.replace("v3", "v3 session=60000") + JOINED.removeprefix(GATHERING) + "6001 A sync A=a B=b -> got a",
        "36000 time -> nothing",
    ),
    ("OVER_MAX_SIZE", "CompletingRebalance"): (JOINED, "7000 crash -> nothing"),
    ("OVER_MAX_SIZE", "Stable"): (STABLE, "7000 crash -> nothing"),
    ("CONVERTED", "Stable"): (STABLE, "7000 crash -> nothing"),
    # verdicts
    ("HEARTBEAT", "Empty"): (EMPTY, "1 A beat -> UNKNOWN_MEMBER_ID"),
    ("HEARTBEAT", "PreparingRebalance"): (AGAIN, "7001 B beat -> REBALANCE_IN_PROGRESS"),
    ("HEARTBEAT", "CompletingRebalance"): (JOINED, "6001 A beat -> ok"),
    ("HEARTBEAT", "Stable"): (STABLE, "7000 A beat -> ok*"),
    ("HEARTBEAT", "Dead"): ("", "0 A beat -> UNKNOWN_MEMBER_ID"),
    ("COMMIT", "Empty"): (EMPTY, "1 A commit t-0=1 gen=0 -> UNKNOWN_MEMBER_ID"),
    ("COMMIT", "PreparingRebalance"): (AGAIN, "7001 B commit t-0=1 -> ok"),
    ("COMMIT", "CompletingRebalance"): (JOINED, "6001 A commit t-0=1 -> REBALANCE_IN_PROGRESS"),
    ("COMMIT", "Stable"): (STABLE, "7000 A commit t-0=1 -> ok"),
    ("COMMIT", "Dead"): ("", "0 A commit t-0=1 gen=1 -> GROUP_ID_NOT_FOUND"),
    ("COMMIT_NOBODY", "Empty"): (EMPTY, "1 admin commit t-0=1 -> ok"),
    ("COMMIT_NOBODY", "PreparingRebalance"): (AGAIN, "7001 admin commit t-0=1 -> UNKNOWN_MEMBER_ID"),
    ("COMMIT_NOBODY", "CompletingRebalance"): (JOINED, "6001 admin commit t-0=1 -> UNKNOWN_MEMBER_ID"),
    ("COMMIT_NOBODY", "Stable"): (STABLE, "7000 admin commit t-0=1 -> UNKNOWN_MEMBER_ID"),
    ("COMMIT_NOBODY", "Dead"): ("", "0 admin commit t-0=1 -> ok"),
    ("DELETE", "Empty"): (EMPTY, "1 admin delete -> ok"),
    ("DELETE", "PreparingRebalance"): (GATHERING, "1 admin delete -> NON_EMPTY_GROUP"),
    ("DELETE", "CompletingRebalance"): (JOINED, "6001 admin delete -> NON_EMPTY_GROUP"),
    ("DELETE", "Stable"): (STABLE, "7000 admin delete -> NON_EMPTY_GROUP"),
    ("DELETE", "Dead"): ("", "0 admin delete -> GROUP_ID_NOT_FOUND"),
}


def test_every_cell_that_can_be_reached_has_a_story() -> None:
    reachable = {
        (name, label)
        for name, row in ROWS.items()
        for label, cell in zip(LABELS, row, strict=True)
        if cell is not unreachable
    }
    assert reachable == set(CELLS)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_the_cell_is_what_happens(cell: tuple[str, str]) -> None:
    row, label = cell
    before, event = CELLS[cell]
    story = Story(takeovers=False)
    story.tell(before)
    if row == "OVER_MAX_SIZE":
        story.world.settings = GroupSettings(max_size=1)
    if row == "CONVERTED":
        record = story.world.state.groups["g"].record
        story.world.log.append(
            Record(GroupMetadataKey("g"), attrs.evolve(record, state=ClassicState.PREPARING.label, reason="migrated"))
        )
    fired = transitions_of(lambda: story.tell(event))
    if row not in VERDICTS:
        transition = ROWS[row][LABELS.index(label)]
        assert (transition.__name__, label) in fired


def transitions_of(do: Callable[[], None]) -> list[tuple[str, str]]:
    """The transitions that were called while something was done, each with the state of its group at that time."""
    codes = {cell.__code__ for name in ROWS.keys() - VERDICTS for cell in ROWS[name]}
    fired: list[tuple[str, str]] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in codes:
            group = frame.f_locals["group"]
            assert isinstance(group, ClassicGroup)
            fired.append((frame.f_code.co_name, group.state.label))

    world_checks = World._check
    World._check = lambda self: None  # type: ignore[method-assign]  # they load other shards, which fire too
    sys.setprofile(watch)
    try:
        do()
    finally:
        sys.setprofile(None)
        World._check = world_checks  # type: ignore[method-assign]
    return fired


def test_a_cell_that_cannot_be_reached_says_so() -> None:
    world = World()
    with pytest.raises(AssertionError, match="nobody can do that in Empty"):
        unreachable(world, ClassicGroup("g", state=ClassicState.EMPTY))  # type: ignore[arg-type]


def test_a_group_moves_only_as_the_states_allow() -> None:
    for before in ClassicState:
        for after in ClassicState:
            group = ClassicGroup("g", state=before)
            if after in MOVES[before]:
                group.move(after)
                assert (group.state, group.version) == (after, 1)
            else:
                with pytest.raises(AssertionError, match=f"from {before.label} to {after.label}"):
                    group.move(after)


def test_the_document_shows_the_table_as_it_is() -> None:
    """docs/classic-groups.md cannot go stale."""
    shown = {}
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if cells[0] in ROWS and len(cells) == 1 + len(LABELS):
            shown[cells[0]] = cells[1:]
    assert shown == {name: [say_cell(cell) for cell in row] for name, row in ROWS.items()}


def say_cell(cell: Any) -> str:
    if cell is unreachable:
        return ""
    return cell.name if isinstance(cell, ErrorCode) else re.sub("_", " ", cell.__name__)
