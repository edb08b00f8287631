"""How does a Kafka topic get into files, each partition written by exactly one worker?

    [archive]
    class = "topic_to_files:TopicToFiles"
    bootstrap_servers = "localhost:9092"
    topic = "logs"
    folder = "/srv/archive"
    tasks = 4

- One file a partition, `TOPIC-PARTITION.jsonl`; a line is `{"offset": …, "timestamp": …, "key": …, "value": …}`. What
  is no UTF-8 is read with U+FFFD.
- The file itself says how far it got: whoever takes over goes on behind its last whole line, so that each record is
  there once. All workers must see the folder.
- Task t writes the partitions p with p mod tasks = t, also those that come later.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from kcoord.worker.runner import Connector, Context, Task, to_its_end
from kcoord.worker.runner.connector import Config

LONGEST_LOOK_BACK = 1 << 16
FETCH_MS = 200
LOOK_AROUND_EVERY = 20
"""After so many fetches: has the topic got more partitions?"""


class Archive(Task):
    """Writes some of the partitions."""

    async def run(self, context: Context) -> None:
        """Copy records as they come."""
        servers = self.config["bootstrap_servers"]
        consumer = AIOKafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False, group_id=None)
        admin = AIOKafkaAdminClient(bootstrap_servers=servers)
        files: dict[TopicPartition, IO[bytes]] = {}
        try:
            await consumer.start()
            await admin.start()
            for turn in itertools.count():
                if turn % LOOK_AROUND_EVERY == 0:
                    await self._open_new_partitions(admin, consumer, files)
                fetched = await consumer.getmany(timeout_ms=FETCH_MS) if files else {}
                if not files:
                    await asyncio.sleep(FETCH_MS / 1000)
                if fetched and context.may_run():
                    await to_its_end(asyncio.to_thread(_write, files, fetched))
        finally:
            for file in files.values():
                file.close()
            await admin.close()
            await consumer.stop()

    async def _open_new_partitions(
        self, admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer, files: dict[TopicPartition, IO[bytes]]
    ) -> None:
        """Those of this task that have no file yet: go on behind the last line."""
        topic, task, tasks = self.config["topic"], self.config["number"], self.config["tasks"]
        numbers = await _partitions(admin, topic)
        mine = [TopicPartition(topic, number) for number in sorted(numbers) if number % tasks == task]
        new = [partition for partition in mine if partition not in files]
        if not new:
            return
        begins = {}
        for partition in new:
            path = Path(self.config["folder"]) / f"{topic}-{partition.partition}.jsonl"
            files[partition], begins[partition] = await asyncio.to_thread(_open, path)
        at = {partition: await consumer.position(partition) for partition in consumer.assignment()}
        consumer.assign(list(files))
        for partition in files:
            offset = at.get(partition, begins.get(partition))
            if offset is None:
                await consumer.seek_to_beginning(partition)
            else:
                consumer.seek(partition, offset)


class TopicToFiles(Connector):
    """A topic, spread over tasks by partition."""

    task = Archive

    def task_configs(self) -> Sequence[Config]:
        """Each task is told its number."""
        count = int(self.config.get("tasks", 1))
        for name in ("bootstrap_servers", "topic", "folder"):
            self.config[name]
        return [{**self.config, "number": number, "tasks": count} for number in range(count)]


async def _partitions(admin: AIOKafkaAdminClient, topic: str) -> set[int]:
    (described,) = await admin.describe_topics([topic])
    return {each["partition"] for each in described["partitions"]}


def _open(path: Path) -> tuple[IO[bytes], int | None]:
    """The file, without a torn last line, ready to append; and the offset to go on at, None for the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+b")
    size = file.seek(0, os.SEEK_END)
    back = LONGEST_LOOK_BACK
    while True:
        begin = max(0, size - back)
        file.seek(begin)
        whole, _, torn = file.read().rpartition(b"\n")
        if begin == 0 or b"\n" in whole:
            break
        back *= 2
    if torn:
        file.truncate(size - len(torn))
    file.seek(0, os.SEEK_END)
    last = whole.rpartition(b"\n")[2]
    return file, json.loads(last)["offset"] + 1 if last else None


def _write(files: dict[TopicPartition, IO[bytes]], fetched: dict[TopicPartition, list[ConsumerRecord]]) -> None:
    for partition, records in fetched.items():
        files[partition].write(b"".join(map(_line, records)))
        files[partition].flush()


def _line(record: ConsumerRecord) -> bytes:
    fields = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": None if record.key is None else record.key.decode(errors="replace"),
        "value": None if record.value is None else record.value.decode(errors="replace"),
    }
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"
