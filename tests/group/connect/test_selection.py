"""Which assignor computes, and in which worker? (CG-15, CG-16)"""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import pytest

from kcoord.group.connect.computing import AssignmentError
from kcoord.group.connect.selection import leaves_nobody, server_side
from kcoord.group.modern.client_assignors import common_assignor, qualified
from kcoord.group.state.groups.assignor_support import Support, Supports, support_of
from kcoord.group.state.groups.connect_group import Metadata
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_worker_group_member_metadata_value import Assignor
from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, World, assignor, packed

COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT
UNSUPPORTED = ErrorCode.UNSUPPORTED_ASSIGNOR

# -- CG-15 and CG-16: tables ------------------------------------------------------------------------------------------


def says(listed: str, server: str | None = None) -> Metadata:
    """`"eager cooperative:1-5"`: what a worker lists, with version ranges (0-1 where none is given)."""
    assignors = []
    for each in listed.split():
        name, _, versions = each.partition(":")
        low, _, high = (versions or "0-1").partition("-")
        assignors.append(Assignor(name, int(low), int(high), 0, int(high), b""))
    return Metadata(assignors=assignors, server_assignor=server)


def kinds(all_metadata: Iterable[Metadata]) -> dict[Support, int]:
    """How many say what."""
    return Supports.of([(str(at), said) for at, said in enumerate(all_metadata)]).kinds()


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
    """CG-15: first for most among the common ones, ties by name."""
    assert common_assignor(kinds(says(each) for each in lists)) == name


@pytest.mark.parametrize(
    ("votes", "name"),
    [([None], "u"), (["c"], "c"), (["c", "u"], "u"), (["c", "c", "u"], "c"), (["gone"], "u"), ([None, "c"], "c")],
)
def test_the_server_side_assignor(votes: list[str | None], name: str) -> None:
    """CG-15: the one that most ask for; ties, and nobody asking, by the server's order."""
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
    """CG-16: whose range contains everybody's, as A's [1-5] beside B's [3-4] and C's [2-4]."""
    members = []
    for each in ranges:
        low, _, high = each.rpartition("-")
        members.append(attrs.evolve(says("a"), assignors=[Assignor("a", int(low), int(high), 0, 0, b"")]))
    assert qualified(kinds(members), "a") == {support_of(members[each]) for each in able}
    assert leaves_nobody(kinds(members)) is not bool(able)


# -- CG-15: in a group ------------------------------------------------------------------------------------------------


def test_setting_one_kind_of_assignor_clears_the_other() -> None:
    """CG-15: and the merged member is judged."""
    world = World()
    world.join("W1")
    world.beat("W1", 0, server_assignor="cooperative")
    said = world.member("W1").metadata
    assert (said.server_assignor, said.assignors) == ("cooperative", [])
    world.beat("W1", 0, client_assignors=[assignor("eager")])
    said = world.member("W1").metadata
    assert (said.server_assignor, [each.name for each in said.assignors]) == (None, ["eager"])


def test_a_join_says_all_and_a_heartbeat_what_has_changed() -> None:
    """CG-6, CG-15: what a join leaves out the worker does not use."""
    world = World()
    world.join("W1", url="http://w1")
    world.beat("W1", 0)
    said = world.member("W1").metadata
    assert (said.url, len(said.assignors)) == ("http://w1", 1)
    world.join("W1", client_assignors=None, server_assignor="uniform")
    said = world.member("W1").metadata
    assert (said.url, said.assignors, said.server_assignor) == (None, [], "uniform")
    world.join("W1", client_assignors=None, server_assignor=None)
    assert world.member("W1").metadata.server_assignor is None


@pytest.mark.parametrize("how", ["join", "beat", "rejoin"])
def test_an_assignor_that_the_server_does_not_have(how: str) -> None:
    """CG-15, CG-16: UNSUPPORTED_ASSIGNOR, and nothing changes."""
    world = World.settled({"W1": "AC0"})
    with world.nothing_changes():
        if how == "beat":
            told = world.beat("W1", 1, server_assignor="range")
        else:
            told = world.join("W1" if how == "rejoin" else "W2", server_assignor="range")
        assert told.error is UNSUPPORTED
        assert "uniform, cooperative" in (told.response.error_message or "")


def test_an_assignor_that_is_taken_away_does_not_lock_its_members_out() -> None:
    """CG-15: who asked for it while it was there may go on, and vote for nothing."""
    world = World()
    world.join("W1", server_assignor="cooperative", config_offset=1, configured_connectors_and_tasks=packed("AC0"))
    world.configure(assignors="uniform")
    assert world.beat("W1", 1, url="http://w1").error is ErrorCode.NONE
    assert world.join("W1", server_assignor="cooperative").error is ErrorCode.NONE
    assert world.join("W2", connection=2, server_assignor="cooperative").error is UNSUPPORTED


# -- CG-16: in a group ------------------------------------------------------------------------------------------------


def in_ranges(*ranges: tuple[int, int]) -> World:
    """W1, W2, ... with these version ranges."""
    world = World()
    for at, (low, high) in enumerate(ranges, 1):
        world.join(f"W{at}", connection=at, client_assignors=[assignor(low=low, high=high)])
    return world


def test_the_worker_that_reads_all_is_chosen() -> None:
    """CG-16"""
    world = in_ranges((3, 4), (1, 5), (2, 4))
    assert world.chosen() == "W2"


@pytest.mark.parametrize(
    ("ranges", "joins"), [([(1, 3)], (2, 4)), ([(1, 3), (1, 3)], (3, 5)), ([(1, 5), (1, 3)], (4, 6))]
)
def test_a_join_that_would_leave_no_worker_to_compute_is_refused(
    ranges: list[tuple[int, int]], joins: tuple[int, int]
) -> None:
    """CG-16: UNSUPPORTED_ASSIGNOR, and nothing changes."""
    world = in_ranges(*ranges)
    with world.nothing_changes():
        told = world.join("W9", connection=9, client_assignors=[assignor(low=joins[0], high=joins[1])])
        assert told.error is UNSUPPORTED


def test_a_change_of_range_that_would_leave_no_worker_to_compute_is_refused() -> None:
    """CG-16: also when another has that range already."""
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
    """CG-16: where nobody knows what exists; `describe` shows it, and it is not tried again."""
    world = left_without()
    assert world.chosen() is None
    assert world.group.error == AssignmentError.NO_WORKER_QUALIFIES
    assert "no worker reads all versions of assignor cooperative" in (world.describe().assignment_error_message or "")
    assert world.targets()["W2"] == "AC0"
    world.live(REBALANCE_MS, "W2", "W3")
    assert world.group.epoch == 4


def test_without_a_worker_that_reads_all_the_server_computes_where_it_knows_what_exists() -> None:
    """CG-16: by the server-side `cooperative`."""
    world = left_without()
    world.beat("W2", 0, connection=2, config_offset=1, configured_connectors_and_tasks=packed("AC0 BC0"))
    assert world.group.error == 0
    assert (world.group.assignor, world.group.computed_by) == ("cooperative", None)
    world.restart()
    world.pass_ms(INTERVAL_MS)
    assert world.group.placed.is_followed, "rules hold where the coordinator computes, after a load too"


def test_who_makes_it_no_worse_may_join() -> None:
    """CG-16: nobody could compute before either; a worker of before must be able to return."""
    world = left_without()
    assert world.join("W4", connection=4, client_assignors=[assignor(low=1, high=3)]).error is ErrorCode.NONE
    assert world.join("W5", connection=5, client_assignors=[assignor(low=1, high=5)]).error is COMPUTE


def test_the_worker_that_computed_computes_again_while_it_qualifies() -> None:
    """CG-16: also after a load."""
    world = World.settled({"W2": "AC0"})
    world.join("W1", connection=3)
    assert world.chosen() == "W2"
    world.restart()
    assert world.chosen() == "W2"
    world.beat("W2", 1)
    world.compute("W2", 1, {"W2": "AC0"})
    world.join("W3", connection=3, client_assignors=[assignor(low=0, high=2)])
    assert world.chosen() == "W3"
