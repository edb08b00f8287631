"""`kcoord sim scenario`, as users type it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.run_cli import kcoord


def test_it_lists_runs_and_tells_programs() -> None:
    listed = kcoord("sim", "scenario")
    assert listed.code == 0
    assert "death " in listed.out
    assert "rolling bounce" in listed.out
    shown = kcoord("sim", "scenario", "death", "--group", "connect", "--policy", "design-2", env={"COLUMNS": "160"})
    assert shown.code == 0
    assert "BALANCED AFTER" in shown.out
    assert [line.split()[:2] for line in shown.out.splitlines() if line.startswith("connect")] == [
        ["connect", "design-2"]
    ]
    told = kcoord("sim", "scenario", "death", "--group", "connect", "--policy", "design-2", "--json")
    run = json.loads(told.out)
    assert (run["scenario"], run["kind"], run["policy"], run["doubles"]) == ("death", "connect", "design-2", [])
    assert run["figures"]["moved"] > 0


def test_restarts_and_rules(tmp_path: Path) -> None:
    """Six workers are restarted; drained first, no task waits for that."""
    rules = tmp_path / "rules.toml"
    rules.write_text('[[weight]]\nconnectors = "jdbc-0"\nweight = 3\n')
    asked = ["sim", "scenario", "bounce", "--policy", "kip-415", "--rules", rules]
    drained = kcoord(*asked, "--restart", "drain", "--group", "connect", "--json")
    assert json.loads(drained.out)["figures"]["longest_gap"] < 5
    all_kinds = kcoord(*asked, env={"COLUMNS": "160"})
    assert all_kinds.code == 0
    assert [line.split()[0] for line in all_kinds.out.splitlines() if " kip-415 " in line] == ["individual", "connect"]
    assert "Left out: group barrier with placement rules or drains, because they do not work there." in all_kinds.out
    refused = kcoord(*asked, "--group", "barrier")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "barrier: placement rules and drains do not work in a group whose workers all join together" in refused.err
    rules.write_text('[[weight]]\nconnectors = "jdbc-0"\n')
    refused = kcoord(*asked)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"{rules}: weight[1].weight: it is missing" in refused.err


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    assert "there is no scenario or file nope; the scenarios are bounce," in kcoord("sim", "scenario", "nope").err
    path = tmp_path / "mine.toml"
    path.write_text("workers = 3")
    refused = kcoord("sim", "scenario", path)
    assert refused.code == 1
    assert refused.err.count("\n") == 1
    assert f"{path}: about: Field required" in refused.err


def test_the_other_simulation_is_where_it_was() -> None:
    assert "2 seeds from 0: none failed" in kcoord("sim", "--seeds", "2").out
