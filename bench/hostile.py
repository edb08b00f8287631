"""How long do others wait while one client attacks, and what memory does it cost: kcoord, alone and as a gateway, and
Kafka's broker under the same load in the same run.

The attacker is one connection without credentials; beside it another process asks ApiVersions over a connection of its
own. An attack is repeated until `ATTACK_S` are over, and its last answer is waited for.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import attrs

from bench.results import Claim, Outcome, Table
from bench.sides import Side, kafka, kcoord, side_of
from tests.hostile.frames import API_VERSIONS_FRAME, frame, head
from tests.kafka.kcoord_process import Kcoord

ATTACK_S = 2.0
NAMED = 20_000
PIPELINED = 50_000
UNFINISHED, UNFINISHED_BYTES, ANNOUNCED_BYTES = 20, 8 << 20, 16 << 20
GROUP = 32
MIB = 1 << 20
MOST_MS, TIMES_KAFKA = 50.0, 3.0
MOST_MEMORY, TIMES_REQUEST = 64 * MIB, 10
ANSWER_DEADLINE_S = 300.0


def _names() -> Iterator[bytes]:
    return (b"\0\7" + f"g{at:06}".encode() for at in range(NAMED))


def _describe_configs() -> bytes:
    resources = b"".join(bytes([GROUP]) + name + struct.pack(">i", -1) for name in _names())
    return frame(32, 1, struct.pack(">i", NAMED) + resources + b"\0")


def _describe_groups() -> bytes:
    return frame(15, 0, struct.pack(">i", NAMED) + b"".join(_names()))


def _offset_fetch() -> bytes:
    groups = b"".join(bytes([8]) + name[2:] + b"\0\0" for name in _names())  # null topics, no tagged fields
    count = NAMED + 1
    varint = bytes((count & 0x7F | 0x80, count >> 7 & 0x7F | 0x80, count >> 14))
    return frame(9, 8, b"\0" + varint + groups + b"\0\0")


def _delete_groups() -> bytes:
    return frame(42, 0, struct.pack(">i", NAMED) + b"".join(_names()) + b"")


@attrs.frozen
class Attack:
    """What the attacker sends again and again, and how many answers there are to it."""

    name: str
    sent: Callable[[], bytes]
    answers: int


ATTACKS = (
    Attack(f"{PIPELINED:,} ApiVersions pipelined", lambda: API_VERSIONS_FRAME * PIPELINED, PIPELINED),
    Attack(f"DescribeConfigs of {NAMED:,} groups", _describe_configs, 1),
    Attack(f"DescribeGroups of {NAMED:,} groups", _describe_groups, 1),
    Attack(f"OffsetFetch of {NAMED:,} groups", _offset_fetch, 1),
    Attack(f"DeleteGroups of {NAMED:,} groups", _delete_groups, 1),
)


@attrs.frozen
class Seen:
    """What an attack did: the others' round trips in ms, and how much the server's memory grew at most, in bytes."""

    waits_ms: list[float]
    grown: int
    request: int

    @property
    def p99_ms(self) -> float:
        """One in a hundred waits longer."""
        return quantiles(self.waits_ms, n=100)[98]


def run(folder: Path) -> Outcome:
    """All attacks on all sides in turn."""
    seen: dict[tuple[str, str], Seen] = {}
    with kafka(folder) as broker, kcoord(folder) as alone:
        gateway = Kcoord(folder / "gateway", upstream=broker.cluster.bootstrap, groups=[".*"])
        try:
            gateway.start()
            sides = {"kcoord alone": alone, "kcoord as a gateway": side_of(gateway), "Kafka": broker.side}
            for attack in ATTACKS:
                for name, side in sides.items():
                    seen[attack.name, name] = under(side, attack)
            for name, side in sides.items():
                seen[UNFINISHED_NAME, name] = under_unfinished(side)
        finally:
            gateway.remove()
    return outcome(seen, list(sides))


UNFINISHED_NAME = f"{UNFINISHED} requests of {ANNOUNCED_BYTES // MIB} MiB, {UNFINISHED_BYTES // MIB} MiB of each sent"


def under(side: Side, attack: Attack) -> Seen:
    """One attack on one server."""
    sent = attack.sent()
    before = forget_peak(side)
    with beside(side) as waits_ms, socket.create_connection(side.address) as hostile:
        hostile.settimeout(ANSWER_DEADLINE_S)
        ends = time.monotonic() + ATTACK_S
        while time.monotonic() < ends:
            exchange(hostile, sent, attack.answers)
    return Seen(waits_ms, peak(side) - before, len(sent))


def exchange(hostile: socket.socket, sent: bytes, answers: int) -> None:
    """Send all, reading what comes meanwhile, until all answers are there; a closed connection ends it too."""
    hostile.setblocking(False)
    at, rest = 0, bytearray()
    deadline = time.monotonic() + ANSWER_DEADLINE_S
    while answers and time.monotonic() < deadline:
        idle = True
        if at < len(sent):
            try:
                at += hostile.send(sent[at : at + MIB])
                idle = False
            except BlockingIOError:
                pass
        try:
            data = hostile.recv(MIB)
            if not data:
                raise ConnectionError("the server closed the attacker's connection")
            rest += data
            idle = False
        except BlockingIOError:
            pass
        begin = 0
        while len(rest) - begin >= 4 and len(rest) - begin >= (
            size := 4 + int.from_bytes(rest[begin : begin + 4], "big")
        ):
            begin += size
            answers -= 1
        del rest[:begin]
        if idle:
            time.sleep(0.001)
    hostile.setblocking(True)


def _frame_size(data: bytearray, at: int) -> int:
    """Bytes of the frame that begins there; the four of its size while that is not there."""
    return 4 + int.from_bytes(data[at : at + 4], "big") if len(data) - at >= 4 else 4


def under_unfinished(side: Side) -> Seen:
    """Requests that begin and do not go on."""
    before = forget_peak(side)
    opened: list[socket.socket] = []
    with beside(side) as waits_ms:
        for _ in range(UNFINISHED):
            hostile = socket.create_connection(side.address)
            hostile.settimeout(ATTACK_S)
            opened.append(hostile)
            begin = struct.pack(">i", ANNOUNCED_BYTES) + head(11, 5) + bytes(UNFINISHED_BYTES)
            try:
                hostile.sendall(begin)
            except OSError:
                continue  # closed: that is an answer too
        time.sleep(ATTACK_S / 3)
    for hostile in opened:
        hostile.close()
    return Seen(waits_ms, peak(side) - before, UNFINISHED * UNFINISHED_BYTES)


@contextmanager
def beside(side: Side) -> Iterator[list[float]]:
    """Another client for as long as the block takes; its round trips are in the list afterwards."""
    command = [sys.executable, "-m", "bench.hostile_probe", str(side.address[1])]
    probe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    waits_ms: list[float] = []
    try:
        assert probe.stdout is not None
        assert probe.stdout.readline() == "ready\n"
        yield waits_ms
        waits_ms += json.loads(probe.communicate("end\n", timeout=ANSWER_DEADLINE_S)[0])
    finally:
        probe.kill()
        probe.wait()


def forget_peak(side: Side) -> int:
    """Let the system measure the peak of a server's memory from now on; what it holds now, in bytes."""
    Path(f"/proc/{side.process.pid}/clear_refs").write_text("5")
    return side.process.resident_bytes()


def peak(side: Side) -> int:
    """The most memory that a server had since."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{side.process.pid}/status").read_text())
    return int(found[1]) * 1024 if found else 0


def outcome(seen: dict[tuple[str, str], Seen], sides: list[str]) -> Outcome:
    """The attacks beside each other."""
    names = list(dict.fromkeys(attack for attack, _ in seen))
    claims, rows = [], []
    for attack in names:
        broker = seen[attack, "Kafka"]
        bound_ms = max(MOST_MS, TIMES_KAFKA * broker.p99_ms)
        for side in sides:
            found = seen[attack, side]
            rows.append(
                [
                    attack,
                    side,
                    f"{median(found.waits_ms):.1f} ms",
                    f"{found.p99_ms:.1f} ms",
                    f"{max(found.waits_ms):.0f} ms",
                    f"{found.grown / MIB:,.0f} MiB",
                ]
            )
        worst_ms = max(seen[attack, side].p99_ms for side in sides[:2])
        grown = max(seen[attack, side].grown for side in sides[:2])
        allowed = MOST_MEMORY + TIMES_REQUEST * broker.request
        claims += [
            Claim(
                f"{attack}: others' p99",
                f"≤ {MOST_MS:.0f} ms, or 3 times Kafka's {broker.p99_ms:.0f}",
                f"{worst_ms:.0f} ms",
                worst_ms <= bound_ms,
            ),
            Claim(
                f"{attack}: memory grows by",
                f"≤ {allowed / MIB:,.0f} MiB",
                f"{grown / MIB:,.0f} MiB",
                grown <= allowed,
            ),
        ]
    how = (
        f"One connection attacks for {ATTACK_S:.0f} s and until its last answer, one other asks ApiVersions every 3 "
        "ms; kcoord alone, as a gateway for all groups before that Kafka, and Kafka itself, in turn."
    )
    columns = ["attack", "server", "others' p50", "p99", "longest", "memory grew by"]
    notes = (
        "Requests that only announce 90 MiB each stop Kafka's broker (1 GiB of heap): it takes memory for what a size "
        "claims. Here they announce 16 MiB.",
    )
    return Outcome("Hostile clients", how, claims, [Table(columns, rows)], notes)
