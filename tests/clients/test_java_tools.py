"""Do Kafka's own command line tools show and change kcoord's groups as they do Kafka's?"""

from tests.clients.members import Aiokafka
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java
from tests.kafka.tools import CONSUMER_GROUPS, GROUPS, rows
from tests.kafka.topics import write_topic

VALUES = {f"v{n}" for n in range(40)}


def test_tools_on_a_group_with_members(java: Java, kafka: KafkaCluster, front: Front, name: str, topic: str) -> None:
    at = ["--bootstrap-server", front.bootstrap]
    of_group = [*at, "--group", name]
    write_topic(kafka, topic, VALUES)
    with Aiokafka(front.bootstrap, name, [topic], options={"client_id": "ada"}) as member:
        member.wait_for_values(VALUES)
        member.commit()
        check_kcoord_owns(kafka, name)
        member_id = member.member_id()

        [listed] = rows(java.tool(GROUPS, *at, "--list"), name)
        assert listed == {"GROUP": name, "TYPE": "Classic", "PROTOCOL": "consumer"}
        [listed] = rows(java.tool(CONSUMER_GROUPS, *at, "--list", "--state", "stable"), name)
        assert listed == {"GROUP": name, "STATE": "Stable"}
        assert name not in java.tool(CONSUMER_GROUPS, *at, "--list", "--state", "empty")
        assert name not in java.tool(CONSUMER_GROUPS, *at, "--list", "--type", "consumer")

        offsets = rows(java.tool(CONSUMER_GROUPS, *of_group, "--describe"), name)
        assert {row["PARTITION"]: int(row["CURRENT-OFFSET"]) for row in offsets} == {
            str(partition): offset for (_, partition), offset in kafka.committed(name).items()
        }
        assert {(row["LAG"], row["CONSUMER-ID"], row["HOST"], row["CLIENT-ID"]) for row in offsets} == {
            ("0", member_id, "/127.0.0.1", "ada")
        }
        described = java.tool(CONSUMER_GROUPS, *of_group, "--describe", "--members", "--verbose")
        [shown] = rows(described, name)
        assert (shown["CONSUMER-ID"], shown["CURRENT-ASSIGNMENT"]) == (member_id, f"{topic}:0,1,2,3")
        [state] = rows(java.tool(CONSUMER_GROUPS, *of_group, "--describe", "--state"), name)
        assert (state["ASSIGNMENT-STRATEGY"], state["STATE"], state["#MEMBERS"]) == ("range", "Stable", "1")

        reset = [*of_group, "--reset-offsets", "--topic", topic, "--to-earliest", "--execute"]
        assert "the current state is Stable" in java.tool(CONSUMER_GROUPS, *reset)
        delete_offsets = [*of_group, "--delete-offsets", "--topic", topic]
        assert "actively subscribed" in java.tool(CONSUMER_GROUPS, *delete_offsets)
        assert "not empty" in java.tool(CONSUMER_GROUPS, *of_group, "--delete")
        assert sum(kafka.committed(name).values()) == len(VALUES)


def test_tools_on_a_group_without_members(java: Java, kafka: KafkaCluster, front: Front, name: str, topic: str) -> None:
    of_group = ["--bootstrap-server", front.bootstrap, "--group", name]
    write_topic(kafka, topic, VALUES)
    with Aiokafka(front.bootstrap, name, [topic]) as member:
        member.wait_for_values(VALUES)
        member.commit()
        check_kcoord_owns(kafka, name)

    assert "no active members" in java.run(CONSUMER_GROUPS, *of_group, "--describe").stderr
    [state] = rows(java.tool(CONSUMER_GROUPS, *of_group, "--describe", "--state"), name)
    assert (state["STATE"], state["#MEMBERS"]) == ("Empty", "0")

    java.tool(CONSUMER_GROUPS, *of_group, "--reset-offsets", "--topic", topic, "--to-offset", "2", "--execute")
    assert kafka.committed(name) == {(topic, partition): 2 for partition in range(4)}
    java.tool(CONSUMER_GROUPS, *of_group, "--delete-offsets", "--topic", f"{topic}:1")
    assert kafka.committed(name) == {(topic, partition): 2 for partition in (0, 2, 3)}
    java.tool(CONSUMER_GROUPS, *of_group, "--delete")
    assert name not in java.tool(GROUPS, "--bootstrap-server", kafka.bootstrap, "--list")
    assert f"Group {name} not found" in java.tool(CONSUMER_GROUPS, *of_group, "--describe")
