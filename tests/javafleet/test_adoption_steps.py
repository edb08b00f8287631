"""Who dies at a step of an adoption or a release of a Connect fleet: does it go on, and is each record there once?

AD-7, AD-8, AD-15, AD-17. One fleet goes in and out once for each step. At that step kcoord is killed and started
again, or the broker, or of two instances the one that has the group. Connect stops its tasks if it finds no coordinator
for one heartbeat interval, so tasks may stop; but nothing runs twice, and the sources leave nothing out. Those of
`sessioned` workers are exactly-once ones: they write nothing twice either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import attrs
import pytest

from tests.clients.step_trap import ADOPTION, RELEASE, Step, StepTrap
from tests.clients.test_adoption_steps import (
    AFTER,
    BEFORE,
    BROKER,
    INSTANCE,
    KCOORD,
    coordinator_of,
    give,
    instance_before,
    two_instances,
)
from tests.gateway.fleet import Fleet
from tests.gateway.scripted import close_all, connect, describe
from tests.javafleet.conftest import BARRIER, DELAY, INDIVIDUAL
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import overlaps, running
from tests.javafleet.numbers import Numbers
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually

GROUP, TOPIC = "killed-on-the-way", "numbers-on-the-way"
CONNECTORS, TASKS = ("a", "b"), 2
STEPS = [("cluster", "kcoord", each) for each in RELEASE] + [("kcoord", "cluster", each) for each in ADOPTION]
"""Who is to have the group, who has it before, and the step on the way."""
EXACTLY_ONCE = "sessioned"
"""Only with this `connect.protocol` are the sources exactly-once ones here; others may write a number twice."""


@attrs.frozen
class Cell:
    """Who dies, and what the fleet is like."""

    victim: str
    mode: str
    version: str | None = None
    """Of the brokers; None: the tests' own."""
    protocol: str = EXACTLY_ONCE
    """The workers' `connect.protocol`."""
    when: str = AFTER
    """Whether the cluster has heard of the step when somebody dies."""
    steps: Sequence[tuple[str, str, Step]] = STEPS

    @property
    def name(self) -> str:
        told = (self.version or "4.3", self.victim, self.mode, self.protocol, self.when)
        return "-".join(told) + ("" if len(self.steps) > 1 else "-first")


FIRST = Cell(KCOORD, INDIVIDUAL, steps=[("kcoord", "cluster", ADOPTION[0])])
"""kcoord has written the members down, and the cluster has them."""
MODES = (BARRIER, INDIVIDUAL)
CELLS = [
    *[Cell(victim, mode) for victim in (KCOORD, BROKER, INSTANCE) for mode in MODES],
    *[Cell(KCOORD, mode, version) for version in ("3.9.1", "2.8.2") for mode in MODES],
    *[Cell(BROKER, INDIVIDUAL, version) for version in ("3.9.1", "2.8.2")],
    *[Cell(KCOORD, mode, when=BEFORE) for mode in MODES],
    Cell(KCOORD, INDIVIDUAL, protocol="compatible"),
    Cell(KCOORD, BARRIER, protocol="eager"),
]


def comes_to_rest(cluster: KafkaCluster, owner: str, group: str = GROUP) -> None:
    """The group is stable at the cluster, with kcoord alone or with its two members."""
    wanted = ["kcoord"] if owner == "kcoord" else [None, None]

    node = coordinator_of(cluster, group)

    async def seen() -> tuple[str, list[str | None]]:
        try:
            found = await describe(await connect(cluster.ports[node]), group)
            return found.group_state, [each.group_instance_id for each in found.members]
        finally:
            await close_all()

    def is_so() -> bool:
        if (found := asyncio.run(seen())) != ("Stable", wanted):
            raise NotYet(found)
        return True

    eventually(is_so, f"{group} is {owner}'s")


@pytest.fixture
def trap(
    start_kafka: Callable[..., KafkaCluster], request: pytest.FixtureRequest
) -> Iterator[tuple[KafkaCluster, StepTrap]]:
    cell: Cell = request.node.callspec.params["cell"]
    cluster = start_kafka(3 if cell.victim == INSTANCE else 1, version=cell.version)
    with StepTrap(cluster.ports) as trap:
        yield cluster, trap


@pytest.fixture
def front(
    trap: tuple[KafkaCluster, StepTrap], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Kcoord | Fleet]:
    """kcoord, one or two of it, which knows the brokers by the trap only."""
    cluster, way = trap
    cell: Cell = request.node.callspec.params["cell"]
    if cell.victim == INSTANCE:
        with two_instances(cluster, way, tmp_path, group_connect_classic_mode=cell.mode) as running:
            yield running
        return
    front = kcoord_of(cluster, tmp_path / "kcoord", [GROUP], group_connect_classic_mode=cell.mode)
    front.stop()
    front.upstream = way.bootstrap
    yield front.start()
    front.remove()


@pytest.fixture
def fleet(front: Kcoord | Fleet, java: Java, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[JavaFleet]:
    cell: Cell = request.node.callspec.params["cell"]
    settings: dict[str, object] = {DELAY: 3_000, "connect.protocol": cell.protocol}
    if cell.protocol == EXACTLY_ONCE:
        settings["exactly.once.source.support"] = "enabled"
    fleet = JavaFleet(java, tmp_path / "fleet", front.bootstrap, GROUP, settings)
    yield fleet
    fleet.remove()


@pytest.mark.parametrize(
    "cell", [FIRST, *(pytest.param(each, marks=pytest.mark.proof) for each in CELLS)], ids=lambda cell: cell.name
)
def test_a_fleet_goes_on_whoever_dies_at_a_step(
    trap: tuple[KafkaCluster, StepTrap], front: Kcoord | Fleet, fleet: JavaFleet, cell: Cell
) -> None:
    cluster, way = trap
    cluster.create_topic(TOPIC)
    required = {"exactly_once_support": "required"} if cell.protocol == EXACTLY_ONCE else {}
    fleet.start("w1", "w2")
    for name in CONNECTORS:
        fleet.create(name, TASKS, topic=TOPIC, **required)
    fleet.wait_until_settled()
    for owner, before, step in cell.steps:
        give(front, GROUP, before)
        comes_to_rest(cluster, before)
        fleet.wait_until_settled()
        kcoord = front if isinstance(front, Kcoord) else instance_before(front, GROUP)
        node = coordinator_of(cluster, GROUP)
        kill = kcoord.kill if cell.victim != BROKER else partial(cluster.kill_broker, node)
        way.lay(step, is_late=cell.when == AFTER, kill=kill, is_lost=False)
        give(front, GROUP, owner)
        way.wait()
        if cell.victim == BROKER:
            cluster.start_brokers(node)
        else:
            kcoord.start()
        comes_to_rest(cluster, owner)
        fleet.wait_until_settled()
        assert overlaps(fleet.notes.runs()) == [], step
    for name in CONNECTORS:
        fleet.delete(name)
    eventually(lambda: not running(fleet.notes.runs()), "all have stopped")
    with Numbers.of(cluster, TOPIC) as numbers:
        written = numbers.all_by_task()
    assert len(written) == len(CONNECTORS) * TASKS
    for task, of_task in written.items():
        found = of_task if cell.protocol == EXACTLY_ONCE else sorted(set(of_task))
        assert found == list(range(len(found))), f"{task}: doubled, or missing"
