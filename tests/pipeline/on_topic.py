"""How does a story come to be a topic, as kcoord itself writes it: a transaction for each step?"""

from __future__ import annotations

from kcoord.protocol.records import Record, encode_record
from tests.group.connect.world import GROUP
from tests.log.places import Topic, opened
from tests.pipeline.story import Written, home


async def put(topic: Topic, written: Written, **settings: object) -> None:
    """Append all steps. `settings` are of the log."""
    async with opened(topic.make(**settings), home(GROUP)) as log:
        for _, records in written:
            await log.append(home(GROUP), raw(records))


def raw(records: list[Record]) -> list[tuple[bytes, bytes | None]]:
    """As they stand in a log."""
    return [encode_record(each) for each in records]
