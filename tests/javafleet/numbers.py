"""Which numbers have the connectors' tasks written, as who reads only what is committed sees it? And numbers that sinks
read.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import attrs
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from tests.kafka.cluster import KafkaCluster
from tests.kafka.wait import NotYet, eventually

MORE = 5
"""So many more numbers of each task show that it writes."""
AT_ONCE, WAIT_S = 500, 0.2
FLUSH_S = 120.0


@attrs.define
class Numbers:
    """A topic of one partition, read on and on."""

    _consumer: Consumer
    _found: dict[str, list[int]] = attrs.field(factory=lambda: defaultdict(list), init=False)
    _at_end: bool = attrs.field(default=False, init=False)

    @classmethod
    @contextmanager
    def of(cls, cluster: KafkaCluster, topic: str) -> Iterator[Numbers]:
        """Reads from the topic's beginning, without a group."""
        named = {"group.id": "not-joined", "enable.auto.commit": False, "enable.partition.eof": True}
        where = {"bootstrap.servers": cluster.bootstrap, "isolation.level": "read_committed"}
        consumer = Consumer({**named, **where, **cluster.client().librdkafka()})
        try:
            consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
            yield cls(consumer)
        finally:
            consumer.close()

    def all_by_task(self) -> dict[str, list[int]]:
        """All numbers of each task in the topic's order; nobody may write any more."""
        self._at_end = False

        def read_all() -> bool:
            self._read_on()
            return self._at_end

        eventually(read_all, "the topic's end")
        return dict(self._found)

    def wait_for_more(self, tasks: Sequence[str]) -> None:
        """Every one of these tasks writes some numbers more."""
        self._read_on()
        before = {task: len(self._found[task]) for task in tasks}

        def more() -> bool:
            self._read_on()
            if silent := [task for task in tasks if len(self._found[task]) < before[task] + MORE]:
                raise NotYet(f"{silent} write nothing")
            return True

        eventually(more, f"{len(tasks)} tasks write", deadline_s=240)

    def _read_on(self) -> None:
        for message in self._consumer.consume(AT_ONCE, WAIT_S):
            error = message.error()
            if error is None:
                value = (message.value() or b"").decode()
                told = re.fullmatch(r"(\S+):(\d+)", value)
                assert told is not None, f"{value!r} was written by somebody else"
                self._found[told[1]].append(int(told[2]))
            elif error.code() == error._PARTITION_EOF:
                self._at_end = True
            else:
                raise AssertionError(f"reading: {error}")


class Numbered(threading.Thread):
    """Writes 0, 1, 2, … into a topic, round robin, until it is ended."""

    def __init__(self, kafka: KafkaCluster, topic: str, partitions: int) -> None:
        super().__init__()
        self.topic, self.partitions = topic, partitions
        self.count = 0
        self._producer = Producer({"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.02):
            self._producer.produce(self.topic, str(self.count), partition=self.count % self.partitions)
            self._producer.poll(0)
            self.count += 1

    def end(self) -> None:
        """All of them are written."""
        self._ended.set()
        self.join()
        assert self._producer.flush(FLUSH_S) == 0
        assert self._producer.flush(60) == 0
