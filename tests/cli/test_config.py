"""Are the settings of one group shown, set and taken back, and refused with the reason?"""

import json
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.run_cli import kcoord

SESSION, DELAY, ASSIGNORS = "connect.session.timeout.ms", "connect.rebalance.delay.ms", "connect.assignors"


def settings(cli: Cli, group: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in json.loads(cli("config", "describe", group, "--json").out)}


def test_settings_are_set_and_taken_back(cli: Cli) -> None:
    before = settings(cli, "g")
    assert (before[SESSION]["value"], before[SESSION]["source"]) == ("45000", "the default")
    assert (before[DELAY]["value"], before[DELAY]["source"]) == ("600000", "the server's settings")
    done = cli("config", "set", "g", f"{SESSION}=50000", f"{ASSIGNORS}-=uniform")
    assert (done.code, done.out) == (0, f"g: set {SESSION}=50000\ng: set {ASSIGNORS}, without uniform\n")
    after = settings(cli, "g")
    assert (after[SESSION]["value"], after[SESSION]["source"], after[SESSION]["otherwise"]) == (
        *("50000", "this group", "45000"),
    )
    assert after[ASSIGNORS]["value"] == "cooperative"
    rows = [line.split() for line in cli("config", "describe", "g").out.splitlines()]
    assert rows[0] == ["SETTING", "VALUE", "FROM", "OTHERWISE", "MEANING"]
    assert [SESSION, "50000", "this", "group", "45000"] in [row[:5] for row in rows]

    assert cli("config", "set", "g", f"{ASSIGNORS}+=uniform").out == f"g: set {ASSIGNORS}, with uniform added\n"
    assert settings(cli, "g")[ASSIGNORS]["value"] == "cooperative,uniform"
    done = cli("config", "unset", "g", SESSION, ASSIGNORS)
    assert (done.code, done.out) == (0, f"g: unset {SESSION}\ng: unset {ASSIGNORS}\n")
    assert settings(cli, "g") == before


def test_what_does_not_exist_is_not_unset(cli: Cli) -> None:
    done = cli("config", "unset", "mistyped", SESSION, f"group.{SESSION}")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"kcoord: mistyped: not changed: there is no setting group.{SESSION}; the nearest is {SESSION}\n"


def test_a_former_name_is_set_with_a_warning(cli: Cli) -> None:
    done = cli("config", "set", "former", "connect.legacy.mode=individual")
    assert (done.code, done.out) == (0, "former: set connect.legacy.mode=individual\n")
    assert done.err == "kcoord: connect.legacy.mode is a former name; write connect.classic.mode\n"
    assert settings(cli, "former")["connect.classic.mode"]["value"] == "individual"


def test_a_dry_run_changes_nothing(cli: Cli) -> None:
    assert cli("config", "set", "--dry-run", "dry", f"{DELAY}=1").out == f"dry: would be set {DELAY}=1\n"
    assert settings(cli, "dry")[DELAY]["value"] == "600000"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (f"group.{SESSION}=50000", f"Unknown group config name: group.{SESSION}; the nearest is {SESSION}"),
        (f"{SESSION}=1", f"{SESSION}: 1 is not between 6000 and 60000"),
        (f"{ASSIGNORS}=best", f"{ASSIGNORS}: there is no assignor best; there are cooperative, uniform"),
        (f"{SESSION}+=1", f"Can't APPEND to key {SESSION} because its type is not LIST."),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason_and_all_of_it(cli: Cli, change: str, says: str) -> None:
    outcome = cli("config", "set", "refused", f"{DELAY}=1", change)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("kcoord: refused: not changed: ")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_nothing_of_it_was_done(cli: Cli) -> None:
    assert all(each["source"] != "this group" for each in settings(cli, "refused").values())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["set", "g", SESSION], f"{SESSION}: write it as NAME=VALUE"),
        (["unset", "g"], "NAME..."),
    ],
)
def test_a_mistake_of_usage(arguments: list[str], says: str) -> None:
    outcome = kcoord("config", *arguments)
    assert outcome.code == 2
    assert says in outcome.err
