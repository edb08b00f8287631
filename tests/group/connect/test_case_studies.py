"""Do the three case studies come out row by row, but for what cannot hold? (CG-32)

They are of the draft KIP that connect groups come from (docs/decisions/0035-errata-of-the-draft.md). The corrections: a
worker stays at its old epoch until it owns its whole target (CG-10), so W2 is at 0, not at 1, before its first grant;
the worker that bounces finds its target waiting (CG-22).
"""

from __future__ import annotations

from kcoord.protocol.errors import ErrorCode
from tests.group.connect.world import DELAY_MS, SESSION_MS, World

ALL = "AC0 AT1 AT2 BC0 BT1"
COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT


def test_an_empty_group_gets_its_first_and_its_second_worker() -> None:
    world = World()
    told = world.join("W1")
    assert (told.error, told.brief) == (COMPUTE, (0, ""))
    assert world.table() == (1, 0, {}, {"W1": (0, "")})

    world.compute("W1", 0, {"W1": ALL})
    assert world.table() == (1, 1, {"W1": ALL}, {"W1": (0, "")})

    assert world.beat("W1", 0).brief == (1, ALL)
    assert world.table() == (1, 1, {"W1": ALL}, {"W1": (1, ALL)})

    assert world.join("W2", connection=2).brief == (0, "")
    assert world.table() == (2, 1, {"W1": ALL}, {"W1": (1, ALL), "W2": (0, "")})

    assert world.beat("W1", 1, ALL).error is COMPUTE
    world.compute("W1", 1, {"W1": "AC0 AT1 AT2", "W2": "BC0 BT1"})
    targets = {"W1": "AC0 AT1 AT2", "W2": "BC0 BT1"}
    assert world.table() == (2, 2, targets, {"W1": (1, ALL), "W2": (0, "")})

    assert world.beat("W2", 0, connection=2).brief == (0, "")
    assert world.beat("W1", 1).brief == (1, "AC0 AT1 AT2")
    assert world.beat("W1", 1, "AC0 AT1 AT2").brief == (2, "AC0 AT1 AT2")
    assert world.table() == (2, 2, targets, {"W1": (2, "AC0 AT1 AT2"), "W2": (0, "")})

    assert world.beat("W2", 0, connection=2).brief == (2, "BC0 BT1")
    assert world.table() == (2, 2, targets, {"W1": (2, "AC0 AT1 AT2"), "W2": (2, "BC0 BT1")})


TARGETS = {"W1": "AC0 AT1", "W2": "BC0 BT1", "W3": "AT2"}


def three_workers() -> World:
    """W1, W2 and W3 have converged, all at one epoch."""
    world = World()
    world.join("W3", connection=3)
    world.join("W1", connection=1)
    world.join("W2", connection=2)
    world.beat("W3", 0, connection=3)
    prepared = world.prepare("W3", 0, connection=3)
    assert world.install("W3", 0, prepared.group_epoch, TARGETS, connection=3) is ErrorCode.NONE
    for number, owned in ((1, TARGETS["W1"]), (2, TARGETS["W2"]), (3, TARGETS["W3"])):
        assert world.beat(f"W{number}", 0, connection=number).brief == (3, owned)
    assert world.table() == (3, 3, TARGETS, {member: (3, owned) for member, owned in sorted_as(world, TARGETS)})
    return world


def sorted_as(world: World, targets: dict[str, str]) -> list[tuple[str, str]]:
    return [(member, targets[member]) for member in world.currents()]


def w2_is_gone() -> World:
    """W2 has not been heard of for its session; W1 and W3 have, and W3 has left its work where it was."""
    world = three_workers()
    world.pass_ms(SESSION_MS - 1)
    for number in (1, 3):
        world.beat(f"W{number}", 3, connection=number)
    world.pass_ms(1)
    assert world.table() == (4, 3, TARGETS, {"W3": (3, "AT2"), "W1": (3, "AC0 AT1")})
    assert world.group.reason == "session expired: W2"

    assert world.chosen() == "W3"
    prepared = world.prepare("W3", 3, connection=3)
    assert [each.member_id for each in prepared.departed] == ["W2"]
    assert prepared.remaining_delay_ms == -1
    kept = {"W1": "AC0 AT1", "W3": "AT2"}
    assert world.install("W3", 3, 4, kept, delay_ms=DELAY_MS, connection=3) is ErrorCode.NONE
    assert world.table() == (4, 4, TARGETS, {"W3": (3, "AT2"), "W1": (3, "AC0 AT1")})

    assert world.beat("W1", 3, connection=1).brief == (4, "AC0 AT1")
    assert world.beat("W3", 3, connection=3).brief == (4, "AT2")
    assert world.table() == (4, 4, TARGETS, {"W3": (4, "AT2"), "W1": (4, "AC0 AT1")})
    return world


def keep_alive(world: World, ms: int, epoch: int, *members: str) -> None:
    """Let time pass while these workers heartbeat."""
    for _ in range(ms // 1_000):
        world.pass_ms(1_000)
        for member in members:
            assert not world.beat(member, epoch, connection=int(member[1])).response.assignment


def test_a_worker_leaves_for_good() -> None:
    world = w2_is_gone()
    keep_alive(world, DELAY_MS - 1_000, 4, "W1", "W3")
    world.pass_ms(1_000)
    assert world.table() == (5, 4, TARGETS, {"W3": (4, "AT2"), "W1": (4, "AC0 AT1")})
    assert world.group.reason == "rebalance delay over"

    assert world.beat("W3", 4, connection=3).error is COMPUTE
    prepared = world.prepare("W3", 4, connection=3)
    assert prepared.remaining_delay_ms == 0
    after = {"W1": "AC0 AT1 BC0", "W3": "AT2 BT1"}
    assert world.install("W3", 4, 5, after, connection=3) is ErrorCode.NONE
    assert world.table() == (5, 5, after, {"W3": (4, "AT2"), "W1": (4, "AC0 AT1")})

    assert world.beat("W1", 4, connection=1).brief == (5, "AC0 AT1 BC0")
    assert world.beat("W3", 4, connection=3).brief == (5, "AT2 BT1")
    assert world.table() == (5, 5, after, {"W3": (5, "AT2 BT1"), "W1": (5, "AC0 AT1 BC0")})


def test_a_worker_bounces() -> None:
    world = w2_is_gone()
    assert world.beat("W2", 3, "BC0 BT1", connection=4).error is ErrorCode.UNKNOWN_MEMBER_ID
    told = world.join("W2", connection=4)
    assert told.brief == (4, "BC0 BT1")
    assert world.table()[:3] == (5, 4, TARGETS)

    assert world.beat("W3", 4, connection=3).error is COMPUTE
    prepared = world.prepare("W3", 4, connection=3)
    assert prepared.departed == []
    assert world.install("W3", 4, 5, TARGETS, connection=3) is ErrorCode.NONE
    for number in (1, 2, 3):
        connection = 4 if number == 2 else number
        assert world.beat(f"W{number}", 4, connection=connection).brief == (5, TARGETS[f"W{number}"])
    assert world.table() == (5, 5, TARGETS, {"W3": (5, "AT2"), "W1": (5, "AC0 AT1"), "W2": (5, "BC0 BT1")})
