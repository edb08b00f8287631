"""Does a connection always come to rest, with every answer in order, whoever stops reading when? GW-4 on one client
connection and its client session.

The real connection, client session and upstream between sockets that a plan drives by hand: each step lets some bytes
through somewhere. Buffers are so small that every pause happens. At the end of a plan all sockets flow again: whatever
is then still paused, or not answered, was forgotten.

The numbers in test names are those of the rules in `kcoord/server/connections/connection.py`, and rule 5, of small
frames, is that of `kcoord/gateway/session/upstream.py`.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcoord.gateway.session import upstream as upstream_module
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.upstream import Expected, Upstream
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.frame import encode_response_frame
from kcoord.protocol.undecoded_call import Call
from kcoord.server.connections import connection as connection_module
from kcoord.server.connections.connection import Connection
from kcoord.server.connections.held_bytes import HeldBytes

LIST_OFFSETS, METADATA, HEARTBEAT, PRODUCE = 2, 3, 12, 0
"""What passes, what names nodes whose ports must be opened first, what kcoord answers, what nobody answers (acks=0)."""
HIGH, LOW = 200, 40
BATCH = 24


class Socket(asyncio.Transport):
    """One end of a TCP connection, without the connection: bytes wait in `out` until the plan takes them, and in `come`
    until they may be read.
    """

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol = protocol
        self.out, self.come = bytearray(), bytearray()
        self.is_read = True
        self.has_paused = self.closing = self.is_lost = self.at_end = self.has_ended = False

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return len(self.out)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.is_lost:
            return
        self.out += data
        if len(self.out) > HIGH and not self.has_paused:
            self.has_paused = True
            self.protocol.pause_writing()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_ended = True

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = True
        self.out.clear()

    def take(self, count: int) -> bytes:
        """The other end reads."""
        taken = bytes(self.out[:count])
        del self.out[:count]
        if self.has_paused and len(self.out) <= LOW and not self.is_lost:
            self.has_paused = False
            self.protocol.resume_writing()
        return taken

    def deliver(self, count: int) -> bool:
        """What the other end has sent arrives, as far as it is read."""
        if not self.is_read or self.closing:
            return False
        if self.come:
            data = bytes(self.come[:count])
            del self.come[:count]
            self.protocol.data_received(data)
            return True
        if self.at_end:
            self.closing = True
        return False

    def lose(self) -> None:
        """The connection ends as soon as what was written has left."""
        if self.closing and not self.out and not self.is_lost:
            self.is_lost = True
            self.protocol.connection_lost(None)


class Broker:
    """Answers frames in order, as the plan lets it."""

    def __init__(self) -> None:
        self.rest = bytearray()
        self.took: list[int] = []
        self.answers: deque[bytes] = deque()

    def read(self, data: bytes) -> None:
        self.rest += data
        while len(self.rest) >= 12 and len(self.rest) >= 4 + int.from_bytes(self.rest[:4], "big"):
            size, key, version, number = struct.unpack_from(">ihhi", self.rest)
            self.took.append(number)
            del self.rest[: 4 + size]
            if key != PRODUCE:
                self.answers.append(encode_response_frame(key, version, number, bytes(BATCH)))


class World:
    """One client, its connection and client session, and a broker."""

    def __init__(self, kinds: list[int]) -> None:
        self.turns = TurnQueue()
        self.held = HeldBytes(1 << 30, 1 << 30, 1 << 30)
        self.frame_limit = self.unauthenticated_frame_limit = 1 << 20
        self.most_frames_at_once = 0
        self.forgotten = False
        self.calls: deque[tuple[ClientSession, Call]] = deque()
        self.handled: list[int] = []
        self.ports: deque[asyncio.Future[None]] = deque()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.connects: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.broker = Broker()
        self.dialled: Socket | None = None
        gateway = SimpleNamespace(
            now_ms=lambda: 0,
            settings=SimpleNamespace(uses_sasl=False),
            spawn=self.spawn,
            placed=self.placed,
            dial=self.dial,
            read_apis=frozenset({HEARTBEAT}),
            handle=self.handle,
            client_lost=self.client_lost,
            upstream_lost=lambda session, *_: session.client.end(),
            learn_nodes=self.learn,
            passing=lambda _session, _call, deliver: deliver,
        )
        self.gateway = gateway
        self.sessions: list[ClientSession] = []
        self.connection = Connection(cast(Any, self), 1, None, True)
        self.client = Socket(self.connection)
        self.connection.connection_made(self.client)
        self.client.resume_reading()  # as uvloop does, whatever connection_made has asked
        self.kinds = kinds
        self.got = bytearray()
        for number, kind in enumerate(kinds):
            body = struct.pack(">hhih", kind, 3 if kind == PRODUCE else 1, number, -1)
            body += struct.pack(">hhi", -1, 0, 0) if kind == PRODUCE else bytes(number % 40)
            self.client.come += struct.pack(">i", len(body)) + body

    @property
    def upstream_socket(self) -> Socket:
        assert self.dialled is not None
        return self.dialled

    # -- the server, as its connection sees it

    def now_ms(self) -> int:
        return 0

    def entered(self, connection: Connection) -> None: ...

    def forget(self, connection: Connection) -> None:
        assert not self.forgotten
        self.forgotten = True

    def session(self, connection: Connection) -> ClientSession:
        self.sessions.append(ClientSession(cast(Any, self.gateway), cast(Any, connection)))
        return self.sessions[0]

    # -- the gateway, as its client session sees it

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        return task

    async def placed(self) -> None:
        await self.connects

    async def dial(self, session: ClientSession) -> Upstream:
        upstream = Upstream(session, "a broker")
        self.dialled = Socket(upstream)
        upstream.connection_made(self.dialled)
        return upstream

    def handle(self, session: ClientSession, call: Call) -> None:
        self.calls.append((session, call))

    def client_lost(self, session: ClientSession) -> None:
        if session.upstream is not None:
            session.upstream.finish("the client has gone")

    async def learn(self, seen: object) -> None:
        port: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ports.append(port)
        await port

    # -- the steps of a plan; each says whether it had something to do

    async def step(self, what: str, count: int) -> bool:
        did = bool(getattr(self, what)(count))
        self.client.lose()
        if self.dialled is not None:
            self.dialled.lose()
        await asyncio.sleep(0)
        return did

    def client_sends(self, count: int) -> bool:
        return self.client.deliver(count)

    def client_reads(self, count: int) -> bool:
        taken = self.client.take(count)
        self.got += taken
        return bool(taken)

    def client_hangs_up(self, count: int) -> bool:
        self.client.at_end = True
        return False

    def client_resets(self, count: int) -> bool:
        self.client.abort()
        return False

    def broker_reads(self, count: int) -> bool:
        """A broker whose answers find nobody drops what it has not read."""
        socket = self.dialled
        taken = socket.take(count) if socket is not None else b""
        if socket is not None and not (socket.closing and self.broker.answers):
            self.broker.read(taken)
        return bool(taken)

    def broker_answers(self, count: int) -> bool:
        socket = self.dialled
        if socket is None:
            return False
        if socket.has_ended and not (socket.out or socket.come or self.broker.answers):
            socket.closing = True  # the broker has seen the end behind the last frame
        for _ in range(min(1 + count // 40, len(self.broker.answers))):
            socket.come += self.broker.answers.popleft()
        return socket.deliver(count)

    def connected(self, count: int) -> bool:
        if self.connects.done():
            return False
        self.connects.set_result(None)
        return True

    def call_answered(self, count: int) -> bool:
        if not self.calls or self.sessions[0].in_flight:
            return False
        session, call = self.calls.popleft()
        self.handled.append(call.header.correlation_id)
        session.end_call(call)
        session.client.send(encode_response_frame(HEARTBEAT, 1, call.header.correlation_id, bytes(BATCH)))
        session.client.finish(call)
        return True

    def ports_opened(self, count: int) -> bool:
        if not self.ports:
            return False
        self.ports.popleft().set_result(None)
        return True

    async def settle(self) -> None:
        """Everything flows, until nothing moves any more."""
        still = 0
        while still < 5:
            did = [await self.step(step, 1000) for step in STEPS if step not in ENDS]
            still = 0 if any(did) or len(self.turns) else still + 1

    def answered(self) -> list[int]:
        """The requests that the client has answers to."""
        found, at = [], 0
        while at < len(self.got):
            size, number = struct.unpack_from(">ii", self.got, at)
            found.append(number)
            at += 4 + size
        return found


STEPS = (
    "client_sends", "client_reads", "client_hangs_up", "client_resets", "broker_reads", "broker_answers", "connected",
    "call_answered", "ports_opened",
)  # fmt: skip
ENDS = ("client_hangs_up", "client_resets")
Plan = list[tuple[str, int]]
kinds = st.lists(st.sampled_from([LIST_OFFSETS, LIST_OFFSETS, METADATA, HEARTBEAT, PRODUCE]), max_size=60)


def plans(*without: str) -> st.SearchStrategy[Plan]:
    step = st.sampled_from([each for each in STEPS if each not in without])
    return st.lists(st.tuples(step, st.integers(1, 400)), max_size=80)


@pytest.fixture(autouse=True, scope="module")
def _small_buffers() -> Any:
    patch = pytest.MonkeyPatch()
    patch.setattr(connection_module, "READ_AHEAD", 120)
    patch.setattr(connection_module, "FRAMES_AT_ONCE", 3)
    patch.setattr(upstream_module, "GATHERED_BYTES", 90)

    def held_until_known(session: ClientSession, api_key: int) -> Any:
        if api_key != METADATA:
            return None

        def deliver(owed: Expected, frame: bytes) -> None:
            session._unlearnt[1] = ("new", 1)
            session.to_client_when_known(len(frame).to_bytes(4, "big") + frame)

        return deliver

    patch.setattr("kcoord.gateway.session.client_session.rewriter", held_until_known)
    yield
    patch.undo()


async def carried_out(requests: list[int], plan: Plan) -> World:
    world = World(requests)
    for what, count in plan:
        await world.step(what, count)
    await world.settle()
    return world


def wants_answer(requests: list[int]) -> list[int]:
    return [number for number, kind in enumerate(requests) if kind != PRODUCE]


@settings(deadline=None, max_examples=150)
@given(kinds, plans(*ENDS))
def test_rules_3_to_5_nothing_stays_paused_and_all_is_answered_in_order(requests: list[int], plan: Plan) -> None:
    async def run() -> None:
        world = await carried_out(requests, plan)
        assert world.answered() == wants_answer(requests)
        assert world.broker.took == [number for number, kind in enumerate(requests) if kind != HEARTBEAT]
        assert world.client.is_read
        assert world.upstream_socket.is_read
        assert not world.connection._pausers
        assert (len(world.turns), len(world.held), world.held.total) == (0, 0, 0)
        assert not world.forgotten

    asyncio.run(run())


@settings(deadline=None, max_examples=150)
@given(kinds, plans("client_resets"))
def test_rule_6_what_was_sent_before_the_client_hung_up_is_carried_out_in_order(
    requests: list[int], plan: Plan
) -> None:
    async def run() -> None:
        world = await carried_out(requests, [*plan, ("client_hangs_up", 0)])
        assert world.broker.took == [number for number, kind in enumerate(requests) if kind != HEARTBEAT]
        assert world.handled == [number for number, kind in enumerate(requests) if kind == HEARTBEAT]
        assert world.forgotten
        assert world.upstream_socket.is_lost, "the broker has answered all, and is left"
        assert (len(world.turns), len(world.held), world.held.total) == (0, 0, 0)
        answered = world.answered()
        assert answered == wants_answer(requests)[: len(answered)]

    asyncio.run(run())


@settings(deadline=None, max_examples=150)
@given(kinds, plans())
def test_rule_6_whatever_a_reset_client_leaves_behind_comes_to_an_end(requests: list[int], plan: Plan) -> None:
    async def run() -> None:
        world = await carried_out(requests, [*plan, ("client_resets", 0)])
        assert world.forgotten
        assert world.upstream_socket.is_lost
        assert (len(world.turns), len(world.held), world.held.total) == (0, 0, 0)
        assert world.broker.took == sorted(world.broker.took)

    asyncio.run(run())


async def test_rule_3_who_sends_while_the_broker_is_connected_to_is_not_read_without_end() -> None:
    """uvloop begins to read behind connection_made, whatever was asked there."""
    world = World([LIST_OFFSETS] * 500)
    sent = len(world.client.come)
    while await world.step("client_sends", 100):
        pass
    assert len(world.client.come) > sent - 400
    await world.settle()
    assert world.answered() == list(range(500))


async def test_rule_5_small_frames_that_came_together_go_on_together() -> None:
    world = World([LIST_OFFSETS] * 30)
    sent = len(world.client.come)
    await world.step("connected", 0)
    await world.step(
        "client_sends", 20
    )  # the beginning of a frame, by which the client session is known to be connected
    wrote: list[int] = []
    write = world.upstream_socket.write

    def noted(data: bytes | bytearray | memoryview) -> None:
        wrote.append(len(data))
        write(data)

    world.upstream_socket.write = noted  # type: ignore[method-assign]
    await world.step("client_sends", 1000)
    while len(world.turns):
        await asyncio.sleep(0)
    assert sum(wrote) == sent - len(world.broker.rest) - 14, "all but the first frame"
    assert len(wrote) <= 11, wrote
    await world.settle()
    assert world.answered() == list(range(30))


async def test_rule_6_a_client_that_read_nothing_and_is_gone_keeps_nobody_from_reading() -> None:
    world = World([LIST_OFFSETS] * 30)
    await world.step("connected", 0)
    await world.step("client_sends", 50)
    while world.upstream_socket.is_read:
        for step in ("client_sends", "broker_reads", "broker_answers"):
            await world.step(step, 50)
    await world.step("client_resets", 0)
    await world.settle()
    assert world.upstream_socket.is_lost
    assert world.forgotten


async def test_rule_6_a_broker_that_answers_slowly_takes_all_that_a_gone_client_sent() -> None:
    world = World([LIST_OFFSETS] * 10)
    await world.step("connected", 0)
    while await world.step("client_sends", 1000) or len(world.turns):
        pass
    await world.step("client_hangs_up", 0)
    await world.step("client_sends", 0)
    await world.step("broker_reads", 30)
    assert world.broker.answers
    assert world.forgotten
    await world.settle()
    assert world.broker.took == list(range(10))
    assert world.upstream_socket.is_lost


async def test_a_connection_that_is_ended_within_its_handshake_is_counted_out_when_it_has_gone() -> None:
    world = World([])
    await world.step("client_resets", 0)
    await world.settle()
    world.forgotten = False
    connection = Connection(cast(Any, world), 2, None, True)
    connection.end()
    assert not world.forgotten
    connection.connection_made(Socket(connection))
    connection.connection_lost(None)
    assert world.forgotten
