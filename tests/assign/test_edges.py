"""What do assignors make of odd groups, and who may be one?"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kcoord.assign import (
    Assignment,
    ConnectAssignor,
    CooperativeAssignor,
    Departed,
    EagerAssignor,
    Group,
    Member,
    MemberAssignment,
    Metadata,
    MixedAssignor,
    ServerAssignor,
    UniformAssignor,
    tell,
)
from kcoord.assign.built_in import CLIENT_SIDE, POLICIES, SERVER_SIDE
from tests.assign.fleet import resources

ASSIGNORS = [UniformAssignor(), CooperativeAssignor(), MixedAssignor(), *(make() for make in POLICIES.values())]


def test_what_comes_with_kcoord() -> None:
    """CG-23, and the two of Connect's own names for workers."""
    assert list(SERVER_SIDE) == ["uniform", "cooperative", *POLICIES]
    assert list(CLIENT_SIDE) == ["cooperative", "connect", *POLICIES]
    assert all(isinstance(make(), ServerAssignor) and make().name == name for name, make in SERVER_SIDE.items())
    assert all(isinstance(make(), ConnectAssignor) and make().name == name for name, make in CLIENT_SIDE.items())


def test_what_a_workers_assignor_tells_unless_it_says_more() -> None:
    """Its version lies between its minimum and its maximum; classic members' is -1, which `connect` reads."""
    assignor = CooperativeAssignor()
    assert assignor.metadata() == Metadata(reason=0, version=assignor.maximum_version, metadata=b"")
    assert {each: CLIENT_SIDE[each]().minimum_version for each in CLIENT_SIDE} == {
        "cooperative": 0,
        "connect": -1,
        **dict.fromkeys(POLICIES, 0),
    }
    assignor.on_assignment(MemberAssignment("w1"))


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
def test_a_group_without_members_gets_nothing(assignor: ServerAssignor | ConnectAssignor) -> None:
    group = Group((), resources("AC0"), departed=(Departed("w1", target=resources("AC0")),))
    assert assignor.assign(group) == Assignment(())


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
def test_nothing_is_configured(assignor: ServerAssignor | ConnectAssignor) -> None:
    group = Group((Member("w1", target=resources("AC0 AT1")), Member("w2")), frozenset())
    assert assignor.assign(group) == Assignment((MemberAssignment("w1"), MemberAssignment("w2")))


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
def test_a_resource_in_two_targets_goes_once(assignor: ServerAssignor | ConnectAssignor) -> None:
    group = Group((Member("w2", target=resources("AC0 AT1")), Member("w1", target=resources("AC0"))), resources("AC0"))
    assert assignor.assign(group).members == (MemberAssignment("w1", resources("AC0")), MemberAssignment("w2"))


@pytest.mark.parametrize("assignor", [*ASSIGNORS, EagerAssignor()], ids=lambda each: each.name)
def test_a_group_of_plain_tuples_is_the_same_group(assignor: ServerAssignor | ConnectAssignor) -> None:
    """As somebody writes it who tests an assignor. Some sets have plain tuples and resources, as `target | {...}`."""
    plain = Group(
        (Member("w1", target=frozenset({("A", -1), ("A", 0)})), Member("w2", target=resources("AT1") | {("A", 2)})),
        frozenset({("A", -1), ("A", 0), ("A", 1), ("A", 2), ("A", 3)}),
        departed=(Departed("w3", target=frozenset({("A", 3)})),),
    )
    group = Group(
        (Member("w1", target=resources("AC0 AT0")), Member("w2", target=resources("AT1 AT2"))),
        resources("AC0 AT0 AT1 AT2 AT3"),
        departed=(Departed("w3", target=resources("AT3")),),
    )
    assert plain == group
    assert assignor.assign(plain) == assignor.assign(group)
    assert {each.connector for each in plain.members[1].target} == {"A"}, "an assignor may read the names"


def test_what_a_member_has_is_not_waited_for() -> None:
    """A departed worker's target that names what others got since: only the rest waits."""
    group = Group(
        (Member("w1", target=resources("T1")),),
        resources("T1 T2"),
        departed=(Departed("w2", target=resources("T1 T2")),),
        rebalance_delay_ms=1_000,
    )
    assert CooperativeAssignor().assign(group) == Assignment((MemberAssignment("w1", resources("T1")),), 1_000)


def test_a_new_workers_share_comes_from_many_connectors() -> None:
    """Each of those who give up one gives another."""
    held = [frozenset((name, task) for name in "abcde") for task in range(6)]
    group = Group(
        (*(Member(f"w{at}", target=each) for at, each in enumerate(held)), Member("x")), frozenset().union(*held)
    )
    got = UniformAssignor().assign(group).members[-1].resources
    assert sorted(map(tell, got)) == ["b-5", "c-4", "d-3", "e-2"]


def test_the_same_in_every_process() -> None:
    """Python orders sets anew in each process: that must not be seen."""
    script = """
from kcoord.assign.built_in import CLIENT_SIDE, SERVER_SIDE
from kcoord.assign import Group, Member
ids = [f"w{at}" for at in range(7)]
what = frozenset((f"c{at % 5}", at // 5 - 1) for at in range(100))
for make in (*SERVER_SIDE.values(), *CLIENT_SIDE.values()):
    given = make().assign(Group(tuple(map(Member, ids)), what))
    more = Group((*(Member(each.member_id, target=each.resources) for each in given.members), Member("x")), what)
    for each in (*given.members, *make().assign(more).members):
        print(each.member_id, sorted(each.resources))
"""
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1
    assert "w0" in told.pop()


def test_assignors_know_nobody() -> None:
    """Imports point downwards only, and nothing is below but what a resource is."""
    script = "import sys, kcoord.assign.built_in; print(*(each for each in sys.modules if each.startswith('kcoord.')))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout.split()
    assert {each for each in told if not each.startswith("kcoord.assign")} == {"kcoord.resource"}
