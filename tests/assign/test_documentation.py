"""Does what docs/assignors.md shows do what it says?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kcoord.assign import ConnectAssignor, CooperativeAssignor, Group, Member, ServerAssignor, UniformAssignor
from kcoord.assign.built_in import CLIENT_SIDE, SERVER_SIDE
from kcoord.group.connect.install import check
from tests.assign.fleet import resources

DOCUMENT = (Path(__file__).parents[2] / "docs" / "assignors.md").read_text()


def examples(document: str) -> dict[str, Any]:
    """All that a page's examples define, run from top to bottom; they assert what they promise."""
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", document, re.DOTALL):
        exec(block, names)
    return names


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    return examples(DOCUMENT)


def test_the_table_lists_those_that_are_here() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (server|client|both) \|", DOCUMENT, re.MULTILINE))
    sides = {(True, False): "server", (False, True): "client", (True, True): "both"}
    assert rows == {name: sides[name in SERVER_SIDE, name in CLIENT_SIDE] for name in (*SERVER_SIDE, *CLIENT_SIDE)}


def test_the_server_side_example_is_one_that_the_coordinator_takes(shown: dict[str, Any]) -> None:
    assignor = shown["IsolatingAssignor"]()
    assert isinstance(assignor, ServerAssignor)
    assert f'{assignor.name} = "isolating_assignor:{type(assignor).__name__}"' in DOCUMENT
    for instances in ((None, None), ("heavy-1", None), ("heavy-1", "heavy-2")):
        members = tuple(Member(f"w{at}", instance, target=resources("T7")) for at, instance in enumerate(instances))
        group = Group(members, resources("AC0 AT0 AT1 BC0") | {("heavy-copy", task) for task in range(-1, 3)})
        check(group, assignor.assign(group))


def test_the_client_side_example_is_one_that_a_worker_takes(shown: dict[str, Any]) -> None:
    assignor = shown["AskingAssignor"]()
    group = Group((Member("w1"), Member("w2")), resources("AC0 AT0 AT1"))
    assert isinstance(assignor, ConnectAssignor)
    assert assignor.assign(group) == UniformAssignor().assign(group)
    assert assignor.minimum_version <= assignor.metadata().version <= assignor.maximum_version


def test_the_policy_of_ones_own_is_one_for_either_side(shown: dict[str, Any]) -> None:
    assignor = shown["GentleAssignor"]()
    assert isinstance(assignor, ServerAssignor)
    assert isinstance(assignor, ConnectAssignor)
    held = resources("T1 T2 T3 T4")
    given = assignor.assign(Group((Member("w1", target=held), Member("w2")), held))
    assert [len(each.resources) for each in given.members] == [3, 1]
    assert given.scheduled_delay_ms == 30_000


def test_one_class_serves_on_either_side() -> None:
    assert isinstance(CooperativeAssignor(), ServerAssignor)
    assert isinstance(CooperativeAssignor(), ConnectAssignor)
