"""Which of a member's connections is its newest, where they end at several instances? (CG-4)

Connection 1 ends at the owner, 7 and 9 at another instance; their numbers are those in the order of which the owner
heard of them, which says nothing.
"""

from __future__ import annotations

import pytest

from kcoord.group.state.connection_opening import Opening, Order
from kcoord.protocol.errors import ErrorCode
from tests.group.connect.test_ownership import handing_over, owns
from tests.group.connect.world import INTERVAL_MS, World

FENCED, NOT_COORDINATOR = ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.NOT_COORDINATOR


def here(number: int, at_ms: int, listener: int = 0) -> Opening:
    return Opening("", listener, number, at_ms, at_ms)


def elsewhere(number: int, since_ms: int, by_ms: int) -> Opening:
    return Opening("another", 0, number, since_ms, by_ms)


@pytest.mark.parametrize(
    ("this", "other", "order"),
    [
        (here(2, 50), here(1, 90), Order.NEWER),
        (here(1, 90), here(2, 50), Order.OLDER),
        (here(2, 50), here(2, 50), Order.SAME),
        (here(2, 91), here(1, 90, listener=1), Order.NEWER),
        (here(2, 50), here(1, 90, listener=1), Order.OLDER),
        (elsewhere(1, 91, 95), here(9, 90), Order.NEWER),
        (elsewhere(9, 80, 89), here(1, 90), Order.OLDER),
        (elsewhere(9, 80, 90), here(1, 90), Order.UNSURE),
        (elsewhere(9, 90, 95), here(1, 90), Order.UNSURE),
        (elsewhere(2, 0, 500), elsewhere(1, 0, 500), Order.NEWER),
    ],
)
def test_two_connections(this: Opening, other: Opening, order: Order) -> None:
    opposite = {Order.NEWER: Order.OLDER, Order.OLDER: Order.NEWER}
    assert this.order(other) is order
    assert other.order(this) is opposite.get(order, order)


def test_a_join_that_lay_in_another_instance_frees_nothing() -> None:
    """W1 runs AC0 and AT1, which W2 waits for. Long ago it had sent a join to an instance that stood still, and gone
    elsewhere; that join comes now. It would free AT1 while W1 runs it, and W2 would be given it.
    """
    world = handing_over()
    world.member("W1").opened = here(1, 500_000)
    world.opened[9] = elsewhere(3, 400_000, 400_200)
    assert world.join("W1", connection=9).error is FENCED
    assert owns(world, "W1") == "AC0 AT1"
    assert world.beat("W2", 0, connection=2).brief == (0, "")
    assert world.beat("W1", 1, "AC0").brief == (2, "AC0")
    assert world.beat("W2", 0, connection=2).brief == (2, "AT1")


def test_of_two_connections_that_nobody_can_tell_apart_neither_replaces_the_other() -> None:
    """The sender is told to connect once more, and that connection is newer."""
    world = handing_over()
    world.member("W1").opened = here(1, 500_000)
    world.opened[9] = elsewhere(3, 499_900, 500_100)
    world.opened[7] = elsewhere(4, 500_150, 500_300)
    with world.nothing_changes():
        assert world.join("W1", connection=9).error is NOT_COORDINATOR
        assert world.beat("W1", 1, "AC0", connection=9).error is NOT_COORDINATOR
        assert world.beat("W1", -1, connection=9).error is NOT_COORDINATOR
    assert world.prepare("W1", 1, connection=9).error_code == NOT_COORDINATOR
    assert world.install("W1", 1, 2, {"W1": "AC0"}, connection=9) is NOT_COORDINATOR
    assert world.beat("W1", 1, connection=7).brief == (1, "AC0")
    assert world.member("W1").connection == 7


def test_what_was_connected_before_a_load_must_connect_anew() -> None:
    """The next owner does not know which connection was a member's newest: all of before are of before."""
    world = World.settled({"W1": "AC0 AT1"})
    world.pass_ms(INTERVAL_MS)
    world.restart(lease_ms=5_000)
    loaded_ms = world.now_ms
    for connection, opened in (
        (7, elsewhere(1, loaded_ms - 60_000, loaded_ms - 60_000)),
        (8, elsewhere(2, loaded_ms - 1, loaded_ms + 50)),
        (9, here(3, loaded_ms - 1)),
    ):
        world.opened[connection] = opened
        with world.nothing_changes():
            assert world.join("W1", connection=connection).error is NOT_COORDINATOR
            assert world.beat("W1", 1, connection=connection).error is NOT_COORDINATOR
    world.opened[5] = elsewhere(4, loaded_ms, loaded_ms + 50)
    assert world.beat("W1", 1, connection=5).brief == (1, "AC0 AT1")


def test_where_nobody_else_can_have_the_log_connections_outlive_a_load() -> None:
    """A process that is alone has loaded its log before anybody could connect, or tells by numbers."""
    world = World.settled({"W1": "AC0"})
    world.restart()
    world.opened[7] = here(7, world.now_ms - 10_000)
    assert world.beat("W1", 1, connection=7).brief == (1, "AC0")
