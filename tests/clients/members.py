"""What is a consumer to a test, whichever library it is made of?

A member of a group that runs in a thread of its own, consumes what it is assigned, and tells what it was assigned and
read. One class a library: librdkafka, kafka-python, aiokafka.
"""

import abc
import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any, ClassVar, TypeVar

import aiokafka
import confluent_kafka
import kafka as kafka_python
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import RebalanceInProgressError
from kafka.structs import MemberState

from tests.kafka.security import PLAINTEXT, ClientSecurity
from tests.kafka.wait import NotYet, eventually

T = TypeVar("T")
Partition = tuple[str, int]

POLL_S = 0.1
REQUEST_S = 120.0
TASK_S = 240.0
SESSION_MS = 30_000
"""Nobody waits for its end; a loaded machine may stand still for some seconds."""
HEARTBEAT_MS = 500


class Member(abc.ABC):
    """A consumer of `topics` in `group`, reading from the beginning, committing only when told."""

    library: str

    def __init__(
        self,
        bootstrap: str,
        group: str,
        topics: Sequence[str],
        *,
        instance: str | None = None,
        security: ClientSecurity = PLAINTEXT,
        session_ms: int = SESSION_MS,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`instance` makes it a static member; `options` are the library's own settings."""
        self.bootstrap, self.group, self.topics, self.instance = bootstrap, group, list(topics), instance
        self.security, self.session_ms, self.options = security, session_ms, dict(options or {})
        self.assigned: frozenset[Partition] = frozenset()
        self.assignments = 0
        self.values: list[str] = []
        self.error: Exception | None = None
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{self.library} in {group}", daemon=True)
        self._thread.start()

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it in order: a dynamic member leaves the group, a static one just goes."""
        self._stop.set()
        self._thread.join()

    def wait_for(self, expected: Callable[[frozenset[Partition]], bool], what: str) -> None:
        """Wait until its assignment is as expected. Raises AssertionError when the member failed."""

        def is_so() -> bool:
            assert self.error is None, f"{self.library} failed: {self.error!r}"
            if not expected(self.assigned):
                raise NotYet(sorted(self.assigned))
            return True

        eventually(is_so, f"{self.library} has {what}")

    def wait_for_partitions(self, number: int) -> None:
        """Wait until it has exactly so many partitions."""
        self.wait_for(lambda assigned: len(assigned) == number, f"{number} partitions")

    def wait_for_values(self, expected: set[str]) -> None:
        """Wait until it has read at least these values."""

        def read() -> bool:
            assert self.error is None, f"{self.library} failed: {self.error!r}"
            missing = expected - set(self.values)
            if missing:
                raise NotYet(f"{len(missing)} missing")
            return True

        eventually(read, f"{self.library} read all {len(expected)} values")

    def wait_for_first_value(self) -> str:
        """Wait until it has read something; the first that it read."""
        return eventually(lambda: self.values[:1], f"{self.library} reads")[0]

    def wait_for_error(self) -> Exception:
        """Wait until it has failed for good."""

        def error() -> Exception:
            if self.error is None:
                raise NotYet(f"assigned {sorted(self.assigned)}")
            return self.error

        return eventually(error, f"{self.library} fails")

    def commit(self) -> None:
        """Commit what it has read; again, where a rebalance comes between. Raises the library's error."""

        def committed() -> bool:
            self.do(self._commit)
            return True

        eventually(committed, f"{self.library} commits")

    def do(self, task: Callable[[], T]) -> T:
        """Run a task on the member's own thread, between two polls. Raises what it raises, or, where the member has
        failed before, that.
        """
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(task())
            except Exception as error:  # handed to the caller
                future.set_exception(error)

        self._tasks.put(run)
        for _ in range(int(TASK_S / POLL_S)):
            ended = not self._thread.is_alive()
            if wait([future], POLL_S).done:
                break
            if ended:
                raise self.error or AssertionError(f"{self.library} is closed")
        return future.result(0)

    def _run(self) -> None:
        try:
            self._open()
            while not self._stop.is_set():
                while not self._tasks.empty():
                    self._tasks.get()()
                self.values += self._poll()
        except Exception as error:  # told by wait_for…
            self.error = error
        with contextlib.suppress(Exception):  # who was refused, or did not even open, may fail to say good-bye
            self._close()

    def _now_assigned(self, partitions: frozenset[Partition]) -> None:
        self.assigned = partitions
        self.assignments += 1

    def _giving_up(self, are_lost: bool) -> None:
        """Partitions are taken from it: it may commit first, unless they `are_lost`, others' already."""
        return

    @abc.abstractmethod
    def _open(self) -> None: ...

    @abc.abstractmethod
    def _poll(self) -> list[str]: ...

    @abc.abstractmethod
    def _commit(self) -> None: ...

    @abc.abstractmethod
    def _close(self) -> None: ...

    @abc.abstractmethod
    def member_id(self) -> str:
        """The id that the coordinator gave it."""

    @abc.abstractmethod
    def generation(self) -> int:
        """The generation that it is in."""


_COMMIT_AGAIN = (
    confluent_kafka.KafkaError.REBALANCE_IN_PROGRESS,
    confluent_kafka.KafkaError._TRANSPORT,
    confluent_kafka.KafkaError._TIMED_OUT,
)
"""Errors of librdkafka after which a commit is tried again: it may have been lost with its coordinator."""


class Librdkafka(Member):
    """confluent-kafka."""

    library = "librdkafka"
    consumer: confluent_kafka.Consumer
    passing_errors: ClassVar[frozenset[int]] = frozenset()
    """Errors of a poll that are known to pass, beside those that librdkafka calls retriable."""

    def _open(self) -> None:
        own: dict[str, Any] = {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "reconnect.backoff.max.ms": 500,
            "topic.metadata.refresh.interval.ms": 2_000,
            "log_level": 3,
            **self.security.librdkafka(),
        }
        if self.options.get("group.protocol") != "consumer":
            own |= {"session.timeout.ms": self.session_ms, "heartbeat.interval.ms": HEARTBEAT_MS}
            own["partition.assignment.strategy"] = "range"
        if self.instance is not None:
            own["group.instance.id"] = self.instance
        self.consumer = confluent_kafka.Consumer({**own, **self.options})
        self.consumer.subscribe(
            self.topics, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def _on_assign(
        self, consumer: confluent_kafka.Consumer, partitions: Sequence[confluent_kafka.TopicPartition]
    ) -> None:
        added = {(at.topic, at.partition) for at in partitions}
        self._now_assigned(self.assigned | added)

    def _on_revoke(
        self, consumer: confluent_kafka.Consumer, partitions: Sequence[confluent_kafka.TopicPartition]
    ) -> None:
        self._giving_up(are_lost=False)
        self.assigned -= {(at.topic, at.partition) for at in partitions}

    def _on_lost(
        self, consumer: confluent_kafka.Consumer, partitions: Sequence[confluent_kafka.TopicPartition]
    ) -> None:
        self._giving_up(are_lost=True)
        self.assigned -= {(at.topic, at.partition) for at in partitions}

    def _poll(self) -> list[str]:
        message = self.consumer.poll(POLL_S)
        if message is None:
            return []
        error = message.error()
        if error is None:
            return [(message.value() or b"").decode()]
        of_a_broker = error.code() > 0
        passes = error.retriable() or error.code() in self.passing_errors
        if error.code() == confluent_kafka.KafkaError._FATAL or (of_a_broker and not passes):
            raise confluent_kafka.KafkaException(error)
        return []

    def _commit(self) -> None:
        try:
            self.consumer.commit(asynchronous=False)
        except confluent_kafka.KafkaException as error:
            if error.args[0].code() in _COMMIT_AGAIN:
                raise NotYet(str(error)) from error
            raise

    def _close(self) -> None:
        self.consumer.close()

    def member_id(self) -> str:
        return self._metadata()[1]

    def generation(self) -> int:
        return self._metadata()[0]

    def _metadata(self) -> tuple[int, str]:
        """Generation and member id.

        The library tells them together only in the bytes that a transactional producer is given: seven of magic, the
        generation as a little-endian int32, the group's and the member's id, each with a zero behind it.
        """
        packed: bytes = self.do(self.consumer.consumer_group_metadata)
        assert packed.startswith(b"CGMDv2:")
        _group, member_id, *_ = packed[11:].split(b"\0")
        return int.from_bytes(packed[7:11], "little", signed=True), member_id.decode()


class KafkaPython(Member):
    """kafka-python."""

    library = "kafka-python"
    consumer: Any

    def _open(self) -> None:
        own = {
            "bootstrap_servers": self.bootstrap,
            "group_id": self.group,
            "group_instance_id": self.instance,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "session_timeout_ms": self.session_ms,
            "heartbeat_interval_ms": HEARTBEAT_MS,
            "reconnect_backoff_max_ms": 500,
            "metadata_max_age_ms": 2_000,
            **self.security.python(),
        }
        self.consumer = kafka_python.KafkaConsumer(**{**own, **self.options})
        self.consumer.subscribe(self.topics, listener=_KafkaPythonListener(self))
        # A leader that learns of its topics' partitions after it has assigned them rejoins, and if a poll ends in that
        # moment it hangs (3.0.12): so let it learn of them now.
        self.consumer.topics()

    def _poll(self) -> list[str]:
        batches: Mapping[Any, Sequence[Any]] = self.consumer.poll(timeout_ms=int(POLL_S * 1000))
        return [record.value.decode() for batch in batches.values() for record in batch]

    def _commit(self) -> None:
        if self.consumer.group_metadata().state != MemberState.STABLE:
            raise NotYet("it rebalances")  # in which the library's commit waits for a poll that cannot come
        try:
            self.consumer.commit(timeout_ms=int(REQUEST_S * 1000))
        except RebalanceInProgressError as rebalance:
            raise NotYet(repr(rebalance)) from rebalance

    def _close(self) -> None:
        self.consumer.close(autocommit=False)

    def member_id(self) -> str:
        return str(self.do(self.consumer.group_metadata).member_id)

    def generation(self) -> int:
        return int(self.do(self.consumer.group_metadata).generation_id)


class _KafkaPythonListener(kafka_python.ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, member: KafkaPython) -> None:
        self.member = member

    def on_partitions_assigned(self, assigned: Sequence[Any]) -> None:
        self.member._now_assigned(frozenset((at.topic, at.partition) for at in assigned))

    def on_partitions_revoked(self, revoked: Sequence[Any]) -> None:
        self._given_up(are_lost=False)

    def on_partitions_lost(self, lost: Sequence[Any]) -> None:
        self._given_up(are_lost=True)

    def _given_up(self, are_lost: bool) -> None:
        self.member._giving_up(are_lost=are_lost)
        self.member.assigned = frozenset()
        # The library (3.0.12) keeps an answer that comes after the poll that has asked for committed offsets. It would
        # begin there when it is assigned the same partitions again, whatever was committed since.
        self.member.consumer._coordinator._offset_fetch_futures.clear()


class Aiokafka(Member):
    """aiokafka, its event loop in the member's thread."""

    library = "aiokafka"
    consumer: Any = None
    runner: asyncio.Runner

    def _open(self) -> None:
        self.runner = asyncio.Runner()
        self.runner.run(self._start())

    async def _start(self) -> None:
        own = {
            "bootstrap_servers": self.bootstrap,
            "group_id": self.group,
            "group_instance_id": self.instance,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "session_timeout_ms": self.session_ms,
            "heartbeat_interval_ms": HEARTBEAT_MS,
            "metadata_max_age_ms": 2_000,
            "partition_assignment_strategy": (RangePartitionAssignor,),  # the one that all three libraries have
            **self.security.python(),
        }
        self.consumer = aiokafka.AIOKafkaConsumer(**{**own, **self.options})
        self.consumer.subscribe(self.topics, listener=_AiokafkaListener(self))
        await self.consumer.start()

    def _poll(self) -> list[str]:
        return self.runner.run(self._read())

    async def _read(self) -> list[str]:
        batches: Mapping[Any, Sequence[Any]] = await self.consumer.getmany(timeout_ms=int(POLL_S * 1000))
        return [record.value.decode() for batch in batches.values() for record in batch]

    def _commit(self) -> None:
        self.runner.run(self.consumer.commit())

    def _close(self) -> None:
        if self.consumer is not None:
            self.runner.run(self.consumer.stop())
        self.runner.close()

    async def _giving_up_now(self) -> None:
        """As `_giving_up`, in the loop of the consumer, which does not tell whether they are lost."""

    def member_id(self) -> str:
        return str(self.consumer._coordinator.member_id)

    def generation(self) -> int:
        return int(self.consumer._coordinator.generation)


class _AiokafkaListener(aiokafka.ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, member: Aiokafka) -> None:
        self.member = member

    def on_partitions_assigned(self, assigned: Sequence[Any]) -> None:
        self.member._now_assigned(frozenset((at.topic, at.partition) for at in assigned))

    async def on_partitions_revoked(self, revoked: Sequence[Any]) -> None:
        await self.member._giving_up_now()
        self.member.assigned = frozenset()


LIBRARIES: tuple[type[Member], ...] = (Librdkafka, KafkaPython, Aiokafka)
