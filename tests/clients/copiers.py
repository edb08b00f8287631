"""How does a client move records in transactions, its group's offsets among them?

One class a library around a consumer (`members.py`) and a transactional producer. librdkafka and kafka-python tell the
coordinator which member of which generation they are (KIP-447); aiokafka tells the group only.
"""

import abc
from collections.abc import Iterable
from typing import Any

import aiokafka
import confluent_kafka
import kafka as kafka_python

from tests.clients.members import Aiokafka, KafkaPython, Librdkafka, Member
from tests.kafka.wait import eventually

TIMEOUT_S = 120.0


class Copier(abc.ABC):
    """Writes records to `target`, and what `member` has read as its group's offsets, in one transaction.

    Everything runs on the member's own thread.
    """

    member_type: type[Member]

    def __init__(self, member: Member, target: str, transactional_id: str) -> None:
        self.member, self.target, self.transactional_id = member, target, transactional_id
        member.do(self._open)

    def begin(self, values: Iterable[str], membership: Any = None) -> None:
        """Begin a transaction, write the values, and add the offsets up to where the member has read.

        The coordinator is told `membership`, an elder answer of `membership()`, or what the member is now. Every
        partition that the member has must have something to read: an offset of each is waited for.
        """
        eventually(lambda: self.member.do(self._has_positions), f"{self.member.library} has read of all it has")
        self.member.do(lambda: self._begin([value.encode() for value in values], membership or self._membership()))

    def membership(self) -> Any:
        """What the library tells of the member and its generation."""
        return self.member.do(self._membership)

    def commit(self) -> None:
        """Commit the transaction."""
        self.member.do(self._commit)

    def abort(self) -> None:
        """Abort the transaction."""
        self.member.do(self._abort)

    def close(self) -> None:
        """Let the producer go."""
        self.member.do(self._close)

    @abc.abstractmethod
    def _open(self) -> None: ...

    @abc.abstractmethod
    def _membership(self) -> Any: ...

    def _has_positions(self) -> bool:
        """Whether the member can tell where it is in its partitions; most libraries wait when they are asked."""
        return True

    @abc.abstractmethod
    def _begin(self, values: list[bytes], membership: Any) -> None: ...

    @abc.abstractmethod
    def _commit(self) -> None: ...

    @abc.abstractmethod
    def _abort(self) -> None: ...

    @abc.abstractmethod
    def _close(self) -> None: ...


class LibrdkafkaCopier(Copier):
    """confluent-kafka."""

    member_type = Librdkafka
    producer: confluent_kafka.Producer

    def _open(self) -> None:
        self.producer = confluent_kafka.Producer(
            {"bootstrap.servers": self.member.bootstrap, "transactional.id": self.transactional_id, "log_level": 3}
        )
        self.producer.init_transactions(TIMEOUT_S)

    def _membership(self) -> Any:
        assert isinstance(self.member, Librdkafka)
        return self.member.consumer.consumer_group_metadata()

    def _positions(self) -> list[confluent_kafka.TopicPartition]:
        assert isinstance(self.member, Librdkafka)
        return self.member.consumer.position(self.member.consumer.assignment())

    def _has_positions(self) -> bool:
        """After each rebalance a position is unknown until a record has been read. Offsets without one are left out
        by the library, and when none is left it asks the coordinator nothing: it says that all went well."""
        positions = self._positions()
        return bool(positions) and all(at.offset >= 0 for at in positions)

    def _begin(self, values: list[bytes], membership: Any) -> None:
        self.producer.begin_transaction()
        for value in values:
            self.producer.produce(self.target, value)
        self.producer.send_offsets_to_transaction(self._positions(), membership, TIMEOUT_S)

    def _commit(self) -> None:
        self.producer.commit_transaction(TIMEOUT_S)

    def _abort(self) -> None:
        self.producer.abort_transaction(TIMEOUT_S)

    def _close(self) -> None:
        del self.producer  # librdkafka's way


class KafkaPythonCopier(Copier):
    """kafka-python."""

    member_type = KafkaPython
    producer: Any

    def _open(self) -> None:
        self.producer = kafka_python.KafkaProducer(
            bootstrap_servers=self.member.bootstrap, transactional_id=self.transactional_id
        )
        self.producer.init_transactions()

    def _membership(self) -> Any:
        assert isinstance(self.member, KafkaPython)
        return self.member.consumer.group_metadata()

    def _begin(self, values: list[bytes], membership: Any) -> None:
        assert isinstance(self.member, KafkaPython)
        consumer = self.member.consumer
        self.producer.begin_transaction()
        for value in values:
            self.producer.send(self.target, value)
        read = {at: kafka_python.OffsetAndMetadata(consumer.position(at), "", -1) for at in consumer.assignment()}
        self.producer.send_offsets_to_transaction(read, membership)

    def _commit(self) -> None:
        self.producer.commit_transaction()

    def _abort(self) -> None:
        self.producer.abort_transaction()

    def _close(self) -> None:
        self.producer.close()


class AiokafkaCopier(Copier):
    """aiokafka."""

    member_type = Aiokafka
    producer: Any

    def _open(self) -> None:
        assert isinstance(self.member, Aiokafka)
        self._run = self.member.runner.run
        self._run(self._start())

    async def _start(self) -> None:
        self.producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=self.member.bootstrap, transactional_id=self.transactional_id
        )
        await self.producer.start()

    def _membership(self) -> Any:
        return self.member.group

    def _begin(self, values: list[bytes], membership: Any) -> None:
        self._run(self._write(values, membership))

    async def _write(self, values: list[bytes], membership: Any) -> None:
        assert isinstance(self.member, Aiokafka)
        consumer = self.member.consumer
        await self.producer.begin_transaction()
        for value in values:
            await self.producer.send(self.target, value)
        read = {at: await consumer.position(at) for at in consumer.assignment()}
        await self.producer.send_offsets_to_transaction(read, membership)

    def _commit(self) -> None:
        self._run(self.producer.commit_transaction())

    def _abort(self) -> None:
        self._run(self.producer.abort_transaction())

    def _close(self) -> None:
        self._run(self.producer.stop())


COPIERS: tuple[type[Copier], ...] = (LibrdkafkaCopier, KafkaPythonCopier, AiokafkaCopier)
