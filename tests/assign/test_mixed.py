"""What does the assignor `connect` make of groups in which some members speak the classic protocol?"""

from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kcoord.assign import CooperativeAssignor, Departed, Group, Member, MixedAssignor
from kcoord.protocol.embedded import (
    CONFIG_MISMATCH,
    EAGER,
    SESSIONED,
    WorkerAssignment,
    WorkerState,
    encode_state,
)
from tests.assign.fleet import resources, short
from tests.assign.test_properties import EXAMPLES, groups

CONNECT = MixedAssignor()
CONFIGURED = resources("AC0 AT1 AT2 BC0 BT1 BT2")


def java(name: str, has: str = "", offset: int = 7, version: int = SESSIONED) -> Member:
    """A classic worker as the coordinator lists it."""
    target = resources(has)
    allocation = None if version == EAGER else WorkerAssignment(version, 0, "", "", offset, target)
    metadata = encode_state(WorkerState(version, f"http://{name}/", offset, allocation))
    return Member(name, url=f"http://{name}/", target=target, version=-1, metadata=metadata)


def ours(name: str, has: str = "") -> Member:
    """A worker of the new protocol."""
    return Member(name, target=resources(has))


def shares(group: Group) -> dict[str, str]:
    """Who shall run what."""
    assignment = CONNECT.assign(group)
    assert not assignment.error
    return {each.member_id: " ".join(map(short, sorted(each.resources))) for each in assignment.members}


def test_the_first_python_worker_takes_its_share_of_two_java_workers_and_nothing_else_moves() -> None:
    group = Group((java("j1", "AC0 AT1 AT2"), java("j2", "BC0 BT1 BT2"), ours("p")), CONFIGURED, 7)
    moved = shares(group)
    assert moved == {"j1": "AC0 AT1 AT2", "j2": "BC0 BT1", "p": "BT2"}


def test_nothing_is_computed_from_less_than_a_java_worker_has_read() -> None:
    """CM-6, the other way round; CM-7: told less than it knows, it would join again for ever."""
    group = Group((java("j1", "AC0 AT1", offset=9), ours("p")), CONFIGURED, 8)
    assert CONNECT.assign(group).error == CONFIG_MISMATCH
    assert not CONNECT.assign(attrs.evolve(group, config_offset=9)).error


def test_nothing_is_computed_for_java_workers_where_nobody_has_said_what_there_is() -> None:
    assert CONNECT.assign(Group((java("j1", "AC0"), ours("p")))).error == CONFIG_MISMATCH
    assert not CONNECT.assign(Group((ours("p", "AC0"),))).error


def test_what_eager_workers_say_is_read_too_and_nonsense_harms_nobody() -> None:
    nonsense = attrs.evolve(java("j2", "BC0"), metadata=b"\0")
    group = Group((java("j1", "AC0 AT1", version=EAGER), nonsense, ours("p")), CONFIGURED, 7)
    assert shares(group).keys() == {"j1", "j2", "p"}
    assert CONNECT.assign(attrs.evolve(group, config_offset=6)).error == CONFIG_MISMATCH


def test_the_work_of_a_java_worker_that_has_gone_waits_for_it() -> None:
    """CG-22, CM-18: the coordinator gives it back by url"""
    gone = Departed("j2", None, "http://j2/", resources("BC0 BT1 BT2"))
    group = Group(
        (java("j1", "AC0 AT1"), ours("p", "AT2")), CONFIGURED, 7, departed=(gone,), rebalance_delay_ms=300_000
    )
    assignment = CONNECT.assign(group)
    assert assignment.scheduled_delay_ms == 300_000
    assert shares(group) == {"j1": "AC0 AT1", "p": "AT2"}
    over = attrs.evolve(group, remaining_delay_ms=0)
    assert sorted(" ".join(shares(over).values()).split()) == sorted(map(short, CONFIGURED))


@EXAMPLES
@given(groups(), st.data())
def test_who_speaks_what_changes_nothing(group: Group, data: st.DataObject) -> None:
    """Connectors and tasks stay even each for themselves, and sticky, in all mixtures: `test_properties` says how."""
    offset = data.draw(st.integers(0, 9))
    mixed = [
        attrs.evolve(each, version=-1, metadata=encode_state(WorkerState(SESSIONED, "", data.draw(st.integers(-1, 9)))))
        if data.draw(st.booleans())
        else each
        for each in group.members
    ]
    assignment = CONNECT.assign(attrs.evolve(group, members=tuple(mixed), config_offset=offset))
    if assignment.error:
        assert not assignment.members
    else:
        assert assignment == CooperativeAssignor().assign(group)
