"""Who dies at a step of an adoption or a release of a Connect fleet: does it go on, and is each record there once?

AD-7, AD-8, AD-15, AD-17. One fleet goes in and out once for each step. At that step kcoord is killed and started
again, or the broker, or of two instances the one that has the group. Connect stops its tasks if it finds no coordinator
for one heartbeat interval, so tasks may stop; but nothing runs twice, and the exactly-once sources leave nothing out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.clients.step_trap import ADOPTION, RELEASE, Step, StepTrap
from tests.clients.test_adoption_steps import (
    BROKER,
    INSTANCE,
    KCOORD,
    coordinator_of,
    give,
    instance_before,
    two_instances,
)
from tests.gateway.fleet import Fleet
from tests.gateway.scripted import close_all, connect, coordinator_port, describe
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


def comes_to_rest(cluster: KafkaCluster, owner: str) -> None:
    """The group is stable at the cluster, with kcoord alone or with its two workers."""
    wanted = ["kcoord"] if owner == "kcoord" else [None, None]

    async def seen() -> tuple[str, list[str | None]]:
        try:
            group = await describe(await connect(await coordinator_port(cluster.bootstrap, GROUP)), GROUP)
            return group.group_state, [each.group_instance_id for each in group.members]
        finally:
            await close_all()

    def is_so() -> bool:
        if (found := asyncio.run(seen())) != ("Stable", wanted):
            raise NotYet(found)
        return True

    eventually(is_so, f"the group is {owner}'s")


@pytest.fixture
def trap(
    start_kafka: Callable[..., KafkaCluster], request: pytest.FixtureRequest
) -> Iterator[tuple[KafkaCluster, StepTrap]]:
    told = request.node.callspec.params
    cluster = start_kafka(3 if told["victim"] == INSTANCE else 1, version=told["version"])
    with StepTrap(cluster.ports) as trap:
        yield cluster, trap


@pytest.fixture
def front(
    trap: tuple[KafkaCluster, StepTrap], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Kcoord | Fleet]:
    """kcoord, one or two of it, which knows the brokers by the trap only."""
    cluster, way = trap
    mode = request.node.callspec.params["mode"]
    if request.node.callspec.params["victim"] == INSTANCE:
        with two_instances(cluster, way, tmp_path, group_connect_classic_mode=mode) as running:
            yield running
        return
    front = kcoord_of(cluster, tmp_path / "kcoord", [GROUP], group_connect_classic_mode=mode)
    front.stop()
    front.upstream = way.bootstrap
    yield front.start()
    front.remove()


@pytest.fixture
def fleet(front: Kcoord | Fleet, java: Java, tmp_path: Path) -> Iterator[JavaFleet]:
    settings = {DELAY: 3_000, "exactly.once.source.support": "enabled"}
    fleet = JavaFleet(java, tmp_path / "fleet", front.bootstrap, GROUP, settings)
    yield fleet
    fleet.remove()


FIRST = [("kcoord", "cluster", ADOPTION[0])]
"""kcoord has written the members down, and the cluster has them."""


@pytest.mark.parametrize(
    ("version", "victim", "mode", "steps"),
    [
        pytest.param(None, KCOORD, INDIVIDUAL, FIRST, id="kcoord-individual-first"),
        *(
            pytest.param(version, victim, mode, STEPS, id=f"{name}{victim}-{mode}-all", marks=pytest.mark.proof)
            for name, version, victims in (
                ("", None, (KCOORD, BROKER)),
                ("3.9-", "3.9.1", [KCOORD]),
                ("2.8-", "2.8.2", [KCOORD]),
                ("", None, [INSTANCE]),
            )
            for victim in victims
            for mode in (BARRIER, INDIVIDUAL)
        ),
    ],
)
def test_a_fleet_goes_on_whoever_dies_at_a_step(
    trap: tuple[KafkaCluster, StepTrap],
    front: Kcoord | Fleet,
    fleet: JavaFleet,
    version: str | None,
    victim: str,
    mode: str,
    steps: Sequence[tuple[str, str, Step]],
) -> None:
    cluster, way = trap
    cluster.create_topic(TOPIC)
    fleet.start("w1", "w2")
    for name in CONNECTORS:
        fleet.create(name, TASKS, topic=TOPIC, exactly_once_support="required")
    fleet.wait_until_settled()
    for owner, before, step in steps:
        give(front, GROUP, before)
        comes_to_rest(cluster, before)
        fleet.wait_until_settled()
        kcoord = front if isinstance(front, Kcoord) else instance_before(front, GROUP)
        node = coordinator_of(cluster, GROUP)
        kill = kcoord.kill if victim != BROKER else partial(cluster.kill_broker, node)
        way.lay(step, is_late=True, kill=kill, is_lost=False)
        give(front, GROUP, owner)
        way.wait()
        if victim == BROKER:
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
        assert of_task == list(range(len(of_task))), f"{task}: doubled, or missing"
