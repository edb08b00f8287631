"""Do other people's tools show connect groups and change their settings? Alone, and before a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from kcoord.protocol.embedded import (
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    decode_state,
    encode_assignment,
    encode_state,
)
from kcoord.protocol.errors import ErrorCode
from tests.cells import cells
from tests.connectgroups.through import member as joined
from tests.connectgroups.worker import Worker, resources
from tests.gateway.conftest import start_kcoord  # noqa: F401 (a fixture)
from tests.gateway.scripted import ScriptedMember, describe, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord

GROUPS = "org.apache.kafka.tools.GroupsCommand"
CONFIGS = "kafka.admin.ConfigCommand"
CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
A = resources("a", "a-0")
SESSION, INTERVAL, ASSIGNORS = "connect.session.timeout.ms", "connect.heartbeat.interval.ms", "connect.assignors"


@pytest.fixture(scope="module", params=cells(["alone", "before a cluster"], lambda place: place == "alone"))
def kcoord(
    request: pytest.FixtureRequest,
    start_kcoord: Callable[..., Kcoord],  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Kcoord]:
    """Both ways to run it."""
    if request.param == "alone":
        process = Kcoord(tmp_path_factory.mktemp("alone"), settings={"group.connect.rebalance.delay.ms": 0})
        yield process.start()
        process.remove()
    else:
        kafka: KafkaCluster = request.getfixturevalue("kafka")
        yield start_kcoord(kafka, group_connect_rebalance_delay_ms=0)


async def member(kcoord: Kcoord, group: str) -> Worker:
    """A worker of the group that owns all there is."""
    worker = await joined(kcoord, group, configured=A)
    await worker.settle(A)
    return worker


async def test_kafka_groups_lists_them(java: Java, kcoord: Kcoord, name: str) -> None:
    worker = await member(kcoord, name)
    at = ["--bootstrap-server", kcoord.bootstrap]

    async def stands_there() -> bool:
        rows = [line.split() for line in java.tool(GROUPS, *at, "--list").splitlines()]
        return any(row[0] == name and row[-1] == "connect" for row in rows if row)

    await until(stands_there, "listed")
    assert name not in java.tool(GROUPS, *at, "--list", "--consumer")
    assert name not in java.tool(CONSUMER_GROUPS, *at, "--list")
    told = java.tool(CONSUMER_GROUPS, *at, "--describe", "--group", name)
    assert ("is a connect group" if kcoord.upstream is None else "is not a consumer group") in told
    assert await worker.heartbeat() == ErrorCode.NONE


async def classic_worker(kcoord: Kcoord, group: str) -> ScriptedMember:
    """A worker of the classic protocol that leads, and has its connector."""
    worker = await ScriptedMember.at(
        kcoord.bootstrap,
        group,
        protocol_type="connect",
        protocol="sessioned",
        metadata=encode_state(WorkerState(2, "http://w:8083", 7)),
    )
    await worker.join()
    mine = WorkerAssignment(2, 0, worker.member_id, "http://w:8083", 7, A)
    assert (await worker.sync({worker.member_id: encode_assignment(mine)})).error_code == ErrorCode.NONE
    return worker


@pytest.mark.parametrize("mode", ["barrier", "individual"])
async def test_tools_see_classic_workers_in_either_mode(java: Java, kcoord: Kcoord, name: str, mode: str) -> None:
    """classic workers that are managed one by one are a classic group to those who know no other."""
    name = f"{name}-{mode}"
    at = ["--bootstrap-server", kcoord.bootstrap]
    worker = await classic_worker(kcoord, name)
    if mode == "individual":
        of_group = [*at, "--entity-type", "groups", "--entity-name", name]
        java.tool(CONFIGS, *of_group, "--alter", "--add-config", f"connect.classic.mode={mode}")

    async def stands_there() -> bool:
        rows = [line.split() for line in java.tool(GROUPS, *at, "--list").splitlines()]
        return [name, "Classic", "connect"] in rows

    await until(stands_there, "listed")
    assert "is not a consumer group" in java.tool(CONSUMER_GROUPS, *at, "--describe", "--group", name)
    told = await describe(worker.client, name)
    assert (told.error_code, told.group_state, told.protocol_type) == (0, "Stable", "connect")
    assert told.protocol_data == "sessioned"
    [member] = told.members
    assert member.member_id == worker.member_id
    assert decode_assignment(bytes(member.member_assignment)).assigned == A
    assert decode_state(bytes(member.member_metadata)).url == "http://w:8083"
    admin = AdminClient({"bootstrap.servers": kcoord.bootstrap})
    [future] = admin.describe_consumer_groups([name]).values()
    with pytest.raises(Exception, match="is not a consumer group"):
        future.result(120)
    await worker.leave()


def entries(printed: str) -> dict[str, str]:
    """Settings as kafka-configs.sh prints them: `name=value sensitive=false synonyms={…}`."""
    found = [line.split()[0] for line in printed.splitlines() if line.startswith("  ")]
    return dict(entry.split("=", 1) for entry in found)


async def test_kafka_configs_shows_and_changes_them(java: Java, kcoord: Kcoord, name: str) -> None:
    worker = await member(kcoord, name)
    of_group = ["--bootstrap-server", kcoord.bootstrap, "--entity-type", "groups", "--entity-name", name]

    def alter(*what: str) -> Any:
        return java.run(CONFIGS, *of_group, "--alter", *what)

    done = alter("--add-config", f"{SESSION}=50000,{INTERVAL}=6000,{ASSIGNORS}=[cooperative,uniform]")
    assert "Completed updating config" in done.stdout, done.stdout + done.stderr
    shown = java.tool(CONFIGS, *of_group, "--describe")
    assert entries(shown) == {SESSION: "50000", INTERVAL: "6000", ASSIGNORS: "cooperative,uniform"}
    assert f"DEFAULT_CONFIG:group.{SESSION}=45000" in shown
    assert await worker.heartbeat() == ErrorCode.NONE
    assert (worker.last.session_timeout_ms, worker.last.heartbeat_interval_ms) == (50_000, 6_000)

    assert "Completed" in alter("--delete-config", f"{SESSION},{INTERVAL}").stdout
    assert "Completed" in alter("--add-config", "connect.classic.mode=individual").stdout
    assert "connect.classic.mode=individual" in java.tool(CONFIGS, *of_group, "--describe")
    assert "Completed" in alter("--delete-config", "connect.classic.mode").stdout
    assert entries(java.tool(CONFIGS, *of_group, "--describe")) == {ASSIGNORS: "cooperative,uniform"}
    everything = entries(java.tool(CONFIGS, *of_group, "--describe", "--all"))
    assert (everything[SESSION], everything[INTERVAL]) == ("45000", "5000")
    assert "consumer.session.timeout.ms" in everything, "the cluster's, or kcoord's own without a cluster"

    for what, says in (
        (f"{SESSION}=1", "is not between 6000 and 60000"),
        ("connect.classic.mode=each", "is not one of: barrier, individual"),
        ("connect.colour=red", "Unknown group config name: connect.colour"),
    ):
        refused = alter("--add-config", what)
        assert says in refused.stdout + refused.stderr
        assert "InvalidConfigurationException" in refused.stdout + refused.stderr


def test_librdkafkas_admin_does_too(kcoord: Kcoord, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": kcoord.bootstrap})

    def alter(entry: ConfigEntry) -> None:
        [future] = admin.incremental_alter_configs([of_group(entry)]).values()
        future.result(120)

    def of_group(*entry: ConfigEntry) -> ConfigResource:
        return ConfigResource(ResourceType.GROUP, name, incremental_configs=[*entry])

    def shown() -> dict[str, ConfigEntry]:
        [future] = admin.describe_configs([of_group()]).values()
        described: dict[str, ConfigEntry] = future.result(120)
        return described

    alter(ConfigEntry(SESSION, "55000", incremental_operation=AlterConfigOpType.SET))
    alter(ConfigEntry(ASSIGNORS, "uniform", incremental_operation=AlterConfigOpType.SUBTRACT))
    found = shown()
    assert (found[SESSION].value, found[ASSIGNORS].value) == ("55000", "cooperative")
    assert found[INTERVAL].value == "5000"
    assert found[INTERVAL].is_default
    with pytest.raises(Exception, match="is not between"):
        alter(ConfigEntry(SESSION, "1", incremental_operation=AlterConfigOpType.SET))
    alter(ConfigEntry(SESSION, None, incremental_operation=AlterConfigOpType.DELETE))
    assert shown()[SESSION].value == "45000"
