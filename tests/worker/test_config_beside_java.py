"""Does a runner of ours that reads Connect's configuration topic run its share of what Java workers are told by REST?

On Kafka's own coordinator, beside a real Java worker: first Java leads, then we do. On kcoord with the protocol of
connect groups, where one of ours computes for Java workers, well or badly. Who runs a connector splits it into tasks,
and ours ask no Java class: so tasks follow a connector's new configuration where Java runs the connector.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcoord.assign import Assignment, Group, MemberAssignment, MixedAssignor, tell
from kcoord.worker.config_topic import ConfigTopic
from kcoord.worker.runner import Classes, Runner, TopicSource
from kcoord.worker.runner.running import Condition
from tests.connect.fleet import ConnectFleet
from tests.connect.lines import SOURCE
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java

NAMES = ("a", "b", "c")
EVERYTHING = {name + suffix for name in NAMES for suffix in ("", "-0")}
_OFFSET = re.compile(r"using config offset (\d+)")


@pytest.fixture
def fleet(request: pytest.FixtureRequest, kafka: KafkaCluster, java: Java, tmp_path: Path) -> Iterator[ConnectFleet]:
    """A cluster without workers yet, with topics of its own."""
    group = f"configs-of-{request.node.name.split('_')[1]}"
    fleet = ConnectFleet(java, tmp_path, kafka.bootstrap, group, {"scheduled.rebalance.max.delay.ms": 1_000})
    yield fleet
    fleet.remove()


class Ours:
    """A runner of ours, and what it runs as its connectors note."""

    def __init__(self, fleet: ConnectFleet, **options: Any) -> None:
        self.notes = fleet.folder / "notes"
        self.topic = ConfigTopic(fleet.bootstrap, f"{fleet.group}-config")
        classic = {"group_protocol": "classic", "heartbeat_interval": 0.5, "scheduled_rebalance_max_delay": 1}
        self.runner = Runner(
            TopicSource(self.topic, Classes(default="tests.worker.connectors:Noting")),
            fleet.bootstrap,
            fleet.group,
            url="http://127.0.0.1:1/",
            **(options or classic),
        )

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        stop = asyncio.Event()
        running = asyncio.create_task(self.runner.run(stop))
        yield
        stop.set()
        await running

    def running(self) -> dict[str, str]:
        """What runs here, and what its configuration says."""
        found: dict[str, str] = {}
        for line in self.notes.read_text().splitlines() if self.notes.exists() else ():
            _, _, what, name, *said = line.split(" ")
            if what == "start":
                found[name] = said[0]
            else:
                found.pop(name, None)
        return found

    def conditions(self) -> dict[str, Condition]:
        return {tell(each.resource): each.condition for each in self.runner.statuses()}


def theirs(fleet: ConnectFleet) -> set[str]:
    """What the Java workers have threads for."""
    return {running.partition(" ")[2] for worker in fleet.workers for running in worker.running()}


async def until_shared(fleet: ConnectFleet, ours: Ours, everything: set[str], *, us: bool = True) -> None:
    """Each resource at one of those who are there, and something at each."""
    async with asyncio.timeout(240):
        while True:
            mine, others = set(ours.running()), await asyncio.to_thread(theirs, fleet)
            shared = bool(mine) == us and bool(others) == bool(fleet.workers)
            if shared and mine | others == everything and not mine & others:
                return
            await asyncio.sleep(0.3)


async def test_what_java_workers_are_told_by_rest_runs_at_ours_too(fleet: ConnectFleet) -> None:
    ours = Ours(fleet)

    def config(name: str, say: str) -> dict[str, object]:
        return {
            "connector.class": SOURCE,
            "tasks.max": 1,
            "file": fleet.folder / f"{name}.in",
            "topic": f"lines-{fleet.group}",
            "notes": ours.notes,
            "say": say,
        }

    async def say(name: str, what: str) -> None:
        await asyncio.to_thread(fleet.create, name, config(name, what))

    await asyncio.to_thread(fleet.start_workers, 1)
    for name in NAMES:
        (fleet.folder / f"{name}.in").touch()
        await say(name, "one")
    await until_shared(fleet, ours, EVERYTHING, us=False)  # a connector that ours gets before has no tasks for ever
    async with ours.run():
        await until_shared(fleet, ours, EVERYTHING)
        assert ours.topic.config.offset == _read_by(fleet), "as Connect counts"

        mine = set(ours.running())
        for name in NAMES:
            await say(name, "two")
        await until(
            lambda: all(say == ("one" if _of_ours(name, mine) else "two") for name, say in ours.running().items())
        )
        await until_shared(fleet, ours, EVERYTHING)

        for name in NAMES:
            await asyncio.to_thread(fleet.rest, "PUT", f"/connectors/{name}/pause")
        await until(lambda: set(ours.conditions().values()) == {Condition.PAUSED} and not ours.running())
        for name in NAMES:
            await asyncio.to_thread(fleet.rest, "PUT", f"/connectors/{name}/resume")
        await until_shared(fleet, ours, EVERYTHING)

        await asyncio.to_thread(fleet.stop, fleet.workers[0])
        await until_shared(fleet, ours, EVERYTHING)  # we lead
        await asyncio.to_thread(fleet.start_workers, 1)
        await until_shared(fleet, ours, EVERYTHING)
        assert fleet.workers[0].joins() < 8, "joins again and again"
    await until_shared(fleet, ours, EVERYTHING, us=False)


async def test_connectors_that_come_and_go_are_followed(fleet: ConnectFleet) -> None:
    ours = Ours(fleet)

    await asyncio.to_thread(fleet.start_workers, 1)
    await create(fleet, ours, *(f"c{number}" for number in range(4)))
    everything = {f"c{number}{suffix}" for number in range(4) for suffix in ("", "-0")}
    await until_shared(fleet, ours, everything, us=False)  # a connector that ours gets before has no tasks for ever
    async with ours.run():
        await until_shared(fleet, ours, everything)
        for name in ("c0", "c1"):
            await asyncio.to_thread(fleet.rest, "DELETE", f"/connectors/{name}")
        await until_shared(fleet, ours, {"c2", "c2-0", "c3", "c3-0"})
        await asyncio.to_thread(fleet.stop_connector, "c2")
        await until(lambda: ("c2", 0) not in ours.topic.config.resources)
        await until(lambda: "c2" not in ours.running() and "c2-0" not in ours.running())
        await create(fleet, ours, "c4", "c5")
        await until(lambda: {"c4", "c5"} <= ours.topic.config.connectors.keys())
        await until(lambda: "c4" in ours.running() or "c5" in ours.running())


class Nonsense(MixedAssignor):
    """Gives everything to two workers, or hangs, or fails, in turn."""

    def __init__(self) -> None:
        self.asked = 0

    def assign(self, group: Group) -> Assignment:
        self.asked += 1
        if self.asked % 3 == 1:
            everything = group.configured or frozenset()
            return Assignment(tuple(MemberAssignment(each.member_id, everything) for each in group.members))
        if self.asked % 3 == 2:
            raise RuntimeError("no idea")
        return Assignment((), error=7)


@pytest.fixture
def managed(request: pytest.FixtureRequest, kafka: KafkaCluster, java: Java, tmp_path: Path) -> Iterator[ConnectFleet]:
    """A cluster without workers yet, each of which is managed on its own."""
    group = f"managed-{request.node.name.split('_')[-1]}"
    kcoord = kcoord_of(
        kafka,
        tmp_path / "kcoord",
        [group],
        group_connect_classic_mode="individual",
        group_connect_rebalance_delay_ms=1_000,
    )
    fleet = ConnectFleet(java, tmp_path, kcoord.bootstrap, group, {"scheduled.rebalance.max.delay.ms": 1_000})
    yield fleet
    fleet.remove()
    kcoord.remove()


async def create(fleet: ConnectFleet, ours: Ours, *names: str) -> None:
    """Connectors of one task each."""
    for name in names:
        file = fleet.folder / f"{name}.in"
        file.touch()
        config = {"connector.class": SOURCE, "file": file, "topic": "t", "say": "x", "notes": ours.notes}
        await asyncio.to_thread(fleet.create, name, config)


async def test_one_of_ours_computes_for_java_workers_at_once_and_java_when_it_has_gone(managed: ConnectFleet) -> None:
    """CM-7: nobody is told an offset below its own; a Java worker that is joins again without end."""
    ours = Ours(managed, assignors=[MixedAssignor()])
    await asyncio.to_thread(managed.start_workers, 2)
    await create(managed, ours, *NAMES)
    await until_shared(managed, ours, EVERYTHING, us=False)  # a connector at one of ours gets no tasks any more
    async with ours.run():
        await until_shared(managed, ours, EVERYTHING)
        joins = [worker.joins() for worker in managed.workers]
        await asyncio.sleep(3)
        assert [worker.joins() for worker in managed.workers] == joins, "joins again and again"
    await until_shared(managed, ours, EVERYTHING, us=False)
    await create(managed, ours, "d")
    await until_shared(managed, ours, EVERYTHING | {"d", "d-0"}, us=False)


async def test_one_of_ours_that_computes_nonsense_harms_nobody(managed: ConnectFleet) -> None:
    """CG-20: what runs goes on running, and Java leads in its place."""
    nonsense = Nonsense()
    ours = Ours(managed, assignors=[nonsense])
    await asyncio.to_thread(managed.start_workers, 1)
    await create(managed, ours, *NAMES)
    await until_shared(managed, ours, EVERYTHING, us=False)
    async with ours.run():
        await until(lambda: nonsense.asked > 1)
        await until_shared(managed, ours, EVERYTHING)
        assert len(managed.workers[0].stops()) <= 2, "only what moved"
    await create(managed, ours, "d")
    await until_shared(managed, ours, EVERYTHING | {"d", "d-0"}, us=False)


async def until(probe: Callable[[], bool]) -> None:
    async with asyncio.timeout(240):
        while not probe():
            await asyncio.sleep(0.1)


def _of_ours(name: str, mine: set[str]) -> bool:
    """Whether it is a task whose connector is ours, too."""
    return name.endswith("-0") and name.removesuffix("-0") in mine


def _read_by(fleet: ConnectFleet) -> int:
    """The last offset that a Java worker has told to have read."""
    return max(map(int, _OFFSET.findall(fleet.workers[0].process.log.read_text(errors="replace"))))
