"""Do consumers of every library share work, keep it and commit, in groups that kcoord owns?"""

import pytest

from tests.clients.members import LIBRARIES, KafkaPython, Librdkafka, Member
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.topics import write_topic
from tests.kafka.wait import eventually

every_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.library)


@every_library
def test_members_come_share_and_go(
    library: type[Member], kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    first_half, second_half = {f"a{n}" for n in range(40)}, {f"b{n}" for n in range(40)}
    write_topic(kafka, topic, first_half)
    with library(front.bootstrap, name, [topic]) as first:
        first.wait_for_partitions(4)
        check_kcoord_owns(kafka, name)
        first.wait_for_values(first_half)
        with library(front.bootstrap, name, [topic]) as second:
            first.wait_for_partitions(2)
            second.wait_for_partitions(2)
            assert first.assigned | second.assigned == {(topic, partition) for partition in range(4)}
        first.wait_for_partitions(4)
        write_topic(kafka, topic, second_half)
        first.wait_for_values(second_half)
        first.commit()
    assert sum(kafka.committed(name).values()) == 80


@every_library
def test_offsets_are_where_the_group_left_them(
    library: type[Member], kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    before, after = {f"before{n}" for n in range(20)}, {f"after{n}" for n in range(20)}
    write_topic(kafka, topic, before)
    with library(front.bootstrap, name, [topic]) as member:
        member.wait_for_values(before)
        member.commit()
    write_topic(kafka, topic, after)
    with library(front.bootstrap, name, [topic]) as member:
        member.wait_for_values(after)
        assert set(member.values) == after
        member.commit()
    seen_through = kafka.committed(name, bootstrap=front.bootstrap)
    assert seen_through == kafka.committed(name)
    assert sum(seen_through.values()) == 40


@every_library
def test_libraries_share_one_group(
    library: type[Member], kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    with Librdkafka(front.bootstrap, name, [topic]) as first:
        first.wait_for_partitions(4)
        with library(front.bootstrap, name, [topic]) as second:
            second.wait_for_partitions(2)
            first.wait_for_partitions(2)
            assert not first.assigned & second.assigned


@every_library
def test_static_member_returns_and_nobody_else_moves(
    library: type[Member], kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    with library(front.bootstrap, name, [topic], instance="one") as one:
        one.wait_for_partitions(4)
        two = library(front.bootstrap, name, [topic], instance="two")
        one.wait_for(lambda assigned: len(assigned) == len(two.assigned) == 2, "two partitions, as the other one")
        had, assignments = two.assigned, one.assignments
        two.close()
        with library(front.bootstrap, name, [topic], instance="two") as again:
            again.wait_for_partitions(2)
            assert again.assigned == had
            values = {f"v{n}" for n in range(40)}
            write_topic(kafka, topic, values)
            eventually(lambda: {*one.values, *again.values} == values, "both read their parts")
            one.commit()
            again.commit()
            assert one.assignments == assignments
    assert sum(kafka.committed(name).values()) == len(values)


@pytest.mark.parametrize("library", [Librdkafka, KafkaPython], ids=lambda library: library.library)
def test_elder_of_two_with_one_instance_id_is_fenced(
    library: type[Member], kafka: KafkaCluster, front: Front, name: str, topic: str
) -> None:
    """aiokafka is not asked: its heartbeats do not tell the instance, so that it just joins again."""
    values = {f"v{n}" for n in range(40)}
    write_topic(kafka, topic, values)
    with library(front.bootstrap, name, [topic], instance="only") as predecessor:
        predecessor.wait_for_values(values)
        with library(front.bootstrap, name, [topic], instance="only") as newer:
            newer.wait_for_values(values)
            with pytest.raises(Exception, match=r"(?i)fenced"):
                predecessor.commit()
            newer.commit()
    assert sum(kafka.committed(name).values()) == len(values)
