"""A program with a consumer, in a process of its own, which a test can freeze, thaw, kill and stop.

Arguments: bootstrap address, group, topic, a path, and further options of the consumer as JSON. It says in lines what
happens: what is assigned, revoked or lost, each record that it has read, each commit and its failure. It commits each
record. While there is a file at the path, it blocks its event loop before it commits.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from aiokafka import TopicPartition

from kcoord.consumer import CommitFailed, Consumer


def say(*what: object) -> None:
    """One line in one write."""
    os.write(sys.stdout.fileno(), (" ".join(map(str, what)) + "\n").encode())


def saying(name: str, partitions: frozenset[TopicPartition]) -> None:
    """The callbacks."""
    say(name, *sorted(each.partition for each in partitions))


async def main(bootstrap: str, group: str, topic: str, block: str, options: str) -> None:
    """Read and commit until a signal comes."""
    consumer = Consumer(
        bootstrap,
        group,
        topics=[topic],
        on_assigned=lambda partitions: saying("assigned", partitions),
        on_revoked=lambda partitions: saying("revoked", partitions),
        on_lost=lambda partitions: saying("lost", partitions),
        **{"auto_offset_reset": "earliest", "enable_auto_commit": False, **json.loads(options)},
    )
    async with consumer:
        async for record in consumer:
            say("read", (record.value or b"").decode())
            if Path(block).exists():
                say("blocked")
            while Path(block).exists():
                time.sleep(0.01)  # the event loop stands still, as in a program that computes
            try:
                await consumer.commit()
                say("committed", record.partition, record.offset + 1)
            except CommitFailed as error:
                say("refused", error)
    say("left")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
