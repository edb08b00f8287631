"""How do several programs read one topic together, each record written out once, by exactly one of them?

    python examples/consume_topic.py orders --group billing --bootstrap-server localhost:9092 > orders-1.jsonl

- Start it as often as you like: the group's coordinator shares the topic's partitions among those that run. It is Kafka
  4.0 or later, a kcoord in front of an older cluster, or a kcoord without a cluster (whose topics have no records).
- A record is a line `{"partition": …, "offset": …, "key": …, "value": …}`. What is no UTF-8 is read with U+FFFD.
- Offsets are committed when their lines were written: every five seconds, and before others get the partition. Lines
  may come twice after a crash, none is lost.
- SIGTERM and Ctrl-C end it: it commits, leaves, and others go on at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys

from kcoord.consumer import Consumer, ConsumerError


def text(part: bytes | None) -> str | None:
    """A key or a value, as a line has it."""
    return None if part is None else part.decode(errors="replace")


async def copy(consumer: Consumer) -> None:
    """Write records out as they come, until a signal ends the loop."""
    async for record in consumer:
        line = {"partition": record.partition, "offset": record.offset, "key": text(record.key)}
        print(json.dumps(line | {"value": text(record.value)}), flush=True)


async def main() -> int:
    """Run until a signal comes. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Read a topic together with others, as lines of JSON.")
    parser.add_argument("topic")
    parser.add_argument("--group", required=True)
    parser.add_argument("--bootstrap-server", default="localhost:9092", metavar="HOST:PORT,…")
    options = parser.parse_args()
    try:
        async with Consumer(
            options.bootstrap_server, options.group, topics=[options.topic], auto_offset_reset="earliest"
        ) as consumer:
            await copy(consumer)
    except ConsumerError as error:
        print(f"consume_topic: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    sys.exit(asyncio.run(main()))
