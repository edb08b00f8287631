"""Does docs/policies.md say what the simulator says, and show all that a scenario may have?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from bench import policies
from kcoord.sim.scenario import POLICIES, Figures, Kind, Scenario, built_in
from kcoord.sim.scenario.description import Connectors, Event, Settings, load

PAGE = policies.DOCUMENT.read_text()


@pytest.mark.long("a scenario by each policy with many seeds")
@pytest.mark.parametrize(("name", "kind"), [("death", Kind.BARRIER), ("bounce", Kind.BARRIER)])
def test_the_figures_are_those_of_this_simulator(name: str, kind: Kind) -> None:
    """If they are not: make policies, and read what is written above them again."""
    for policy in POLICIES:
        row = policies.row(policies.KINDS[kind], policy, policies.middle((name, kind, policy)))
        assert row in PAGE.split(f"### {name}")[1].split("###")[0], f"{row} is what comes of it now"


def test_each_scenario_has_its_table_and_its_plot() -> None:
    for name in built_in():
        section = PAGE.split(f"### {name}\n")[1].split("\n### ")[0].split(policies.END)[0]
        assert load(built_in()[name]).about in section
        assert section.count("\n| ") == 2 + len(Kind) * len(POLICIES)
        assert f"(policies/{name}.svg)" in section
        assert "<svg" in (policies.PLOTS / f"{name}.svg").read_text()


def test_the_example_is_a_scenario_and_shows_all_that_there_is(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "example.toml"
    path.write_text(example)
    load(path)
    shown = tomllib.loads(example)
    assert shown.keys() == Scenario.model_fields.keys()
    assert shown["settings"].keys() == Settings.model_fields.keys()
    assert {name for each in shown["connectors"].values() for name in each} == Connectors.model_fields.keys()
    assert {name for each in shown["events"] for name in each} == Event.model_fields.keys()


def test_only_what_stands_between_the_marks_is_written() -> None:
    made = policies.put(f"a{policies.BEGIN}old{policies.END}b", "new")
    assert made == f"a{policies.BEGIN}new{policies.END}b"
    with pytest.raises(ValueError, match="lacks the line"):
        policies.put("nothing", "new")


def test_a_plot_is_drawn_the_same_each_time(tmp_path: Path) -> None:
    found = {("bounce", kind, policy): Figures(1, 2, 3, 4, 5, 6, 7) for kind in Kind for policy in POLICIES}
    for folder in ("first", "second"):
        policies.plot("bounce", found, tmp_path / folder)
    first, second = ((tmp_path / folder / "bounce.svg").read_text() for folder in ("first", "second"))
    assert first == second
    assert all(policy in first for policy in POLICIES)
