"""Are live classic consumers led without a barrier, in front of clusters, and with it again, while they work? (KG-26)

The group's setting is changed while its topic is written to, its members are bounced, and kcoord is killed. Each record
is processed exactly once. Which clients in which cell: as in `test_adoption.py`, and franz-go's as in
`test_rolling_consumers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cells import cells
from tests.cli.run_cli import kcoord as run
from tests.clients.clients_under_load import Complaints, Crowd, Load
from tests.clients.consumer_group_settings import SETTINGS
from tests.clients.test_adoption import CELLS as ADOPTED
from tests.clients.test_adoption import ORDINARY, Clients, check_members, groups
from tests.clients.test_rolling_consumers import CELLS as ROLLING
from tests.clients.test_rolling_consumers import check_kind, hears_all
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front, kcoord_of, one_for_each
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord

CELLS: dict[str, Clients] = {**ADOPTED, **{cell: ROLLING[cell] for cell in ROLLING if cell.startswith("franz-go")}}
MATRIX = [(cell, version, killed) for cell in CELLS for version in ("2.8", "3.9", "4.3") for killed in (False, True)]
AT_EACH_COMMIT = (("mixed", "2.8", False), ("java cooperative", "4.3", True))

IN_AND_OUT = [
    (cell, version)
    for cell in ("mixed", "java cooperative", "librdkafka cooperative", "java static", "aiokafka", "kafka-python")
    for version in ("2.8", "3.9", "4.3")
]
IN_AND_OUT_AT_EACH_COMMIT = (("mixed", "2.8"),)


@pytest.fixture(scope="module")
def kcoord_before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[KafkaCluster], Kcoord]]:
    """kcoord in front of a cluster, which adopts groups."""
    with one_for_each(lambda cluster: kcoord_of(cluster, tmp_path_factory.mktemp("kcoord"), **SETTINGS)) as of:
        yield of


@pytest.mark.parametrize(("cell", "version", "is_killed"), cells(MATRIX, lambda cell: cell not in AT_EACH_COMMIT))
def test_a_classic_fleet_is_led_one_by_one_and_by_its_leader_again(
    cluster_of: Callable[[str], KafkaCluster],
    entry_of: Callable[[KafkaCluster], Front],
    java: Java,
    tmp_path: Path,
    name: str,
    cell: str,
    version: str,
    *,
    is_killed: bool,
) -> None:
    kafka = cluster_of(version)
    entry = entry_of(kafka)
    topic, target = (kafka.create_topic(f"{kind}-{name}", partitions=6) for kind in ("topic", "target"))
    clients = CELLS[cell](name, topic, target, tmp_path, java)
    count = len(clients)
    lead(entry, name, "individual")
    with Complaints() as complaints, Crowd(kafka, name, topic, clients, Load(kafka, topic), complaints) as crowd:
        crowd.start(entry.bootstrap)
        check_kind(entry, name, "CONSUMER", count)
        crowd.bounce(entry.bootstrap)
        if is_killed:
            entry.kill_and_restart()
            crowd.go_on()
        check_kind(entry, name, "CONSUMER", count)

        lead(entry, name, "barrier")
        check_kind(entry, name, "CLASSIC", count)
        crowd.go_on()
        crowd.bounce(entry.bootstrap, clients[0])

        lead(entry, name, "individual")
        check_kind(entry, name, "CONSUMER", count)
        crowd.go_on()
        crowd.bounce(entry.bootstrap, clients[-1])
        crowd.end()
    if "copier" in cell:
        crowd.load.check_copied_once(target)
    heard = hears_all(cell, is_killed=is_killed)
    crowd.check_each_once(processed=heard, kept=heard)
    if not is_killed:
        crowd.check_no_complaint(ORDINARY)


@pytest.mark.parametrize(("cell", "version"), cells(IN_AND_OUT, lambda cell: cell not in IN_AND_OUT_AT_EACH_COMMIT))
def test_a_group_that_is_led_one_by_one_comes_from_the_cluster_and_goes_back(
    cluster_of: Callable[[str], KafkaCluster],
    kcoord_before: Callable[[KafkaCluster], Kcoord],
    java: Java,
    tmp_path: Path,
    name: str,
    cell: str,
    version: str,
) -> None:
    """Adopted, it goes over to the other kind of group; released, it is a classic group first (AD-6, AD-15)."""
    kafka = cluster_of(version)
    kcoord = kcoord_before(kafka)
    topic = kafka.create_topic(f"topic-{name}", partitions=6)
    clients = CELLS[cell](name, topic, "", tmp_path, java)
    lead(kcoord, name, "individual")
    with Complaints() as complaints, Crowd(kafka, name, topic, clients, Load(kafka, topic), complaints) as crowd:
        crowd.start(kafka.bootstrap)
        crowd.bounce(kcoord.bootstrap)
        kcoord.wait_for_line(f"group {name} is kcoord's now: adopted")
        check_kind(kcoord, name, "CONSUMER", len(clients))
        crowd.bounce(kcoord.bootstrap, clients[0])
        check_kcoord_owns(kafka, name)

        groups(kcoord, "release", name)
        crowd.go_on()
        check_members(kafka.bootstrap, name, len(clients), kafka.client())
        crowd.bounce(kafka.bootstrap)
        crowd.end()
    crowd.check_each_once()
    crowd.check_no_complaint(ORDINARY)


def lead(entry: Front, group: str, mode: str) -> None:
    """Say how the group's classic consumers are led, as a user does."""
    done = run("config", "set", group, f"consumer.classic.mode={mode}", "--bootstrap-server", entry.bootstrap)
    assert done.code == 0, done
