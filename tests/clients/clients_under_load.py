"""The clients of one group while it moves, the load on its topic, and what must be true of them in the end.

Each record is processed, and its commit acknowledged, exactly once (`Crowd.check_each_once`); nobody complains.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Iterable

import attrs
import confluent_kafka

from tests.clients.live_clients import EVERY_S, TIMEOUT_S, LiveClient
from tests.kafka.cluster import KafkaCluster
from tests.kafka.topics import read_topic
from tests.kafka.wait import NotYet, eventually


class Complaints(logging.Handler):
    """What the libraries that are written in Python, and librdkafka by its logger, log as a warning or worse."""

    LOGGERS = ("kafka", "aiokafka", "librdkafka")

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")

    def __enter__(self) -> Complaints:
        for name in self.LOGGERS:
            logging.getLogger(name).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.LOGGERS:
            logging.getLogger(name).removeHandler(self)


class Load:
    """Writes numbers to a topic, one after the other, spread over its partitions, until it ends."""

    def __init__(self, kafka: KafkaCluster, topic: str) -> None:
        self._kafka, self._topic = kafka, topic
        settings = {"bootstrap.servers": kafka.bootstrap, "linger.ms": 0, "enable.idempotence": True, "log_level": 0}
        self._producer = confluent_kafka.Producer({**settings, **kafka.client().librdkafka()})
        self._count = 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ends.wait(EVERY_S):
            self._producer.produce(self._topic, str(self._count).encode(), key=str(self._count).encode())
            self._producer.poll(0)
            self._count += 1

    @property
    def values(self) -> set[str]:
        """What was handed to the producer until now."""
        return set(map(str, range(self._count)))

    def end(self) -> set[str]:
        """Write no more; all that was written."""
        self._ends.set()
        self._thread.join()
        assert self._producer.flush(TIMEOUT_S) == 0
        return self.values

    def check_copied_once(self, target: str) -> None:
        """Each record that was written is in that topic exactly once."""
        copied = Counter(read_topic(self._kafka, target))
        assert (set(copied), set(copied.values())) == (self.values, {1}), "each record is there exactly once"


@attrs.define
class Crowd:
    """The clients of one group, and the load on its topic."""

    kafka: KafkaCluster
    group: str
    topic: str
    clients: list[LiveClient]
    load: Load
    complaints: Complaints
    lost: list[int] = attrs.field(factory=list, init=False)
    """How often each has heard that its partitions are others' already, before it was told to end."""

    def __enter__(self) -> Crowd:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        self.load.end()
        for each in self.clients if failed else ():
            each.kill()

    def start(self, bootstrap: str) -> None:
        """All begin, at this address."""
        for each in self.clients:
            each.start(bootstrap)
        self.go_on()

    def bounce(self, bootstrap: str, *clients: LiveClient) -> None:
        """Restart these, or all, one after the other, with that address; each time the group goes on."""
        for each in clients or self.clients:
            each.stop()
            each.start(bootstrap)
            self.go_on()

    def go_on(self) -> None:
        """Wait until all that has been written up to now, and a little more, is processed, and every client works."""
        before = [len(each.notes.processed) for each in self.clients]
        wanted = self.load.values

        def done() -> bool:
            for client in self.clients:
                client.check()
            notes = [each.notes for each in self.clients]
            missing = wanted.difference(*(each.processed for each in notes))
            idle = [at for at, each in enumerate(notes) if len(each.processed) <= before[at]]
            if missing or idle:
                since = [(len(each.processed) - had, len(each.open)) for each, had in zip(notes, before, strict=True)]
                raise NotYet(f"{len(missing)} missing, idle: {idle}; each has processed, and not committed: {since}")
            return True

        eventually(done, f"{self.group} goes on", every_s=0.2)

    @property
    def assignments(self) -> list[int]:
        return [each.notes.assignments for each in self.clients]

    def end(self) -> None:
        """End the load, wait until all is processed, and end the clients.

        Java's consumer says that it has lost its partitions if it is closed while it joins, as it does when another one
        has just ended. That says nothing about the group.
        """
        written = self.load.end()
        eventually(lambda: written <= self._processed(), f"all records of {self.topic} are processed", every_s=0.2)
        self.lost = [each.notes.lost for each in self.clients]
        for each in self.clients:
            each.stop()

    def _processed(self) -> set[str]:
        return set().union(*(each.notes.processed for each in self.clients))

    def check_positions(self) -> None:
        """What was acknowledged before is what the group has at the cluster, or less."""
        known: Counter[tuple[str, int]] = Counter()
        for each in self.clients:
            for at, offset in getattr(each, "acknowledged", {}).items():
                known[at] = max(known[at], offset)
        there = self.kafka.committed(self.group)
        assert all(there.get(at, -1) >= offset for at, offset in known.items()), (known, there)

    def check_each_once(self, *, processed: bool = True, kept: bool = True) -> None:
        """No record was left out, each was committed by one client only, and (`processed`) processed once; nobody lost
        its partitions (`kept`).
        """
        notes = [each.notes for each in self.clients]
        written = self.load.values
        acknowledged = Counter(value for each in notes for value in each.acknowledged)
        if processed:
            acknowledged.update(value for each in notes for value in each.unsaid)
        else:  # who acknowledges may die between the commit and its answer
            written = written - {value for each in notes for value in (*each.uncommitted, *each.unsaid)}
        left_out, again = written - set(acknowledged), _twice(acknowledged)
        assert not left_out, f"records were left out: {sorted(left_out)}"
        assert not again, f"records were processed again though their commit was acknowledged: {self._who(again)}"
        twice = _twice(Counter(value for each in notes for value in each.processed)) if processed else []
        assert not twice, f"records were processed twice: {twice}"
        said = [line for each in notes for line in each.complaints]
        assert not kept or not any(self.lost), f"partitions were lost: {self.lost}; {said}"
        committed = self.kafka.committed(self.group)
        count = len(self.load.values)
        assert sum(committed.values()) == count, f"of {count} records these are committed: {committed}"

    def _who(self, values: Iterable[str]) -> dict[str, list[str]]:
        """By value, who has noted it, and as what; in the order in which the clients end."""
        return {
            value: [
                f"{at} {getattr(client, 'kind', type(client)).__name__} {what}"
                for at, client in enumerate(self.clients)
                for what in ("acknowledged", "open", "uncommitted", "unsaid")
                for noted in getattr(client.notes, what)
                if noted == value
            ]
            for value in values
        }

    def check_no_complaint(self, allowed: Iterable[str] = ()) -> None:
        """Nobody has said what a user would take for a failure; `allowed` are patterns."""
        said = [line for each in self.clients for line in each.notes.complaints] + self.complaints.lines
        failures = [line for line in said if not any(re.search(each, line) for each in allowed)]
        assert not failures, "\n".join(failures)


def _twice(counts: Counter[str]) -> list[str]:
    return [value for value, count in counts.items() if count > 1]
