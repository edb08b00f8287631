"""Are a group's offsets in transactions as safe behind kcoord as on Kafka?"""

import threading

import attrs
import pytest
from confluent_kafka import KafkaException, Producer, TopicPartition

from tests.clients.copiers import COPIERS, Copier, KafkaPythonCopier, LibrdkafkaCopier
from tests.clients.members import Librdkafka
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front
from tests.kafka.topics import read_topic, write_topic
from tests.kafka.wait import eventually, let_pass

READ_COMMITTED = {"isolation.level": "read_committed"}
ATTEMPTS = 5
"""Runs of a story that a client's own fault may spoil."""

every_copier = pytest.mark.parametrize("copier", COPIERS, ids=lambda copier: copier.member_type.library)
knows_its_generation = pytest.mark.parametrize(
    "copier", [LibrdkafkaCopier, KafkaPythonCopier], ids=lambda copier: copier.member_type.library
)


@pytest.fixture
def target(kafka: KafkaCluster, name: str) -> str:
    """A topic that transactions write to."""
    return kafka.create_topic(f"target-{name}")


@every_copier
def test_every_record_is_copied_once(
    copier: type[Copier], kafka: KafkaCluster, front: Front, name: str, topic: str, target: str
) -> None:
    """A transaction that is aborted counts for nothing: another member reads its records again."""
    first, second = {f"a{n}" for n in range(20)}, {f"b{n}" for n in range(20)}
    write_topic(kafka, topic, first)
    with copier.member_type(front.bootstrap, name, [topic]) as member:
        member.wait_for_values(first)
        copy = copier(member, target, name)
        copy.begin(first)
        copy.commit()
        write_topic(kafka, topic, second)
        member.wait_for_values(first | second)
        copy.begin(second)
        copy.abort()
        copy.close()
    assert sum(kafka.committed(name).values()) == len(first)
    with copier.member_type(front.bootstrap, name, [topic]) as member:
        member.wait_for_values(second)
        assert set(member.values) == second
        copy = copier(member, target, name)
        copy.begin(second)
        copy.commit()
        copy.close()
    assert sum(kafka.committed(name).values()) == len(first | second)
    assert sorted(read_topic(kafka, target)) == sorted(first | second)
    assert len(read_topic(kafka, target, committed=False)) == 60


@every_copier
def test_successor_waits_for_an_open_transaction(
    copier: type[Copier], kafka: KafkaCluster, front: Front, name: str, topic: str, target: str
) -> None:
    """Offsets of a transaction that is still open are not there yet, and those before it no longer good (KIP-447)."""
    for attempt in range(ATTEMPTS):
        if _successor_waited(copier, kafka, front, f"{name}-{attempt}", topic, target):
            return
    raise AssertionError(f"in none of {ATTEMPTS} runs the successor was assigned its partitions only once")


def _successor_waited(
    copier: type[Copier], kafka: KafkaCluster, front: Front, name: str, topic: str, target: str
) -> bool:
    """One run; False if it says nothing of the coordinator.

    kafka-python's leader may join once more behind a newcomer. librdkafka, assigned its partitions again while it asks
    for unstable offsets, still has its earlier question under way: it takes UNSTABLE_OFFSET_COMMIT, the answer to that
    one, for no offset at all and begins at the beginning.
    """
    first, second = {f"{name}-a{n}" for n in range(20)}, {f"{name}-b{n}" for n in range(20)}
    write_topic(kafka, topic, first)
    with copier.member_type(front.bootstrap, name, [topic]) as member:
        member.wait_for_values(first)
        copy = copier(member, target, name)
        copy.begin(first)
        with Librdkafka(front.bootstrap, name, [topic], options=READ_COMMITTED) as successor:
            successor.wait_for_partitions(2)
            let_pass(1)  # in which it asks for offsets, and gets none
            copy.commit()
            copy.close()
            write_topic(kafka, topic, second)
            eventually(lambda: second.issubset([*member.values, *successor.values]), "all is read")
            is_telling = successor.assignments == 1
            assert not is_telling or set(successor.values) <= second
    return is_telling


@knows_its_generation
def test_offsets_of_an_elder_generation_are_refused(
    copier: type[Copier], kafka: KafkaCluster, front: Front, name: str, topic: str, target: str
) -> None:
    values = {f"v{n}" for n in range(20)}
    write_topic(kafka, topic, values)
    with copier.member_type(front.bootstrap, name, [topic]) as member:
        member.wait_for_values(values)
        copy = copier(member, target, name)
        predecessor = copy.membership()
        with Librdkafka(front.bootstrap, name, [topic]) as other:
            other.wait_for_partitions(2)
            member.wait_for_partitions(2)
            with pytest.raises(Exception, match=r"(?i)generation"):
                copy.begin(values, predecessor)
            copy.abort()
            assert kafka.committed(name) == {}
            copy.begin(values)
            copy.commit()
            copy.close()
            assert len(kafka.committed(name)) == 2


@attrs.define
class Zombie:
    """A producer that goes on committing a member's offsets, one by one, each in a transaction, until it is refused."""

    bootstrap: str
    partition: tuple[str, int]
    membership: object
    next_offset: int
    commits: int = attrs.field(default=0, init=False)
    refused: KafkaException | None = attrs.field(default=None, init=False)

    def start(self) -> threading.Thread:
        """Begin, and return when some commits are made."""
        thread = threading.Thread(target=self._run, daemon=True)  # no failed test waits for it
        thread.start()
        eventually(lambda: self.commits > 3, "the zombie commits", every_s=0.01)
        return thread

    def _run(self) -> None:
        settings = {
            "bootstrap.servers": self.bootstrap,
            "transactional.id": f"zombie-{self.partition[0]}",
            "log_level": 3,
        }
        producer = Producer(settings)
        producer.init_transactions(120)
        while self.refused is None:
            producer.begin_transaction()
            try:
                offsets = [TopicPartition(*self.partition, self.next_offset)]
                producer.send_offsets_to_transaction(offsets, self.membership, 120)
                producer.commit_transaction(120)
            except KafkaException as refused:
                self.refused = refused
                producer.abort_transaction(120)
            else:
                self.commits += 1
                self.next_offset += 1


@pytest.mark.parametrize("elder_leaves", [True, False], ids=["elder leaves", "elder stays"])
def test_successor_begins_where_the_last_zombie_commit_ended(
    elder_leaves: bool, kafka: KafkaCluster, front: Front, name: str
) -> None:
    """GW-14: whatever a zombie still commits, the new owner's require_stable OffsetFetch has seen it."""
    topic = kafka.create_topic(f"topic-{name}")
    write_topic(kafka, topic, [str(number) for number in range(20_000)])  # a record's value is its offset
    offset = 0
    for round_number in range(4):
        # the assignor gives the one partition to the member whose id, which begins with the client id, comes first
        predecessor = Librdkafka(front.bootstrap, name, [topic], options={**READ_COMMITTED, "client.id": "b"})
        predecessor.wait_for_partitions(1)
        membership = predecessor.do(predecessor.consumer.consumer_group_metadata)
        zombie = Zombie(front.bootstrap, (topic, 0), membership, offset + 1)
        thread = zombie.start()
        with Librdkafka(front.bootstrap, name, [topic], options={**READ_COMMITTED, "client.id": "a"}) as successor:
            if elder_leaves:
                predecessor.close()
            successor.wait_for_partitions(1)
            began = int(successor.wait_for_first_value())
            thread.join()
            assert zombie.refused is not None
            predecessor.close()
        offset = kafka.committed(name)[topic, 0]
        assert (round_number, began) == (round_number, offset)
