"""What is computed from what, and what if that fails? (CG-17 to CG-20, CG-23)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from kcoord.assign.interface import ServerAssignor
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.group.connect.computing import AssignmentError
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import unpack
from kcoord.resource import Resource
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, SETTINGS, World, assignor, packed, text

COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT
INVALID = ErrorCode.INVALID_ASSIGNMENT
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
FENCED = ErrorCode.FENCED_MEMBER_EPOCH

# -- CG-17 ------------------------------------------------------------------------------------------------------------


def test_the_chosen_worker_is_told_until_it_installs_and_goes_on_reconciling() -> None:
    """CG-17: all else in the answer is valid beside COMPUTE_ASSIGNMENT."""
    world = World.settled({"W1": "AC0 AT1"})
    world.join("W2", connection=2)
    told = world.beat("W1", 1)
    assert (told.error, told.epoch, told.response.heartbeat_interval_ms) == (COMPUTE, 1, INTERVAL_MS)
    world.prepare("W1", 1)
    assert world.beat("W1", 1).error is COMPUTE
    world.install("W1", 1, 2, {"W1": "AC0", "W2": "AT1"})
    world.beat("W1", 1, client_assignors=[assignor(data=b"x")])
    told = world.beat("W1", 1, "AC0")
    assert (told.error, told.brief) == (COMPUTE, (2, "AC0"))
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")


# -- CG-18 ------------------------------------------------------------------------------------------------------------


def test_what_prepare_tells() -> None:
    """CG-18: members with metadata, url, epoch and target; what exists; who departed; the delay."""
    world = World()
    world.join("W1", url="http://w1", client_assignors=[assignor(data=b"one", version=0, reason=2)])
    world.join("W2", connection=2, instance_id="i2", client_assignors=[assignor(), assignor("eager")])
    world.join("W3", connection=3, url="http://w3")
    world.beat("W1", 0, config_offset=7, configured_connectors_and_tasks=packed("AC0 BC0 CC0"))
    world.compute("W1", 0, {"W1": "AC0", "W2": "BC0", "W3": "CC0"})
    world.beat("W1", 0)
    world.beat("W3", -1, connection=3)
    world.beat("W1", world.member("W1").epoch)
    given = world.prepare("W1", world.member("W1").epoch)
    assert (given.error_code, given.group_epoch, given.assignor_name) == (0, world.group.epoch, "cooperative")
    one, two = given.members
    assert (one.member_id, one.member_epoch, one.url, one.instance_id) == ("W1", 4, "http://w1", None)
    assert (one.assignor.version, one.assignor.reason, one.assignor.metadata) == (0, 2, b"one")
    assert text(unpack(one.connectors_and_tasks)) == "AC0"
    assert world.group.error == 0
    assert (two.member_id, two.member_epoch, two.instance_id) == ("W2", 0, "i2")
    assert given.config_offset == 7
    assert text(unpack(given.configured_connectors_and_tasks or [])) == "AC0 BC0 CC0"
    (gone,) = given.departed
    assert (gone.member_id, gone.url, text(unpack(gone.connectors_and_tasks))) == ("W3", "http://w3", "CC0")
    assert (given.remaining_delay_ms, given.rebalance_delay_ms) == (-1, SETTINGS.rebalance_delay_ms)


def test_a_second_prepare_freezes_anew() -> None:
    """CG-18: an install of the first one's epoch is not valid any more."""
    world = World()
    world.join("W1")
    first = world.prepare("W1", 0)
    world.join("W2", connection=2)
    second = world.prepare("W1", 0)
    assert (first.group_epoch, second.group_epoch) == (1, 2)
    assert world.install("W1", 0, 1, {"W1": "AC0"}) is INVALID
    assert world.install("W1", 0, 2, {"W1": "AC0", "W2": "BC0"}) is ErrorCode.NONE


def test_a_second_prepare_asks_anew_who_computes() -> None:
    """CG-16, CG-18: W1 does not read all versions any more."""
    world = World()
    world.join("W1")
    world.prepare("W1", 0)
    world.join("W2", connection=2, client_assignors=[assignor(low=0, high=4)])
    assert world.chosen() == "W1", "it computes yet, on the input that was frozen"
    assert world.prepare("W1", 0).error_code == UNKNOWN
    assert world.chosen() == "W2"


@pytest.mark.parametrize(
    ("targets", "delay_ms"),
    [
        ({"W9": "AC0 BC0"}, 0),
        ({"W1": "AC0", "W2": "AC0 BC0"}, 0),
        ({"W1": "AC0 BC0 DC0"}, 0),
        ({"W1": "AC0"}, 0),
        ({}, 0),
        ({"W1": "AC0 DC0"}, 5_000),
    ],
)
def test_assignments_that_are_not_valid(targets: dict[str, str], delay_ms: int) -> None:
    """CG-18, CG-20, CG-21: all workers exist, everything once, nothing that does not exist."""
    world = World()
    world.join("W1", config_offset=1, configured_connectors_and_tasks=packed("AC0 BC0"))
    world.join("W2", connection=2)
    world.prepare("W1", 0)
    before = world.table()
    assert world.install("W1", 0, 2, targets, delay_ms) is INVALID
    assert world.table() == before
    assert world.chosen() == "W2", "W1 is excluded for this input"


def test_an_assignment_is_judged_by_what_it_was_made_from() -> None:
    """CG-18: who left since is dropped, what was deleted since is taken out, and the epoch is the
    frozen one; then the next computation begins.
    """
    world = World()
    listed = "AC0 AT1 BC0"
    world.join("W1", config_offset=1, configured_connectors_and_tasks=packed(listed))
    world.join("W2", connection=2)
    world.join("W3", connection=3)
    world.beat("W1", 0)
    world.prepare("W1", 0)
    world.beat("W2", -1, connection=2)
    world.beat("W1", 0, config_offset=2, configured_connectors_and_tasks=packed("AC0 BC0"))
    world.join("W4", connection=4)
    assert world.install("W1", 0, 3, {"W1": "AC0 AT1", "W2": "BC0"}) is ErrorCode.NONE
    assert (world.group.epoch, world.group.assignment_epoch) == (6, 3)
    assert world.targets() == {"W1": "AC0", "W2": "BC0", "W3": ""}
    assert [member for member, _ in world.group.departed()] == ["W2"]
    assert world.beat("W1", 0).error is COMPUTE
    assert world.prepare("W1", 3).group_epoch == 6


def test_what_a_departed_newcomer_was_given_is_not_lost() -> None:
    """CG-18, CG-21: nobody but this assignment knows of BC0."""
    world = World.settled({"W1": "AC0 BC0"})
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.prepare("W1", 1)
    world.beat("W2", -1, connection=2)
    assert world.install("W1", 1, 2, {"W1": "AC0", "W2": "BC0"}) is ErrorCode.NONE
    given = world.prepare("W1", 1)
    assert [(each.member_id, text(unpack(each.connectors_and_tasks))) for each in given.departed] == [("W2", "BC0")]


def test_a_doubled_install_is_answered_0() -> None:
    """CG-18: same member, same epoch, and nothing changes."""
    world = World()
    world.join("W1")
    world.compute("W1", 0, {"W1": "AC0"})
    with world.nothing_changes():
        assert world.install("W1", 0, 1, {"W1": "AC0"}) is ErrorCode.NONE
        assert world.install("W1", 0, 1, {"W1": "BC0"}) is ErrorCode.NONE
        assert world.install("W1", 0, 2, {"W1": "AC0"}) is UNKNOWN


def test_an_install_that_comes_after_it_was_given_up_is_no_doubled_one() -> None:
    """CG-18, CG-20: the epoch counts as assigned by an error, not by what it brings."""
    world = World.settled({"W1": "AC0"})
    world.beat("W1", 1, client_assignors=[assignor(reason=1)])
    world.prepare("W1", 1)
    world.live(REBALANCE_MS, "W1")
    assert world.group.error == AssignmentError.NO_WORKER_LEFT
    with world.nothing_changes():
        assert world.install("W1", world.member("W1").epoch, 2, {"W1": "AC0 BC0"}) is UNKNOWN


# -- CG-19 and CG-20 --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "epoch", "error"),
    [("W1", 1, FENCED), ("W2", 0, UNKNOWN), ("W9", 0, UNKNOWN)],
)
def test_who_may_not_prepare_or_install_stays_what_it_is(member: str, epoch: int, error: ErrorCode) -> None:
    """CG-19"""
    world = World()
    world.join("W1")
    world.join("W2", connection=2)
    with world.nothing_changes():
        assert world.prepare(member, epoch, connection=2).error_code == error
        assert world.install(member, epoch, 2, {}, connection=2) is error
    assert world.beat("W1", 0).error is COMPUTE


def test_install_before_prepare() -> None:
    """CG-18: it must name the frozen epoch, and there is none."""
    world = World()
    world.join("W1")
    with world.nothing_changes():
        assert world.install("W1", 0, 1, {"W1": "AC0"}) is INVALID
    assert world.chosen() == "W1"


@pytest.mark.parametrize("fault", ["error", "invalid", "silence"])
def test_who_fails_is_excluded_and_the_next_is_chosen_at_once(fault: str) -> None:
    """CG-20: until nobody is left; then the target stays, and the group tries again after a while."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.join("W3", connection=3)
    for connection, member, epoch in ((1, "W1", 2), (2, "W2", 2), (3, "W3", 0)):
        assert world.chosen() == member
        assert world.beat(member, epoch, connection=connection).error is COMPUTE
        world.prepare(member, epoch, connection=connection)
        if fault == "error":
            assert world.install(member, epoch, 3, {}, error=5, connection=connection) is ErrorCode.NONE
        elif fault == "invalid":
            assert world.install(member, epoch, 3, {"W9": "AC0"}, connection=connection) is INVALID
        else:
            world.live(REBALANCE_MS, "W1", "W2", "W3")
    assert world.chosen() is None
    assert (world.group.epoch, world.group.assignment_epoch) == (3, 3)
    assert world.group.error == AssignmentError.NO_WORKER_LEFT
    assert world.targets() == {"W1": "AC0", "W2": "BC0"}
    assert world.beat("W1", world.member("W1").epoch).epoch == 3
    world.pass_ms(1_000)
    assert (world.group.epoch, world.group.reason) == (4, "assignment tried again")
    assert world.chosen() == "W1"


def test_the_back_off_grows_to_a_minute_and_ends_with_an_install() -> None:
    """CG-20: 1 s to 60 s."""
    world = World(attrs.evolve(SETTINGS, session_timeout_ms=200_000, max_session_timeout_ms=200_000))
    world.join("W1")
    waits = []
    for _ in range(9):
        world.beat("W1", world.member("W1").epoch)
        epoch = world.group.epoch
        world.prepare("W1", world.member("W1").epoch)
        world.install("W1", world.member("W1").epoch, epoch, {}, error=1)
        assert world.group.epoch == epoch
        began_ms = world.now_ms
        while world.group.epoch == epoch:
            world.pass_ms(500)
        waits.append((world.now_ms - began_ms) // 1_000)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "AC0"})
    assert world.beat("W1", 0).epoch == world.group.epoch
    world.beat("W1", world.group.epoch, client_assignors=[assignor(reason=1)])
    world.prepare("W1", world.group.epoch - 1)
    epoch = world.group.epoch
    world.install("W1", epoch - 1, epoch, {}, error=1)
    world.pass_ms(1_000)
    assert world.group.epoch == epoch + 1


def test_who_failed_at_an_older_input_may_try_the_newer_one_if_nobody_else_can() -> None:
    """CG-20: it is excluded for that input alone."""
    world = World()
    world.join("W1")
    world.beat("W1", 0)
    world.prepare("W1", 0)
    world.beat("W1", 0, client_assignors=[assignor(data=b"newer")])
    world.install("W1", 0, 1, {}, error=1)
    assert (world.chosen(), world.group.error) == ("W1", 0)
    world.prepare("W1", 0)
    world.join("W2", connection=2)
    world.install("W1", 0, 2, {}, error=1)
    assert world.chosen() == "W2", "if others can, they do"


def test_who_is_chosen_and_goes_is_replaced() -> None:
    """CG-20, CG-28: it leaves, its session ends, it is put out, or away."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.beat("W1", 2, client_assignors=[assignor(reason=1)])
    world.prepare("W1", 2)
    world.beat("W1", -1)
    assert world.chosen() == "W2"

    world = World()
    world.join("W1", instance_id="i")
    world.join("W2", connection=2)
    world.beat("W1", -2, instance_id="i")
    assert world.chosen() == "W2"


# -- CG-23 ------------------------------------------------------------------------------------------------------------


def test_the_server_computes_in_the_step_that_asks_for_it() -> None:
    """CG-23: nobody hears COMPUTE_ASSIGNMENT."""
    world = World()
    told = world.join(
        "W1", server_assignor="uniform", config_offset=1, configured_connectors_and_tasks=packed("AC0 BC0")
    )
    assert (told.error, told.brief) == (ErrorCode.NONE, (1, "AC0 BC0"))
    assert (world.group.assignor, world.group.computed_by) == ("uniform", None)
    told = world.join("W2", connection=2, server_assignor="uniform")
    assert told.error is ErrorCode.NONE
    assert sorted(len(target.split()) for target in world.targets().values()) == [1, 1]


def test_without_a_configured_set_the_server_cannot_compute() -> None:
    """CG-23: an error without retries, until somebody says what exists, be that nothing."""
    world = World()
    assert world.join("W1", server_assignor="uniform").brief == (0, "")
    assert world.group.error == AssignmentError.NOTHING_CONFIGURED
    world.live(5_000, "W1")
    assert world.group.epoch == 1
    assert world.beat("W1", 0, config_offset=0, configured_connectors_and_tasks=[]).brief == (2, "")
    assert world.group.error == 0


@attrs.frozen
class Broken:
    """A server-side assignor that breaks its contract."""

    name: str
    how: str

    def assign(self, group: Group) -> Assignment:
        match self.how:
            case "raises":
                raise ZeroDivisionError
            case "reports":
                return Assignment((), error=4)
            case "forgets":
                return Assignment(())
            case _:
                return Assignment((MemberAssignment("W9", frozenset({("A", -1)})),))


def broken(how: str) -> Sequence[ServerAssignor]:
    return (Broken("broken", how),)


@pytest.mark.parametrize("how", ["raises", "reports", "forgets", "invents"])
def test_a_server_side_assignor_that_breaks_its_contract_is_an_assignment_error(how: str) -> None:
    """CG-20, CG-23: the shard lives, the target stays, and it is tried again."""
    world = World(attrs.evolve(SETTINGS, assignors=tuple(broken(how))))
    told = world.join("W1", server_assignor="broken", config_offset=1, configured_connectors_and_tasks=packed("AC0"))
    assert told.brief == (0, "")
    assert world.group.error == AssignmentError.ASSIGNOR_FAILED
    assert world.group.error_message is not None
    assert world.group.error_message.startswith("assignor broken ")
    world.pass_ms(1_000)
    assert world.group.reason == "assignment tried again"


@attrs.frozen
class Plain:
    """Gives everything to the first member: what it had as it is, the rest as plain tuples."""

    name: str = "plain"

    def assign(self, group: Group) -> Assignment:
        first, configured = group.members[0], group.configured or frozenset()
        new = {(name, number) for name, number in configured - first.target}
        return Assignment((MemberAssignment(first.member_id, first.target | new),))


@pytest.mark.parametrize("rules", ["", '{"weight": [{"connector": "A", "weight": 2}]}'])
def test_a_server_side_assignor_may_give_plain_tuples(rules: str) -> None:
    """CG-23: and a target has resources all the same, with placement rules and without."""
    world = World(attrs.evolve(SETTINGS, assignors=(Plain(),)))
    world.join("W1", server_assignor="plain", config_offset=1, configured_connectors_and_tasks=packed("AC0"))
    if rules:
        world.configure(placement=rules)
    world.beat("W1", 1, "AC0", config_offset=2, configured_connectors_and_tasks=packed("AC0 AT0 BC0"))
    assert world.group.error == 0
    assert world.targets() == {"W1": "AC0 AT0 BC0"}
    assert {type(each) for target in world.group.targets.values() for each in target.resources} == {Resource}


def test_what_the_assignor_says_to_a_member_reaches_it() -> None:
    """CG-18: the assignment's version and metadata."""
    world = World()
    world.join("W1")
    world.prepare("W1", 0)
    response: Any = None
    request = world.install_request("W1", 0, 1, {"W1": "AC0"})
    request.members[0].version, request.members[0].metadata = 3, b"for you"
    world.send(request)
    response = world.beat("W1", 0).response
    assert isinstance(response, ConnectGroupHeartbeatResponse)
    assert response.assignment is not None
    assert (response.assignment.version, response.assignment.metadata) == (3, b"for you")
