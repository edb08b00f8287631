"""How fast is the log in a topic: a commit, a load, the ticks of idle shards?

One process with kcoord's own log, on uvloop, and one broker beside it. A load is measured as a shard makes it: taken
over, read, decoded, replayed.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

import attrs

from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from kcoord.group.shard import Shard
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Metadata, Target
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.settings import GroupSettings
from kcoord.log.interface import RawRecord
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.protocol.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    encode_record,
)
from kcoord.resource import CONNECTOR, Resource
from kcoord.server.run import GARBAGE_THRESHOLD, loop_factory
from kcoord.server.shards.shard_loading import read_shard

COMMITS, WARM_UP, ROUNDS = 1_000, 500, 3
STEP: Sequence[RawRecord] = [(b"key-%d" % number, bytes(100)) for number in range(3)]
PAUSE_S = 0.02
GROUPS, WORKERS, TASKS, MEMBERS = 100, 500, 2, 3
REPLACED = 4
IDLE_SHARDS, TICK_S, TICKS_FOR_S = 50, 3.0, 18.0
MOST_MS, LEAST_A_SECOND, MOST_CPU, MOST_TRANSACTIONS = 6.0, 120_000, 0.02, 20.0
WRITE_AT_ONCE = 5_000


@attrs.frozen
class Load:
    """A load of one partition."""

    what: str
    records: int
    read_a_second: float
    """Reading alone."""
    whole_a_second: float


@attrs.frozen
class Ticks:
    """Idle shards, over some time."""

    cpu: float
    """CPU seconds a second."""
    transactions: float
    """A second."""


def run(folder: Path) -> Outcome:
    """Measure the log against one broker."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    with kafka(folder) as broker, asyncio.Runner(loop_factory=loop_factory()) as runner:
        bootstrap = broker.cluster.bootstrap
        alone, paused = runner.run(commits(bootstrap))
        loads = [runner.run(load(bootstrap, what, kind)) for what, kind in KINDS.items()]
        idle = runner.run(ticks(bootstrap))
    return outcome(alone, paused, loads, idle)


def outcome(alone: list[float], paused: list[float], loads: list[Load], idle: Ticks) -> Outcome:
    """The figures as claims and tables."""
    fleet = loads[0]
    claims = [
        Claim(
            "commit to Kafka, one change at a time", f"p50 ≤ {MOST_MS:.0f} ms", f"{median(alone):.1f} ms",
            median(alone) <= MOST_MS,
        ),
        Claim(
            "load of a partition from Kafka",
            f"≥ {LEAST_A_SECOND:,} records/s", f"{fleet.whole_a_second:,.0f} records/s",
            fleet.whole_a_second >= LEAST_A_SECOND,
        ),
        Claim(
            f"ticks of {IDLE_SHARDS} idle shards with members",
            f"< {MOST_CPU:.0%} CPU, < {MOST_TRANSACTIONS:.0f} transactions/s",
            f"{idle.cpu:.1%} CPU, {idle.transactions:.1f} transactions/s",
            idle.cpu < MOST_CPU and idle.transactions < MOST_TRANSACTIONS,
        ),
    ]  # fmt: skip
    commit_table = Table(
        ["a change of 3 records", "p50", "p90", "p99"],
        [[what, *(f"{each:.1f} ms" for each in of(times))] for what, times in (
            ("as soon as the last one is committed", alone), (f"every {PAUSE_S * 1000:.0f} ms", paused),
        )],
    )  # fmt: skip
    load_table = Table(
        ["partition of", "records", "reading alone", "taken over, read, decoded, replayed"],
        [
            [each.what, f"{each.records:,}", f"{each.read_a_second:,.0f}/s", f"{each.whole_a_second:,.0f}/s"]
            for each in loads
        ],
    )
    how = (
        f"Kafka's log in this process, one broker beside it. Commits: {ROUNDS} rounds of {COMMITS:,}. Loads: the best "
        f"of {ROUNDS}; records as kcoord writes them, connect groups of {WORKERS} workers (what each said, its target, "
        f"its current, {TASKS} tasks and a connector). Ticks: every {TICK_S:.0f} s for each shard, for "
        f"{TICKS_FOR_S:.0f} s."
    )
    return Outcome("The log in Kafka", how, claims, [commit_table, load_table])


def of(times: list[float]) -> tuple[float, float, float]:
    """p50, p90, p99."""
    cut = quantiles(times, n=100)
    return cut[49], cut[89], cut[98]


# -- commits -----------------------------------------------------------------------------------------------------------


async def commits(bootstrap: str) -> tuple[list[float], list[float]]:
    """Latencies in ms: of changes one after the other, and with a pause between them."""
    log = await opened(bootstrap, "bench-commits", 1)
    await load_all(log)
    for _ in range(WARM_UP):
        await log.append(0, STEP)
    alone: list[float] = []
    paused: list[float] = []
    for _ in range(ROUNDS):
        for times, pause_s, count in ((alone, 0.0, COMMITS), (paused, PAUSE_S, COMMITS // 5)):
            for _ in range(count):
                if pause_s:
                    await asyncio.sleep(pause_s)
                began = time.perf_counter()
                await log.append(0, STEP)
                times.append((time.perf_counter() - began) * 1000)
    await log.close()
    return alone, paused


async def opened(bootstrap: str, topic: str, partitions: int) -> KafkaLog:
    """The log in a topic of that name."""
    log = KafkaLog(KafkaLogSettings(bootstrap=bootstrap, topic=topic, partitions=partitions))
    await log.open()
    return log


async def load_all(log: KafkaLog, shard: Shard | None = None) -> None:
    """Load partition 0, into a shard if there is one."""
    if shard is not None:
        await read_shard(log, 0, shard)
        return
    async for _ in log.load(0):
        await asyncio.sleep(0)


# -- loads -------------------------------------------------------------------------------------------------------------


async def load(bootstrap: str, what: str, kind: Callable[[], Iterator[Record]]) -> Load:
    """Write records of a kind and load them."""
    log = await opened(bootstrap, "bench-" + "".join(filter(str.isalnum, what)), 1)
    await load_all(log)
    count = await write(log, kind())
    read_s, whole_s = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await load_all(log)
        read_s.append(time.perf_counter() - began)
        gc.collect()
        shard = Shard(GroupSettings(), str)
        began = time.perf_counter()
        await load_all(log, shard)
        whole_s.append(time.perf_counter() - began)
    await log.close()
    return Load(what, count, count / min(read_s), count / min(whole_s))


async def write(log: KafkaLog, kind: Iterator[Record]) -> int:
    """Write all that there is of a kind."""
    count, batch = 0, []
    for record in kind:
        batch.append(encode_record(record))
        count += 1
        if len(batch) == WRITE_AT_ONCE:
            await log.append(0, batch)
            batch = []
    if batch:
        await log.append(0, batch)
    return count


def fleets(turns: int = 1) -> Iterator[Record]:
    """Connect groups, each record written so many times."""
    for turn in range(turns):
        for number in range(GROUPS):
            group = ConnectGroup(f"connect-cluster-{number}", epoch=turn + 1)
            yield records.group_epoch(group, group.epoch, "worker joined", 1)
            yield records.target_assignment(group, None, "cooperative", -1)
            for worker in range(WORKERS):
                yield from of_worker(group, f"worker-{worker}-8f14e45f-ceea-467f-a0e6-2b6a1d6d1a11", worker)


def of_worker(group: ConnectGroup, member_id: str, worker: int) -> Iterator[Record]:
    """What is written of one worker."""
    said = Metadata(group.epoch, None, "worker", "/10.0.0.1", [], "http://worker:8083", 60_000, 10_000)
    resources = frozenset(Resource(f"connector-{worker}", task) for task in range(CONNECTOR, TASKS))
    yield records.member_metadata(group.group_id, member_id, said)
    yield records.member_target(group.group_id, member_id, Target(resources, url="http://worker:8083"))
    yield records.current_assignment(group, ConnectMember(member_id, said), resources, group.epoch, -1)


def classic() -> Iterator[Record]:
    """Classic groups."""
    for number in range(GROUPS * 1000):
        members = [
            MemberMetadata(
                f"member-{each}-8f14e45f-ceea-467f", None, "c", "/10.0.0.1", 60_000, 10_000, bytes(50), bytes(50)
            )
            for each in range(MEMBERS)
        ]
        yield Record(GroupMetadataKey(f"group-{number}"), GroupMetadataValue("consumer", 3, "range", None, 1, members))


def offsets() -> Iterator[Record]:
    """Committed offsets."""
    for number in range(GROUPS * 2000):
        key = OffsetCommitKey(f"group-{number % 100}", "orders", number // 100)
        yield Record(key, OffsetCommitValue(offset=number, metadata="", commit_timestamp=1))


KINDS: dict[str, Callable[[], Iterator[Record]]] = {
    "connect groups": fleets,
    f"the same, each record written {REPLACED} times": lambda: fleets(REPLACED),
    f"classic groups of {MEMBERS} members": classic,
    "committed offsets": offsets,
}


# -- ticks -------------------------------------------------------------------------------------------------------------


async def ticks(bootstrap: str) -> Ticks:
    """Shards in which nothing happens, each of which ticks."""
    log = await opened(bootstrap, "bench-ticks", IDLE_SHARDS)
    for partition in range(IDLE_SHARDS):
        async for _ in log.load(partition):
            pass

    async def tick(partition: int) -> None:
        await asyncio.sleep(TICK_S * partition / IDLE_SHARDS)
        while True:
            await log.tick(partition)
            await asyncio.sleep(TICK_S)

    ticking = [asyncio.create_task(tick(partition)) for partition in range(IDLE_SHARDS)]
    await asyncio.sleep(TICK_S * 2)
    began, cpu, commits = time.perf_counter(), time.process_time(), log.commits
    await asyncio.sleep(TICKS_FOR_S)
    seconds = time.perf_counter() - began
    found = Ticks((time.process_time() - cpu) / seconds, (log.commits - commits) / seconds)
    for task in ticking:
        task.cancel()
    await asyncio.wait(ticking)
    await log.close()
    return found
