"""How long is a restarted coordinator away when it has 10,000 groups of 10 members?

The groups are written as records: into kcoord's own log by its own code, and the same records into Kafka's offsets
topic. Then each is killed with -9 and started again, and asked until it describes a group of every partition as stable
with all its members and answers a heartbeat of one of them. kcoord's sockets are kept meanwhile, and Python has its
byte code, as where kcoord is installed.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from confluent_kafka import Producer

from bench import restart_in_front
from bench.asking import Client
from bench.members import ASSIGNMENT, METADATA, PROTOCOL, PROTOCOL_TYPE, REBALANCE_MS, SESSION_MS
from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from kcoord.group.partition_of_group import partition_of
from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
)
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, MemberMetadata, Record, encode_record
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.kept_sockets import kept
from tests.kafka.wait import NotYet, eventually

GROUPS, SIZE, PARTITIONS = 10_000, 10, 50
GENERATION = 7
ROUNDS = 3
MOST_S = 1.5
ASK_EVERY_S = 0.01
BATCH_RECORDS = 500
FIND_VERSION, DESCRIBE_VERSION, HEARTBEAT_VERSION = 4, 5, 4
OFFSETS_TOPIC = "__consumer_offsets"
INTERNAL_CLIENT = "__admin_client"
"""The client id whose records a broker accepts into the offsets topic."""


def run(folder: Path) -> Outcome:
    """Measure kcoord and Kafka."""
    own, theirs = list(own_restarts(folder)), list(kafka_restarts(folder))
    with byte_code(folder / "byte-code"):
        in_front = restart_in_front.run(folder / "in-front-of-kafka")
    figures = Table(
        ["server", "served after (median)", "all rounds"],
        [
            [name, f"{median(all_s):.2f} s", ", ".join(f"{each:.2f} s" for each in all_s)]
            for name, all_s in (("kcoord", own), ("Kafka", theirs))
        ],
    )
    claim = Claim(
        f"restart with {GROUPS:,} groups of {SIZE} members",
        f"≤ {MOST_S:g} s until served",
        f"{median(own):.2f} s; Kafka {median(theirs):.2f} s",
        median(own) <= MOST_S,
    )
    how = (
        f"Killed with -9 and started again, {ROUNDS} times, files in the page cache, kcoord's sockets kept; from the "
        f"start of the process until a group of each of the {PARTITIONS} "
        "partitions is described as stable with all members and a member's heartbeat is answered. The same records in "
        "both: "
        f"{len(METADATA)} bytes of metadata and {len(ASSIGNMENT)} of assignment a member."
    )
    return Outcome("Restart", f"{how}\n\n{in_front.how}", [claim, *in_front.claims], [figures, in_front.figures])


# -- the groups --------------------------------------------------------------------------------------------------------


def group_name(number: int) -> str:
    """The id of a group."""
    return f"restart-{number:05}"


def member_name(number: int) -> str:
    """The id of a member of each group."""
    return f"member-{number:02}-00000000-0000-0000-0000-000000000000"


def record_of(number: int) -> tuple[bytes, bytes]:
    """The record of a stable group."""
    members = [
        MemberMetadata(
            member_id=member_name(each),
            client_id="bench",
            client_host="/127.0.0.1",
            rebalance_timeout=REBALANCE_MS,
            session_timeout=SESSION_MS,
            subscription=METADATA,
            assignment=ASSIGNMENT,
        )
        for each in range(SIZE)
    ]
    value = GroupMetadataValue(
        protocol_type=PROTOCOL_TYPE,
        generation=GENERATION,
        protocol=PROTOCOL,
        leader=member_name(0),
        current_state_timestamp=time.time_ns() // 1_000_000,
        members=members,
        state="Stable",
    )
    key, encoded = encode_record(Record(GroupMetadataKey(group_name(number)), value))
    assert encoded is not None
    return key, encoded


def by_partition() -> dict[int, list[int]]:
    """The numbers of the groups of each partition."""
    numbers: dict[int, list[int]] = {}
    for number in range(GROUPS):
        numbers.setdefault(partition_of(group_name(number), PARTITIONS), []).append(number)
    return numbers


def probes() -> list[str]:
    """The last group of each partition."""
    return [group_name(numbers[-1]) for numbers in by_partition().values()]


# -- the two sides -----------------------------------------------------------------------------------------------------


def own_restarts(folder: Path) -> Iterator[float]:
    """kcoord: seconds until served, each round."""
    process = Kcoord(folder / "kcoord")
    with byte_code(folder / "byte-code"), kept(process, [process.port]) as keeper:
        keeper.start()  # it makes its data directory as it needs it
        process.stop()
        asyncio.run(write_own(process.data))
        keeper.start()
        until_served(("127.0.0.1", process.port), process.process.check_running)
        for _ in range(ROUNDS):
            process.kill()
            began = time.monotonic()
            keeper.start(wait=False)
            until_served(("127.0.0.1", process.port), process.process.check_running)
            yield time.monotonic() - began


@contextmanager
def byte_code(folder: Path) -> Iterator[None]:
    """Processes that are started keep Python's byte code in `folder`, whatever the environment says."""
    before = {name: os.environ.pop(name, None) for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")}
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    try:
        yield
    finally:
        del os.environ["PYTHONPYCACHEPREFIX"]
        os.environ.update({name: value for name, value in before.items() if value is not None})


async def write_own(data: Path) -> None:
    """Write all groups into kcoord's log."""
    log = EmbeddedLog(data, PARTITIONS)
    await log.open()
    try:
        for partition, numbers in by_partition().items():
            await asyncio.gather(
                *(log.append(partition, [record_of(each) for each in some]) for some in batches(numbers))
            )
    finally:
        await log.close()


def batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Some at a time."""
    return (numbers[first : first + BATCH_RECORDS] for first in range(0, len(numbers), BATCH_RECORDS))


def kafka_restarts(folder: Path) -> Iterator[float]:
    """Kafka: seconds until served, each round."""
    with kafka(folder) as broker:
        address = broker.side.address
        eventually(lambda: found_all(address), "the offsets topic is there", retry=OSError)
        write_theirs(broker.cluster.bootstrap)
        for _ in range(ROUNDS):
            broker.broker.kill()
            began = time.monotonic()
            broker.broker.start()
            until_served(address, broker.broker.check_running)
            yield time.monotonic() - began


def write_theirs(bootstrap: str) -> None:
    """Write all groups into Kafka's offsets topic."""
    producer = Producer({"bootstrap.servers": bootstrap, "client.id": INTERNAL_CLIENT, "linger.ms": 20})
    failures: list[object] = []

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failures.append(error)

    for partition, numbers in by_partition().items():
        for number in numbers:
            key, value = record_of(number)
            producer.produce(OFFSETS_TOPIC, value, key, partition, on_delivery=delivered)
        producer.poll(0)
    if producer.flush(60) or failures:
        raise AssertionError(f"Kafka did not take the groups: {failures[:3]}")


# -- served? -----------------------------------------------------------------------------------------------------------


def until_served(address: tuple[str, int], check_running: Callable[[], None]) -> None:
    """Return once every partition serves. Raises AssertionError when that takes too long, or the server ends."""
    groups = probes()

    def served() -> bool:
        check_running()
        with Client(address) as client:
            described = client.ask(
                DescribeGroupsRequest(groups=groups), DESCRIBE_VERSION, DescribeGroupsResponse
            ).groups
            stable = sum(each.group_state == "Stable" and len(each.members) == SIZE for each in described)
            if stable < len(groups):
                raise NotYet(f"{stable} of {len(groups)} groups are stable")
            beat = HeartbeatRequest(group_id=groups[-1], generation_id=GENERATION, member_id=member_name(0))
            answer = client.ask(beat, HEARTBEAT_VERSION, HeartbeatResponse)
            if answer.error_code:
                raise AssertionError(f"a heartbeat is answered with error {answer.error_code}")
            return found_all(address)

    eventually(served, f"{GROUPS:,} groups are served", every_s=ASK_EVERY_S, retry=OSError)


def found_all(address: tuple[str, int]) -> bool:
    """Whether FindCoordinator names somebody for every probed group."""
    with Client(address) as client:
        found = client.ask(FindCoordinatorRequest(coordinator_keys=probes()), FIND_VERSION, FindCoordinatorResponse)
        return all(not each.error_code for each in found.coordinators)
