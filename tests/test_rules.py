"""Do the rules that code, tests and docs cite exist, and does a test hold each of them?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RULES = ROOT / "docs" / "rules"
PAGES = {
    "CG": "connect-groups.md",
    "CM": "classic-members.md",
    "GW": "gateway.md",
    "AD": "adoption.md",
    "KG": "consumer-groups.md",
}
CITED = re.compile(r"\b(CG|CM|GW|AD|KG)-(\d+)\b")
TITLE = re.compile(r"^### (CG|CM|GW|AD|KG)-(\d+): \S", re.MULTILINE)
ELSEWHERE = re.compile(r"\bseed 00\d|\b[Dd]esign [1-9]\b|\b(?:connect-groups|legacy|gateway|adoption) rules? O?\d")
"""Texts that are not in the project."""
WITHOUT_A_TEST = {"CM-47": "the leader is not asked to keep house for a quiet minute (CM-49), which is longer"}


EXCUSED = {
    Path(__file__),
    ROOT / "tests" / "worker" / "test_docstrings.py",  # looks for such citations as well
}


def sources(*folders: str) -> list[Path]:
    found = [each for folder in folders for suffix in ("py", "md") for each in (ROOT / folder).rglob(f"*.{suffix}")]
    return [*found, *ROOT.glob("*.md")]


def cited_in(files: list[Path]) -> dict[str, set[Path]]:
    """By id, the files that cite it; `CG-1 to CG-3` cites what is between, too."""
    found: dict[str, set[Path]] = {}
    for file in files:
        text = file.read_text()
        ids = {(kind, int(number)) for kind, number in CITED.findall(text)}
        for kind, first, last in re.findall(r"\b(CG|CM|GW|AD|KG)-(\d+) to \1-(\d+)\b", text):
            ids |= {(kind, number) for number in range(int(first), int(last))}
        for kind, number in ids:
            found.setdefault(f"{kind}-{number}", set()).add(file)
    return found


def rules() -> list[str]:
    return [f"{kind}-{number}" for page in PAGES.values() for kind, number in TITLE.findall((RULES / page).read_text())]


@pytest.mark.parametrize(("kind", "page"), PAGES.items())
def test_the_rules_of_a_page_are_numbered_without_a_gap(kind: str, page: str) -> None:
    numbers = [int(number) for found, number in TITLE.findall((RULES / page).read_text()) if found == kind]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_each_rule_that_is_cited_exists() -> None:
    cited = cited_in(sources("kcoord", "tests", "docs", "bench", "examples"))
    assert len(cited) > 100
    unknown = {rule: files for rule, files in cited.items() if rule not in rules()}
    assert unknown == {}


def test_a_test_cites_each_rule() -> None:
    cited = cited_in([file for file in sources("tests") if ROOT / "tests" in file.parents and file != Path(__file__)])
    assert {rule for rule in rules() if rule not in cited} == WITHOUT_A_TEST.keys()


def test_nothing_cites_what_is_not_in_the_project() -> None:
    files = set(sources("kcoord", "tests", "docs", "bench", "examples")) - EXCUSED
    found = {str(file.relative_to(ROOT)): ELSEWHERE.findall(file.read_text()) for file in files}
    assert {file: texts for file, texts in found.items() if texts} == {}
