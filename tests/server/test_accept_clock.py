"""Is a connection that waited while its process stood still as old as it is?"""

from __future__ import annotations

import asyncio
import socket
import time

from kcoord.group.state.connection_opening import Opening
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.undecoded_call import Call
from kcoord.server.clock import monotonic_ms
from kcoord.server.connections.connection import ClientSession, Connection
from kcoord.server.server import Limits, Server

STOOD_MS = 400


class Nothing:
    """Nobody stands behind the connections."""

    authenticated_at_once = True

    def __init__(self) -> None:
        self.turns = TurnQueue()

    def session(self, connection: Connection) -> ClientSession | None:
        return None

    def check(self, api_key: int, api_version: int) -> None: ...

    def dispatch(self, connection: Connection, call: Call) -> None: ...


async def until(server: Server, number: int) -> list[Opening]:
    while len([each for each in server._connections if each._transport is not None]) < number:
        await asyncio.sleep(0)
    found = [connection.opened for connection in server._connections]
    return sorted([each for each in found if each is not None], key=lambda each: each.number)


async def test_a_connection_is_as_old_as_the_standstill_that_it_waited_for() -> None:
    """Two ports: which of two connections came first, nobody can say after a standstill; by one port the numbers do."""
    server = Server(Limits(1_000, 1_000, 10, 10, 60_000), Nothing())
    ports = [await server.listen("127.0.0.1", 0) for _ in range(2)]
    with socket.create_connection(("127.0.0.1", ports[0])):
        (calm,) = await until(server, 1)
        made: list[int] = []
        with socket.socket() as first, socket.socket() as second, socket.socket() as third:
            for each, port in ((first, ports[1]), (second, ports[0]), (third, ports[0])):
                each.connect(("127.0.0.1", port))
                made.append(monotonic_ms())
            time.sleep(STOOD_MS / 1000)  # the loop stands still, as under SIGSTOP; the kernel connects
            awake_ms = monotonic_ms()
            opened = (await until(server, 4))[1:]
            assert all(each.since_ms <= min(made) <= max(made) < awake_ms <= each.by_ms for each in opened)
            by_port = {each.listener: each for each in opened}
            assert by_port[0].order(by_port[1]).name == "UNSURE"
            assert [each.number for each in opened] == sorted(each.number for each in opened)
            assert calm.by_ms < awake_ms
    await server.close_listeners()
    await server.close_connections()
