"""What does it cost a live group to move behind kcoord, to move back, and to lose the instance that has it?

A group of 200 members that beat and commit all the time, and a fleet of real Connect workers, in front of a real
broker: adopted, released, adopted again; beside what the same move costs without, a stop and a start of all of them.
Then a group of two instances, of which the one that has it is killed; beside three brokers of Kafka, of which the one
is killed that coordinates the group.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from bench.failover import REPLICATED
from bench.live import Cost, Worker, began, counted, restarted
from bench.results import Claim, Outcome, Table
from bench.sides import kafka
from kcoord.group.group_configs import GROUP, Operation
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import IncrementalAlterConfigsRequest
from tests.gateway.fleet import Fleet, fleet
from tests.gateway.scripted import ask, close_all, connect, coordinator_port, until
from tests.javafleet.figures import Figures, Watch
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.instance_pair import HEARD_S, until_other
from tests.javafleet.instance_pair import front_of as front_of_group
from tests.javafleet.numbers import Numbered
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord

MEMBERS = 200
ROUNDS = 3
INSTANCES, BROKERS = 2, 3
WORKERS = ("w1", "w2")
CONNECTORS, TASKS = 2, 3
SINK, SINK_TASKS, SINK_GROUP, PARTITIONS = "sink", 3, "connect-sink", 4
COMMIT_FAILED = re.compile(r" (WARN|ERROR) .*([Cc]ommit|[Ff]lush)")
"""A line in which a Connect worker says that it could not commit offsets."""
DELAY_S = 30
SESSION_MS = 45_000
AS_BY_DEFAULT: dict[str, object] = {
    "offsets_topic_num_partitions": 50,
    "coordinator_lease_ms": 5_000,
    "instances_session_timeout_ms": 6_000,
}
"""Where the tests' instances are in more of a hurry."""
ADOPTED, RELEASED = "is kcoord's now: adopted", "is the cluster's again"
NOTHING, QUIET_S = "nothing: how busy the machine is", 5.0
ADOPTION, RELEASE, FAILOVER = "adopted", "released", "the instance that has it is killed"
RESTART, KAFKAS = "without: all stopped and started", "Kafka: the broker that has it is killed"


def run(folder: Path) -> Outcome:
    """All of it, on one machine in one run."""
    costs: dict[str, list[Cost]] = {}
    with kafka(folder) as broker:
        asyncio.run(moved(broker.cluster, folder / "moved", costs))
        fleets = connect_fleet(broker.cluster, folder / "connect")
        asyncio.run(failed_over(broker.cluster, folder / "instances", costs))
    asyncio.run(broker_killed(folder / "brokers", costs))
    fleets[FAILOVER] = connect_failed_over(folder / "connect-instances")
    return outcome(costs, fleets)


def members(group: str, topic: str, bootstrap: Callable[[], str]) -> list[Worker]:
    """The members of a group, not started yet."""
    return [Worker(group, bootstrap, topic, {"session_ms": SESSION_MS}) for _ in range(MEMBERS)]


# -- in and out --------------------------------------------------------------------------------------------------------


async def moved(cluster: KafkaCluster, folder: Path, costs: dict[str, list[Cost]]) -> None:
    """A group whose members all come through kcoord moves in and out, and is stopped and started."""
    group = f"moves-{uuid.uuid4().hex[:6]}"
    front = await asyncio.to_thread(front_of, cluster, folder, group)
    try:
        await asyncio.to_thread(cluster.create_topic, group)
        await owned_by(front, group, "cluster")
        workers = members(group, group, lambda: front.bootstrap)
        await began(workers)
        for number in range(1, ROUNDS + 1):
            async with counted(workers, costs.setdefault(NOTHING, [])):
                await asyncio.sleep(QUIET_S)
            async with counted(workers, costs.setdefault(ADOPTION, [])):
                await owned_by(front, group, "kcoord")
                await asyncio.to_thread(front.wait_for_line, f"group {group} {ADOPTED}", number)
            async with counted(workers, costs.setdefault(RELEASE, [])):
                await owned_by(front, group, "cluster")
                await asyncio.to_thread(front.wait_for_line, f"group {group} {RELEASED}", number)
        async with counted(workers, costs.setdefault(RESTART, [])):
            await restarted(workers)
        await ended(workers)
    finally:
        await asyncio.to_thread(front.remove)
        await close_all()


def front_of(cluster: KafkaCluster, folder: Path, *groups: str) -> Kcoord:
    """kcoord, in front of the cluster for these groups."""
    folder.mkdir()
    return kcoord_of(cluster, folder, groups, group_connect_classic_mode="individual")


async def owned_by(front: Kcoord, group: str, owner: str) -> None:
    """Say who is to have the group, as `kcoord groups adopt` and `release` do."""
    client = await connect(front.bootstrap)
    change = AlterableConfig("gateway.owner", Operation.SET, owner)
    answer = await ask(client, IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, group, [change])]))
    await client.close()
    errors = [ErrorCode(each.error_code) for each in answer.responses]
    assert errors == [ErrorCode.NONE], f"gateway.owner={owner}: {errors}"


async def ended(workers: Sequence[Worker]) -> None:
    """All leave."""
    await asyncio.gather(*(worker.stop() for worker in workers))


# -- failover ----------------------------------------------------------------------------------------------------------


async def failed_over(cluster: KafkaCluster, folder: Path, costs: dict[str, list[Cost]]) -> None:
    """Two instances before the cluster; the one that clients are sent to for the group is killed, and started again."""
    group = f"fails-{uuid.uuid4().hex[:6]}"
    await asyncio.to_thread(folder.mkdir)
    await asyncio.to_thread(cluster.create_topic, group)
    with fleet(cluster, folder, INSTANCES, **AS_BY_DEFAULT) as instances:
        await until(lambda: is_shared(instances), "both instances say the same")
        there = [0, 1]
        workers = members(group, group, lambda: instances.instances[there[0]].bootstrap)
        await began(workers)
        for _ in range(ROUNDS):
            owner = await owner_of(instances, there[0], group)
            there.sort(key=lambda number: number == owner)
            async with counted(workers, costs.setdefault(FAILOVER, [])):
                assert {instances.at(worker.port)[0] for worker in workers} == {owner}, "members are elsewhere"
                await asyncio.to_thread(instances.instances[owner].kill)
            await asyncio.to_thread(instances.instances[owner].start)
        await ended(workers)
    await close_all()


async def is_shared(instances: Fleet) -> bool:
    """Whether both instances say the same of who stands before the broker."""
    first, second = [await instances.map(each) for each in instances.instances]
    return bool(first) and first == second


async def owner_of(instances: Fleet, asked: int, group: str) -> int:
    """Which instance clients are sent to."""
    return instances.at(await coordinator_port(instances.instances[asked].bootstrap, group))[0]


async def broker_killed(folder: Path, costs: dict[str, list[Cost]]) -> None:
    """The same group at three brokers; the one that coordinates it is killed, and started again."""
    cluster = await asyncio.to_thread(lambda: KafkaCluster.start(folder, BROKERS, overrides=REPLICATED, heap_mb=512))
    group = f"fails-{uuid.uuid4().hex[:6]}"
    numbers = {port: number for number, port in cluster.ports.items()}
    there = list(cluster.ports)
    try:
        await asyncio.to_thread(cluster.create_topic, group)
        workers = members(group, group, lambda: f"127.0.0.1:{cluster.ports[there[0]]}")
        await began(workers)
        owner = numbers[await coordinator_port(cluster.bootstrap, group)]
        there.sort(key=lambda number: number == owner)
        async with counted(workers, costs.setdefault(KAFKAS, [])):
            await asyncio.to_thread(cluster.kill_broker, owner)
        await ended(workers)
    finally:
        await asyncio.to_thread(cluster.remove)
        await close_all()


# -- real workers ------------------------------------------------------------------------------------------------------


@attrs.frozen
class FleetCost:
    """What an event cost a Connect fleet."""

    figures: Figures
    failed: int
    """Commits of offsets that failed."""

    def brief(self, what: str) -> str:
        """Tasks stopped, longest gap, commits failed."""
        return ", ".join(self.cells(what))

    def cells(self, what: str) -> list[str]:
        """The same, one by one."""
        all_tasks = CONNECTORS * TASKS + SINK_TASKS
        stopped = all_tasks if what == RESTART else len(self.figures.stopped)  # those of workers that end are no stops
        return [str(stopped), f"{self.figures.nowhere_ms / 1000:.1f} s", str(self.failed)]

    @property
    def is_nothing(self) -> bool:
        """Whether no task stopped and no commit failed."""
        return not self.figures.stopped and self.figures.nowhere_ms == 0 and not self.failed


def connect_fleet(cluster: KafkaCluster, folder: Path) -> dict[str, FleetCost]:
    """A fleet of real Connect workers moves in and out with its sink's group, and is stopped and started."""
    group = f"fleet-{uuid.uuid4().hex[:6]}"
    groups = (group, SINK_GROUP)
    front = front_of(cluster, folder, *groups)
    workers = JavaFleet(
        Java.find(), folder / "fleet", front.bootstrap, group, {"scheduled.rebalance.max.delay.ms": DELAY_S * 1000}
    )
    topic = f"numbers-{group}"
    cluster.create_topic(topic, PARTITIONS)
    load = Numbered(cluster, topic, PARTITIONS)
    load.start()
    try:
        for each in groups:
            asyncio.run(owned_by(front, each, "cluster"))
        workers.start(*WORKERS)
        for number in range(CONNECTORS):
            workers.create(f"c{number}", TASKS)
        workers.create(SINK, SINK_TASKS, topics=topic, received=workers.folder / "received")
        workers.wait_until_quiet()
        return {
            ADOPTION: watched(workers, lambda: change(front, groups, "kcoord", ADOPTED)),
            RELEASE: watched(workers, lambda: change(front, groups[::-1], "cluster", RELEASED)),
            RESTART: watched(workers, lambda: stop_and_start(workers)),
        }
    finally:
        load.end()
        workers.remove()
        front.remove()


def connect_failed_over(folder: Path) -> FleetCost:
    """A fleet behind two instances, of which the one that has its group is killed and started again, several times;
    the worst of each figure. In front of three brokers, since of one broker clients know one instance only.
    """
    cluster = KafkaCluster.start(folder / "brokers", BROKERS, overrides=REPLICATED, heap_mb=512)
    try:
        return owners_killed(cluster, folder)
    finally:
        cluster.remove()


def owners_killed(cluster: KafkaCluster, folder: Path) -> FleetCost:
    """The fleet's story before that cluster."""
    with fleet(cluster, folder, INSTANCES, **AS_BY_DEFAULT, group_connect_classic_mode="individual") as instances:
        asyncio.run(until(lambda: is_shared(instances), "both instances say the same"))
        group = f"fleet-{uuid.uuid4().hex[:6]}"
        workers = JavaFleet(Java.find(), folder / "fleet", instances.bootstrap, group)
        try:
            workers.start(*WORKERS)
            for number in range(CONNECTORS):
                workers.create(f"c{number}", TASKS)
            workers.wait_until_quiet()
            rounds = [owner_killed(instances, workers) for _ in range(ROUNDS)]
        finally:
            workers.remove()
    worst = max(rounds, key=lambda each: (len(each.figures.stopped), each.figures.nowhere_ms))
    return attrs.evolve(worst, failed=max(each.failed for each in rounds))


def owner_killed(instances: Fleet, workers: JavaFleet) -> FleetCost:
    """The instance that has the workers' group is killed, and is back."""
    time.sleep(HEARD_S)
    owner = asyncio.run(front_of_group(instances, 0, workers.group))

    def killed() -> None:
        instances.instances[owner].kill()
        asyncio.run(until_other(instances, owner, workers.group))

    cost = watched(workers, killed)
    instances.instances[owner].start()
    return cost


def change(front: Kcoord, groups: Sequence[str], owner: str, line: str) -> None:
    """Let the groups move, one after the other, and wait until each has."""
    for group in groups:
        asyncio.run(owned_by(front, group, owner))
        front.wait_for_line(f"group {group} {line}")


def stop_and_start(workers: JavaFleet) -> None:
    """All of them at once."""
    for name in WORKERS:
        workers.stop(name)
    workers.start(*WORKERS)


def watched(workers: JavaFleet, happens: Callable[[], None]) -> FleetCost:
    """What it cost, until nobody joins any more."""
    before = failed_commits(workers)
    watch = Watch(workers)
    happens()
    workers.wait_until_quiet()
    return FleetCost(watch.figures(), failed_commits(workers) - before)


def failed_commits(workers: JavaFleet) -> int:
    """How many commits have failed so far, as the workers' logs say."""
    lines = (line for each in workers.workers.values() for line in each.log.read_text(errors="replace").splitlines())
    return sum(COMMIT_FAILED.search(line) is not None for line in lines)


# -- the figures -------------------------------------------------------------------------------------------------------


@attrs.frozen
class Worst:
    """Of several rounds the worst of each figure."""

    stopped: int
    gap_s: float
    failed: int
    retried: int
    slowest_s: float

    @classmethod
    def of(cls, costs: Sequence[Cost]) -> Worst:
        """Of these."""
        names = [each.name for each in attrs.fields(cls)]
        return cls(**{name: max(getattr(each, name) for each in costs) for name in names})

    @property
    def brief(self) -> str:
        """Stopped, longest gap, commits failed."""
        return f"{self.stopped}, {self.gap_s:.1f} s, {self.failed}"


def outcome(costs: dict[str, list[Cost]], fleets: dict[str, FleetCost]) -> Outcome:
    """What was reached: the worst round counts."""
    worst = {what: Worst.of(each) for what, each in costs.items()}
    rows = [
        [
            f"{MEMBERS} members",
            what,
            str(len(costs[what])),
            str(each.stopped),
            f"{each.gap_s:.1f} s",
            str(each.failed),
            str(each.retried),
            f"{each.slowest_s:.2f} s",
        ]
        for what, each in worst.items()
    ]
    rows += [
        [
            f"{len(WORKERS)} Connect workers",
            what,
            str(ROUNDS if what == FAILOVER else 1),
            *each.cells(what),
            "-",
            "-",
        ]
        for what, each in fleets.items()
    ]
    columns = ["group", "what happens", "rounds", "stopped", "longest gap", "commits failed", "tried again"]
    nothing = "0, 0 s, 0"
    adopted, released, failed_over = worst[ADOPTION], worst[RELEASE], worst[FAILOVER]
    without = fleets[RESTART].brief(RESTART)
    claims = [
        Claim(
            f"a live group of {MEMBERS} members adopted: stopped, longest gap, commits failed",
            nothing,
            f"{adopted.brief} (without: {worst[RESTART].brief}); a commit waited {adopted.slowest_s:.2f} s at most, "
            f"and {worst[NOTHING].slowest_s:.2f} s where nothing happens",
            (adopted.stopped, adopted.gap_s, adopted.failed) == (0, 0.0, 0),
        ),
        Claim(
            "the same released, by one rebalance: commits failed",
            "0",
            f"{released.failed} ({released.stopped} joined again, for {released.gap_s:.1f} s at most)",
            released.failed == 0,
        ),
        Claim(
            f"the instance that has a group of {MEMBERS} killed: stopped, longest gap, commits failed",
            nothing,
            f"{failed_over.brief}; a commit waited {failed_over.slowest_s:.1f} s at most (a broker of Kafka's: "
            f"{worst[KAFKAS].brief}; {worst[KAFKAS].slowest_s:.1f} s)",
            (failed_over.stopped, failed_over.gap_s, failed_over.failed) == (0, 0.0, 0),
        ),
        *(
            Claim(
                f"a real Connect fleet {what}: tasks stopped, longest time that a task ran nowhere, commits failed",
                nothing,
                f"{fleets[what].brief(what)} (without: {without})",
                fleets[what].is_nothing,
            )
            for what in (ADOPTION, RELEASE)
        ),
        Claim(
            f"a real Connect fleet, {FAILOVER}: tasks stopped, longest time that a task ran nowhere, commits failed",
            nothing,
            f"{fleets[FAILOVER].brief(FAILOVER)} (without: {without})",
            fleets[FAILOVER].is_nothing,
        ),
    ]
    how = (
        f"A group of {MEMBERS} members (raw connections in one process) that commit and heartbeat in turn, about twice "
        f"a second each, in front of one broker; moved in and out {ROUNDS} times, the worst round of each figure. A "
        "member's work stops when it joins again, as an eager consumer's does, and goes on with its assignment. A "
        "commit has failed when it was answered with an error that a client hands on to its user; where the "
        "coordinator is another one now or a connection ended, clients try again by themselves. Failover: two "
        f"instances over one topic, the one that clients are sent to killed with -9, {ROUNDS} times; Kafka: the "
        f"coordinating one of {BROKERS} brokers, once. For Connect there are {BROKERS} brokers then, too. Connect: "
        f"{len(WORKERS)} unmodified workers of Connect 4.3 "
        f"(`sessioned`) with {CONNECTORS} source connectors of {TASKS} tasks each and a sink of {SINK_TASKS}, whose "
        "group moves too; a commit of theirs has failed when a worker's log says so."
    )
    return Outcome("Moving a live group", how, claims, [Table([*columns, "a commit waited at most"], rows)])
