"""When does a connect group that the coordinator assigns follow its placement rules, and how often is it assigned?"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import attrs
import pytest

from kcoord.assign import ServerAssignor, UniformAssignor
from kcoord.assign.built_in import SERVER_SIDE
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.group.connect.computing import AssignmentError
from kcoord.group.state.metrics import Misplaced
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


def fleet(assignor: ServerAssignor, exists: str = ALL) -> World:
    """Two workers at rest."""
    world = World(attrs.evolve(SETTINGS, assignors=(assignor,)))
    world.join("W1", server_assignor=assignor.name, config_offset=1, configured_connectors_and_tasks=packed(exists))
    world.join("W2", connection=2, server_assignor=assignor.name)
    obey(world, 5)
    assert world.group.epoch == world.group.assignment_epoch
    assert not world.group.unconverged
    return world


def obey(world: World, heartbeats: int, *, first_connection: int = 1) -> None:
    """Let the workers do what they are told, for so many heartbeats each. After a load they have other connections."""
    for _ in range(heartbeats):
        world.pass_ms(INTERVAL_MS)
        for at, name in enumerate(("W1", "W2")):
            member = world.member(name)
            keeps = member.current & (world.group.target_of(member) or frozenset())
            world.beat(name, member.epoch, text(keeps), connection=first_connection + at)


def rules(world: World, **tables: Any) -> None:
    world.configure(placement=json.dumps({name.replace("_", "-"): table for name, table in tables.items()}))


def test_rules_wait_with_an_assignment_that_failed() -> None:
    """CG-20: else each request would begin the next one."""
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


TO_W1 = {"affinity": [{"connectors": "*", "workers": ["W1"]}]}
STEPS: dict[str, list[dict[str, Any]]] = {
    "a heavy task": [{"weight": [{"connectors": "A", "weight": 20}]}],
    "an affinity": [TO_W1],
    "an affinity, then a cordon of all": [TO_W1, {"cordon": [{"worker": "*"}]}],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("assignor", [make() for make in SERVER_SIDE.values()], ids=SERVER_SIDE)
def test_a_group_comes_to_rest_behind_any_assignor(assignor: ServerAssignor, steps: list[dict[str, Any]]) -> None:
    """`design-3` balances in rounds. It asked for one round after the other while rules kept the group unequal."""
    world = fleet(assignor, "AT0 " + " ".join(f"BT{at}" for at in range(20)))
    for tables in steps:
        rules(world, **tables)
        obey(world, 60_000 // INTERVAL_MS)
    epoch = world.group.epoch
    obey(world, 60_000 // INTERVAL_MS)
    assert (world.group.epoch, world.group.unconverged) == (epoch, set())
    assert sorted(len(res(each)) for each in world.targets().values()) == ([1, 20] if "weight" in steps[0] else [0, 21])


@pytest.mark.parametrize("how", ["doubles", "invents"])
def test_rules_do_not_hide_that_an_assignor_gives_nonsense(how: str) -> None:
    """CG-18: what an assignor gives twice, or to nobody, is not put right by rules that come after."""
    assignor = Moody()
    world = fleet(assignor)
    targets = world.targets()
    assignor.how = how
    rules(world, weight=[{"connectors": "A", "weight": 2}])
    assert world.group.error == AssignmentError.ASSIGNOR_FAILED
    assert world.targets() == targets
    assert frozenset().union(*map(res, targets.values())) == res(ALL)


RULES: dict[str, dict[str, Any]] = {
    "nothing is to move": {"weight": [{"connectors": "A", "weight": 2}]},
    "new work has no place": {"affinity": [{"connectors": "[AB]", "workers": ["nobody"]}]},
    "what runs has no other place": {"capacity": [{"workers": "*", "weight": 1}]},
    "a cordon alone": {"cordon": [{"worker": "W1"}]},
}


@pytest.mark.parametrize("tables", RULES.values(), ids=RULES)
def test_a_load_with_nothing_to_do_brings_no_rebalance(tables: dict[str, Any]) -> None:
    world = fleet(Moody())
    rules(world, **tables)
    world.beat("W1", world.member("W1").epoch, config_offset=2, configured_connectors_and_tasks=packed(f"{ALL} DC0"))
    obey(world, 5)
    epoch, placed = world.group.epoch, world.group.placed
    assert placed.rules
    world.restart()
    obey(world, 5, first_connection=3)
    assert world.group.epoch == epoch
    assert {member.current for member in world.group.members.values()} == set(map(res, world.targets().values()))
    assert world.group.placed == placed, "it knows again what is not met, and why"


def test_after_a_load_rules_go_on_at_their_pace() -> None:
    """What had begun to move arrives before more does."""
    world = fleet(Moody())
    rules(world, max_moves=1, cordon=[{"worker": "W1", "drain": True}])
    left, epoch = len(res(world.targets()["W1"])), world.group.epoch
    assert world.group.placed.has_more
    world.restart()
    assert (len(res(world.targets()["W1"])), world.group.epoch) == (left, epoch)
    obey(world, 12, first_connection=3)
    assert world.targets() == {"W1": "", "W2": ALL}


def test_a_worker_that_computes_is_left_alone_by_a_load() -> None:
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    rules(world, cordon=[{"worker": "W1"}])
    world.compute("W1", world.member("W1").epoch, {"W1": "AC0", "W2": "BC0"})
    epoch = world.group.epoch
    assert (world.group.assignment_epoch, world.group.placed.is_followed) == (epoch, False)
    world.restart()
    assert world.group.epoch == epoch
    assert world.group.placed.rules
    assert not world.group.placed.is_followed


def test_new_weights_move_a_few_at_a_time() -> None:
    world = World(attrs.evolve(SETTINGS, assignors=(Moody(),)))
    everything = " ".join(f"AT{at} BT{at}" for at in range(10))
    world.join("W1", server_assignor="moody", config_offset=1, configured_connectors_and_tasks=packed(everything))
    world.join("W2", connection=2, server_assignor="moody")
    obey(world, 5)
    rules(world, affinity=[{"connectors": "A", "workers": ["W1"]}], max_moves=10)
    obey(world, 5)
    seen = [world.targets()["W1"]]
    rules(world, weight=[{"connectors": "A", "weight": 3}], max_moves=2)
    for _ in range(30):
        seen.append(world.targets()["W1"])
        obey(world, 1)
    steps = [len(res(one) ^ res(other)) for one, other in pairwise(seen)]
    assert 0 < max(steps) <= 2
    assert sum(steps) > 2
    assert not world.group.placed.has_more


def test_what_cannot_be_met_is_counted() -> None:
    world = fleet(Moody())
    assert world.shard.metrics().misplaced == {}
    rules(world, affinity=[{"connectors": "[AD]", "workers": ["nobody"]}])
    world.beat("W1", world.member("W1").epoch, config_offset=2, configured_connectors_and_tasks=packed(f"{ALL} DC0"))
    assert world.shard.metrics().misplaced == {world.group_id: Misplaced(unplaced=1, unmet=2)}
    rules(world)
    assert world.shard.metrics().misplaced == {}
