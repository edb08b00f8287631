"""Who dies at a step of an adoption or a release: is the group somebody's in the end, and nothing lost?

AD-7, AD-8, AD-15, AD-17. At each step, before the cluster has heard of it and just after, one of three is killed and
started again: kcoord, one instance of two, or the broker that coordinates the group. After that the group comes to rest
where it is to be. The clients go on by themselves all the time:

- no record is left out, and none whose commit was acknowledged is processed again;
- what was acknowledged is committed at the cluster;
- nobody hears that its partitions are others' already;
- kcoord's log does not say the same thing again and again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest

from tests.cells import cells
from tests.cli.run_cli import kcoord as run
from tests.clients.clients_under_load import Complaints, Crowd, Load
from tests.clients.live_clients import LibraryClient, LiveClient, LivingLibrdkafka
from tests.clients.step_trap import ADOPTION, GETS_AN_ID, RELEASE, Step, StepTrap
from tests.clients.test_adoption import CELLS, MOVE_ONLY, check_members
from tests.gateway.fleet import Fleet, fleet_name, make_instance, started
from tests.gateway.scripted import close_all, coordinator_port
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import QUICK, kcoord_of
from tests.kafka.groups import describe
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually

KCOORD, BROKER, ONE_OF_THREE = "kcoord", "the broker", "a broker of three"
INSTANCE = "the instance before the group's coordinator"
BEFORE, AFTER = "before", "after"
TIME = len("2026-01-01 00:00:00,000 ")
SAID_AT_MOST = 6
"""How often the same line may stand in a log."""
VERSIONS = {"2.8": "2.8.2", "3.9": "3.9.1"}

INSTANCES = {"gateway_sentinel_grace_ms": QUICK["gateway.sentinel.grace.ms"]}
STEPS = [("kcoord", each) for each in ADOPTION] + [("cluster", each) for each in RELEASE]
"""Who is to have the group, and at which step on the way."""
MATRIX = [
    (version, victim, owner, step, when)
    for version in ("4.3", "3.9", "2.8")
    for victim in (KCOORD, BROKER, ONE_OF_THREE)
    for owner, step in STEPS
    for when in (BEFORE, AFTER)
    if version == "4.3" or (victim != ONE_OF_THREE and when == AFTER)
]
AT_EACH_COMMIT = {
    (KCOORD, "the members are put out", AFTER),
    (KCOORD, "the first member joins", AFTER),
}


def is_proof(cell: tuple[str, str, str, Step, str]) -> bool:
    version, victim, _, step, when = cell
    return version != "4.3" or (victim, step.name, when) not in AT_EACH_COMMIT


@pytest.fixture(scope="module")
def cluster_for(kafka: KafkaCluster, start_kafka: Callable[..., KafkaCluster]) -> Callable[[str, str], KafkaCluster]:
    """The cluster of a version for a victim: no broker that other tests use is killed."""
    started: dict[tuple[str, int], KafkaCluster] = {}

    def of(version: str, victim: str) -> KafkaCluster:
        if version == "4.3" and victim == KCOORD:
            return kafka
        count = 3 if victim == ONE_OF_THREE else 1
        if (version, count) not in started:
            started[version, count] = start_kafka(count, version=VERSIONS.get(version))
        return started[version, count]

    return of


@pytest.fixture
def trap(cluster: KafkaCluster) -> Iterator[StepTrap]:
    with StepTrap(cluster.ports) as trap:
        yield trap


@pytest.fixture
def cluster(request: pytest.FixtureRequest, cluster_for: Callable[[str, str], KafkaCluster]) -> KafkaCluster:
    version, victim = (request.node.callspec.params[name] for name in ("version", "victim"))
    return cluster_for(version, victim)


@pytest.fixture
def front(cluster: KafkaCluster, trap: StepTrap, tmp_path: Path) -> Iterator[Kcoord]:
    """kcoord, which knows the brokers by the trap only."""
    front = kcoord_of(cluster, tmp_path / "kcoord")
    front.stop()
    front.upstream = trap.bootstrap
    yield front.start()
    front.remove()


@pytest.mark.parametrize(("version", "victim", "owner", "step", "when"), cells(MATRIX, is_proof), ids=str)
def test_who_dies_at_a_step(
    cluster: KafkaCluster,
    trap: StepTrap,
    front: Kcoord,
    name: str,
    version: str,
    victim: str,
    owner: str,
    step: Step,
    when: str,
) -> None:
    topic = cluster.create_topic(f"topic-{name}", partitions=4)
    death = Death(victim, owner, step, when)
    with_a_death(cluster, trap, front, name, topic, [LibraryClient(LivingLibrdkafka, name, topic) for _ in "ab"], death)


HANGS = "librdkafka copier"
"""librdkafka 2.16 can hang in send_offsets_to_transaction when a broker restarts, with Kafka alone as well."""
OTHER_CLIENTS = [each for each in CELLS if each not in ("mixed", HANGS, *MOVE_ONLY)]
OTHERS = [
    ("4.3", victim, client, owner, step, AFTER)
    for victim in (KCOORD, BROKER)
    for client in OTHER_CLIENTS
    for owner, step in STEPS
    if not ("static" in client and step is GETS_AN_ID)
]
"""A static member joins at once: it is given no id before."""


@pytest.mark.proof
@pytest.mark.parametrize(("version", "victim", "client", "owner", "step", "when"), OTHERS, ids=str)
def test_other_clients_live_on_when_somebody_dies_at_a_step(
    cluster: KafkaCluster,
    trap: StepTrap,
    front: Kcoord,
    java: Java,
    tmp_path: Path,
    name: str,
    version: str,
    victim: str,
    client: str,
    owner: str,
    step: Step,
    when: str,
) -> None:
    topic, target = (cluster.create_topic(f"{kind}-{name}", partitions=4) for kind in ("topic", "target"))
    clients = CELLS[client](name, topic, target, tmp_path, java)
    load = with_a_death(cluster, trap, front, name, topic, clients, Death(victim, owner, step, when))
    if "copier" in client:
        load.check_copied_once(target)


@pytest.fixture
def instances(cluster: KafkaCluster, trap: StepTrap, tmp_path: Path) -> Iterator[Fleet]:
    with two_instances(cluster, trap, tmp_path) as running:
        yield running


@pytest.mark.proof
@pytest.mark.parametrize(
    ("version", "victim", "owner", "step", "when"),
    [("4.3", ONE_OF_THREE, owner, step, when) for owner, step in STEPS for when in (BEFORE, AFTER)],
    ids=str,
)
def test_the_instance_of_two_that_has_the_group_dies_at_a_step(
    cluster: KafkaCluster,
    trap: StepTrap,
    instances: Fleet,
    name: str,
    version: str,
    victim: str,
    owner: str,
    step: Step,
    when: str,
) -> None:
    """The other instance goes on with it; clients know both. The cluster has three brokers, of which none dies."""
    topic = cluster.create_topic(f"topic-{name}", partitions=4)
    clients: list[LiveClient] = [LibraryClient(LivingLibrdkafka, name, topic) for _ in "ab"]
    with_a_death(cluster, trap, instances, name, topic, clients, Death(INSTANCE, owner, step, when))


@contextmanager
def two_instances(cluster: KafkaCluster, trap: StepTrap, folder: Path, **settings: object) -> Iterator[Fleet]:
    """Two instances of kcoord, which know the brokers by the trap only, until the end of the block."""
    name = fleet_name(folder)
    both = [make_instance(cluster, folder, name, number, **INSTANCES, **settings) for number in range(2)]
    for each in both:
        each.upstream = trap.bootstrap
    with started(cluster, both) as running:
        asyncio.run(running.settled(0, 1))
        yield running


@attrs.frozen
class Death:
    """Who dies, and when."""

    victim: str
    owner: str
    """Who is to have the group when somebody dies on the way there."""
    step: Step
    when: str


def with_a_death(
    cluster: KafkaCluster,
    trap: StepTrap,
    front: Kcoord | Fleet,
    group: str,
    topic: str,
    clients: list[LiveClient],
    death: Death,
    login: Path | None = None,
    *,
    may_be_cut_out: bool = False,
) -> Load:
    """The story of all of these; the load that was put on. `login` has the properties of whoever moves the group; with
    `may_be_cut_out` a client may hear that its partitions are others' already.
    """
    load = Load(cluster, topic)
    with Complaints() as complaints, Crowd(cluster, group, topic, clients, load, complaints) as crowd:
        give(front, group, "kcoord" if death.owner == "cluster" else "cluster", login)
        crowd.start(front.bootstrap)
        node = coordinator_of(cluster, group)
        kcoord = front if isinstance(front, Kcoord) else instance_before(front, group)
        is_kcoord = death.victim in (KCOORD, INSTANCE)
        kill = kcoord.kill if is_kcoord else lambda: cluster.kill_broker(node)
        trap.lay(death.step, is_late=death.when == AFTER, kill=kill, is_lost=is_kcoord)
        give(front, group, death.owner, login)
        trap.wait()
        if is_kcoord:
            kcoord.start()
        else:
            cluster.start_brokers(node)
        crowd.go_on()
        crowd.check_positions()
        comes_to_rest(cluster, group, death.owner)
        crowd.go_on()
        comes_to_rest(cluster, group, death.owner)
        crowd.end()
    crowd.check_each_once(processed=False, kept=not may_be_cut_out)
    for each in [front] if isinstance(front, Kcoord) else front.instances:
        check_repeats(each)
    return load


def check_repeats(kcoord: Kcoord) -> None:
    """What goes on for as long as somebody is away is not said each second."""
    lines = Counter(line[TIME:] for line in kcoord.log.read_text().splitlines() if line[:1].isdigit())
    often = {line: times for line, times in lines.items() if times > SAID_AT_MOST}
    assert not often, often


def instance_before(instances: Fleet, group: str) -> Kcoord:
    """The instance that stands before the group's coordinator."""

    async def find() -> int:
        try:
            return await coordinator_port(instances.instances[0].bootstrap, group)
        finally:
            await close_all()

    number, _ = instances.at(asyncio.run(find()))
    return instances.instances[number]


def give(front: Kcoord | Fleet, group: str, owner: str, login: Path | None = None) -> None:
    """Say who is to have the group; whoever is asked may die before it has answered."""
    with_login = ("--command-config", login) if login else ()
    run("config", "set", group, f"gateway.owner={owner}", "--bootstrap-server", front.bootstrap, *with_login)


def comes_to_rest(kafka: KafkaCluster, group: str, owner: str) -> None:
    """The group is whose it is to be, and stable there."""
    if owner == "cluster":
        check_members(kafka.bootstrap, group, 2, kafka.client())
        return

    def is_kcoords() -> bool:
        seen = describe(kafka.bootstrap, group, kafka.client())
        if (seen.state, list(seen.instances.values())) != ("Stable", ["kcoord"]):
            raise NotYet(seen)
        return True

    eventually(is_kcoords, f"{group} is kcoord's")


def coordinator_of(kafka: KafkaCluster, group: str) -> int:
    """The broker that coordinates the group."""
    if len(kafka.ports) == 1:
        return next(iter(kafka.ports))

    async def find() -> int:
        try:
            return await coordinator_port(kafka.bootstrap, group)
        finally:
            await close_all()

    port = asyncio.run(find())
    [node] = [node for node, at in kafka.ports.items() if at == port]
    return node
