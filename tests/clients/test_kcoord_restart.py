"""Is a group still there, members and generation, after `kill -9` and a restart of kcoord?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.members import Aiokafka, KafkaPython, Librdkafka, Member
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front, front_of
from tests.kafka.groups import check_kcoord_owns, describe
from tests.kafka.topics import write_topic
from tests.kafka.wait import eventually, let_pass

SESSION_MS = 12_000
"""A loaded machine may stand still for some seconds."""


@pytest.fixture
def own_front(kafka: KafkaCluster, tmp_path: Path) -> Iterator[Front]:
    """A kcoord that this test alone uses, and kills."""
    front = front_of(kafka, tmp_path)
    yield front
    front.remove()


@pytest.mark.parametrize("library", [Librdkafka, KafkaPython, Aiokafka], ids=lambda library: library.library)
def test_members_and_generation_outlive_kcoord(
    library: type[Member], kafka: KafkaCluster, own_front: Front, name: str, topic: str
) -> None:
    values = {f"v{n}" for n in range(40)}
    with (
        library(own_front.bootstrap, name, [topic], session_ms=SESSION_MS) as one,
        library(own_front.bootstrap, name, [topic], session_ms=SESSION_MS, instance="static") as two,
    ):
        one.wait_for_partitions(2)
        two.wait_for_partitions(2)
        members = (one, two)
        before = [(member.member_id(), member.generation(), member.assignments) for member in members]
        group = describe(own_front.bootstrap, name)
        assert (group.state, group.hosts) == ("Stable", frozenset({"/127.0.0.1"}))
        assert group.assigned == {one.member_id(): one.assigned, two.member_id(): two.assigned}
        check_kcoord_owns(kafka, name)

        own_front.kill_and_restart()
        assert describe(own_front.bootstrap, name) == group
        write_topic(kafka, topic, values)
        eventually(lambda: {*one.values, *two.values} == values, "both read their parts")
        one.commit()
        two.commit()
        let_pass(1.2 * SESSION_MS / 1000)  # who does not heartbeat now is gone after that

        assert describe(own_front.bootstrap, name) == group
        assert [(member.member_id(), member.generation(), member.assignments) for member in members] == before
    assert sum(kafka.committed(name).values()) == len(values)


def test_group_of_which_everybody_died_while_kcoord_was_down_expires(
    kafka: KafkaCluster, own_front: Front, name: str, topic: str
) -> None:
    """A session starts anew with kcoord, and ends when nobody keeps it."""
    static = KafkaPython(own_front.bootstrap, name, [topic], session_ms=SESSION_MS, instance="static")
    static.wait_for_partitions(4)
    assigned = static.assigned
    static.close()  # a static member goes without a word
    own_front.kill_and_restart()
    [still_assigned] = describe(own_front.bootstrap, name).assigned.values()
    assert still_assigned == assigned
    with KafkaPython(own_front.bootstrap, name, [topic], session_ms=SESSION_MS) as successor:
        successor.wait_for_partitions(4)
        assert len(describe(own_front.bootstrap, name).assigned) == 1
