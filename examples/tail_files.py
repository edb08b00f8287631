"""How do the lines of growing files get into a Kafka topic, each file followed by exactly one worker?

    [logs]
    class = "tail_files:TailFiles"
    bootstrap_servers = "localhost:9092"
    topic = "logs"
    paths = ["/srv/logs/web-1.log", "/srv/logs/web-2.log"]
    positions = "/srv/logs/.positions"
    tasks = 2

- A file's record is its line, without the line break; its key is the path, so that a file's lines stay in order.
- How far a file has been read stands in a file of its own in `positions`, written when Kafka has the lines: whoever
  takes over goes on there. Lines may come twice after a crash, none is lost. All workers must see both folders.
- A file that gets shorter was replaced: it is read from its begin.
"""

from __future__ import annotations

import asyncio
import os
import urllib.parse
from collections.abc import Sequence
from pathlib import Path

from aiokafka import AIOKafkaProducer

from kcoord.worker.runner import Connector, Context, Task, to_its_end
from kcoord.worker.runner.connector import Config

LARGEST_READ = 1 << 20


class Tail(Task):
    """Follows some of the files."""

    async def run(self, context: Context) -> None:
        """Read what has been appended, send it, note how far; again and again."""
        producer = AIOKafkaProducer(bootstrap_servers=self.config["bootstrap_servers"], acks="all")
        try:
            await producer.start()
            while context.may_run():
                sent = [await to_its_end(self._forward(Path(path), producer)) for path in self.config["paths"]]
                if not any(sent):
                    await asyncio.sleep(self.config.get("look_every_s", 0.5))
        finally:
            await producer.stop()

    async def _forward(self, path: Path, producer: AIOKafkaProducer) -> int:
        """Send the lines that are new and whole; how many."""
        lines, position = await asyncio.to_thread(self._read, path)
        if lines:
            key = str(path).encode()
            waiting = [await producer.send(self.config["topic"], line, key=key) for line in lines]
            await asyncio.gather(*waiting)
            await asyncio.to_thread(self._note, path, position)
        return len(lines)

    def _read(self, path: Path) -> tuple[list[bytes], int]:
        """Whole lines from where it was left, and the position behind them."""
        position = self._noted(path)
        try:
            with path.open("rb") as file:
                if position > os.fstat(file.fileno()).st_size:
                    position = 0
                file.seek(position)
                whole = file.read(LARGEST_READ).rpartition(b"\n")[0]
        except FileNotFoundError:
            return [], position
        if not whole:
            return [], position
        return whole.split(b"\n"), position + len(whole) + 1

    def _noted(self, path: Path) -> int:
        try:
            return int(self._position_file(path).read_text())
        except FileNotFoundError:
            return 0

    def _note(self, path: Path, position: int) -> None:
        file = self._position_file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(str(position))
        part.replace(file)

    def _position_file(self, path: Path) -> Path:
        return Path(self.config["positions"]) / f"{urllib.parse.quote(str(path), safe='')}.position"


class TailFiles(Connector):
    """Files, spread over tasks."""

    task = Tail

    def task_configs(self) -> Sequence[Config]:
        """The first task takes the first file, the second the second, and around again; no task without a file."""
        paths = self.config["paths"]
        count = min(int(self.config.get("tasks", 1)), len(paths))
        for name in ("bootstrap_servers", "topic", "positions"):
            self.config[name]
        return [{**self.config, "paths": paths[number::count]} for number in range(count)]
