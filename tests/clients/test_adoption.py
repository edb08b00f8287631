"""Do real clients go behind kcoord and back to the brokers while they work? AD-6 to AD-20.

Each story is that of docs/in-and-out.md: a group at the cluster, its members bounced one by one to kcoord's address,
adopted, one bounced there, released, bounced back to the brokers, and in again. All the time its topic is written to,
and each record is processed exactly once. Which clients in which cell:

| cell | clients | what they commit |
| --- | --- | --- |
| mixed | Java, librdkafka, kafka-python, aiokafka, all with range | each poll, on their own |
| java range, java cooperative | two of Java's consumers | each poll |
| java by itself | two of Java's, range, `enable.auto.commit` | as the library has it, before each rebalance too |
| java static, librdkafka static, …, and static cooperative | two with a group.instance.id | each poll |
| librdkafka cooperative, kafka-python (range, cooperative), aiokafka | two of that library | each poll |
| java copier, librdkafka copier | two that consume, transform and produce | in transactions |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

from tests.cells import cells
from tests.cli.run_cli import kcoord as run
from tests.clients.clients_under_load import Complaints, Crowd, Load
from tests.clients.live_clients import (
    JavaClient,
    LibraryClient,
    LiveClient,
    LivingAiokafka,
    LivingCopier,
    LivingKafkaPython,
    LivingLibrdkafka,
    with_program,
)
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of, one_for_each
from tests.kafka.groups import check_kcoord_owns, describe
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import PLAINTEXT, ClientSecurity
from tests.kafka.tools import GROUPS, PATIENCE, Tools, rows, tools_for
from tests.kafka.wait import eventually

RANGE = "org.apache.kafka.clients.consumer.RangeAssignor"
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
STRATEGY = "partition.assignment.strategy"

Clients = Callable[[str, str, str, Path, "Java"], list[LiveClient]]
"""Makes the clients of a group on a topic; what they copy goes to a target; folder and Java are for Java's."""


def java_pair(settings: dict[str, str], *, is_static: bool = False, copies: bool = False) -> Clients:
    """Two of Java's consumers."""

    def make(group: str, topic: str, target: str, folder: Path, java: Java) -> list[LiveClient]:
        program = with_program(java)
        told = [settings | ({"group.instance.id": name} if is_static else {}) for name in ("one", "two")]
        to = target if copies else "-"
        return [
            JavaClient(folder / f"java-{at}.log", group, topic, f"{group}-{at}", each, to, java=program)
            for at, each in enumerate(told)
        ]

    return make


def pair(kind: Any, options: dict[str, Any], *, is_static: bool = False, copies: bool = False) -> Clients:
    """Two clients of a library."""

    def make(group: str, topic: str, target: str, folder: Path, java: Java) -> list[LiveClient]:
        own = [options | ({"target": target, "client.id": f"{group}-{at}"} if copies else {}) for at in range(2)]
        return [
            LibraryClient(kind, group, topic, each, f"static-{at}" if is_static else None)
            for at, each in enumerate(own)
        ]

    return make


def mixed(group: str, topic: str, target: str, folder: Path, java: Java) -> list[LiveClient]:
    """One of each."""
    java_client = JavaClient(folder / "java.log", group, topic, "java", {STRATEGY: RANGE}, java=with_program(java))
    kinds = (LivingLibrdkafka, LivingKafkaPython, LivingAiokafka)
    return [java_client, *(LibraryClient(kind, group, topic) for kind in kinds)]


CELLS: dict[str, Clients] = {
    "mixed": mixed,
    "java range": java_pair({STRATEGY: RANGE}),
    "java cooperative": java_pair({STRATEGY: COOPERATIVE}),
    "java by itself": java_pair({STRATEGY: RANGE, "enable.auto.commit": "true"}),
    "java static": java_pair({STRATEGY: RANGE}, is_static=True),
    "librdkafka cooperative": pair(LivingLibrdkafka, {STRATEGY: "cooperative-sticky"}),
    "librdkafka static": pair(LivingLibrdkafka, {}, is_static=True),
    "kafka-python": pair(LivingKafkaPython, {}),
    "kafka-python cooperative": pair(LivingKafkaPython, {"partition_assignment_strategy": [CooperativeStickyAssignor]}),
    "aiokafka": pair(LivingAiokafka, {}),
    "java copier": java_pair({STRATEGY: COOPERATIVE}, copies=True),
    "java range copier": java_pair({STRATEGY: RANGE}, copies=True),
    "librdkafka copier": pair(LivingCopier, {}, copies=True),
    "java static cooperative": java_pair({STRATEGY: COOPERATIVE}, is_static=True),
    "librdkafka static cooperative": pair(LivingLibrdkafka, {STRATEGY: "cooperative-sticky"}, is_static=True),
    "kafka-python static": pair(LivingKafkaPython, {}, is_static=True),
    "aiokafka static": pair(LivingAiokafka, {}, is_static=True),
}
MOVE_ONLY = (
    "kafka-python cooperative",
    "java static cooperative",
    "librdkafka static cooperative",
    "kafka-python static",
    "aiokafka static",
)
"""Cells that differ from others in one thing only: nobody dies in them (test_adoption_steps.py)."""
ORDINARY = (
    r"aiokafka\S+: Heartbeat failed for group \S+ because it is rebalancing",
    r"aiokafka\S+: OffsetCommit failed for group \S+ due to group error \(\[Error 2[27]\]",  # behind its own JoinGroup
    r"kafka.admin._groups: Unable to decode member_metadata",  # the tests' own question about kcoord's own member
    r"kafka.cluster: Metadata refresh: failed Cancelled",  # a consumer that is closed
    r"kafka.coordinator: .*\bCancelled\b",  # the same, with a heartbeat under way
    r"kafka.net.transport: <KafkaTCPTransport \[none\] \(closed\)>: Error receiving",  # by itself, while it read
    r"kafka.net.selector: Task .* blocking the event loop",  # a loaded machine
    r"kafka.net.selector: Unhandled exception in task <kafka.net.selector.Task object",  # it waits on a closed socket
    r"ConsumerMembershipManager - .* Reconciliation failed\.$",  # the next line says why
    r"PartitionsAssignedEvent could not be completed before the consumer closed$",  # it was bounced just then
    r"^\tat ",  # where that was in Java
)
"""What libraries log of every rebalance, at a cluster without kcoord too."""
AT_EACH_COMMIT = ("mixed", "librdkafka copier")


@pytest.fixture(scope="module")
def front_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[KafkaCluster], Kcoord]]:
    """The kcoord before a cluster."""
    with one_for_each(lambda cluster: kcoord_of(cluster, tmp_path_factory.mktemp("kcoord"))) as of:
        yield of


@pytest.mark.parametrize("version", cells(["4.3", "3.9", "2.8"], lambda version: version != "4.3"))
@pytest.mark.parametrize("cell", cells(CELLS, lambda cell: cell not in AT_EACH_COMMIT))
def test_in_and_out_under_load(
    cluster_of: Callable[[str], KafkaCluster],
    front_of: Callable[[KafkaCluster], Kcoord],
    java: Java,
    tmp_path: Path,
    name: str,
    cell: str,
    version: str,
) -> None:
    kafka = cluster_of(version)
    front = front_of(kafka)
    topic, target = (kafka.create_topic(f"{kind}-{name}", partitions=4) for kind in ("topic", "target"))
    clients = CELLS[cell](name, topic, target, tmp_path, java)
    with Complaints() as complaints, Crowd(kafka, name, topic, clients, Load(kafka, topic), complaints) as crowd:
        in_and_out(crowd, front)
    if "copier" in cell:
        crowd.load.check_copied_once(target)
    crowd.check_each_once()
    crowd.check_no_complaint(ORDINARY)


def in_and_out(crowd: Crowd, front: Kcoord, login: Path | None = None) -> None:
    """The story of docs/in-and-out.md, and in again. AD-20: while members are bounced some are direct, some are not.
    `login` has the properties of whoever moves the group.
    """
    kafka, group, count, admin = crowd.kafka, crowd.group, len(crowd.clients), crowd.kafka.client()
    crowd.start(kafka.bootstrap)
    check_members(kafka.bootstrap, group, count, admin)

    crowd.bounce(front.bootstrap)
    adopted(crowd, front, 1)
    crowd.bounce(front.bootstrap, crowd.clients[0])
    check_kcoord_owns(kafka, group)
    check_members(front.bootstrap, group, count, admin)

    groups(front, "release", group, login=login)
    crowd.go_on()
    check_members(kafka.bootstrap, group, count, admin)
    check_members(front.bootstrap, group, count, admin)
    crowd.bounce(kafka.bootstrap)
    check_members(kafka.bootstrap, group, count, admin)

    groups(front, "adopt", group, "--wait", 0, login=login)
    crowd.bounce(front.bootstrap)
    adopted(crowd, front, 2)
    crowd.end()


def groups(front: Kcoord, *arguments: object, login: Path | None = None) -> None:
    """`kcoord groups …` succeeds."""
    with_login = ("--command-config", login) if login else ()
    done = run("groups", *arguments, "--bootstrap-server", front.bootstrap, *with_login)
    assert done.code == 0, done


def adopted(crowd: Crowd, front: Kcoord, times: int) -> None:
    """The group has been adopted so many times, and no member has joined again for it (AD-8, AD-12)."""
    crowd.go_on()
    front.wait_for_line(f"group {crowd.group} is kcoord's now: adopted", times)
    before = crowd.assignments
    crowd.go_on()
    assert crowd.assignments == before
    check_kcoord_owns(crowd.kafka, crowd.group)


def check_members(bootstrap: str, group: str, count: int, security: ClientSecurity = PLAINTEXT) -> None:
    """So many members, as Kafka's protocol shows them there, none of them kcoord's, in a stable group."""

    def is_so() -> bool:
        seen = describe(bootstrap, group, security)
        return seen.state == "Stable" and len(seen.assigned) == count and "kcoord" not in seen.instances.values()

    eventually(is_so, f"{group} is stable with {count} members at {bootstrap}")


@pytest.mark.proof
@pytest.mark.parametrize("version", ["4.3", "3.9", "2.8"])
def test_kafkas_own_tools_before_while_and_after(
    cluster_of: Callable[[str], KafkaCluster],
    front_of: Callable[[KafkaCluster], Kcoord],
    java: Java,
    name: str,
    version: str,
) -> None:
    """At the brokers and at kcoord: the group, its state, and its lag by partition; members where they are. With the
    tools of the cluster's own version and the tests' own.
    """
    kafka = cluster_of(version)
    front = front_of(kafka)
    tools = tools_for(version, java)
    types = [] if version == "2.8" else ["Classic"]  # brokers before 3.8 give none
    topic = kafka.create_topic(f"topic-{name}", partitions=4)
    clients: list[LiveClient] = [LibraryClient(LivingLibrdkafka, name, topic) for _ in range(2)]

    def check(bootstrap: str, protocol: str, members: int) -> None:
        for each in tools:
            assert told(each, bootstrap, name, types) == (protocol, members, 4)

    with Complaints() as complaints, Crowd(kafka, name, topic, clients, Load(kafka, topic), complaints) as crowd:
        crowd.start(kafka.bootstrap)
        for bootstrap in (kafka.bootstrap, front.bootstrap):
            check(bootstrap, "range", 2)
        crowd.bounce(front.bootstrap)
        adopted(crowd, front, 1)
        check(front.bootstrap, "range", 2)
        check(kafka.bootstrap, "kcoord", 1)
        groups(front, "release", name)
        crowd.go_on()
        for bootstrap in (kafka.bootstrap, front.bootstrap):
            check(bootstrap, "range", 2)
        crowd.bounce(kafka.bootstrap)
        check(kafka.bootstrap, "range", 2)
        crowd.end()
    crowd.check_each_once()


def told(tools: Tools, bootstrap: str, group: str, types: Sequence[str]) -> tuple[str, int, int]:
    """What Kafka's tools print: the group's protocol, how many members it has, and of how many partitions the lag.

    `types`: its type, where the cluster tells it.
    """
    at = ["--bootstrap-server", bootstrap]
    run_tool = tools.java.tool
    if tools.has_groups:
        [words] = [line.split() for line in run_tool(GROUPS, *at, "--list").splitlines() if line.startswith(group)]
        assert words == [group, *types, "consumer"]
    of_group = [*at, "--group", group, "--describe", *PATIENCE]
    lags = rows(run_tool(tools.consumer_groups, *of_group), group)
    assert all(row["LAG"].isdigit() for row in lags)
    [listed] = rows(run_tool(tools.consumer_groups, *at, "--list", "--state", *PATIENCE), group)
    assert listed["STATE"] == "Stable"
    [state] = rows(run_tool(tools.consumer_groups, *of_group, "--state"), group)
    assert state["STATE"] == "Stable"
    return state["ASSIGNMENT-STRATEGY"], int(state["#MEMBERS"]), len(lags)
