"""Does the reference of the Python API show what is public, all of it and nothing else?"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

import kcoord.assign
import kcoord.consumer
import kcoord.testing
import kcoord.worker

PAGES = Path(__file__).parents[1] / "docs" / "api"


@pytest.mark.parametrize(
    ("page", "module"),
    [
        ("workers", kcoord.worker),
        ("consumers", kcoord.consumer),
        ("assignors", kcoord.assign),
        ("testing", kcoord.testing),
    ],
)
def test_a_page_shows_what_its_module_exports(page: str, module: ModuleType) -> None:
    shown = re.findall(r"^::: (\S+)$", (PAGES / f"{page}.md").read_text(), re.MULTILINE)
    assert sorted(shown) == sorted(f"{module.__name__}.{name}" for name in module.__all__)


def test_each_page_is_one_of_those() -> None:
    assert sorted(each.stem for each in PAGES.iterdir()) == ["assignors", "consumers", "testing", "workers"]
