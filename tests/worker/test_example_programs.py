"""SIGTERM to the programs that users copy: those of examples/, and that of docs/workers.md. Each leaves its group."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import pytest

from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.process import ServerProcess
from tests.kafka.topics import write_topic
from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT
from tests.worker.stepped import Observer

EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "workers.md"
LINES = ["one", "two", "three"]
WORKS: dict[str, Callable[[Path], bool]] = {
    "logs": lambda folder: any((folder / "logs" / ".positions").glob("*.position")),
    "archive": lambda folder: any(each.stat().st_size for each in (folder / "archive").glob("*.jsonl")),
}
"""Whether a connector of examples/connectors.toml has done something, which one sees in the folder."""


@attrs.define
class Program:
    """A program that a test has started."""

    process: ServerProcess

    @property
    def said(self) -> str:
        return self.process.log.read_text()

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Raises AssertionError if it ends before."""

        def seen() -> bool:
            self.process.check_running()
            if not is_so():
                raise NotYet(self.process.tail())
            return True

        eventually(seen, what, every_s=0.05)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Starts Python with these arguments; what it prints goes to a file. It ends with the test."""
    started: list[ServerProcess] = []
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KCOORD_")}

    def run(*arguments: object) -> Program:
        command = [sys.executable, *map(str, arguments)]
        started.append(
            ServerProcess.start("example", command, tmp_path / "said", {**inherited, "PYTHONPATH": str(ROOT)})
        )
        return Program(started[-1])

    yield run
    for each in started:
        each.kill()


def test_each_example_is_run_here() -> None:
    sections = tomllib.loads((EXAMPLES / "connectors.toml").read_text())
    assert set(sections) == set(WORKS)
    modules = {str(each["class"]).partition(":")[0] for each in sections.values()}
    programs = {each.stem for each in EXAMPLES.glob("*.py")} - modules
    assert programs == {"consume_topic"}, "tests/consumer/test_documentation.py runs those that are no connectors"


@pytest.mark.parametrize("name", WORKS)
async def test_an_example_that_gets_sigterm_leaves_its_group(
    kcoord: Kcoord,
    kafka: KafkaCluster,
    observer: Observer,
    group: str,
    tmp_path: Path,
    start: Callable[..., Program],
    name: str,
) -> None:
    """It is at work then, and leaves at once: nobody waits for the end of its session."""
    topic = kafka.create_topic(f"example-{name}")
    write_topic(kafka, topic, LINES)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "one.log").write_text("".join(f"{line}\n" for line in LINES))
    connectors = copied_example(tmp_path, name, kafka.bootstrap, topic)
    at = ["--bootstrap-server", kcoord.bootstrap]
    program = start("-m", "kcoord", "worker", connectors, "--group", group, *at)
    program.wait_until(lambda: WORKS[name](tmp_path), f"{name} does its work")
    assert program.process.stop() == 0
    assert "SIGTERM: stopping, then leaving" in program.said
    assert f"has left group {group}" in program.said
    assert "Traceback" not in program.said
    await check_it_has_left(observer)


async def test_the_program_of_the_page_leaves_its_group_on_sigterm(
    kcoord: Kcoord, observer: Observer, group: str, tmp_path: Path, start: Callable[..., Program]
) -> None:
    (text,) = re.findall(r"```python\n(import asyncio.*?)```", PAGE.read_text(), re.DOTALL)
    path = tmp_path / "shards.py"
    path.write_text(text.replace("localhost:9092", kcoord.bootstrap).replace('"shards"', f'"{group}"'))
    program = start(path)
    program.wait_until(lambda: "shard 11" in program.said, "it has its shards")
    assert program.process.stop() == 0
    assert "Traceback" not in program.said
    await check_it_has_left(observer)


def copied_example(folder: Path, name: str, bootstrap: str, topic: str) -> Path:
    """A copy of the examples whose file has only this connector, for this Kafka, this topic and this folder."""
    copy = folder / "examples"
    shutil.copytree(EXAMPLES, copy)
    path = copy / "connectors.toml"
    [section] = re.findall(rf"^\[{name}\]\n(?:(?!\[).*\n)*", path.read_text(), re.MULTILINE)
    adapted = section.replace("localhost:9092", bootstrap).replace("/tmp/", f"{folder}/")
    path.write_text(adapted.replace('topic = "logs"', f'topic = "{topic}"'))
    return path


async def check_it_has_left(observer: Observer) -> None:
    """The group has no members, and its last one went by itself."""
    group = await observer.describe()
    assert group.members == []
    assert group.history[-1].reason.startswith("worker left: ")
