"""Does `kcoord check` say what kcoord and its clients may not do at the cluster, and do its commands give the right?

The commands are run as they are printed, by Kafka's own tool.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.cli.run_cli import Outcome, kcoord
from tests.cli.test_check import check
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Mechanism, Security, password_of
from tests.kafka.wait import NotYet, eventually

CLIENT, KCOORD = "client", "kcoord"
ACLS = "org.apache.kafka.tools.AclCommand"


@pytest.fixture(scope="module")
def secured(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A cluster in which nobody but `admin` may do anything."""
    return start_kafka(security=Security.SASL_PLAINTEXT, users=[CLIENT, KCOORD], acl=True)


def properties_of(user: str, folder: Path) -> Path:
    file = folder / f"{user}.properties"
    file.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={Mechanism.PLAIN.value}\n"
        f"sasl.username={user}\nsasl.password={password_of(user)}\n"
    )
    return file


def as_client(kafka: KafkaCluster, folder: Path, *groups: str, as_json: bool = True) -> Outcome:
    patterns = [word for group in groups for word in ("--groups", group)]
    by_login = ("-o", "upstream.security.protocol=SASL_PLAINTEXT", "--command-config", properties_of(CLIENT, folder))
    return check(folder, kafka.bootstrap, *patterns, *by_login, *(["--json"] if as_json else []))


def said(found: Outcome, about: str) -> list[tuple[str, str]]:
    """How bad it is, and the text."""
    told = json.loads(found.out)["findings"]
    return [(each["level"], each["text"]) for each in told if each["about"] == about]


def commands(found: Outcome, part: str = "") -> list[str]:
    """What an administrator is told to run, those with `part` in it."""
    told = [each["command"] for each in json.loads(found.out)["findings"]]
    return list(dict.fromkeys(each for each in told if each and part in each))


def run(java: Java, kafka: KafkaCluster, told: Iterable[str]) -> None:
    for each in told:
        name, *arguments = shlex.split(each)
        assert name == "kafka-acls.sh"
        java.tool(ACLS, *arguments, config=kafka.client().java())


def well(look: Callable[[], Outcome]) -> Outcome:
    """What it says once the broker has heard of the rights."""

    def without_commands() -> Outcome:
        found = look()
        if commands(found):
            raise NotYet(f"it wants more: {commands(found)}")
        return found

    return eventually(without_commands, "all rights are there")


def topics(kafka: KafkaCluster) -> set[str]:
    return set(kafka.admin().list_topics(timeout=120).topics)


def test_a_client_that_may_be_in_no_group(java: Java, secured: KafkaCluster, tmp_path: Path) -> None:
    before = topics(secured)
    found = as_client(secured, tmp_path, "rights-a.*")
    assert said(found, "rights") == [
        ("note", f"User:{CLIENT} may not describe the cluster, so groups that it may not describe are not listed here"),
        (
            "note",
            f"User:{CLIENT} may not be a member of groups such as rights-akcoord-check: it needs Read on them",
        ),
    ]
    assert found.code == 0  # the groups are not there yet: their own rights may come with them
    shown = as_client(secured, tmp_path, "rights-a.*", as_json=False).out
    assert [line.strip() for line in shown.splitlines() if "kafka-acls.sh" in line] == commands(found)
    run(java, secured, commands(found))
    found = well(lambda: as_client(secured, tmp_path, "rights-a.*"))
    assert said(found, "rights") == [("ok", f"User:{CLIENT} may be a member of groups such as rights-akcoord-check")]
    assert topics(secured) == before, "nothing is made by asking, the topic of offsets neither"


def test_a_group_that_is_there(java: Java, secured: KafkaCluster, tmp_path: Path) -> None:
    topic = secured.create_topic("rights-topic")
    consumed = {"bootstrap.servers": secured.bootstrap, **secured.client().librdkafka()}
    for group in ("rights-b", "rights-c"):
        commit(consumed, group, topic)
    run(java, secured, [f"kafka-acls.sh --bootstrap-server {secured.bootstrap} --add --allow-principal User:{CLIENT} "
                        "--operation Describe --cluster"])  # fmt: skip

    def listed() -> Outcome:
        found = as_client(secured, tmp_path, "rights-[bc]")
        if len(json.loads(found.out)["groups"]) < 2:
            raise NotYet("the broker has not heard of the right")
        return found

    found = eventually(listed, "the groups are listed")
    assert said(found, "rights") == [
        ("problem", f"User:{CLIENT} may not be a member of rights-b, rights-c, by kcoord or without it: it needs Read "
                    "on the group"),
    ]  # fmt: skip
    assert [each["becomes"].startswith("unknown: ") for each in json.loads(found.out)["groups"]] == [True, True]
    assert found.code == 1
    [told] = commands(found)
    run(java, secured, [re.sub(" --group rights-c", "", told)])

    def one_is_allowed() -> list[tuple[str, str]]:
        found = as_client(secured, tmp_path, "rights-[bc]")
        if found.code:
            raise NotYet("the broker has not heard of the right")
        return said(found, "rights")

    assert eventually(one_is_allowed, "one of two") == [
        ("note", f"User:{CLIENT} may not be a member of rights-c, by kcoord or without it: it needs Read on the group")
    ]
    run(java, secured, [told])
    assert said(well(lambda: as_client(secured, tmp_path, "rights-[bc]")), "rights") == [
        ("ok", f"User:{CLIENT} may be a member of all 2 groups")
    ]


def commit(options: dict[str, str], group: str, topic: str) -> None:
    """Leave a group without members."""
    consumer = Consumer({**options, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    consumer.close()


def test_the_log_in_a_topic(java: Java, secured: KafkaCluster, tmp_path: Path) -> None:
    """With what it says kcoord can make its log, share it, and serve."""
    before = topics(secured)
    login = {"log.sasl.mechanism": "PLAIN", "log.sasl.username": KCOORD, "log.sasl.password": password_of(KCOORD)}
    settings = {"upstream.security.protocol": "SASL_PLAINTEXT", "log.topic": "rights-log", **login}
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def look() -> Outcome:
        return check(tmp_path, secured.bootstrap, "--groups", "none", "--json", "--log", "kafka", *options)

    found = look()
    assert found.err == ""
    lacks = [(level, text) for level, text in said(found, "log")]
    assert lacks == [
        ("problem", f"User:{KCOORD} may not read and write topic rights-log: it needs Read and Write"),
        ("problem", f"User:{KCOORD} may not use the transactional ids that begin with rights-log-: it needs Write"),
        ("problem", f"User:{KCOORD} may not be a member of the instances' group kcoord-instances: it needs Read"),
        ("problem", f"User:{KCOORD} may not create topic rights-log or read its configuration: it needs Create and "
                    "DescribeConfigs"),
    ]  # fmt: skip
    run(java, secured, commands(found))
    found = well(look)
    assert [level for level, _ in said(found, "log")] == ["ok", "ok"]
    assert "topic rights-log does not exist; kcoord will create it: 50 partitions, 1 replica" in found.out
    assert topics(secured) == before, "nothing is made by asking"
    process = Kcoord(tmp_path / "running", secured.bootstrap, ("none",), {"log": "kafka", **settings}).start(wait=False)
    try:
        process.wait_for_line("topic rights-log was made")
        process.wait_until_it_answers()
        assert ("ok", "topic rights-log exists, is compacted, and has 50 partitions") in said(look(), "log")
    finally:
        process.remove()


def test_a_topic_that_cannot_be_the_log(kafka: KafkaCluster, tmp_path: Path) -> None:
    kafka.create_topic("rights-deleted", config={"cleanup.policy": "delete"})
    found = check(
        tmp_path, kafka.bootstrap, "--groups", "none", "--json", "--log", "kafka", "-o", "log.topic=rights-deleted"
    )
    [(level, text), _] = said(found, "log")
    assert (level, text.partition(":")[0]) == ("problem", "topic rights-deleted has cleanup.policy=delete")
    assert found.code == 1


def test_no_cluster_for_the_log(tmp_path: Path) -> None:
    found = kcoord("check", "--log", "kafka", "--log-bootstrap", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--json")
    assert said(found, "log") == [("problem", "127.0.0.1:1 cannot be reached: Connection refused")]
    assert (found.code, found.err) == (1, "")
