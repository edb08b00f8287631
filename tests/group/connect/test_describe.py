"""What do people see of a connect group, now and in its history? (Describe, record 10; CG-13)"""

from __future__ import annotations

from kcoord.group.connect.member_metadata import MOST_TROUBLE_CHARS
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_describe_response import DescribedGroup, Member
from kcoord.protocol.messages import ListGroupsRequest, ListGroupsResponse
from kcoord.protocol.resources import unpack
from tests.group.connect.world import DELAY_MS, INTERVAL_MS, REBALANCE_MS, SESSION_MS, World, assignor, packed, text


def standing(member: Member) -> tuple[str, str, str, str, str]:
    """State, owned, target, waits for, to release."""
    return (
        member.state,
        text(unpack(member.owned)),
        text(unpack(member.target)),
        text(unpack(member.waiting_for)),
        text(unpack(member.to_release)),
    )


def states(world: World) -> tuple[str, ...]:
    described = world.describe()
    return (described.group_state, *[standing(member)[0] for member in described.members])


def test_a_group_that_is_not_there() -> None:
    described = World().describe()
    assert described == DescribedGroup(
        ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.", "g", group_state="Dead", group_epoch=0
    )


def test_the_states_of_a_group_and_its_members() -> None:
    """Empty, Assigning, Reconciling, Stable; of a member Stable, Releasing, Waiting, Away, PutOut."""
    world = World()
    world.join("W1", instance_id="i")
    assert states(world) == ("Assigning", "Stable")
    world.compute("W1", 0, {"W1": "AC0 AT1"})
    assert states(world) == ("Reconciling", "Waiting")
    world.beat("W1", 0)
    assert states(world) == ("Stable", "Stable")
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.compute("W1", 1, {"W1": "AC0", "W2": "AT1 BC0"})
    world.beat("W1", 1)
    world.beat("W2", 0, connection=2)
    assert states(world) == ("Reconciling", "Releasing", "Waiting")
    one, two = world.describe().members
    assert standing(one) == ("Releasing", "AC0 AT1", "AC0", "", "AT1")
    assert standing(two) == ("Waiting", "BC0", "AT1 BC0", "AT1", "")
    world.live(REBALANCE_MS, "W2")
    assert set(world.group.members) == {"W2"}, "its session ended first"
    world.restart()
    world.beat("W2", 0, connection=2)
    world.beat("W2", world.member("W2").epoch, connection=2)
    world.beat("W2", -1, connection=2)
    assert states(world) == ("Empty",)


def test_who_is_away_or_was_put_out() -> None:
    world = World.settled({"W1": "AC0 AT1", "W2": ""}, instance_id=None)
    world.beat("W1", 2, client_assignors=[assignor(data=b"x")])
    world.compute("W1", 2, {"W1": "AC0", "W2": "AT1"})
    world.beat("W1", 2)
    world.live(REBALANCE_MS - INTERVAL_MS, "W2", W1="AC0 AT1")
    world.pass_ms(INTERVAL_MS)
    assert states(world) == ("Assigning", "PutOut", "Waiting")
    (gone,) = world.describe().departed
    assert (gone.member_id, text(unpack(gone.connectors_and_tasks))) == ("W1", "AC0")

    world = World.settled({"W1": "AC0"}, instance_id="i")
    world.beat("W1", -2, instance_id="i")
    assert states(world) == ("Reconciling", "Away")


def test_all_that_describe_tells() -> None:
    world = World()
    world.join("W1", url="http://w1", config_offset=4, configured_connectors_and_tasks=packed("AC0 BC0"))
    world.join("W2", connection=2, instance_id="i2", rebalance_timeout_ms=7_000)
    assert world.describe().computing_member_id == "W1"
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "AC0", "W2": "BC0"})
    world.beat("W1", 0)
    world.beat("W2", 0, connection=2)
    world.beat("W2", -1, connection=2)
    world.beat("W1", 2)
    world.compute("W1", 2, {"W1": "AC0"}, delay_ms=DELAY_MS)
    described = world.describe()
    assert (described.error_code, described.group_id) == (0, "g")
    assert (described.group_epoch, described.assignment_epoch, described.assignor_name) == (3, 3, "cooperative")
    assert (described.computing_member_id, described.assignment_error) == (None, 0)
    assert (described.config_offset, text(unpack(described.configured or []))) == (4, "AC0 BC0")
    assert described.remaining_delay_ms == DELAY_MS
    (member,) = described.members
    assert (member.member_id, member.instance_id, member.url) == ("W1", None, "http://w1")
    assert (member.client_id, member.client_host, member.member_epoch) == ("w", "/10.0.0.1", 2)
    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == (REBALANCE_MS, SESSION_MS)
    (gone,) = described.departed
    assert (gone.member_id, gone.instance_id, text(unpack(gone.connectors_and_tasks))) == ("W2", "i2", "BC0")


def test_describing_changes_nothing() -> None:
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.beat("W1", 2, client_assignors=[assignor(reason=1)])
    with world.nothing_changes():
        world.describe()
        world.ask(ListGroupsRequest(), ListGroupsResponse)


def test_an_assignment_error_is_shown_until_there_is_an_assignment() -> None:
    """CG-16, CG-20"""
    world = World.settled({"W1": "AC0"})
    world.beat("W1", 1, client_assignors=[assignor(reason=1)])
    world.prepare("W1", 1)
    world.install("W1", 1, 2, {}, error=7)
    described = world.describe()
    assert described.assignment_error
    assert described.assignment_error_message == "every worker that could run assignor cooperative has failed: W1"
    world.restart()
    assert world.describe().assignment_error == described.assignment_error
    world.pass_ms(1_000)
    assert world.beat("W1", 1, "AC0").epoch == 2, "the epoch counts as assigned"
    world.compute("W1", 2, {"W1": "AC0"})
    assert world.describe().assignment_error == 0


def test_history_tells_why_when_what_moved_and_how_long_it_took() -> None:
    """Record 10: one entry for each group epoch."""
    world = World.settled({"W1": "AC0 AT1 BC0"})
    world.pass_ms(1_000)
    bumped_ms = world.wall_ms
    world.join("W2", connection=2)
    world.beat("W1", 1)
    world.pass_ms(500)
    world.compute("W1", 1, {"W1": "AC0", "W2": "AT1 CC0"})
    world.beat("W1", 1)
    world.pass_ms(500)
    world.beat("W1", 1, "AC0")
    world.beat("W2", 0, connection=2)
    first, second = world.describe().history
    assert (first.epoch, first.reason) == (1, "worker joined: W1")
    assert [(each.from_, each.to, text(unpack(each.connectors_and_tasks))) for each in first.moves] == [
        ("", "W1", "AC0 AT1 BC0")
    ]
    assert (second.epoch, second.reason, second.timestamp_ms) == (2, "worker joined: W2", bumped_ms)
    assert (second.installed_ms, second.converged_ms) == (bumped_ms + 500, bumped_ms + 1_000)
    assert second.moved_count == 3
    assert [(each.from_, each.to, text(unpack(each.connectors_and_tasks))) for each in second.moves] == [
        ("", "W2", "CC0"),
        ("W1", "", "BC0"),
        ("W1", "W2", "AT1"),
    ]
    world.restart(compacted=True)
    assert world.describe().history == [first, second]


def test_an_epoch_that_was_never_assigned_says_so() -> None:
    world = World()
    world.join("W1")
    world.join("W2", connection=2)
    world.compute("W1", 0, {"W1": "AC0"})
    first, second = world.describe().history
    assert (first.installed_ms, first.converged_ms, second.converged_ms) == (-1, -1, -1)
    assert second.installed_ms == world.wall_ms


def test_the_last_hundred_epochs_are_kept() -> None:
    """Record 10: by tombstones, so that compaction forgets the others."""
    world = World.settled({"W1": "AC0"})
    for reason in range(110):
        world.beat("W1", 1, client_assignors=[assignor(reason=1 + reason % 2)])
    assert [entry.epoch for entry in world.describe().history] == list(range(12, 112))
    world.restart(compacted=True)
    assert [entry.epoch for entry in world.describe().history] == list(range(12, 112))


def test_a_big_move_is_counted_in_full_and_told_in_part() -> None:
    """A record has a size."""
    world = World()
    world.join("W1")
    world.compute("W1", 0, {"W1": " ".join(f"AT{task}" for task in range(700))})
    (entry,) = world.describe().history
    assert entry.moved_count == 700
    assert sum(len(unpack(move.connectors_and_tasks)) for move in entry.moves) == 500


def test_list_groups_tells_the_type_and_the_state() -> None:
    world = World.settled({"W1": "AC0"})
    (listed,) = world.ask(ListGroupsRequest(), ListGroupsResponse).groups
    assert (listed.group_id, listed.group_type, listed.protocol_type, listed.group_state) == (
        "g",
        "connect",
        "connect",
        "Stable",
    )


# -- the group's own settings -----------------------------------------------------------------------------------------


def test_settings_hold_from_the_next_heartbeat_and_outlive_a_load() -> None:
    """Record 8."""
    world = World.settled({"W1": "AC0"})
    world.configure(heartbeat_interval_ms="2000", session_timeout_ms="20000")
    assert world.beat("W1", 1).response.heartbeat_interval_ms == 2_000
    world.restart(compacted=True)
    response = world.beat("W1", 1, "AC0", connection=2).response
    assert (response.heartbeat_interval_ms, response.session_timeout_ms) == (2_000, 20_000)
    world.configure()
    assert world.beat("W1", 1, connection=2).response.heartbeat_interval_ms == INTERVAL_MS
    assert world.shard.config("g") == {}


def test_the_order_of_assignors_is_the_groups_own() -> None:
    """CG-15: by the server's order, which a group may override."""
    world = World()
    world.configure(assignors="cooperative,uniform")
    world.join("W1", client_assignors=[], config_offset=1, configured_connectors_and_tasks=packed("AC0"))
    assert world.group.assignor == "cooperative"


def test_what_a_worker_says_that_goes_wrong_is_shown_and_moves_nothing() -> None:
    world = World.settled({"W1": "AC0", "W2": "AT1"})
    epoch = world.describe().group_epoch

    def shown() -> list[str | None]:
        return [each.trouble for each in world.describe().members]

    world.beat("W1", epoch, trouble="on_assigned failed for AC0: ValueError: no such file")
    assert shown() == ["on_assigned failed for AC0: ValueError: no such file", None]
    world.restart()
    assert shown() == ["on_assigned failed for AC0: ValueError: no such file", None], "it stands in the log"
    world.beat("W1", epoch)
    assert shown() == ["on_assigned failed for AC0: ValueError: no such file", None], "null: as before"
    world.beat("W2", epoch, connection=2, trouble="no" * MOST_TROUBLE_CHARS)
    assert shown()[1] == "no" * (MOST_TROUBLE_CHARS // 2), "it is cut"
    world.beat("W1", epoch, trouble="")
    assert shown()[0] is None
    world.join("W2", connection=3)
    assert shown()[1] is None, "a worker that joins again starts with a clean slate"
    described = world.describe()
    assert (described.group_epoch, described.assignment_epoch, described.group_state) == (epoch, epoch, "Stable")
