"""Do consumers, share consumers and streams of the newer protocols work through a kcoord that owns `.*`?

Their groups are the cluster's: kcoord coordinates none of them (GW-11, GW-14, GW-15).
"""

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.cells import cells
from tests.clients.members import Aiokafka, KafkaPython, Librdkafka, Member
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import DIRECT, Front
from tests.kafka.groups import check_kcoord_owns, listed
from tests.kafka.java import Java
from tests.kafka.process import ServerProcess
from tests.kafka.topics import read_topic, write_topic
from tests.kafka.wait import eventually

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
KIP_848 = {"group.protocol": "consumer"}
VALUES = {f"v{n}" for n in range(40)}

through_kcoord_only = pytest.mark.skipif(DIRECT, reason="what only kcoord does, and TESTS_DIRECT=1 leaves it out")


def members_upstream(kafka: KafkaCluster, group: str) -> bool:
    """Whether Kafka itself sees members in the group, kcoord among them."""
    return any(name == group and state != "Empty" for name, _, state, _ in listed(kafka.bootstrap))


def group_type(bootstrap: str, group: str) -> str:
    [found] = [kind for name, _, _, kind in listed(bootstrap) if name == group]
    return found


def read_earliest(kafka: KafkaCluster, group: str) -> None:
    """Let a share group begin at the beginning, which is the group's setting, not its members'."""
    entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    admin = kafka.admin()  # its futures end with it
    for done in admin.incremental_alter_configs(
        [ConfigResource(ResourceType.GROUP, group, incremental_configs=[entry])]
    ).values():
        done.result(120)


def test_consumer_group_is_shared_with_members_connected_directly(
    kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    with (
        Librdkafka(front.bootstrap, name, [topic], options=KIP_848) as through,
        Librdkafka(kafka.bootstrap, name, [topic], options=KIP_848) as direct,
    ):
        through.wait_for_partitions(2)
        direct.wait_for_partitions(2)
        write_topic(kafka, topic, VALUES)
        eventually(lambda: {*through.values, *direct.values} == VALUES, "all is read")
        through.commit()
        direct.commit()
        assert group_type(front.bootstrap, name) == "consumer"
    assert sum(kafka.committed(name).values()) == len(VALUES)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_java_console_consumer(
    protocol: str, java: Java, kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    write_topic(kafka, topic, VALUES)
    arguments = ["--bootstrap-server", front.bootstrap, "--topic", topic, "--group", name, "--from-beginning"]
    printed = java.tool(
        CONSOLE_CONSUMER,
        *arguments,
        *("--max-messages", str(len(VALUES)), "--command-property", f"group.protocol={protocol}"),
    )
    assert sorted(printed.split()) == sorted(VALUES)
    assert sum(kafka.committed(name).values()) == len(VALUES)


def test_java_console_share_consumer(java: Java, kafka: KafkaCluster, front: Front, name: str, topic: str) -> None:
    write_topic(kafka, topic, VALUES)
    read_earliest(kafka, name)
    printed = java.tool(
        "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        *("--bootstrap-server", front.bootstrap, "--topic", topic, "--group", name, "--max-messages", str(len(VALUES))),
    )
    assert sorted(printed.split()) == sorted(VALUES)
    assert group_type(front.bootstrap, name) == "share"


def test_streams_application(
    java: Java, kafka: KafkaCluster, front: Front, name: str, topic: str, tmp_path: Path
) -> None:
    target = kafka.create_topic(f"target-{name}")
    write_topic(kafka, topic, VALUES)
    program = str(Path(__file__).with_name("StreamsCopy.java"))
    line = java.line(program, [front.bootstrap, name, topic, target, str(tmp_path)])
    streams = ServerProcess.start("streams", line, tmp_path / "streams.log")
    try:

        def copied() -> bool:
            streams.check_running()
            return sorted(read_topic(kafka, target)) == sorted(VALUES)

        eventually(copied, "all is copied", deadline_s=180)
        assert group_type(front.bootstrap, name) == "streams"
    finally:
        streams.kill()


@through_kcoord_only
@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, "INCONSISTENT_GROUP_PROTOCOL"), (KIP_848, "The group id does not exist")],
    ids=["classic", "consumer"],
)
def test_who_comes_directly_cannot_join_past_kcoord(
    options: dict[str, Any], expected: str, kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    write_topic(kafka, topic, VALUES)
    with Aiokafka(front.bootstrap, name, [topic]) as owned:
        owned.wait_for_values(VALUES)
        with Librdkafka(kafka.bootstrap, name, [topic], options=options) as stranger:
            assert expected in str(stranger.wait_for_error())
        owned.commit()
        assert owned.assignments == 1
        check_kcoord_owns(kafka, name)
    eventually(lambda: not members_upstream(kafka, name), "kcoord left the group with its last member")
    with Librdkafka(kafka.bootstrap, name, [topic], options=options) as direct:
        direct.wait_for_partitions(4)
        write_topic(kafka, topic, ["more"])
        direct.wait_for_values({"more"})
        direct.commit()
    assert sum(kafka.committed(name).values()) == len(VALUES) + 1


@through_kcoord_only
def test_newer_protocol_is_refused_where_kcoord_has_members(
    java: Java, kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    with KafkaPython(front.bootstrap, name, [topic]) as owned:
        owned.wait_for_partitions(4)
        with Librdkafka(front.bootstrap, name, [topic], options=KIP_848) as newer:
            assert "API version not supported" in str(newer.wait_for_error())
        arguments = ["--bootstrap-server", front.bootstrap, "--topic", topic, "--group", name]
        said = java.run(CONSOLE_CONSUMER, *arguments, "--command-property", "group.protocol=consumer").stderr
        assert "group.protocol=classic" in said  # Java's own advice
        check_kcoord_owns(kafka, name)


@pytest.mark.parametrize("options", [{}, KIP_848], ids=["classic", "consumer"])
@pytest.mark.parametrize(
    "library",
    cells([Librdkafka, KafkaPython, Aiokafka], lambda library: library is not Librdkafka),
    ids=lambda library: library.library,
)
def test_group_that_is_alive_upstream_is_left_there(
    library: type[Member], options: dict[str, Any], kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    """Who comes through kcoord shares it with who is there directly; once it was empty, kcoord takes it."""
    with Librdkafka(kafka.bootstrap, name, [topic], options=options) as direct:
        direct.wait_for_partitions(4)
        with library(front.bootstrap, name, [topic]) as through:
            through.wait_for_partitions(2)
            direct.wait_for_partitions(2)
            assert not through.assigned & direct.assigned
    eventually(lambda: not members_upstream(kafka, name), "the group is empty")
    with library(front.bootstrap, name, [topic]) as through:
        through.wait_for_partitions(4)
        check_kcoord_owns(kafka, name)
