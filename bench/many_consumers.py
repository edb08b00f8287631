"""What do 10,000 groups of 10 new consumers (KIP-848) cost, and how long does a restart of their coordinator take?

All are there, in sessions that do not end. As many as a process may have open files for have a connection each, and
send their heartbeats; the others are silent. kcoord does not hold answers, as in `consumer_heartbeats`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import attrs

from bench.asking import Client
from bench.consumers import VERSION, group_name
from bench.loader import Loader
from bench.probe import KIB, Process
from bench.restart import MOST_S, byte_code
from bench.results import Claim, Outcome, Table
from bench.rounds import Round, measure
from bench.sides import Side, kafka
from kcoord.group.partition_of_group import partition_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.kept_sockets import kept
from tests.kafka.wait import NotYet, eventually

GROUPS, SPEAKING, SIZE, PARTITIONS = 10_000, 1_500, 10, 50
"""`SPEAKING` of the groups send heartbeats."""
MEMBERS = GROUPS * SIZE
LINES, RING = 200, 4
TOPIC = "bench"
SESSION_MS = 1_800_000
"""Nobody goes while the groups come into being, or while their coordinator is away."""
EVERY_S = 5.0
"""How often a consumer sends a heartbeat: the default of both servers."""
RAMP_S, MEASURED_S = 6.0, 20.0
ROUNDS = 3
ASK_EVERY_S = 0.02
DESCRIBE_VERSION = 1
PATIENCE = {f"group.consumer.{name}session.timeout.ms": SESSION_MS for name in ("", "max.")}


@attrs.frozen
class Measured:
    """What one server gave."""

    steady: Round
    member_kib: float | None
    restarts_s: list[float]


def run(folder: Path) -> Outcome:
    """Measure kcoord, then Kafka."""
    with byte_code(folder / "byte-code"):
        own = measure_own(folder)
    return outcome(own, measure_kafka(folder))


def outcome(own: Measured, theirs: Measured) -> Outcome:
    """Both beside each other."""
    size = f"{GROUPS:,} groups of {SIZE} new consumers"
    restarts = [f"{median(each.restarts_s):.2f} s" for each in (own, theirs)]
    claims = [
        Claim(
            f"{size}, of which {SPEAKING * SIZE:,} send a heartbeat every {EVERY_S:.0f} s",
            "Kafka's CPU",
            f"{own.steady.cores:.3f} cores, {own.member_kib:.2f} KiB a consumer; Kafka {theirs.steady.cores:.3f} cores",
            own.steady.cores <= theirs.steady.cores,
        ),
        Claim(
            f"restart with {size}",
            f"≤ {MOST_S:g} s until served",
            f"{restarts[0]}; Kafka {restarts[1]}",
            median(own.restarts_s) <= MOST_S,
        ),
    ]
    figures = Table(
        ["server", "heartbeats a second", "CPU, cores", "memory a consumer", "served after a restart", "all rounds"],
        [
            [
                name,
                f"{each.steady.a_second:,.0f}",
                f"{each.steady.cores:.3f}",
                "its heap is set, not grown" if each.member_kib is None else f"{each.member_kib:.2f} KiB",
                restart,
                ", ".join(f"{seconds:.2f} s" for seconds in each.restarts_s),
            ]
            for name, each, restart in (("kcoord", own, restarts[0]), ("Kafka", theirs, restarts[1]))
        ],
    )
    how = (
        f"{GROUPS:,} groups of {SIZE}, all of one topic of {SIZE} partitions. The consumers of {SPEAKING:,} groups "
        "have a connection each (as many as 20,000 open files allow) and speak, the others are silent; answers are not "
        f"held. CPU over {MEASURED_S:.0f} s after {RAMP_S:.0f} s of the same load; memory is "
        f"resident memory with all consumers less that without any, divided by {MEMBERS:,}. Restart: killed with -9 "
        f"and started again, {ROUNDS} times, kcoord's sockets kept; from the start of the process until a group of "
        f"each of the {PARTITIONS} partitions is described as stable with all its consumers and a heartbeat of one is "
        "answered."
    )
    return Outcome("Many groups of new consumers", how, claims, [figures])


def measure_own(folder: Path) -> Measured:
    """kcoord alone, with its embedded log."""
    settings = {"topics": f"{TOPIC}:{SIZE}", "group.consumer.heartbeat.wait.ms": 0, **PATIENCE}
    process = Kcoord(folder / "kcoord", settings=settings)
    with kept(process, [process.port]) as keeper:
        keeper.start()
        address = "127.0.0.1", process.port
        side = Side("kcoord", address, Process(process.process.popen.pid))
        before = side.process.resident_bytes()
        steady, after = steadily(side)

        restarts_s = []
        for _ in range(ROUNDS):
            process.kill()
            began = time.monotonic()
            keeper.start(wait=False)
            restarts_s.append(served_since(began, address, process.process.check_running))
        return Measured(steady, (after - before) / MEMBERS / KIB, restarts_s)


def measure_kafka(folder: Path) -> Measured:
    """Kafka's broker."""
    patience = {name.replace(".", "_"): value for name, value in PATIENCE.items()}
    with kafka(folder, **patience) as broker:
        broker.cluster.create_topic(TOPIC, SIZE)
        steady, _ = steadily(broker.side)

        restarts_s = []
        for _ in range(ROUNDS):
            broker.broker.kill()
            began = time.monotonic()
            broker.broker.start()
            restarts_s.append(served_since(began, broker.side.address, broker.broker.check_running))
        return Measured(steady, None, restarts_s)


def steadily(side: Side) -> tuple[Round, int]:
    """The groups come into being and go on for a while; what that took, and the server's resident bytes then."""
    with Loader() as loader:
        loader.begin_consumer_groups(side.address, LINES, GROUPS - SPEAKING, SIZE, TOPIC)
        loader.consumers("many", side.address, SPEAKING, SIZE, TOPIC, RING)
        loader.pace("many", EVERY_S)
        time.sleep(RAMP_S)
        steady = measure(loader, side, "many", MEASURED_S)
        loader.rest("many")
        return steady, side.process.resident_bytes()


def served_since(began: float, address: tuple[str, int], check_running: Callable[[], None]) -> float:
    """Seconds since `began` until every partition serves."""
    what = f"{GROUPS:,} groups are served"
    eventually(lambda: serves(address, check_running), what, every_s=ASK_EVERY_S, retry=OSError)
    return time.monotonic() - began


def probes() -> list[str]:
    """One group of each partition."""
    names = map(group_name, range(GROUPS - SPEAKING))
    return list({partition_of(name, PARTITIONS): name for name in names}.values())


def serves(address: tuple[str, int], check_running: Callable[[], None]) -> bool:
    """Whether all probed groups are stable and a consumer of one is answered."""
    check_running()
    with Client(address) as client:
        request = ConsumerGroupDescribeRequest(group_ids=probes())
        described = client.ask(request, DESCRIBE_VERSION, ConsumerGroupDescribeResponse).groups
        stable = [each for each in described if each.group_state == "Stable" and len(each.members) == SIZE]
        if len(stable) < PARTITIONS:
            raise NotYet(f"{len(stable)} of {PARTITIONS} groups are stable")
        one = stable[-1]
        beat = ConsumerGroupHeartbeatRequest(one.group_id, one.members[0].member_id, one.members[0].member_epoch)
        beat.topic_partitions = None
        answer = client.ask(beat, VERSION, ConsumerGroupHeartbeatResponse)
        if answer.error_code == ErrorCode.NOT_COORDINATOR:
            raise NotYet("this connection was made before the partition was loaded, and a new one is asked for")
        if answer.error_code:
            raise AssertionError(f"a heartbeat is answered with error {answer.error_code}")
        return True
