"""Does a shard know which members' connections have closed? (CM-19, CM-20 and CM-23 ask.)"""

from __future__ import annotations

from kcoord.group.shard import Shard
from kcoord.group.state.connections import PRUNED_FROM, Connections
from tests.group.connect.world import World


def close(world: World, connection: int) -> None:
    world._keep(world.shard.closed(connection, world.now_ms, world.wall_ms))


def is_closed(shard: Shard, connection: int) -> bool:
    return shard.state.is_closed(connection)


def test_a_members_connection_is_closed_when_that_was_told() -> None:
    world = World()
    world.join("w1", connection=3)
    assert world.shard.knows_connection(3)
    assert not is_closed(world.shard, world.member("w1").connection)
    close(world, 3)
    assert is_closed(world.shard, world.member("w1").connection)
    assert not world.shard.knows_connection(3)
    world.beat("w1", 0, connection=4)
    assert not is_closed(world.shard, world.member("w1").connection), "it came again by another"


def test_what_is_held_for_a_closed_connection_is_let_go_of() -> None:
    world = World()
    world.join("w1", connection=3)
    world.compute("w1", 0, {"w1": "AC0"}, connection=3)
    world.beat("w1", 0, connection=3)
    held = world.send_beat("w1", 1, connection=3, max_wait_ms=900)
    assert held not in world.answers
    close(world, 3)
    assert held in world.answers


def test_connections_that_brought_nothing_here_are_not_noted() -> None:
    world = World()
    close(world, 9)
    assert not is_closed(world.shard, 9)
    assert not is_closed(world.shard, -1), "a member whose connection is not known may be there"


def test_after_a_load_nothing_counts_as_closed() -> None:
    world = World()
    world.join("w1", connection=3)
    close(world, 3)
    world.restart()
    assert not is_closed(world.shard, 3)


def test_what_is_remembered_is_bounded_by_the_members() -> None:
    world = World()
    world.join("w1", connection=1)
    close(world, 1)
    for connection in range(2, 5 * PRUNED_FROM):
        world.describe()
        world.shard.state.connections.use(connection)
        close(world, connection)
    assert len(world.shard.state.connections._closed) <= PRUNED_FROM
    assert is_closed(world.shard, 1), "its member is here still"


def test_many_members_of_closed_connections_are_all_remembered() -> None:
    members = range(10 * PRUNED_FROM)
    connections = Connections(lambda: members)
    for connection in members:
        connections.use(connection)
        assert connections.close(connection)
        assert not connections.close(connection)
    assert all(connections.is_closed(connection) for connection in members)
