"""Does `kcoord groups` show what Kafka's own tools would, at Kafka and at kcoord?"""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer

from kcoord.client import Cluster
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.cli.run_cli import Outcome, kcoord
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java, write_properties
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port
from tests.kafka.security import Mechanism, Security


async def at(bootstrap: str, *arguments: object) -> Outcome:
    """`kcoord groups …` while the test's own clients go on."""
    return await asyncio.to_thread(kcoord, "groups", *arguments, "--bootstrap-server", bootstrap)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    process = Kcoord(tmp_path_factory.mktemp("alone"), settings={"group.initial.rebalance.delay.ms": 0}).start()
    yield process
    process.remove()


async def test_a_consumer_group_of_kafka(kafka: KafkaCluster) -> None:
    kafka.create_topic("cli-orders", 3)
    consumer = AIOKafkaConsumer(
        "cli-orders", bootstrap_servers=kafka.bootstrap, group_id="cli-group", client_id="cli-c"
    )
    await consumer.start()
    try:
        listed = await at(kafka.bootstrap, "list", "--state", "Stable", "--type", "classic", "--json")
        groups = {each["group"]: each for each in json.loads(listed.out)}
        assert groups["cli-group"]["state"] == "Stable"
        assert groups["cli-group"]["protocol_type"] == "consumer"
        assert groups["cli-group"]["coordinator"] == f"{kafka.bootstrap} (1)"
        empty = await at(kafka.bootstrap, "list", "--state", "Empty")
        assert "cli-group" not in empty.out
        described = await at(kafka.bootstrap, "describe", "cli-group")
        assert described.out.startswith("cli-group: Stable, consumer, roundrobin, coordinator ")
        assert described.out.splitlines()[-1].split()[1:] == ["-", "cli-c", "127.0.0.1", "cli-orders:", "0-2"]
        refused = await at(kafka.bootstrap, "delete", "cli-group")
        assert (refused.code, refused.out) == (1, "cli-group: not deleted: it has members; stop them first\n")
    finally:
        await consumer.stop()
    deleted = await at(kafka.bootstrap, "delete", "cli-group", "cli-none")
    assert deleted.code == 1
    assert deleted.out == "cli-group: deleted\ncli-none: not deleted: there is no such group\n"


async def join(cluster: Cluster, group: str, name: str) -> tuple[str, int]:
    """Make `group` with one member, protocol type `sr`; gives the member id and the generation."""
    connection = await cluster.to(await cluster.coordinator(group))
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=60_000,
        rebalance_timeout_ms=30_000,
        protocol_type="sr",
        protocols=[JoinGroupRequestProtocol(name="v0", metadata=b"")],
        group_instance_id=name,
    )
    joined = await connection.send(request, JoinGroupResponse)
    assert joined.error_code == 0
    sync = SyncGroupRequest(
        group_id=group,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        group_instance_id=name,
        protocol_type="sr",
        protocol_name="v0",
        assignments=[SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"four")],
    )
    assert (await connection.send(sync, SyncGroupResponse)).error_code == 0
    return joined.member_id, joined.generation_id


async def test_a_group_of_kcoord(alone: Kcoord) -> None:
    host, port = alone.bootstrap.split(":")
    async with Cluster([(host, int(port))]) as cluster:
        member, _ = await join(cluster, "registry", "node-1")
        listed = await at(alone.bootstrap, "list")
        assert listed.out.splitlines()[-1].split() == [
            "registry",
            "classic",
            "sr",
            "Stable",
            alone.bootstrap,
            "(0)",
            "kcoord",
        ]
        described = await at(alone.bootstrap, "describe", "registry", "--json")
        assert json.loads(described.out) == [
            {
                "group": "registry",
                "exists": True,
                "type": "classic",
                "state": "Stable",
                "protocol_type": "sr",
                "protocol": "v0",
                "coordinator": f"{alone.bootstrap} (0)",
                "members": [
                    {
                        "member": member,
                        "instance": "node-1",
                        "client": "kcoord-cli",
                        "host": "127.0.0.1",
                        "assignment": "4 bytes",
                        "connects": None,
                    }
                ],
                "note": "",
                "classic": None,
                "legacy": None,
                "repeats": {"times": 0, "waits_ms": None},
                "coordinated_by": "kcoord",
                "members_through_kcoord": None,
                "direct_members": None,
                "counted_by_one_instance": None,
            }
        ]
        explained = await at(alone.bootstrap, "explain", "registry")
        assert (explained.code, explained.err) == (
            1,
            "kcoord: registry is a group of the classic protocol (sr): only connect groups and consumer groups of the "
            "new protocol have a history\n",
        )
        leave = LeaveGroupRequest(group_id="registry", members=[MemberIdentity(member, "node-1")])
        connection = await cluster.to(await cluster.coordinator("registry"))
        assert (await connection.send(leave, LeaveGroupResponse)).error_code == 0
    assert (await at(alone.bootstrap, "describe", "registry")).out.endswith("\nno members\n")
    assert (await at(alone.bootstrap, "delete", "registry")).out == "registry: deleted\n"
    gone = await at(alone.bootstrap, "describe", "registry")
    assert gone.code == 1
    assert gone.out.startswith("registry: ")
    assert (await at(alone.bootstrap, "list")).out == "There are no such groups.\n"


def test_kafkas_own_tools_see_the_same(alone: Kcoord, java: Java) -> None:
    async def make() -> None:
        async with Cluster([("127.0.0.1", alone.port)]) as cluster:
            await join(cluster, "seen-by-both", "node-1")

    asyncio.run(make())
    listed = java.tool("org.apache.kafka.tools.GroupsCommand", "--bootstrap-server", alone.bootstrap, "--list")
    [line] = [line for line in listed.splitlines() if line.startswith("seen-by-both")]
    assert line.split() == ["seen-by-both", "Classic", "sr"]


@pytest.fixture(scope="module")
def sasl_kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    return start_kafka(security=Security.SASL_PLAINTEXT, users=["alice"])


@pytest.mark.parametrize("mechanism", list(Mechanism))
@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_sasl(sasl_kafka: KafkaCluster, tmp_path: Path, mechanism: Mechanism, library: str) -> None:
    """The properties that Kafka's tools take, and librdkafka's."""
    properties: dict[str, str] = getattr(sasl_kafka.client("alice", mechanism), library)()
    write_properties(tmp_path / "client.properties", properties)
    outcome = ask_with(sasl_kafka.bootstrap, tmp_path / "client.properties")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out


@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_a_wrong_password_is_said_in_a_line(sasl_kafka: KafkaCluster, tmp_path: Path, mechanism: Mechanism) -> None:
    properties = {**sasl_kafka.client("alice", mechanism).librdkafka(), "sasl.password": "wrong"}
    write_properties(tmp_path / "client.properties", properties)
    outcome = ask_with(sasl_kafka.bootstrap, tmp_path / "client.properties")
    assert outcome.code == 1
    assert f"authentication of alice by {mechanism.value} failed: Authentication failed" in outcome.err
    assert outcome.err.count("\n") == 1


def test_tls(start_kafka: Callable[..., KafkaCluster], tmp_path: Path) -> None:
    cluster = start_kafka(security=Security.SSL)
    properties = cluster.client().java()
    write_properties(tmp_path / "client.properties", properties)
    assert ask_with(cluster.bootstrap, tmp_path / "client.properties").code == 0
    write_properties(tmp_path / "strangers.properties", {"security.protocol": "SSL"})
    stranger = ask_with(cluster.bootstrap, tmp_path / "strangers.properties")
    assert stranger.code == 1
    assert "cannot be reached by TLS: " in stranger.err
    assert "certificate verify failed" in stranger.err


def ask_with(bootstrap: str, properties: Path) -> Outcome:
    return kcoord("groups", "list", "--bootstrap-server", bootstrap, "--command-config", properties)


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ({"security.protocol": "TLS"}, "security.protocol=TLS is none of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"},
            "sasl.mechanism=GSSAPI is none of PLAIN, SCRAM",
        ),
        ({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}, "sasl.username is missing"),
        ({"security.protocol": "SSL", "ssl.truststore.type": "JKS"}, "ssl.truststore.type=JKS: only PEM files"),
        (
            {"security.protocol": "SSL", "ssl.ca.location": "/none.pem"},
            "no usable PEM files (ssl.ca.location=/none.pem",
        ),
    ],
)
def test_properties_that_cannot_be_used(tmp_path: Path, properties: dict[str, Any], says: str) -> None:
    file = tmp_path / "client.properties"
    write_properties(file, properties)
    outcome = ask_with("127.0.0.1:1", file)
    assert outcome.code == 1
    assert outcome.err.startswith(f"kcoord: --command-config {file}: {says}")


def test_nobody_there_is_said_in_a_line() -> None:
    port = free_port()
    outcome = kcoord("groups", "list", "--bootstrap-server", f"127.0.0.1:{port}")
    assert (outcome.code, outcome.err) == (1, f"kcoord: 127.0.0.1:{port} cannot be reached: Connection refused\n")


def test_an_address_that_is_none_is_a_mistake_of_usage() -> None:
    outcome = kcoord("groups", "list", "--bootstrap-server", "localhost")
    assert (outcome.code, outcome.err) == (2, "kcoord: --bootstrap-server: 'localhost' is no HOST:PORT\n")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "what it sends is not Kafka's protocol", id="http"),
        pytest.param(b"\x15\x03\x03\x00\x02\x02\x46", "what it sends is not Kafka's protocol", id="tls"),
        pytest.param(b"\0\0\0\6" + bytes(6), "it sent a response that does not fit the protocol: ", id="cut short"),
        pytest.param(b"\0\0\0\6" + bytes(3), "it closed the connection", id="cut off"),
        pytest.param(b"", "it closed the connection", id="nothing"),
    ],
)
async def test_something_else_that_answers_is_said_in_a_line(answer: bytes, says: str) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(other, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        outcome = await at(f"127.0.0.1:{port}", "list")
    assert outcome.code == 1
    assert outcome.err.startswith(f"kcoord: 127.0.0.1:{port}: {says}")
    assert outcome.err.count("\n") == 1
