"""Does the code in docs/testing-workers.md do what it says? It is run as a user's test suite."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "testing-workers.md"
BLOCK = re.compile(r"```python\n# (?P<file>\S+)\n(?P<code>.*?)```", re.DOTALL)


@pytest.fixture
def files(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files that the page shows, written where pytester runs."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    found = {match["file"]: match["code"] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}
    for name, code in found.items():
        (pytester.path / name).write_text(code, encoding="utf-8")
    return found


@pytest.mark.long("runs pytest")
def test_all_tests_of_the_page_pass(pytester: pytest.Pytester, files: dict[str, str]) -> None:
    assert {"files.py", "conftest.py", "test_files.py", "test_delay.py", "try_it.py"} == files.keys()
    result = pytester.runpytest_subprocess("-W", "error", "-o", "asyncio_default_fixture_loop_scope=function")
    result.assert_outcomes(passed=3)


def test_the_first_test_has_five_lines(files: dict[str, str]) -> None:
    body = files["test_files.py"].partition("async def ")[2].splitlines()[1:]
    assert len(body) == 5


def test_what_runs_without_pytest_prints_what_the_page_says(pytester: pytest.Pytester, files: dict[str, str]) -> None:
    result = pytester.runpython(Path("try_it.py"))
    printed = PAGE.read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    assert result.stdout.str() == printed.rstrip("\n")
