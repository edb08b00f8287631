"""Are the tests shared out as `parts.py` says?"""

from __future__ import annotations

from pathlib import Path

from tests.parts import EARLY, SPARK, named, part_of

ROOT = Path(__file__).parents[1]


def test_files_that_are_named_are_there_and_named_once() -> None:
    assert [name for name in named() if not (ROOT / name).is_file()] == []
    assert len(set(EARLY)) == len(EARLY)


def test_a_file_is_a_part_and_some_are_one() -> None:
    assert part_of("tests/cli/test_log.py::test_a[x::y]") == "tests/cli/test_log.py"
    assert part_of("tests/pipeline/test_topic.py::test_b") == part_of("tests/pipeline/test_lab.py::test_c") == SPARK
    assert part_of("tests/pipeline/test_command.py::test_d") == "tests/pipeline/test_command.py"
