"""The connections of a run: bytes arrive in order, some time later, or never.

- A connection that is cut loses what is on its way, from some piece on in each direction. Both ends see it later.
- When a process dies, some of what it has written arrives, then its peers see the end.
- A connection can stall: nothing arrives for a while, in one direction or in both.
- Each connection draws from random numbers of its own. So what happens on two connections at the same time does not
  affect either.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import attrs

from kcoord.gateway.session.service_connection import ReleaseConnection
from kcoord.gateway.session.upstream import Upstream
from kcoord.sim.adoption.loop import SimLoop
from kcoord.sim.adoption.process import Process, current_process

Address = tuple[str, int]
Accept = Callable[[Address], asyncio.Protocol | None]
"""Makes the protocol for a connection from that address. None: it is refused."""


@attrs.frozen
class HeldUp:
    """Something that was written and took longer on its way than a message usually does."""

    to: End
    written_ms: int
    data: bytes


class End(asyncio.Transport):
    """One end of a connection."""

    peer: End
    protocol: asyncio.Protocol

    def __init__(self, network: Network, process: Process, random: Random, here: Address, there: Address) -> None:
        super().__init__({"sockname": here, "peername": there})
        self.process = process
        self.here, self.there = here, there
        self.is_open = True
        self._network = network
        self._random = random
        self._coming: deque[bytes | None] = deque()
        """On its way to this end. None: the other end has closed."""
        self._arrives_s = 0.0
        """When the last of it arrives: nothing overtakes."""
        self._sent_s = -1.0
        """When the last of it was written."""
        self._paused = False
        self._unread: deque[bytes | None] = deque()
        process.ends[self] = None

    # -- as a transport -----------------------------------------------------------------------------------------------

    def write(self, data: Any) -> None:
        """See asyncio.WriteTransport."""
        if self.is_open and not self.process.is_dead:
            self._network.sends(self, bytes(data))

    def is_closing(self) -> bool:
        """See asyncio.BaseTransport."""
        return not self.is_open

    def close(self) -> None:
        """See asyncio.BaseTransport."""
        if self.is_open:
            self.peer.comes(None)
            self._lost()

    def give_up(self) -> None:
        """Close, for a client that does not wait for what it has sent."""
        if self.is_open:
            self.peer.cut()
            self._lost()

    def abort(self) -> None:
        """See asyncio.WriteTransport."""
        self.close()

    def pause_reading(self) -> None:
        """See asyncio.ReadTransport."""
        self._paused = True

    def resume_reading(self) -> None:
        """See asyncio.ReadTransport."""
        self._paused = False
        if self._unread:
            self._network.loop.call_soon(self._read, context=self.process.context)

    def can_write_eof(self) -> bool:
        """See asyncio.WriteTransport."""
        return False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """See asyncio.WriteTransport. Nothing to limit, because the other end always reads."""

    def get_write_buffer_size(self) -> int:
        """See asyncio.WriteTransport."""
        return 0

    # -- what the network does ----------------------------------------------------------------------------------------

    def comes(self, data: bytes | None) -> None:
        """Something is on its way to this end."""
        if not self.is_open:
            return
        loop = self._network.loop
        now_s, delay_s = loop.time(), self._network.delay_s(self._random)
        if now_s == self._sent_s and data and self._coming and self._coming[-1]:
            self._coming[-1] += data  # what is written at one time goes in one piece
        else:
            self._sent_s, self._arrives_s = now_s, max(self._arrives_s, now_s + delay_s)
            self._coming.append(data)
            loop.call_at(self._arrives_s, self._arrived, context=self.process.context)
        if data and self._arrives_s - now_s > self._network.latency_ms / 1000:
            self._network.held_up.append(HeldUp(self, loop.now_ms, data))

    def stall(self, seconds: float) -> None:
        """Nothing more arrives for a while."""
        self._arrives_s = max(self._arrives_s, self._network.loop.time() + seconds)

    def cut(self) -> None:
        """What is on its way is lost from some piece on. The rest arrives at once, then the connection is lost. So a
        process that connects again meanwhile is not overtaken by what it sent before.
        """
        kept = self._random.randint(0, len(self._coming))
        self._unread += [self._coming[at] for at in range(kept)]
        self._unread.append(None)
        self._coming.clear()
        self._network.loop.call_soon(self._read, context=self.process.context)

    def sever(self) -> None:
        """Cut the connection in both directions."""
        self.cut()
        self.peer.cut()

    def die(self) -> None:
        """The process has died. The other end sees that when some of what was written has arrived."""
        self.peer.cut()
        self._lost()

    def _arrived(self) -> None:
        if not self._coming:
            return
        self._unread.append(self._coming.popleft())
        self._read()

    def _read(self) -> None:
        while self._unread and self.is_open and not self.process.is_dead:
            if self._unread[0] is not None and self._paused:
                return
            data = self._unread.popleft()
            if data is None:
                self._lost()
            else:
                self.protocol.data_received(data)

    def _lost(self) -> None:
        self.is_open = False
        self.process.ends.pop(self, None)
        self._network.forget(self)
        if not self.process.is_dead:
            self._network.loop.call_soon(self.protocol.connection_lost, None, context=self.process.context)


class Network:
    """All connections, and the addresses that processes listen at."""

    def __init__(self, loop: SimLoop, random: Random, of_releases: Random, latency_ms: float) -> None:
        """`of_releases`: the random numbers of kcoord's connections for releases. They have their own, so what else a
        seed draws is the same as before there were such connections.
        """
        self.loop = loop
        self.latency_ms = latency_ms
        """The longest time that a message usually takes."""
        self.is_slow = True
        """Whether one message in many takes much longer."""
        self.refused = 0.0
        """The share of connections that are refused."""
        self.on_send: Callable[[End, bytes], bool] = lambda _end, _data: True
        """Called with everything that is sent. False: it is lost."""
        self.watch: Callable[[End, bytes], None] = lambda _end, _data: None
        """Called with the same."""
        self.show: Callable[[End, bytes, bool], None] | None = None
        """Called with the same while somebody reads the trace, and with whether the end has connected."""
        self.held_up: list[HeldUp] = []
        self._random = random
        self._of_releases = of_releases
        self._listeners: dict[Address, tuple[Process, Accept]] = {}
        self._ports = 40_000
        self.wires: dict[End, None] = {}
        """The connecting ends of open connections."""
        loop.connect = self._connect

    def delay_s(self, random: Random) -> float:
        """How long a message takes."""
        delay_ms = 0.05 + random.random() * self.latency_ms
        if self.is_slow and random.random() < 0.01:
            delay_ms += random.random() * 40 * self.latency_ms
        return delay_ms / 1000

    def listen(self, process: Process, address: Address, accept: Accept) -> None:
        """Accept connections at that address."""
        self._listeners[address] = process, accept

    def sends(self, end: End, data: bytes) -> None:
        """`end` has written something."""
        if self.show is not None:
            self.show(end, data, end in self.wires)
        self.watch(end, data)
        if self.on_send(end, data):
            end.peer.comes(data)

    def forget(self, end: End) -> None:
        """This end is closed."""
        self.wires.pop(end, None)

    def wires_of(self, name: str, to: str) -> list[End]:
        """The ends by which processes with one name have connected to another."""
        return [each for each in self.wires if each.process.name.startswith(name) and each.there[0].startswith(to)]

    async def _connect(self, factory: Callable[[], asyncio.Protocol], address: Address) -> Any:
        process = current_process()
        assert process is not None
        protocol = factory()
        is_for_release = isinstance(protocol, Upstream) and isinstance(protocol._owner, ReleaseConnection)
        random = Random((self._of_releases if is_for_release else self._random).getrandbits(64))
        await asyncio.sleep(self.delay_s(random))
        found = self._listeners.get(address)
        if found is None or found[0].is_dead or random.random() < self.refused:
            raise ConnectionRefusedError(f"nobody listens at {address}")
        server_process, accept = found
        self._ports += 1
        here = (process.name, self._ports)
        accepted = server_process.context.run(accept, here)
        if accepted is None:
            raise ConnectionRefusedError(f"{address} takes no more")
        client = End(self, process, random, here, address)
        server = End(self, server_process, Random(random.getrandbits(64)), address, here)
        client.peer, server.peer = server, client
        client.protocol, server.protocol = protocol, accepted
        self.wires[client] = None
        server_process.context.run(accepted.connection_made, server)
        client.protocol.connection_made(client)
        return client, client.protocol
