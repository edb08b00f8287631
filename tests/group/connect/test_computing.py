"""Which assignor computes, in which worker, and what if that fails? (connect-groups rules 15-20, 23)"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import pytest

from kcoord.assign.interface import ServerAssignor
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.group.connect.computing import AssignmentError
from kcoord.group.connect.group import Said
from kcoord.group.connect.selection import common_assignor, leaves_nobody, qualified, server_side
from kcoord.group.connect.support import Support, Supports, support_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_worker_group_member_metadata_value import Assignor
from kcoord.protocol.messages import ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import unpack
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, SETTINGS, World, assignor, packed, text

COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT
INVALID = ErrorCode.INVALID_ASSIGNMENT
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
UNSUPPORTED = ErrorCode.UNSUPPORTED_ASSIGNOR
FENCED = ErrorCode.FENCED_MEMBER_EPOCH

# -- rules 15 and 16: tables ------------------------------------------------------------------------------------------


def says(listed: str, server: str | None = None) -> Said:
    """`"eager cooperative:1-5"`: what a worker lists, with version ranges (0-1 where none is given)."""
    assignors = []
    for each in listed.split():
        name, _, versions = each.partition(":")
        low, _, high = (versions or "0-1").partition("-")
        assignors.append(Assignor(name, int(low), int(high), 0, int(high), b""))
    return Said(assignors=assignors, server_assignor=server)


def kinds(all_said: Iterable[Said]) -> dict[Support, int]:
    """How many say what."""
    return Supports.of([(str(at), said) for at, said in enumerate(all_said)]).kinds()


@pytest.mark.parametrize(
    ("lists", "name"),
    [
        ([], None),
        (["a"], "a"),
        (["a b", "b a", "b a"], "b"),
        (["a b", "b a"], "a"),
        (["c a b", "b a"], "a"),
        (["c a b", "b a", "b a"], "b"),
        (["a", "b"], None),
        (["a b", ""], None),
    ],
)
def test_the_common_assignor(lists: list[str], name: str | None) -> None:
    """connect-groups rule 15: first for most among the common ones, ties by name."""
    assert common_assignor(kinds(says(each) for each in lists)) == name


@pytest.mark.parametrize(
    ("votes", "name"),
    [([None], "u"), (["c"], "c"), (["c", "u"], "u"), (["c", "c", "u"], "c"), (["gone"], "u"), ([None, "c"], "c")],
)
def test_the_server_side_assignor(votes: list[str | None], name: str) -> None:
    """connect-groups rule 15: the one that most ask for; ties, and nobody asking, by the server's order."""
    assert server_side(kinds(says("", each) for each in votes), ["u", "c"]) == name


@pytest.mark.parametrize(
    ("ranges", "able"),
    [
        (["1-5", "3-4", "2-4"], [0]),
        (["1-3", "3-5"], []),
        (["0-1", "0-1"], [0, 1]),
        (["-1-2", "0-2"], [0]),
        (["2-2"], [0]),
    ],
)
def test_who_qualifies(ranges: list[str], able: list[int]) -> None:
    """connect-groups rule 16: whose range contains everybody's; the draft's A [1-5], B [3-4], C [2-4]."""
    members = []
    for each in ranges:
        low, _, high = each.rpartition("-")
        members.append(attrs.evolve(says("a"), assignors=[Assignor("a", int(low), int(high), 0, 0, b"")]))
    assert qualified(kinds(members), "a") == {support_of(members[each]) for each in able}
    assert leaves_nobody(kinds(members)) is not bool(able)


# -- rule 15: in a group ----------------------------------------------------------------------------------------------


def test_setting_one_kind_of_assignor_clears_the_other() -> None:
    """connect-groups rule 15: and the merged member is judged."""
    world = World()
    world.join("W1")
    world.beat("W1", 0, server_assignor="cooperative")
    said = world.member("W1").said
    assert (said.server_assignor, said.assignors) == ("cooperative", [])
    world.beat("W1", 0, client_assignors=[assignor("eager")])
    said = world.member("W1").said
    assert (said.server_assignor, [each.name for each in said.assignors]) == (None, ["eager"])


def test_a_join_says_all_and_a_heartbeat_what_has_changed() -> None:
    """connect-groups rules 6, 15: what a join leaves out the worker does not use."""
    world = World()
    world.join("W1", url="http://w1")
    world.beat("W1", 0)
    said = world.member("W1").said
    assert (said.url, len(said.assignors)) == ("http://w1", 1)
    world.join("W1", client_assignors=None, server_assignor="uniform")
    said = world.member("W1").said
    assert (said.url, said.assignors, said.server_assignor) == (None, [], "uniform")
    world.join("W1", client_assignors=None, server_assignor=None)
    assert world.member("W1").said.server_assignor is None


@pytest.mark.parametrize("how", ["join", "beat", "rejoin"])
def test_an_assignor_that_the_server_does_not_have(how: str) -> None:
    """connect-groups rule 15, the draft's list: UNSUPPORTED_ASSIGNOR, and nothing changes."""
    world = World.settled({"W1": "AC0"})
    with world.nothing_changes():
        if how == "beat":
            told = world.beat("W1", 1, server_assignor="range")
        else:
            told = world.join("W1" if how == "rejoin" else "W2", server_assignor="range")
        assert told.error is UNSUPPORTED
        assert "uniform, cooperative" in (told.response.error_message or "")


def test_an_assignor_that_is_taken_away_does_not_lock_its_members_out() -> None:
    """connect-groups rule 15: who asked for it while it was there may go on, and vote for nothing."""
    world = World()
    world.join("W1", server_assignor="cooperative", config_offset=1, configured_connectors_and_tasks=packed("AC0"))
    world.configure(assignors="uniform")
    assert world.beat("W1", 1, url="http://w1").error is ErrorCode.NONE
    assert world.join("W1", server_assignor="cooperative").error is ErrorCode.NONE
    assert world.join("W2", connection=2, server_assignor="cooperative").error is UNSUPPORTED


# -- rule 16: in a group ----------------------------------------------------------------------------------------------


def in_ranges(*ranges: tuple[int, int]) -> World:
    """W1, W2, ... with these version ranges."""
    world = World()
    for at, (low, high) in enumerate(ranges, 1):
        world.join(f"W{at}", connection=at, client_assignors=[assignor(low=low, high=high)])
    return world


def test_the_worker_that_reads_all_is_chosen() -> None:
    """connect-groups rule 16"""
    world = in_ranges((3, 4), (1, 5), (2, 4))
    assert world.chosen() == "W2"


@pytest.mark.parametrize(
    ("ranges", "joins"), [([(1, 3)], (2, 4)), ([(1, 3), (1, 3)], (3, 5)), ([(1, 5), (1, 3)], (4, 6))]
)
def test_a_join_that_would_leave_no_worker_to_compute_is_refused(
    ranges: list[tuple[int, int]], joins: tuple[int, int]
) -> None:
    """connect-groups rule 16: UNSUPPORTED_ASSIGNOR, and nothing changes."""
    world = in_ranges(*ranges)
    with world.nothing_changes():
        told = world.join("W9", connection=9, client_assignors=[assignor(low=joins[0], high=joins[1])])
        assert told.error is UNSUPPORTED


def test_a_change_of_range_that_would_leave_no_worker_to_compute_is_refused() -> None:
    """connect-groups rule 16: also when another has that range already."""
    world = in_ranges((1, 5), (1, 3), (3, 5))
    with world.nothing_changes():
        told = world.beat("W1", 0, client_assignors=[assignor(low=3, high=5)])
        assert told.error is UNSUPPORTED
    assert world.beat("W1", 0, client_assignors=[assignor(low=0, high=5)]).error is COMPUTE


def left_without() -> World:
    """The only worker that could compute for all has left."""
    world = in_ranges((1, 5), (1, 3), (3, 5))
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "", "W2": "AC0", "W3": "BC0"})
    world.beat("W1", -1)
    return world


def test_without_a_worker_that_reads_all_the_target_stays() -> None:
    """connect-groups rule 16: where nobody knows what exists; `describe` shows it, and it is not tried again."""
    world = left_without()
    assert world.chosen() is None
    assert world.group.error == AssignmentError.NO_WORKER_QUALIFIES
    assert "no worker reads all versions of assignor cooperative" in (world.describe().assignment_error_message or "")
    assert world.targets()["W2"] == "AC0"
    world.live(REBALANCE_MS, "W2", "W3")
    assert world.group.epoch == 4


def test_without_a_worker_that_reads_all_the_server_computes_where_it_knows_what_exists() -> None:
    """connect-groups rule 16: by the server-side `cooperative`."""
    world = left_without()
    world.beat("W2", 0, connection=2, config_offset=1, configured_connectors_and_tasks=packed("AC0 BC0"))
    assert world.group.error == 0
    assert (world.group.assignor, world.group.computed_by) == ("cooperative", None)


def test_who_makes_it_no_worse_may_join() -> None:
    """connect-groups rule 16: nobody could compute before either; a worker of before must be able to return."""
    world = left_without()
    assert world.join("W4", connection=4, client_assignors=[assignor(low=1, high=3)]).error is ErrorCode.NONE
    assert world.join("W5", connection=5, client_assignors=[assignor(low=1, high=5)]).error is COMPUTE


def test_the_worker_that_computed_computes_again_while_it_qualifies() -> None:
    """connect-groups rule 16: also after a load."""
    world = World.settled({"W2": "AC0"})
    world.join("W1", connection=3)
    assert world.chosen() == "W2"
    world.restart()
    assert world.chosen() == "W2"
    world.beat("W2", 1)
    world.compute("W2", 1, {"W2": "AC0"})
    world.join("W3", connection=3, client_assignors=[assignor(low=0, high=2)])
    assert world.chosen() == "W3"


# -- rule 17 ----------------------------------------------------------------------------------------------------------


def test_the_chosen_worker_is_told_until_it_installs_and_goes_on_reconciling() -> None:
    """connect-groups rule 17: all else in the answer is valid beside COMPUTE_ASSIGNMENT."""
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


# -- rule 18 ----------------------------------------------------------------------------------------------------------


def test_what_prepare_tells() -> None:
    """connect-groups rule 18: members with metadata, url, epoch and target; what exists; who departed; the delay."""
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
    """connect-groups rule 18: an install of the first one's epoch is not valid any more."""
    world = World()
    world.join("W1")
    first = world.prepare("W1", 0)
    world.join("W2", connection=2)
    second = world.prepare("W1", 0)
    assert (first.group_epoch, second.group_epoch) == (1, 2)
    assert world.install("W1", 0, 1, {"W1": "AC0"}) is INVALID
    assert world.install("W1", 0, 2, {"W1": "AC0", "W2": "BC0"}) is ErrorCode.NONE


def test_a_second_prepare_asks_anew_who_computes() -> None:
    """connect-groups rules 16, 18: W1 does not read all versions any more."""
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
    """connect-groups rules 18, 20, 21: all workers exist, everything once, nothing that does not exist."""
    world = World()
    world.join("W1", config_offset=1, configured_connectors_and_tasks=packed("AC0 BC0"))
    world.join("W2", connection=2)
    world.prepare("W1", 0)
    before = world.table()
    assert world.install("W1", 0, 2, targets, delay_ms) is INVALID
    assert world.table() == before
    assert world.chosen() == "W2", "W1 is excluded for this input"


def test_an_assignment_is_judged_by_what_it_was_made_from() -> None:
    """connect-groups rule 18: who left since is dropped, what was deleted since is taken out, and the epoch is the
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
    """connect-groups rules 18, 21: nobody but this assignment knows of BC0."""
    world = World.settled({"W1": "AC0 BC0"})
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.prepare("W1", 1)
    world.beat("W2", -1, connection=2)
    assert world.install("W1", 1, 2, {"W1": "AC0", "W2": "BC0"}) is ErrorCode.NONE
    given = world.prepare("W1", 1)
    assert [(each.member_id, text(unpack(each.connectors_and_tasks))) for each in given.departed] == [("W2", "BC0")]


def test_a_doubled_install_is_answered_0() -> None:
    """connect-groups rule 18: same member, same epoch, and nothing changes."""
    world = World()
    world.join("W1")
    world.compute("W1", 0, {"W1": "AC0"})
    with world.nothing_changes():
        assert world.install("W1", 0, 1, {"W1": "AC0"}) is ErrorCode.NONE
        assert world.install("W1", 0, 1, {"W1": "BC0"}) is ErrorCode.NONE
        assert world.install("W1", 0, 2, {"W1": "AC0"}) is UNKNOWN


def test_an_install_that_comes_after_it_was_given_up_is_no_doubled_one() -> None:
    """connect-groups rules 18, 20: the epoch counts as assigned by an error, not by what it brings."""
    world = World.settled({"W1": "AC0"})
    world.beat("W1", 1, client_assignors=[assignor(reason=1)])
    world.prepare("W1", 1)
    world.live(REBALANCE_MS, "W1")
    assert world.group.error == AssignmentError.NO_WORKER_LEFT
    with world.nothing_changes():
        assert world.install("W1", world.member("W1").epoch, 2, {"W1": "AC0 BC0"}) is UNKNOWN


# -- rules 19 and 20 --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "epoch", "error"),
    [("W1", 1, FENCED), ("W2", 0, UNKNOWN), ("W9", 0, UNKNOWN)],
)
def test_who_may_not_prepare_or_install_stays_what_it_is(member: str, epoch: int, error: ErrorCode) -> None:
    """connect-groups rule 19"""
    world = World()
    world.join("W1")
    world.join("W2", connection=2)
    with world.nothing_changes():
        assert world.prepare(member, epoch, connection=2).error_code == error
        assert world.install(member, epoch, 2, {}, connection=2) is error
    assert world.beat("W1", 0).error is COMPUTE


def test_install_before_prepare() -> None:
    """connect-groups rule 18: it must name the frozen epoch, and there is none."""
    world = World()
    world.join("W1")
    with world.nothing_changes():
        assert world.install("W1", 0, 1, {"W1": "AC0"}) is INVALID
    assert world.chosen() == "W1"


@pytest.mark.parametrize("fault", ["error", "invalid", "silence"])
def test_who_fails_is_excluded_and_the_next_is_chosen_at_once(fault: str) -> None:
    """connect-groups rule 20: until nobody is left; then the target stays, and the group tries again after a while."""
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
    """connect-groups rule 20: 1 s to 60 s."""
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
    """connect-groups rule 20: it is excluded for that input alone."""
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
    """connect-groups rule 20, 28: it leaves, its session ends, it is put out, or away."""
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


# -- rule 23 ----------------------------------------------------------------------------------------------------------


def test_the_server_computes_in_the_step_that_asks_for_it() -> None:
    """connect-groups rule 23: nobody hears COMPUTE_ASSIGNMENT."""
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
    """connect-groups rule 23: an error without retries, until somebody says what exists, be that nothing."""
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
    """connect-groups rules 20, 23: the shard lives, the target stays, and it is tried again."""
    world = World(attrs.evolve(SETTINGS, assignors=tuple(broken(how))))
    told = world.join("W1", server_assignor="broken", config_offset=1, configured_connectors_and_tasks=packed("AC0"))
    assert told.brief == (0, "")
    assert world.group.error == AssignmentError.ASSIGNOR_FAILED
    assert world.group.error_message is not None
    assert world.group.error_message.startswith("assignor broken ")
    world.pass_ms(1_000)
    assert world.group.reason == "assignment tried again"


def test_what_the_assignor_says_to_a_member_reaches_it() -> None:
    """The draft: the assignment's version and metadata."""
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
