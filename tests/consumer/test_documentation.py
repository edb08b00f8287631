"""Is what docs/python-consumer.md and examples/consume_topic.py say so? The programs are run, the table is compared."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcoord.consumer import phase_table
from kcoord.consumer.state import Phase
from tests.kafka.cluster import KafkaCluster
from tests.kafka.process import ServerProcess
from tests.kafka.topics import write_topic
from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT

PAGE = ROOT / "docs" / "python-consumer.md"
EXAMPLE = ROOT / "examples" / "consume_topic.py"
ROWS = {name: row for name, row in vars(phase_table).items() if isinstance(row, phase_table.Row)}


def table() -> str:
    """The state machine of a consumer: its rows, its phases, its cells."""
    return "\n".join(
        [
            f"| event | {' | '.join(phase.name for phase in Phase)} |",
            "| --- |" + " --- |" * len(Phase),
            *(f"| {name} | {' | '.join(map(_cell, row))} |" for name, row in ROWS.items()),
        ]
    )


def _cell(cell: object) -> str:
    name = getattr(cell, "__name__", "")
    return "" if name == "never" else f"`{name}`"


def test_the_page_shows_the_table_as_it_is() -> None:
    assert table() in PAGE.read_text()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Starts Python with these arguments; what it prints goes to a file. It ends with the test."""
    started: list[ServerProcess] = []
    inherited = {name: value for name, value in os.environ.items() if not re.match("KCOORD_|PYTEST_", name)}

    def run(*arguments: object) -> ServerProcess:
        command = [sys.executable, *map(str, arguments)]
        output = tmp_path / f"output-{len(started)}"
        started.append(ServerProcess.start("program", command, output, {**inherited, "PYTHONPATH": str(ROOT)}))
        return started[-1]

    yield run
    for each in started:
        each.kill()


def lines_of(*programs: ServerProcess, begin: str = "{") -> list[str]:
    """The whole lines that they have printed, without those of the log."""
    lines = [line for each in programs for line in each.log.read_text().splitlines(keepends=True)]
    return [line.rstrip("\n") for line in lines if line.endswith("\n") and line.startswith(begin)]


def wait_for_lines(count: int, *programs: ServerProcess, begin: str = "{") -> list[str]:
    """Wait until they have printed so many lines."""

    def printed() -> list[str]:
        lines = lines_of(*programs, begin=begin)
        if len(lines) < count:
            raise NotYet([each.tail() for each in programs])
        return lines

    return eventually(printed, f"{count} lines", every_s=0.05)


def test_the_program_of_the_page_prints_its_topic_and_ends_on_sigterm(
    kafka: KafkaCluster, group: str, tmp_path: Path, start: Callable[..., ServerProcess]
) -> None:
    topic = kafka.create_topic(group.replace("_", "-"))
    write_topic(kafka, topic, ["one", "two"])
    (text,) = re.findall(r"```python\n(import asyncio.*?)```", PAGE.read_text(), re.DOTALL)
    path = tmp_path / "program.py"
    path.write_text(
        text.replace("localhost:9092", kafka.bootstrap).replace('"billing"', f'"{group}"').replace("orders", topic)
    )
    program = start(path)
    assert wait_for_lines(2, program, begin=topic) == [f"{topic} 0 0 b'one'", f"{topic} 0 1 b'two'"]
    assert program.stop() == 0
    assert kafka.committed(group) == {(topic, 0): 2}


def test_two_examples_share_a_topic_and_a_third_goes_on_behind_them(
    kafka: KafkaCluster, group: str, start: Callable[..., ServerProcess]
) -> None:
    topic = kafka.create_topic(group.replace("_", "-"), 4)
    arguments = [EXAMPLE, topic, "--group", group, "--bootstrap-server", kafka.bootstrap]
    both = [start(*arguments), start(*arguments)]
    written: list[str] = []

    def write() -> None:
        values = [f"value {len(written) + number}" for number in range(50)]
        write_topic(kafka, topic, values)
        written.extend(values)

    while not all(map(lines_of, both)):
        write()
        wait_for_lines(len(written), *both)
    assert [each.stop() for each in both] == [0, 0]
    write()
    third = start(*arguments)
    wait_for_lines(50, third)
    assert third.stop() == 0
    records = [json.loads(line) for line in lines_of(*both, third)]
    assert Counter(each["value"] for each in records) == Counter(written)
    assert records[0].keys() == {"partition", "offset", "key", "value"}


def test_an_example_without_a_broker_says_so_in_one_line(start: Callable[..., ServerProcess]) -> None:
    program = start(EXAMPLE, "orders", "--group", "g", "--bootstrap-server", "127.0.0.1:1")
    assert program.popen.wait(60) == 1
    assert lines_of(program, begin="consume_topic: no broker at 127.0.0.1:1 can be reached") != []
    assert "Traceback" not in program.tail()
