"""Do other people's consumers of the new protocol share work in a kcoord that has no cluster? (KG-1 to KG-14)

Java's and librdkafka's. The topics have no data: what counts is who has which partition, and what is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from tests.clients.live_clients import JavaClient, with_program
from tests.clients.members import Aiokafka, KafkaPython, Librdkafka, Member
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually

NEW_PROTOCOL = {"group.protocol": "consumer"}
SESSION_MS, INTERVAL_MS = 6_000, 1_500
SETTINGS = {
    "topics": "work:6",
    "group.consumer.session.timeout.ms": SESSION_MS,
    "group.consumer.min.session.timeout.ms": SESSION_MS,
    "group.consumer.heartbeat.interval.ms": INTERVAL_MS,
    "group.consumer.min.heartbeat.interval.ms": INTERVAL_MS,
}
NOBODY_EXPIRES = {"group.consumer.session.timeout.ms": 60_000}
"""For a test in which a JVM starts while a place is kept."""
ALL = frozenset(("work", number) for number in range(6))
Assigned = frozenset[tuple[str, int]]


@pytest.fixture
def kcoord(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kcoord]:
    """Its parameter: settings of its own."""
    kcoord = Kcoord(tmp_path / "kcoord", settings=SETTINGS | getattr(request, "param", {}))
    kcoord.folder.mkdir()
    kcoord.start()
    yield kcoord
    kcoord.remove()


@pytest.fixture
def start_java(java: Java, tmp_path: Path) -> Iterator[Callable[..., JavaClient]]:
    """Starts one of Java's consumers of the topic `work`."""
    started: list[JavaClient] = []

    def start(bootstrap: str, group: str, topic: str = "work", **settings: str) -> JavaClient:
        name = f"java-{len(started)}"
        own = {**NEW_PROTOCOL, **{key.replace("_", "."): value for key, value in settings.items()}}
        client = JavaClient(tmp_path / f"{name}.log", group, topic, name, own, java=with_program(java))
        started.append(client)
        client.start(bootstrap)
        return client

    yield start
    for client in started:
        client.kill()


def librdkafka(bootstrap: str, group: str, **options: Any) -> Librdkafka:
    instance = options.pop("instance", None)
    return Librdkafka(bootstrap, group, ["work"], instance=instance, options={**NEW_PROTOCOL, **options})


def wait_until_shared(members: Sequence[Member | JavaClient], counts: Sequence[int], what: Assigned = ALL) -> None:
    """Wait until the members have so many partitions, nobody's twice and all in all `what`."""

    def shared() -> bool:
        failed = [each.error for each in members if isinstance(each, Member) and each.error is not None]
        assert not failed, f"members have failed: {failed}"
        has = [each.assigned for each in members]
        if [len(each) for each in has] != list(counts) or frozenset[tuple[str, int]]().union(*has) != what:
            raise NotYet([sorted(each) for each in has])
        return True

    eventually(shared, f"{len(members)} members have {list(counts)} of {len(what)} partitions")


def commit(member: Member, offsets: dict[int, int]) -> None:
    """Commit these offsets of the topic, in one request."""
    at = [confluent_kafka.TopicPartition("work", number, offset) for number, offset in offsets.items()]
    assert isinstance(member, Librdkafka)
    for each in member.do(lambda: member.consumer.commit(offsets=at, asynchronous=False)):
        assert each.error is None


def committed(bootstrap: str, group: str) -> dict[int, int]:
    """What the group has committed, as somebody who is no member sees it."""
    reader = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    try:
        asked = [confluent_kafka.TopicPartition("work", number) for number in range(6)]
        return {each.partition: each.offset for each in reader.committed(asked, timeout=60) if each.offset >= 0}
    finally:
        reader.close()


def test_java_and_librdkafka_share_a_group_and_each_can_go(
    kcoord: Kcoord, start_java: Callable[..., JavaClient]
) -> None:
    with librdkafka(kcoord.bootstrap, "g") as first:
        wait_until_shared([first], [6])
        second = start_java(kcoord.bootstrap, "g")
        wait_until_shared([first, second], [3, 3])
        with librdkafka(kcoord.bootstrap, "g") as third:
            wait_until_shared([first, second, third], [2, 2, 2])
            second.stop()
            wait_until_shared([first, third], [3, 3])
        wait_until_shared([first], [6])
        assert second.notes.complaints == []


def test_a_killed_member_loses_its_share_when_its_session_ends(
    kcoord: Kcoord, start_java: Callable[..., JavaClient]
) -> None:
    with librdkafka(kcoord.bootstrap, "g") as first:
        second = start_java(kcoord.bootstrap, "g")
        wait_until_shared([first, second], [3, 3])
        had = first.assigned
        second.kill()
        wait_until_shared([first], [6])
        assert had <= first.assigned


def test_members_do_not_notice_that_kcoord_was_killed(kcoord: Kcoord, start_java: Callable[..., JavaClient]) -> None:
    with librdkafka(kcoord.bootstrap, "g") as first:
        second = start_java(kcoord.bootstrap, "g")
        wait_until_shared([first, second], [3, 3])
        mine = {number for _, number in first.assigned}
        commit(first, {number: 100 + number for number in mine})
        before = first.assignments, second.notes.assignments, first.assigned
        kcoord.kill_and_restart()
        commit(first, {number: 200 + number for number in mine})
        third = start_java(kcoord.bootstrap, "g")
        wait_until_shared([first, second, third], [2, 2, 2])
        assert committed(kcoord.bootstrap, "g") == {number: 200 + number for number in mine}
        assert first.assigned < before[2], "who was there only lost a part to the newcomer"
        assert (first.assignments, second.notes.assignments) == (before[0] + 1, before[1] + 1)


@pytest.mark.parametrize("kcoord", [NOBODY_EXPIRES], ids=["nobody-expires"], indirect=True)
@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_static_member_gets_its_share_back(
    library: str, kcoord: Kcoord, start_java: Callable[..., JavaClient]
) -> None:
    with librdkafka(kcoord.bootstrap, "g", instance="one") as first:
        if library == "java":
            second: Any = start_java(kcoord.bootstrap, "g", group_instance_id="two")
        else:
            second = librdkafka(kcoord.bootstrap, "g", instance="two")
        wait_until_shared([first, second], [3, 3])
        had, assignments = second.assigned, first.assignments
        if library == "java":
            second.stop()
            again: Any = start_java(kcoord.bootstrap, "g", group_instance_id="two")
        else:
            second.close()
            again = librdkafka(kcoord.bootstrap, "g", instance="two")
        wait_until_shared([first, again], [3, 3])
        assert (again.assigned, first.assignments) == (had, assignments)
        if library == "librdkafka":
            again.close()


def test_topics_grow_go_and_come_again(kcoord: Kcoord, start_java: Callable[..., JavaClient]) -> None:
    """Java's consumers: librdkafka's tells its application that a topic has gone, and ours ends then."""
    admin = AdminClient({"bootstrap.servers": kcoord.bootstrap})
    both = [start_java(kcoord.bootstrap, "g", metadata_max_age_ms="500") for _ in range(2)]
    wait_until_shared(both, [3, 3])
    admin.create_partitions([NewPartitions("work", 8)])["work"].result(60)
    wait_until_shared(both, [4, 4], frozenset(("work", number) for number in range(8)))
    admin.delete_topics(["work"])["work"].result(60)
    wait_until_shared(both, [0, 0], frozenset())
    admin.create_topics([NewTopic("work", 2)])["work"].result(60)
    wait_until_shared(both, [1, 1], frozenset({("work", 0), ("work", 1)}))


def test_regular_expressions_are_resolved_here(kcoord: Kcoord, start_java: Callable[..., JavaClient]) -> None:
    """librdkafka's and Java's. Whoever names one that RE2 does not know is told so."""
    admin = AdminClient({"bootstrap.servers": kcoord.bootstrap})
    with Librdkafka(kcoord.bootstrap, "g", ["^w.*k"], options=NEW_PROTOCOL) as first:
        wait_until_shared([first], [6])
        second = start_java(kcoord.bootstrap, "g", topic="^work|wark")
        wait_until_shared([first, second], [3, 3])
        admin.create_topics([NewTopic("wark", 2)])["wark"].result(60)
        wait_until_shared([first, second], [4, 4], ALL | {("wark", 0), ("wark", 1)})
        refused = start_java(kcoord.bootstrap, "g", topic="^(?=work)")

        def complains() -> bool:
            return any("InvalidRegularExpression" in each for each in refused.notes.complaints)

        eventually(complains, "Java says what is wrong")
        wait_until_shared([first, second], [4, 4], ALL | {("wark", 0), ("wark", 1)})


@pytest.mark.parametrize("library", [Librdkafka, KafkaPython, Aiokafka], ids=lambda library: library.library)
def test_classic_consumers_share_declared_topics_too(library: type[Member], kcoord: Kcoord) -> None:
    with library(kcoord.bootstrap, "classic", ["work"]) as first:
        wait_until_shared([first], [6])
        with library(kcoord.bootstrap, "classic", ["work"]) as second:
            wait_until_shared([first, second], [3, 3])


def test_a_fleet_rolls_to_the_new_protocol_and_back(kcoord: Kcoord, start_java: Callable[..., JavaClient]) -> None:
    """One after the other, and through a kill of kcoord in the middle. (KG-21 to KG-24)"""
    at = kcoord.bootstrap
    with Librdkafka(at, "g", ["work"]) as first:
        with KafkaPython(at, "g", ["work"]) as second:
            wait_until_shared([first, second], [3, 3])
            third = start_java(at, "g")
            wait_until_shared([first, second, third], [2, 2, 2])
            commit(first, {number: 10 + number for _, number in first.assigned})
            kcoord.kill_and_restart()
            commit(first, {number: 20 + number for _, number in first.assigned})
            assert committed(at, "g") == {number: 20 + number for _, number in first.assigned}
            wait_until_shared([first, second, third], [2, 2, 2])
        with librdkafka(at, "g") as fourth:
            wait_until_shared([first, third, fourth], [2, 2, 2])
            first.close()
            wait_until_shared([third, fourth], [3, 3])
            with Aiokafka(at, "g", ["work"]) as fifth:
                wait_until_shared([third, fourth, fifth], [2, 2, 2])
                third.stop()
                fourth.close()
                wait_until_shared([fifth], [6])
                with KafkaPython(at, "g", ["work"]) as sixth:
                    wait_until_shared([fifth, sixth], [3, 3])


def test_static_members_roll_too(kcoord: Kcoord, start_java: Callable[..., JavaClient]) -> None:
    """Each process takes the place of the one before it, which has not left. Nobody else notices."""
    at = kcoord.bootstrap
    with Librdkafka(at, "g", ["work"], instance="one") as one, Librdkafka(at, "g", ["work"], instance="two") as two:
        wait_until_shared([one, two], [3, 3])
        had = one.assigned
        one.close()
        again = start_java(at, "g", group_instance_id="one")
        wait_until_shared([again, two], [3, 3])
        assert again.assigned == had


def test_an_upgrade_against_the_policy_is_refused(tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path, settings={**SETTINGS, "group.consumer.migration.policy": "disabled"}).start()
    try:
        with KafkaPython(kcoord.bootstrap, "old", ["work"]) as first:
            wait_until_shared([first], [6])
            with librdkafka(kcoord.bootstrap, "old") as refused:
                refused.wait_for_error()
            wait_until_shared([first], [6])
        with librdkafka(kcoord.bootstrap, "old") as third:
            wait_until_shared([third], [6])
    finally:
        kcoord.remove()


def test_without_consumer_groups_nothing_of_it_is_offered(
    tmp_path: Path, start_java: Callable[..., JavaClient]
) -> None:
    kcoord = Kcoord(tmp_path, settings={"group.consumer.enable": "false"}).start()
    try:
        client = start_java(kcoord.bootstrap, "g")

        def complains() -> bool:
            return any("UnsupportedVersionException" in each for each in client.notes.complaints)

        eventually(complains, "Java says what is missing")
    finally:
        kcoord.remove()
