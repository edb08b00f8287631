"""How does a story come to be a topic, as kcoord itself writes it: a transaction for each step?"""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import Producer

from kcoord.log.history import Entry
from kcoord.protocol.records import Record, encode_record
from tests.group.connect.world import GROUP
from tests.log.places import Topic, opened
from tests.pipeline.story import Written, home


async def put(topic: Topic, written: Written, **settings: object) -> None:
    """Append all steps. `settings` are of the log."""
    async with opened(topic.make(**settings), home(GROUP)) as log:
        for _, records in written:
            await log.append(home(GROUP), raw(records))


def put_raw(bootstrap: str, topic: str, entries: Iterable[Entry]) -> None:
    """Write these records to an empty topic, each at its place and with its time."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for each in entries:
        producer.produce(topic, each.value, each.key, each.partition, timestamp=each.at_ms)
    assert producer.flush(60) == 0


def raw(records: list[Record]) -> list[tuple[bytes, bytes | None]]:
    """As they stand in a log."""
    return [encode_record(each) for each in records]
