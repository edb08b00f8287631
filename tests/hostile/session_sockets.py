"""The same hostile sessions over real sockets and real clocks, where no time passes but what the machine takes.

Less is seen than in `session_world` (nothing falls due), but bytes arrive in pieces, answers wait for slow readers, and
connections break in the midst of frames. Afterwards a client that keeps the protocol must still be answered, no fault
be logged, and the log be sound.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import tempfile
from collections import deque
from pathlib import Path

from kcoord.cli.output.log_output import checked, told
from kcoord.group.log_verification import Verifier
from kcoord.log.history import FileHistory
from kcoord.protocol.frame import RequestHeader, decode_response_header, encode_request_header
from kcoord.protocol.message_base import Request
from kcoord.protocol.messages import RESPONSES, ConnectGroupHeartbeatRequest, HeartbeatRequest
from kcoord.server.connections.connection import WAIT_FOR_OTHERS
from tests.hostile.session_requests import Drawer
from tests.hostile.session_world import SIZE_BYTES, Fault, Faults
from tests.protocol.fuzz import mutated
from tests.server.harness import Client, standalone
from tests.server.members import Member

BURSTS = 120
CONNECTIONS = 5
DAMAGED, CUT, BROKEN = 0.03, 0.02, 0.05
ANSWER_S = 30.0
WAITING = WAIT_FOR_OTHERS | {HeartbeatRequest.API_KEY, ConnectGroupHeartbeatRequest.API_KEY}
"""Requests that may be kept waiting, and so may what was asked behind them."""


class Sender:
    """One hostile connection: what was asked, and who reads the answers."""

    def __init__(self, number: int, client: Client, drawer: Drawer) -> None:
        self.number = number
        self.client = client
        self.drawer = drawer
        self.asked: deque[tuple[Request | None, int]] = deque()
        self.is_sound = True
        self.answered = 0
        self.reading = asyncio.create_task(self._read())

    def frame(self, request: Request, version: int) -> bytes:
        """The whole frame of a request."""
        self.asked.append((request, version))
        body = encode_request_header(RequestHeader(request.API_KEY, version, 1, "fuzz")) + request.encode(version)
        return len(body).to_bytes(SIZE_BYTES, "big") + body

    async def _read(self) -> None:
        while data := await self.client.read_frame():
            if not self.is_sound or not self.asked:
                continue
            self.answered += 1
            request, version = self.asked.popleft()
            if request is not None:
                _, body_pos = decode_response_header(request.API_KEY, version, data)
                self.drawer.learn(self.number, request, RESPONSES[request.API_KEY].decode(data, version, body_pos))

    @property
    def is_due(self) -> bool:
        """Whether what was asked next waits for nobody, so that its answer must come."""
        if not self.is_sound or self.reading.done() or not self.asked:
            return False
        request, _ = self.asked[0]
        return request is not None and request.API_KEY not in WAITING

    async def until_answered(self) -> None:
        """All that is due has been answered. Raises TimeoutError."""
        async with asyncio.timeout(ANSWER_S):
            while self.is_due:
                await asyncio.sleep(0.001)

    async def end(self) -> None:
        """The connection breaks, whatever was under way."""
        self.client.writer.transport.abort()
        self.reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.reading


async def _session(seed: int, directory: Path) -> int:
    rng = random.Random(f"{seed}/sockets")
    drawer = Drawer(rng)
    answered = 0
    async with standalone(directory) as running:
        senders: dict[int, Sender] = {}
        async with await Client.connect(running.port) as polite:
            member = await Member.joined(polite, "polite")
            for _ in range(BURSTS):
                number = rng.randrange(CONNECTIONS)
                if number in senders and (senders[number].reading.done() or rng.random() < BROKEN):
                    answered += senders[number].answered
                    await senders.pop(number).end()
                if number not in senders:
                    senders[number] = Sender(number, await Client.connect(running.port), drawer)
                await _burst(rng, drawer, senders[number])
            async with asyncio.timeout(ANSWER_S):
                beat = await member.heartbeat()
            if beat.error_code:
                raise Fault(f"the polite member was told {beat!r}")
        for sender in senders.values():
            answered += sender.answered
            await sender.end()
    return answered


async def _burst(rng: random.Random, drawer: Drawer, sender: Sender) -> None:
    """Some frames, in pieces."""
    data = b""
    for _ in range(rng.choice((1, 1, 2, 8))):
        request, version = drawer.request(sender.number)
        frame = sender.frame(request, version)
        if rng.random() < DAMAGED:
            sender.asked[-1] = (None, version)
            body = mutated(rng, frame[SIZE_BYTES:])
            frame = len(body).to_bytes(SIZE_BYTES, "big") + body
        elif rng.random() < CUT:
            sender.is_sound = False
            frame = mutated(rng, frame)
        data += frame
    cut = rng.randrange(len(data) + 1)
    for piece in (data[:cut], data[cut:]):
        sender.client.writer.write(piece)
        await asyncio.sleep(0)
    with contextlib.suppress(ConnectionError):
        await sender.client.writer.drain()
    await sender.until_answered()


async def _verify(directory: Path) -> None:
    async with FileHistory(directory) as history:
        for partition in range(history.partitions):
            verifier = Verifier(partition, history.partitions)
            async for entries in history.read(partition):
                for finding in checked(verifier, entries):
                    raise Fault(f"log verify: {told(partition, finding)}")
            for finding in verifier.end():
                raise Fault(f"log verify: {told(partition, finding)}")


def run_over_sockets(seed: int) -> int:
    """One session; how many requests were answered. Raises Fault."""
    faults = Faults()
    loggers = [logging.getLogger("kcoord"), logging.getLogger("asyncio")]
    level = loggers[0].level
    loggers[0].setLevel(logging.ERROR)
    for logger in loggers:
        logger.addHandler(faults)
    try:
        with tempfile.TemporaryDirectory(prefix="sessions-") as folder:
            answered = asyncio.run(_session(seed, Path(folder)))
            asyncio.run(_verify(Path(folder)))
    finally:
        loggers[0].setLevel(level)
        for logger in loggers:
            logger.removeHandler(faults)
    if faults.lines:
        raise Fault("logged as an error: " + "\n".join(faults.lines))
    return answered
