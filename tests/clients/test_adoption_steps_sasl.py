"""Who dies at a step of an adoption or a release of a group whose clients log in: is nothing lost? AD-14, AD-15.

The story is that of test_adoption_steps.py, with the logins and rights of test_adoption_sasl.py. kcoord takes each step
over the connection of a member. The last member that joins removes kcoord's own member: if somebody dies then, that
member may hear that its partitions are others' already (docs/in-and-out.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.live_clients import LibraryClient, LiveClient, LivingLibrdkafka
from tests.clients.step_trap import RELEASE, Step, StepTrap
from tests.clients.test_adoption_sasl import OPERATOR, USERS, allow, log_in, rights, rights_to_move
from tests.clients.test_adoption_steps import AFTER, BEFORE, BROKER, KCOORD, STEPS, Death, with_a_death
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.groups import describe
from tests.kafka.java import write_properties
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Mechanism, Security
from tests.kafka.wait import eventually

MAY_CUT_OUT = RELEASE[-2:]
"""The last member joins, and kcoord's own leaves."""
MATRIX = [
    (victim, owner, step, when)
    for victim, when in ((KCOORD, AFTER), (KCOORD, BEFORE), (BROKER, AFTER))
    for owner, step in STEPS
]


@pytest.fixture(scope="module")
def cluster(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker with SASL and ACLs."""
    cluster = start_kafka(security=Security.SASL_PLAINTEXT, users=[*USERS, OPERATOR], acl=True)
    eventually(lambda: describe(cluster.bootstrap, "whoever", cluster.client()), "coordinators", retry=Exception)
    return cluster


@pytest.fixture
def trap(cluster: KafkaCluster) -> Iterator[StepTrap]:
    with StepTrap(cluster.ports) as trap:
        yield trap


@pytest.fixture
def front(cluster: KafkaCluster, trap: StepTrap, tmp_path: Path) -> Iterator[Kcoord]:
    """kcoord, which knows the broker by the trap only."""
    front = kcoord_of(cluster, tmp_path / "kcoord")
    front.stop()
    front.upstream = trap.bootstrap
    yield front.start()
    front.remove()


@pytest.mark.proof
@pytest.mark.parametrize(("victim", "owner", "step", "when"), MATRIX, ids=str)
def test_who_dies_at_a_step_with_logins(
    cluster: KafkaCluster,
    trap: StepTrap,
    front: Kcoord,
    tmp_path: Path,
    name: str,
    victim: str,
    owner: str,
    step: Step,
    when: str,
) -> None:
    topic = cluster.create_topic(f"topic-{name}", partitions=4)
    clients: list[LiveClient] = [LibraryClient(LivingLibrdkafka, name, topic) for _ in "ab"]
    log_in(cluster, clients)
    allow(cluster, [*rights(name, topic, topic), *rights_to_move(name, "4.3")])
    login = tmp_path / "operator.properties"
    write_properties(login, cluster.client(OPERATOR, Mechanism.SCRAM_SHA_256).java())
    death = Death(victim, owner, step, when)
    may_be_cut_out = step in MAY_CUT_OUT
    with_a_death(cluster, trap, front, name, topic, clients, death, login, may_be_cut_out=may_be_cut_out)
