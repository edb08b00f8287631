"""Do other people's consumers of the new protocol share work through kcoord, in front of clusters that lack it?

Java's and librdkafka's, with real data (KG-17 to KG-20).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupState, ConsumerGroupType, KafkaException
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from tests.cli.run_cli import kcoord as run
from tests.clients.consumer_group_settings import SETTINGS
from tests.clients.live_clients import JavaClient, with_program
from tests.clients.members import KafkaPython, Librdkafka
from tests.clients.test_consumers_alone import NEW_PROTOCOL, wait_until_shared
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.nodes import ZooKeeperSite
from tests.kafka.process import ServerProcess
from tests.kafka.topics import read_topic, write_topic
from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT

VERSIONS = [
    pytest.param("2.8.2", id="2.8"),
    pytest.param("3.9.1", id="3.9", marks=pytest.mark.proof),
    pytest.param(None, id="4.3", marks=pytest.mark.proof),
]


@pytest.fixture(scope="module", params=VERSIONS)
def cluster(request: pytest.FixtureRequest, start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A cluster of a version that is named in `VERSIONS`."""
    if request.param is None:
        cluster: KafkaCluster = request.getfixturevalue("kafka")
        return cluster
    return start_kafka(version=request.param)


@pytest.fixture(scope="module")
def entry(cluster: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """kcoord in front of the cluster."""
    kcoord = kcoord_of(cluster, tmp_path_factory.mktemp("kcoord"), **SETTINGS)
    yield kcoord
    kcoord.remove()


@pytest.fixture
def work(cluster: KafkaCluster, name: str) -> str:
    """A topic of six partitions for the test alone."""
    return cluster.create_topic(f"work-{name}", partitions=6)


@pytest.fixture
def start_java(java: Java, tmp_path: Path) -> Iterator[Callable[..., JavaClient]]:
    """Starts one of Java's consumers."""
    started: list[JavaClient] = []

    def start(bootstrap: str, group: str, topic: str, target: str = "-", **settings: str) -> JavaClient:
        name = f"java-{len(started)}"
        own = {**NEW_PROTOCOL, **{key.replace("_", "."): value for key, value in settings.items()}}
        client = JavaClient(tmp_path / f"{name}.log", group, topic, name, own, target, java=with_program(java))
        started.append(client)
        client.start(bootstrap)
        return client

    yield start
    for client in started:
        client.kill()


def librdkafka(entry: Kcoord, group: str, topic: str, **options: Any) -> Librdkafka:
    instance = options.pop("instance", None)
    return Librdkafka(entry.bootstrap, group, [topic], instance=instance, options={**NEW_PROTOCOL, **options})


def test_groups_are_listed_by_their_types(cluster: KafkaCluster, entry: Kcoord, name: str, work: str) -> None:
    """Where the cluster tells none, its groups are classic. A group that nobody is in any more is there, too."""
    admin = AdminClient({"bootstrap.servers": entry.bootstrap})

    def listed(**by: Any) -> dict[str, tuple[ConsumerGroupType, ConsumerGroupState]]:
        found = admin.list_consumer_groups(**by).result(120)
        assert found.errors == []
        return {each.group_id: (each.type, each.state) for each in found.valid if each.group_id.startswith(name)}

    new, classic, direct = (f"{name}-{kind}" for kind in ("new", "classic", "direct"))
    of_consumers, of_classic = ConsumerGroupType.CONSUMER, ConsumerGroupType.CLASSIC
    stable, empty = ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY
    theirs = {direct: (of_classic, stable)}
    with Librdkafka(cluster.bootstrap, direct, [work]) as there:
        wait_until_shared([there], [6], all_of(work))
        with librdkafka(entry, new, work) as first, Librdkafka(entry.bootstrap, classic, [work]) as second:
            wait_until_shared([first], [6], all_of(work))
            wait_until_shared([second], [6], all_of(work))
            ours = {classic: (of_classic, stable)}
            assert listed() == theirs | ours | {new: (of_consumers, stable)}
            assert listed(types={of_consumers}) == {new: (of_consumers, stable)}
            assert listed(types={of_classic}) == theirs | ours
        eventually(lambda: listed(types={of_consumers}) == {new: (of_consumers, empty)}, "nobody is in it any more")


def test_who_does_not_know_is_told_that_kcoord_could_serve_such_consumers(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    """In front of a cluster they are off unless one says so; from Kafka 3.7 on the cluster knows them."""
    lacks_them = isinstance(cluster.site, ZooKeeperSite)
    entry = kcoord_of(cluster, tmp_path / "kcoord")
    entry.wait_for_line("upstream answers, and speaks as Apache Kafka ")
    checked = run("check", "--listen", "127.0.0.1:0", "--upstream", cluster.bootstrap, "--groups", "x", "--json")
    hint = "with group.consumer.enable=true kcoord serves such consumers"
    assert (hint in checked.out) is lacks_them
    if lacks_them:
        entry.wait_for_line(hint)
    entry.remove()
    assert (hint in entry.log.read_text()) is lacks_them


def all_of(topic: str, partitions: int = 6) -> frozenset[tuple[str, int]]:
    return frozenset((topic, number) for number in range(partitions))


def test_java_and_librdkafka_share_a_group_with_data(
    cluster: KafkaCluster, entry: Kcoord, name: str, work: str, start_java: Callable[..., JavaClient]
) -> None:
    before, after = {f"before{n}" for n in range(60)}, {f"after{n}" for n in range(60)}
    write_topic(cluster, work, before)
    with librdkafka(entry, name, work) as first:
        wait_until_shared([first], [6], all_of(work))
        first.wait_for_values(before)
        first.commit()
        second = start_java(entry.bootstrap, name, work)
        wait_until_shared([first, second], [3, 3], all_of(work))
        with librdkafka(entry, name, work) as third:
            wait_until_shared([first, second, third], [2, 2, 2], all_of(work))
        wait_until_shared([first, second], [3, 3], all_of(work))
        second.stop()
        wait_until_shared([first], [6], all_of(work))
        assert second.notes.complaints == []
        write_topic(cluster, work, after)
        first.wait_for_values(after)
        first.commit()
    assert sum(cluster.committed(name).values()) == 120


def test_nobody_notices_that_kcoord_was_killed(
    cluster: KafkaCluster, entry: Kcoord, name: str, work: str, start_java: Callable[..., JavaClient]
) -> None:
    with librdkafka(entry, name, work) as first:
        second = start_java(entry.bootstrap, name, work)
        wait_until_shared([first, second], [3, 3], all_of(work))
        before = first.assigned, first.assignments, second.notes.assignments
        entry.kill_and_restart()
        values = {f"v{n}" for n in range(60)}
        write_topic(cluster, work, values)
        eventually(lambda: {*first.values, *second.notes.processed} == values, "all is read")
        first.commit()
        third = start_java(entry.bootstrap, name, work)
        wait_until_shared([first, second, third], [2, 2, 2], all_of(work))
        assert first.assigned < before[0], "who was there only lost a part to the newcomer"
        assert (first.assignments, second.notes.assignments) == (before[1] + 1, before[2] + 1)
        assert second.notes.lost == 0


CLASSIC = {"group_protocol": "classic", "session_timeout_ms": "10000"}


@pytest.mark.parametrize(
    ("spoken", "says"),
    [
        pytest.param({}, "UNKNOWN_MEMBER_ID", id="new protocol"),
        pytest.param(CLASSIC, "CommitFailedException", id="classic"),
    ],
)
def test_who_has_stood_still_commits_nothing_any_more(
    cluster: KafkaCluster,
    entry: Kcoord,
    name: str,
    work: str,
    start_java: Callable[..., JavaClient],
    spoken: dict[str, str],
    says: str,
) -> None:
    """KG-19: its session ends, another has its partitions and commits. What it had read comes too late."""
    write_topic(cluster, work, {f"v{n}" for n in range(60)})
    frozen = start_java(entry.bootstrap, name, work, **spoken)
    wait_until_shared([frozen], [6], all_of(work))
    eventually(lambda: len(frozen.notes.acknowledged) >= 60, "all is committed")
    frozen.freeze()
    write_topic(cluster, work, {f"w{n}" for n in range(60)})
    with librdkafka(entry, name, work) as heir:
        wait_until_shared([heir], [6], all_of(work))
        heir.wait_for_values({f"w{n}" for n in range(60)})
        heir.commit()
        at = cluster.committed(name)
        assert sum(at.values()) == 120
        frozen.thaw()
        eventually(
            lambda: frozen.notes.lost or any(says in each for each in frozen.notes.complaints),
            "its commit is refused, or it hears first that it has lost all",
        )
        assert cluster.committed(name) == at


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_static_member_gets_its_share_back(
    library: str, entry: Kcoord, name: str, work: str, start_java: Callable[..., JavaClient]
) -> None:
    def two() -> Any:
        if library == "java":
            return start_java(entry.bootstrap, name, work, group_instance_id="two")
        return librdkafka(entry, name, work, instance="two")

    with librdkafka(entry, name, work, instance="one") as first:
        second = two()
        wait_until_shared([first, second], [3, 3], all_of(work))
        had, assignments = second.assigned, first.assignments
        second.stop() if library == "java" else second.close()
        again = two()
        wait_until_shared([first, again], [3, 3], all_of(work))
        assert (again.assigned, first.assignments) == (had, assignments)
        if library == "librdkafka":
            again.close()


def test_topics_grow_go_and_come_again(
    cluster: KafkaCluster, entry: Kcoord, name: str, work: str, start_java: Callable[..., JavaClient]
) -> None:
    """Java's consumers: librdkafka's tells its application that a topic has gone, and ours ends then."""
    admin = cluster.admin()
    both = [
        start_java(entry.bootstrap, name, work, metadata_max_age_ms="500", allow_auto_create_topics="false")
        for _ in range(2)
    ]
    wait_until_shared(both, [3, 3], all_of(work))
    admin.create_partitions([NewPartitions(work, 8)])[work].result(60)
    wait_until_shared(both, [4, 4], all_of(work, 8))
    admin.delete_topics([work])[work].result(60)
    wait_until_shared(both, [0, 0], frozenset())
    admin.create_topics([NewTopic(work, 2)])[work].result(60)
    wait_until_shared(both, [1, 1], all_of(work, 2))
    values = {f"v{n}" for n in range(20)}
    write_topic(cluster, work, values)
    eventually(lambda: values <= {each for of in both for each in of.notes.processed}, "the new topic is read")


def test_regular_expressions_are_resolved_by_what_the_cluster_shows(
    cluster: KafkaCluster, entry: Kcoord, name: str, work: str, start_java: Callable[..., JavaClient]
) -> None:
    other = cluster.create_topic(f"other-{name}", partitions=2)
    with Librdkafka(entry.bootstrap, name, [f"^(work|other)-{name}$"], options=NEW_PROTOCOL) as first:
        wait_until_shared([first], [8], all_of(work) | all_of(other, 2))
        second = start_java(entry.bootstrap, name, f"^(work|other)-{name}")
        wait_until_shared([first, second], [4, 4], all_of(work) | all_of(other, 2))
        refused = start_java(entry.bootstrap, name, "^(?=work)")

        def complains() -> bool:
            return any("InvalidRegularExpression" in each for each in refused.notes.complaints)

        eventually(complains, "Java says what is wrong")


def test_an_upgrade_against_the_groups_policy_is_refused(entry: Kcoord, name: str, work: str) -> None:
    done = run("config", "set", name, "consumer.migration.policy=disabled", "--bootstrap-server", entry.bootstrap)
    assert done.code == 0, done
    with KafkaPython(entry.bootstrap, name, [work]) as first:
        wait_until_shared([first], [6], all_of(work))
        with librdkafka(entry, name, work) as refused:
            refused.wait_for_error()
        entry.wait_for_line(
            "was refused, rdkafka (127.0.0.1): the group speaks the classic protocol: its migration policy"
        )
        wait_until_shared([first], [6], all_of(work))
    with librdkafka(entry, name, work) as third:
        wait_until_shared([third], [6], all_of(work))


def test_a_group_is_not_released_while_it_has_consumers_of_the_new_protocol(
    entry: Kcoord, name: str, work: str
) -> None:
    """KG-20: the command says which, and changes nothing. Without them it goes."""
    with KafkaPython(entry.bootstrap, name, [work]) as first:
        with librdkafka(entry, name, work) as second:
            wait_until_shared([first, second], [3, 3], all_of(work))
            done = run("groups", "release", name, "--bootstrap-server", entry.bootstrap)
            assert (done.code, "with group.protocol=classic first: rdkafka" in done.out) == (1, True), done
            settings = run("config", "describe", name, "--bootstrap-server", entry.bootstrap).out
            assert [line.split()[1] for line in settings.splitlines() if line.startswith("gateway.owner")] == ["auto"]
        wait_until_shared([first], [6], all_of(work))
        done = run("groups", "release", name, "--bootstrap-server", entry.bootstrap)
        assert done.code == 0, done
        wait_until_shared([first], [6], all_of(work))


def test_the_clusters_own_tools_see_the_group(cluster: KafkaCluster, entry: Kcoord, name: str, work: str) -> None:
    """AD-2: at the brokers the group is a classic one, with its topics and its lag."""
    write_topic(cluster, work, {f"v{n}" for n in range(12)})
    with librdkafka(entry, name, work) as first:
        wait_until_shared([first], [6], all_of(work))
        first.wait_for_values({f"v{n}" for n in range(12)})
        first.commit()

        def shown() -> bool:
            admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
            described = admin.describe_consumer_groups([name])[name].result(60)
            [member] = described.members
            return {(at.topic, at.partition) for at in member.assignment.topic_partitions} == all_of(work)

        eventually(shown, "the sentinel has the group's topics")
        at_kcoord = AdminClient({"bootstrap.servers": entry.bootstrap})
        described = at_kcoord.describe_consumer_groups([name])[name].result(60)
        assert [len(member.assignment.topic_partitions) for member in described.members] == [6]
        assert described.type.name == "CONSUMER"


def test_transactions_count_every_record_once(
    cluster: KafkaCluster, entry: Kcoord, name: str, work: str, start_java: Callable[..., JavaClient], java: Java
) -> None:
    """Two that copy from one topic to another. One is killed in the middle; the other goes on where it was."""
    values = {f"v{n}" for n in range(200)}
    target = cluster.create_topic(f"target-{name}", partitions=1)
    one = start_java(entry.bootstrap, name, work, target=target)
    two = start_java(entry.bootstrap, name, work, target=target)
    wait_until_shared([one, two], [3, 3], all_of(work))
    write_topic(cluster, work, values)
    eventually(lambda: two.notes.acknowledged, "both copy")
    two.kill()
    eventually(lambda: set(read_topic(cluster, target)) == values, "all is copied")
    one.stop()
    assert sorted(read_topic(cluster, target)) == sorted(values), "each once"


def test_a_group_that_is_not_kcoords_is_the_clusters(
    request: pytest.FixtureRequest,
    cluster: KafkaCluster,
    tmp_path: Path,
    name: str,
    work: str,
    start_java: Callable[..., JavaClient],
) -> None:
    """KG-18: where the cluster has no such groups, Java says what to set. Where it has, they work."""
    kcoord = kcoord_of(cluster, tmp_path / "kcoord", ["mine-.*"], **SETTINGS)
    try:
        client = start_java(kcoord.bootstrap, name, work)

        def ends() -> bool:
            if request.node.callspec.params["cluster"] is None:
                return client.assigned == all_of(work)
            return any("group.protocol" in each for each in client.notes.complaints)

        eventually(ends, "it works, or Java says what to set")
        mine = start_java(kcoord.bootstrap, f"mine-{name}", work)
        wait_until_shared([mine], [6], all_of(work))
    finally:
        kcoord.remove()


def test_three_kinds_of_clients_share_a_group_and_kcoord_is_killed(
    cluster: KafkaCluster, entry: Kcoord, name: str, work: str, start_java: Callable[..., JavaClient], tmp_path: Path
) -> None:
    """Java's, librdkafka's and kcoord's own. Each record is read once by one of them."""
    lines = tmp_path / "lines"
    program = [sys.executable, str(ROOT / "examples" / "consume_topic.py"), work, "--group", name]
    where = {**os.environ, "PYTHONPATH": str(ROOT)}
    own = ServerProcess.start("kcoord's own consumer", [*program, "--bootstrap-server", entry.bootstrap], lines, where)

    def shares() -> list[int]:
        own.check_running()
        admin = AdminClient({"bootstrap.servers": entry.bootstrap})  # a new one: kcoord is restarted
        try:
            described = admin.describe_consumer_groups([name], request_timeout=10)[name].result(20)
        except (KafkaException, TimeoutError) as error:
            raise NotYet(error) from None
        return sorted(len(member.assignment.topic_partitions) for member in described.members)

    def read_by_own() -> list[str]:
        return [json.loads(line)["value"] for line in lines.read_text().splitlines() if line.startswith("{")]

    try:
        with librdkafka(entry, name, work) as first:
            java = start_java(entry.bootstrap, name, work)
            eventually(lambda: shares() == [2, 2, 2], "each has a third")
            for batch in ("before", "after"):
                values = {f"{batch}{n}" for n in range(60)}
                write_topic(cluster, work, values)

                def all_is_read(values: set[str] = values) -> bool:
                    return values <= {*first.values, *java.notes.processed, *read_by_own()}

                eventually(all_is_read, f"all is read {batch} the kill")
                if batch == "before":
                    entry.kill_and_restart()
            read = [*first.values, *java.notes.processed, *read_by_own()]
            assert len(read) == len(set(read)) == 120, "nothing is read twice"
            eventually(lambda: shares() == [2, 2, 2], "each has a third still")
    finally:
        own.kill()
