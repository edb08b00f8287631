"""Is what docs/workers.md and examples/ say so? The page's program is run, its table compared, the examples used."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcoord.worker import phase_table
from kcoord.worker.classic import phase_table as classic_table
from kcoord.worker.runner import Runner
from kcoord.worker.runner.definitions import read
from kcoord.worker.state import Phase
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT

PAGE = ROOT / "docs" / "workers.md"
EXAMPLES = ROOT / "examples"
ROWS = {name: row for name, row in vars(phase_table).items() if isinstance(row, phase_table.Row)}


def test_the_page_shows_the_table_as_it_is() -> None:
    """The state machine of a worker: its rows, its phases, its cells."""
    lines = [
        f"| event | {' | '.join(phase.name for phase in Phase)} |",
        "| --- |" + " --- |" * len(Phase),
        *(f"| {name} | {' | '.join(map(_cell, row))} |" for name, row in ROWS.items()),
    ]
    assert "\n".join(lines) in PAGE.read_text()


def test_the_page_shows_the_table_of_the_classic_protocol() -> None:
    """Answer by answer, the phases in which one is awaited."""
    lines = [
        f"| answer | {' | '.join(name.upper() for name in classic_table.Row._fields)} |",
        "| --- |" + " --- |" * len(classic_table.Row._fields),
        *(f"| {kind.name} | {' | '.join(map(_cell, row))} |" for kind, row in classic_table.ROWS.items()),
    ]
    assert "\n".join(lines) in PAGE.read_text()


def _cell(cell: object) -> str:
    name = getattr(cell, "__name__", "")
    return "" if name == "unreachable" else f"`{name}`"


@pytest.fixture
def programs() -> Iterator[list[subprocess.Popen[bytes]]]:
    """What a test runs, ended with it."""
    running: list[subprocess.Popen[bytes]] = []
    yield running
    for each in running:
        each.kill()
        each.communicate()


def test_the_program_of_the_page_shares_its_shards(
    kcoord: Kcoord, tmp_path: Path, programs: list[subprocess.Popen[bytes]]
) -> None:
    """CG-2"""
    (text,) = re.findall(r"```python\n(import asyncio.*?)```", PAGE.read_text(), re.DOTALL)
    program = tmp_path / "shards.py"
    program.write_text(text.replace("localhost:9092", kcoord.bootstrap).replace("sleep(1)", "sleep(0.1)"))
    outputs = [tmp_path / "one", tmp_path / "two"]
    for output in outputs:
        with output.open("w") as file:
            programs.append(subprocess.Popen([sys.executable, program], stdout=file, cwd=ROOT, env={"PYTHONPATH": "."}))

    def shared() -> bool:
        recent = [set(output.read_text().splitlines()[-6:]) for output in outputs]
        if sorted(map(len, recent)) != [6, 6] or recent[0] & recent[1]:
            raise NotYet(f"{recent}")
        return True

    eventually(shared, "each of the two prints its six shards")


def test_the_table_of_the_examples_can_be_read() -> None:
    """What the README of the examples has people run."""
    definitions = read(EXAMPLES / "connectors.toml")
    classes = {each.connector for each in definitions.connectors.values()}
    assert {getattr(each, "__name__", None) for each in classes} == {"TailFiles", "TopicToFiles"}
    assert len(definitions.resources) == 6


async def test_lines_of_files_go_through_a_topic_into_files_each_once(
    kcoord: Kcoord, kafka: KafkaCluster, group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers; one leaves while lines come."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    topic = kafka.create_topic(f"lines-{group.replace('_', '-')}", partitions=3)
    logs = [tmp_path / f"{name}.log" for name in ("one", "two", "three")]
    connectors = tmp_path / "connectors.toml"
    connectors.write_text(
        f"""
        [logs]
        class = "tail_files:TailFiles"
        bootstrap_servers = "{kafka.bootstrap}"
        topic = "{topic}"
        paths = {json.dumps(list(map(str, logs)))}
        positions = "{tmp_path / "positions"}"
        tasks = 2
        look_every_s = 0.1

        [archive]
        class = "topic_to_files:TopicToFiles"
        bootstrap_servers = "{kafka.bootstrap}"
        topic = "{topic}"
        folder = "{tmp_path / "archive"}"
        tasks = 2
        """
    )
    written: list[str] = []

    def write(count: int) -> None:
        for log in logs:
            lines = [f"{log.stem} {len(written) + number}" for number in range(count)]
            written.extend(lines)
            with log.open("a") as file:
                file.write("".join(f"{line}\n" for line in lines))

    def archived() -> list[str]:
        files = sorted((tmp_path / "archive").glob("*.jsonl"))
        lines = [line for file in files for line in file.read_text().splitlines(keepends=True)]
        return [json.loads(line)["value"] for line in lines if line.endswith("\n")]  # the last may be half written

    async def until_all_is_there() -> None:
        async with asyncio.timeout(180):
            while set(archived()) != set(written):
                await asyncio.sleep(0.1)

    stops = [asyncio.Event(), asyncio.Event()]
    async with asyncio.TaskGroup() as tasks:
        for number, stop in enumerate(stops):
            runner = Runner(connectors, kcoord.bootstrap, group, url=f"http://{number}")
            tasks.create_task(runner.run(stop))
        write(100)
        await until_all_is_there()
        write(100)
        stops[0].set()
        write(100)
        await until_all_is_there()
        write(100)
        await until_all_is_there()
        stops[1].set()
    assert sorted(archived()) == sorted(written)
