"""What does a rolling restart of classic consumers cost: led one by one by kcoord, beside the barrier and Kafka 4.3?

The consumers are librdkafka's, with its cooperative-sticky and its defaults. They fetch from an empty topic. One loop
polls all of them, so the same machine decides for each side how soon they hear of something.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import attrs
from confluent_kafka import Consumer, TopicPartition

from bench.consumer_fleet import Book
from bench.results import Claim, Outcome, Table
from bench.sides import Side, kafka, kcoord
from bench.workers import WorkersFailed

TOPIC, PARTITIONS, CONSUMERS = "bench", 1_000, 20
AWAY_S = 0.5
PAUSE_S = 0.005
"""Between two polls of all."""
INDIVIDUAL, BARRIER, THEIRS = "kcoord, individual", "kcoord, barrier", "Kafka 4.3"


@attrs.frozen
class Bounce:
    """A rolling restart of all, one after the other."""

    gap_s: float
    """Partition-seconds in which nobody had a partition."""
    longest_s: float
    disturbed: int
    """How often somebody else than the one that was restarted got or lost something."""


class Crowd:
    """The consumers of one group."""

    def __init__(self, side: Side) -> None:
        self.book = Book()
        self._address = "{}:{}".format(*side.address)
        self._consumers: dict[str, Consumer] = {}
        self._lives = 0

    def add(self) -> str:
        """One consumer more. It joins. Returns its name."""
        self._lives += 1
        name = f"c{self._lives}"
        made = Consumer(
            {
                "bootstrap.servers": self._address,
                "group.id": "bounce",
                "client.id": name,
                "partition.assignment.strategy": "cooperative-sticky",
                "log_level": 0,
            }
        )

        def gets(consumer: Consumer, partitions: list[TopicPartition]) -> None:
            self.book.takes(name, _named(partitions))
            consumer.incremental_assign(partitions)

        def loses(consumer: Consumer, partitions: list[TopicPartition]) -> None:
            self.book.loses(name, _named(partitions))
            consumer.incremental_unassign(partitions)

        made.subscribe([TOPIC], on_assign=gets, on_revoke=loses)
        self._consumers[name] = made
        return name

    def leave(self, name: str) -> None:
        """The consumer closes: it lets go of all that it has, and leaves."""
        self._consumers.pop(name).close()

    def has_something(self, name: str) -> bool:
        """Whether the consumer has any partition."""
        return name in self.book.owners.values()

    def until(self, is_so: Callable[[], bool], what: str, deadline_s: float = 180.0) -> None:
        """Poll all until that is so. Raises WorkersFailed if it takes too long."""
        end_s = time.monotonic() + deadline_s
        while not is_so():
            if time.monotonic() > end_s:
                raise WorkersFailed(f"not {what} after {deadline_s:.0f} s")
            for each in self._consumers.values():
                each.poll(0)
            time.sleep(PAUSE_S)

    def wait(self, wait_s: float) -> None:
        """Poll all for so long."""
        end_s = time.monotonic() + wait_s
        self.until(lambda: time.monotonic() >= end_s, "over")

    def share_out(self) -> None:
        """Until all partitions are taken, evenly, and nothing has moved for longer than a heartbeat takes to come."""
        book = self.book

        def rests() -> bool:
            shares = [list(book.owners.values()).count(name) for name in self._consumers]
            is_even = len(book.owners) == PARTITIONS and max(shares) - min(shares) <= 1
            return is_even and time.monotonic() - book.changed_s >= 5.0

        self.until(rests, "shared out")

    def close(self) -> None:
        """All leave."""
        for each in self._consumers.values():
            each.close()


def _named(partitions: list[TopicPartition]) -> list[tuple[bytes, int]]:
    return [(each.topic.encode(), each.partition) for each in partitions]


def run(folder: Path) -> Outcome:
    """Measure all sides in turn."""
    with _sides(folder) as sides:
        return outcome({name: _bounce(side) for name, side in sides.items()})


@contextmanager
def _sides(folder: Path) -> Iterator[dict[str, Side]]:
    with ExitStack() as stack:
        broker = stack.enter_context(kafka(folder))
        broker.cluster.create_topic(TOPIC, PARTITIONS)
        own = {
            name: stack.enter_context(
                kcoord(folder / mode, topics=f"{TOPIC}:{PARTITIONS}", group_consumer_classic_mode=mode)
            )
            for name, mode in ((INDIVIDUAL, "individual"), (BARRIER, "barrier"))
        }
        yield {**own, THEIRS: broker.side}


def _bounce(side: Side) -> Bounce:
    """Restart all, one after the other; the next one when all partitions are taken."""
    crowd = Crowd(side)
    living = [crowd.add() for _ in range(CONSUMERS)]
    crowd.share_out()
    book = crowd.book
    book.begin()
    others = 0
    for name in living:
        book.disturbed.clear()
        crowd.leave(name)
        crowd.wait(AWAY_S)
        back = crowd.add()
        crowd.until(partial(crowd.has_something, back), "given anything")
        crowd.until(lambda: len(book.owners) == PARTITIONS, "all taken")
        others += len(book.disturbed - {name, back})
    found = Bounce(book.gap_s, book.longest_s, others)
    crowd.close()
    return found


def outcome(bounces: dict[str, Bounce]) -> Outcome:
    """The figures of all sides."""
    figures = Table(
        ["coordinator", "partition-seconds nobody had", "the longest", "others disturbed"],
        [
            [name, f"{each.gap_s:,.0f}", f"{each.longest_s:.2f} s", str(each.disturbed)]
            for name, each in bounces.items()
        ],
    )
    how = (
        f"{CONSUMERS} of librdkafka's consumers, cooperative-sticky and all else by default, share {PARTITIONS:,} "
        f"partitions of one topic. Each of them leaves, is away for {AWAY_S} s, and another one comes; the next one "
        "follows when all partitions are taken."
    )
    ours, barrier, theirs = (bounces[name].gap_s for name in (INDIVIDUAL, BARRIER, THEIRS))
    claim = Claim(
        f"classic consumers led one by one: rolling restart of {CONSUMERS}: partition-seconds not consumed",
        "≤ half of Kafka's",
        f"{ours:,.0f} (Kafka {theirs:,.0f}; kcoord with the barrier {barrier:,.0f})",
        ours <= theirs / 2,
    )
    return Outcome("A rolling restart of classic consumers", how, [claim], [figures], ())
