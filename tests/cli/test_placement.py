"""Do `kcoord placement` and `kcoord workers` do what they say, and refuse what cannot hold?"""

from __future__ import annotations

import json
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_connect_groups import described, eventually_stable, names

DRAIN = '[[cordon]]\nworker = "http://two:8083"\ndrain = true\n'


def three(cli: Cli, group: str) -> None:
    """Three workers whose assignment the coordinator computes."""
    for number in ("one", "two", "three"):
        cli.worker(group, "--url", f"http://{number}:8083", "--server-assignor", "cooperative").wait_for("assigned ")
    eventually_stable(cli, group, members=3)


def owned(cli: Cli, group: str) -> dict[str, list[str]]:
    return {each["url"]: sorted(names(each["owns"])) for each in described(cli, group)["members"]}


@pytest.fixture(scope="module")
def refusing(cli: Cli) -> str:
    """A group of three workers that no test changes."""
    three(cli, "refused")
    return "refused"


def test_a_worker_is_drained_and_used_again(cli: Cli) -> None:
    three(cli, "drained")
    before = owned(cli, "drained")
    done = cli("workers", "drain", "drained", "http://two:8083", "--wait")
    assert done.code == 0
    assert done.out.startswith("drained: http://two:8083 runs ")
    assert done.out.endswith("drained: http://two:8083 runs nothing any more\n")
    after = owned(cli, "drained")
    assert after["http://two:8083"] == []
    assert sorted(chain(*after.values())) == sorted(chain(*before.values())) == ["copy", "copy-0", "copy-1", "copy-2"]
    rules = {"cordon": [{"worker": "http://two:8083", "drain": True}]}
    assert tomllib.loads(cli("placement", "show", "drained").out) == rules
    assert json.loads(cli("placement", "show", "drained", "--json").out) == rules
    assert "drained" in cli("placement", "explain", "drained", "copy:1").out
    assert cli("workers", "uncordon", "drained", "http://two:8083").code == 0
    assert cli("placement", "show", "drained").out == ""
    assert eventually_stable(cli, "drained", members=3)["placement"]["state"] == "none"


def test_what_rules_would_move_is_told_and_nothing_is_done(cli: Cli, tmp_path: Path) -> None:
    three(cli, "planned")
    before = owned(cli, "planned")
    file = tmp_path / "rules.toml"
    file.write_text(DRAIN)
    told = cli("placement", "diff", "planned", file)
    assert told.code == 0
    assert "copy" in told.out
    plan = json.loads(cli("placement", "apply", "planned", file, "--dry-run", "--json").out)
    moved = [name for move in plan["moves"] for name in names(move["resources"])]
    assert sorted(moved) == before["http://two:8083"]
    assert owned(cli, "planned") == before
    assert cli("placement", "show", "planned").out == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["workers", "drain", "GROUP", "http://four:8083"],
            "no worker is called http://four:8083; there are http://one",
        ),
        (["workers", "drain", "GROUP", "http://*"], "not drained: no worker would be left that is not cordoned"),
        (["workers", "uncordon", "GROUP", "http://one:8083"], "there is no cordon of http://one:8083"),
        (["placement", "explain", "GROUP", "nothing"], "there is no nothing: connector"),
        (["placement", "explain", "GROUP", "copy:x"], "copy:x: write a task as CONNECTOR:NUMBER"),
        (["placement", "apply", "GROUP", "no-such-file"], "no-such-file: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(
    cli: Cli, refusing: str, arguments: list[str], says: str
) -> None:
    done = cli(*[each.replace("GROUP", refusing) for each in arguments])
    assert done.code in (1, 2)
    assert says in done.err


def test_a_file_that_is_no_document(cli: Cli, tmp_path: Path) -> None:
    for text, says in (("[[cordn]]\nworker = 'a'", "cordn: there is no such key"), ("x", "it is no TOML")):
        file = tmp_path / "rules.toml"
        file.write_text(text)
        done = cli("placement", "apply", "any", file)
        assert done.code == 2
        assert f"{file}: {says}" in done.err
