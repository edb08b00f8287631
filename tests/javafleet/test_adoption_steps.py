"""Who dies at a step of an adoption or a release of a Connect fleet: does it go on, and is each record there once?

AD-7, AD-8, AD-15, AD-17. One fleet goes in and out once for each step. At that step kcoord is killed and started
again, or the broker. Connect stops its tasks if it finds no coordinator for one heartbeat interval, so tasks may stop;
but nothing runs twice, and the exactly-once sources leave nothing out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.clients.step_trap import ADOPTION, RELEASE, Step, StepTrap
from tests.clients.test_adoption_steps import BROKER, KCOORD, give
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
NODE = 1
STEPS = [("cluster", "kcoord", each) for each in RELEASE] + [("kcoord", "cluster", each) for each in ADOPTION]
"""Who is to have the group, who has it before, and the step on the way."""


def comes_to_rest(cluster: KafkaCluster, owner: str) -> None:
    """The group is stable at the cluster, with kcoord alone or with its two workers."""
    wanted = ["kcoord"] if owner == "kcoord" else [None, None]

    async def seen() -> tuple[str, list[str | None]]:
        try:
            group = await describe(await connect(cluster.bootstrap), GROUP)
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
    cluster = start_kafka(version=request.node.callspec.params["version"])
    with StepTrap(cluster.ports) as trap:
        yield cluster, trap


@pytest.fixture
def front(trap: tuple[KafkaCluster, StepTrap], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Kcoord]:
    """kcoord, which knows the broker by the trap only."""
    mode = request.node.callspec.params["mode"]
    front = kcoord_of(trap[0], tmp_path / "kcoord", [GROUP], group_connect_classic_mode=mode)
    front.stop()
    front.upstream = trap[1].bootstrap
    yield front.start()
    front.remove()


@pytest.fixture
def fleet(front: Kcoord, java: Java, tmp_path: Path) -> Iterator[JavaFleet]:
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
            )
            for victim in victims
            for mode in (BARRIER, INDIVIDUAL)
        ),
    ],
)
def test_a_fleet_goes_on_whoever_dies_at_a_step(
    trap: tuple[KafkaCluster, StepTrap],
    front: Kcoord,
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
        kill = front.kill if victim == KCOORD else lambda: cluster.kill_broker(NODE)
        way.lay(step, is_late=True, kill=kill, is_lost=False)
        give(front, GROUP, owner)
        way.wait()
        if victim == KCOORD:
            front.start()
        else:
            cluster.start_brokers(NODE)
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
