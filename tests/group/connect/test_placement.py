"""When does a connect group that the coordinator assigns follow its placement rules, and how often is it assigned?"""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from kcoord.assign import UniformAssignor
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.group.connect.computing import AssignmentError
from tests.group.connect.world import INTERVAL_MS, SETTINGS, World, packed, res, text

ALL = "AC0 AT0 BC0 BT0"


@attrs.define
class Moody:
    """A server-side assignor that breaks its contract while `how` says so."""

    name: str = "moody"
    how: str = ""

    def assign(self, group: Group) -> Assignment:
        assignment = UniformAssignor().assign(group)
        match self.how:
            case "raises":
                raise ZeroDivisionError
            case "doubles":
                first, *others = assignment.members
                return Assignment((first, *[attrs.evolve(each, resources=first.resources) for each in others]), 5_000)
            case "invents":
                nothing = MemberAssignment(group.members[0].member_id, frozenset([("nothing", 0)]))
                return attrs.evolve(assignment, members=(nothing, *assignment.members[1:]))
        return assignment


def fleet(assignor: Moody) -> World:
    """Two workers at rest."""
    world = World(attrs.evolve(SETTINGS, assignors=(assignor,)))
    world.join("W1", server_assignor="moody", config_offset=1, configured_connectors_and_tasks=packed(ALL))
    world.join("W2", connection=2, server_assignor="moody")
    obey(world, 5)
    assert world.group.epoch == world.group.assignment_epoch
    assert not world.group.unconverged
    return world


def obey(world: World, heartbeats: int) -> None:
    """Let the workers do what they are told, for so many heartbeats each."""
    for _ in range(heartbeats):
        world.pass_ms(INTERVAL_MS)
        for name in ("W1", "W2"):
            member = world.member(name)
            keeps = member.current & (world.group.target_of(member) or frozenset())
            world.beat(name, member.epoch, text(keeps), connection=member.connection)


def rules(world: World, **tables: Any) -> None:
    world.configure(placement=json.dumps({name.replace("_", "-"): table for name, table in tables.items()}))


def test_rules_wait_with_an_assignment_that_failed() -> None:
    """connect-groups rule 20: else each request would begin the next one."""
    assignor = Moody(how="")
    world = fleet(assignor)
    epoch = world.group.epoch
    assignor.how = "raises"
    rules(world, cordon=[{"worker": "W1", "drain": True}])
    assert (world.group.epoch, world.group.error) == (epoch + 1, AssignmentError.ASSIGNOR_FAILED)
    world.beat("W1", world.member("W1").epoch)
    assert world.group.epoch == epoch + 1, "its back-off is not over"
    assignor.how = ""
    obey(world, 5)
    assert world.targets() == {"W1": "", "W2": ALL}
    assert world.group.epoch == epoch + 2


def test_rules_that_go_back_and_forth_are_followed_at_once() -> None:
    """Each change is the user's; only rebalances that nobody asked for are slowed down."""
    world = fleet(Moody())
    for _ in range(10):
        for drained, other in (("W1", "W2"), ("W2", "W1")):
            rules(world, cordon=[{"worker": drained, "drain": True}])
            obey(world, 3)
            assert world.targets() == {drained: "", other: ALL}


@pytest.mark.parametrize("how", ["doubles", "invents"])
def test_rules_do_not_hide_that_an_assignor_gives_nonsense(how: str) -> None:
    """connect-groups rule 18: what an assignor gives twice, or to nobody, is not put right by rules that come after."""
    assignor = Moody()
    world = fleet(assignor)
    targets = world.targets()
    assignor.how = how
    rules(world, weight=[{"connectors": "A", "weight": 2}])
    assert world.group.error == AssignmentError.ASSIGNOR_FAILED
    assert world.targets() == targets
    assert frozenset().union(*map(res, targets.values())) == res(ALL)
