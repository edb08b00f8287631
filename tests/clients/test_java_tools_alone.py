"""Do Kafka's own command line tools show and change consumer groups and topics of a kcoord without a cluster? (KG-14)

The commands of a table run one after the other in one JVM (`ToolRuns.java`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from tests.clients.members import Librdkafka
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.tools import CONSUMER_GROUPS as GROUPS
from tests.kafka.tools import PATIENCE

PROGRAM = Path(__file__).with_name("ToolRuns.java")
DEADLINE_S = 300.0
TOPICS = "org.apache.kafka.tools.TopicCommand"
ALL_GROUPS = "org.apache.kafka.tools.GroupsCommand"
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CONSUME = "--topic work --command-property group.protocol=consumer --timeout-ms 3000"

Row = tuple[str, str, Sequence[str]]
"""A tool, its arguments, and lines that it prints, with one space between words; none of them: `!line`."""

NEW_OFFSETS = "GROUP TOPIC PARTITION NEW-OFFSET"
WITH_A_MEMBER: list[Row] = [
    (GROUPS, "--list", ["billing"]),
    (GROUPS, "--list --state", ["billing Stable"]),
    (GROUPS, "--list --state empty", ["!billing Stable"]),
    (GROUPS, "--list --type", ["billing Consumer"]),
    (GROUPS, "--list --type classic", ["!billing Consumer"]),
    (ALL_GROUPS, "--list", ["billing Consumer consumer"]),
    (
        GROUPS,
        "--describe --group billing",
        ["billing work 0 5 0 -5 {member} /127.0.0.1 ada", "billing work 1 - 0 - {member} /127.0.0.1 ada"],
    ),
    (
        GROUPS,
        "--describe --group billing --members --verbose",
        ["billing {member} /127.0.0.1 ada 2 {epoch} work:0,1 {epoch} work:0,1"],
    ),
    (GROUPS, "--describe --group billing --state", ["billing {bootstrap} (0) uniform Stable 1"]),
    (
        GROUPS,
        "--describe --group billing --state --verbose",
        ["billing {bootstrap} (0) uniform Stable {epoch} {epoch} 1"],
    ),
    (GROUPS, "--describe --all-groups --offsets", ["billing work 0 5 0 -5 {member} /127.0.0.1 ada"]),
    (
        GROUPS,
        "--reset-offsets --group billing --topic work --to-earliest --execute",
        [
            "Error: Assignments can only be reset if the group 'billing' is inactive, but the current state is Stable.",
            "!billing work 0 0",
        ],
    ),
    (
        GROUPS,
        "--delete-offsets --group billing --topic work:0 --topic idle:0",
        [
            "work 0 Error: org.apache.kafka.common.errors.GroupSubscribedToTopicException: Deleting offsets of a topic "
            "is forbidden while the consumer group is actively subscribed to it.",
            "idle 0 Successful",
        ],
    ),
    (
        GROUPS,
        "--delete --group billing",
        [
            "* Group 'billing' could not be deleted due to: org.apache.kafka.common.errors.GroupNotEmptyException: "
            "The group is not empty."
        ],
    ),
    (CONSOLE, f"{CONSUME} --group passing", ["Processed a total of 0 messages"]),
    (GROUPS, "--describe --group passing --state", ["passing {bootstrap} (0) uniform Empty 0"]),
]
WITHOUT_MEMBERS: list[Row] = [
    (
        GROUPS,
        "--describe --group billing",
        ["Consumer group 'billing' has no active members.", "billing work 0 5 0 -5 - - -"],
    ),
    (GROUPS, "--describe --group billing --members", ["Consumer group 'billing' has no active members."]),
    (GROUPS, "--reset-offsets --group billing --topic work --to-latest --dry-run", [NEW_OFFSETS, "billing work 1 0"]),
    (GROUPS, "--describe --group billing", ["billing work 0 5 0 -5 - - -"]),
    (GROUPS, "--reset-offsets --group billing --all-topics --to-current --export --dry-run", ["work,0,5"]),
    (GROUPS, "--reset-offsets --group billing --topic work:0,1 --to-earliest --execute", ["billing work 0 0"]),
    (GROUPS, "--describe --group billing", ["billing work 0 0 0 0 - - -", "billing work 1 0 0 0 - - -"]),
    (GROUPS, "--reset-offsets --group made --topic idle --to-latest --execute", ["made idle 0 0"]),
    (GROUPS, "--list --state", ["billing Empty", "made Empty"]),
    (GROUPS, "--delete-offsets --group billing --topic work:1", ["work 1 Successful"]),
    (GROUPS, "--describe --group billing", ["billing work 0 0 0 0 - - -", "!billing work 1 0 0 0 - - -"]),
    (GROUPS, "--delete --group billing", ["Deletion of requested consumer groups ('billing') was successful."]),
    (GROUPS, "--delete --group made", ["Deletion of requested consumer groups ('made') was successful."]),
    (GROUPS, "--list", ["!billing", "!made"]),
    (TOPICS, "--list", ["idle", "work"]),
    (TOPICS, "--create --topic jobs --partitions 3", ["Created topic jobs."]),
    (
        TOPICS,
        "--create --topic jobs --partitions 3",
        ["Error while executing topic command : topic jobs exists already"],
    ),
    (TOPICS, "--create --topic jobs --partitions 3 --if-not-exists", ["!Created topic jobs."]),
    (TOPICS, "--alter --topic jobs --partitions 4", []),
    (
        TOPICS,
        "--alter --topic jobs --partitions 2",
        ["Error while executing topic command : topic jobs has 4 partitions already: it can only have more"],
    ),
    (
        TOPICS,
        "--describe --topic jobs",
        ["Topic: jobs Partition: 3 Leader: 0 Replicas: 0 Isr: 0 Elr: N/A LastKnownElr: N/A"],
    ),
    (TOPICS, "--delete --topic jobs", []),
    (
        TOPICS,
        "--delete --topic jobs",
        ["Error while executing topic command : Topic 'jobs' does not exist as expected"],
    ),
    (TOPICS, "--list", ["!jobs"]),
]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Kcoord]:
    process = Kcoord(tmp_path, settings={"topics": "work:2,idle:1"}).start()
    yield process
    process.remove()


def test_groups_and_topics(alone: Kcoord, java: Java) -> None:
    options = {"group.protocol": "consumer", "client.id": "ada"}
    ada = Librdkafka(alone.bootstrap, "billing", ["work"], options=options)
    with ada:
        ada.wait_for_partitions(2)
        ada.do(lambda: ada.consumer.commit(offsets=[TopicPartition("work", 0, 5)], asynchronous=False))
        check(alone, java, WITH_A_MEMBER, member=ada.member_id(), epoch=str(ada.generation()))
    check(alone, java, WITHOUT_MEMBERS)


def check(alone: Kcoord, java: Java, table: Sequence[Row], **names: str) -> None:
    """Run the commands; each prints what it should."""
    wrong = {}
    names["bootstrap"] = alone.bootstrap
    for (_, arguments, expected), printed in zip(table, run(alone, java, table), strict=True):
        lines = [" ".join(line.split()) for line in printed.splitlines()]
        for line in (each.format(**names) for each in expected):
            if (line.removeprefix("!") in lines) == line.startswith("!"):
                wrong[arguments] = (line, printed)
    assert not wrong


def run(alone: Kcoord, java: Java, table: Sequence[Row]) -> list[str]:
    """What each command has printed."""
    at = ["--bootstrap-server", alone.bootstrap]
    commands = [[tool, *arguments.split(), *at, *(PATIENCE if tool == GROUPS else ())] for tool, arguments, _ in table]
    done = subprocess.run(
        [java.command, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", java.classpath, str(PROGRAM)],
        input="".join("\t".join(each) + "\n" for each in commands),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, *printed = done.stdout.split("\1")  # each but the first begins with the exit code of the one before
    return [first, *printed[:-1]]
