"""Do `kcoord placement` and `kcoord workers` do what they say, and refuse what cannot hold?"""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest

from kcoord.cli.calls.connect_groups import ClassicPart
from kcoord.cli.calls.group_calls import how_to_be_individual
from kcoord.server.startup.assignors import ENTRY_POINTS
from kcoord.worker import Configured
from kcoord.worker import Worker as PythonWorker
from tests.cli.conftest import SETTINGS, TOML, Cli, Worker
from tests.cli.test_connect_groups import described, eventually_stable, names
from tests.kafka.installed_package import install
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually
from tests.worker.driver import resources
from tests.worker.house import House

DRAIN = '[[cordon]]\nworker = "http://two:8083"\ndrain = true\n'


def start(cli: Cli, group: str, *workers: str) -> None:
    """Workers whose assignment the coordinator computes."""
    for name in workers:
        cli.worker(group, "--url", f"http://{name}:8083", "--server-assignor", "cooperative").wait_for("assigned ")
    eventually_stable(cli, group, members=len(workers))


def owned(cli: Cli, group: str) -> dict[str, list[str]]:
    return {each["url"]: sorted(names(each["owns"])) for each in described(cli, group)["members"]}


@pytest.fixture(scope="module")
def unchanged(cli: Cli) -> str:
    """A group of three workers that no test changes."""
    start(cli, "unchanged", "one", "two", "three")
    return "unchanged"


def test_a_worker_is_drained_and_used_again(cli: Cli) -> None:
    start(cli, "drained", "one", "two", "three")
    before = owned(cli, "drained")
    done = cli("workers", "drain", "drained", "http://two:8083", "--wait")
    assert done.code == 0
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


def test_what_cannot_be_met_is_told_everywhere(cli: Cli, tmp_path: Path) -> None:
    start(cli, "unmet", "one")
    file = tmp_path / "rules.toml"
    file.write_text('[[affinity]]\nconnectors = "copy"\nworkers = ["nobody"]\n')
    assert cli("placement", "apply", "unmet", file).code == 0
    group = eventually_stable(cli, "unmet", members=1)["placement"]
    assert group["misplaced"]
    for command in (["groups", "describe", "unmet"], ["groups", "explain", "unmet"]):
        assert "runs on where it was: it may not run on" in " ".join(cli(*command).out.split())
    assert "because it may not run on" in cli("placement", "explain", "unmet", "copy:1").out


def test_new_work_that_runs_nowhere_is_told_everywhere(cli: Cli, tmp_path: Path) -> None:
    """Nobody may run any connector: what runs stays, and a connector that comes later does not start."""
    start(cli, "nowhere", "one")
    file = tmp_path / "rules.toml"
    file.write_text('[[affinity]]\nconnectors = "*"\nworkers = ["nobody"]\n')
    assert cli("placement", "apply", "nowhere", file).code == 0
    (cli.folder / "nowhere.toml").write_text(TOML + TOML.replace("copy", "fresh").replace("3", "2"))

    def misplaced() -> dict[bool, dict[str, Any]]:
        """What describe has for programs: by whether it runs."""
        found = {each["running"]: each for each in described(cli, "nowhere")["placement"]["misplaced"]}
        if False not in found:
            raise NotYet(str(found))
        return found

    found = eventually(misplaced, "the new connector has no place")
    why = "no worker is allowed to run it"
    assert names(found[False]["resources"]) == ["fresh", "fresh-0", "fresh-1"]
    assert found[False]["reason"] == why
    assert names(found[True]["resources"]) == ["copy", "copy-0", "copy-1", "copy-2"]
    assert owned(cli, "nowhere") == {"http://one:8083": ["copy", "copy-0", "copy-1", "copy-2"]}

    for command in (["groups", "describe", "nowhere"], ["groups", "explain", "nowhere"]):
        assert f"fresh: connector, 0-1 runs nowhere: {why}" in " ".join(cli(*command).out.split())
    for resource, meant in (("fresh", "fresh: connector"), ("fresh:1", "fresh: 1")):
        told = cli("placement", "explain", "nowhere", resource).out.splitlines()
        assert told[:2] == [f"{meant}: runs nowhere", f"  because {why}"]
        assert told[2].endswith(": not allowed by an affinity")

    dry_run = ["placement", "apply", "nowhere", file, "--dry-run"]
    told = cli(*dry_run).out.splitlines()
    assert told[:2] == ["nothing moves", f"fresh: connector, 0-1 runs nowhere: {why}"]
    assert told[2].startswith("copy: connector, 0-2 stays where it is: it may not run on ")
    plan = json.loads(cli(*dry_run, "--json").out)
    assert plan["moves"] == []
    assert plan["unplaced"] == [{"reason": why, "resources": found[False]["resources"]}]
    assert [each["resources"] for each in plan["unmet"]] == [found[True]["resources"]]


def test_what_rules_would_move_is_told_and_nothing_is_done(cli: Cli, unchanged: str, tmp_path: Path) -> None:
    before = owned(cli, unchanged)
    file = tmp_path / "rules.toml"
    file.write_text(DRAIN)
    told = cli("placement", "diff", unchanged, file)
    assert told.code == 0
    assert "copy" in told.out
    plan = json.loads(cli("placement", "apply", unchanged, file, "--dry-run", "--json").out)
    moved = [name for move in plan["moves"] for name in names(move["resources"])]
    assert sorted(moved) == before["http://two:8083"]
    assert plan["unmatched"] == []
    file.write_text('[[weight]]\nconnectors = "cpoy"\nweight = 2\n[[cordon]]\nworker = "http://tow:*"\n')
    assert cli("placement", "diff", unchanged, file).out.splitlines() == [
        "nothing moves",
        "http://tow:*: no worker of the group matches this now",
        "cpoy: no connector of the group matches this now",
    ]
    assert owned(cli, unchanged) == before
    assert cli("placement", "show", unchanged).out == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["workers", "drain", "GROUP", "http://four:8083"],
            "no worker is called http://four:8083; there are http://one",
        ),
        (["workers", "drain", "GROUP", "http://*"], "not drained: all workers would be cordoned"),
        (["workers", "drain", "GROUP", ""], "no worker is called ''; there are http://one"),
        (["workers", "uncordon", "GROUP", "http://one:8083"], "there is no cordon of http://one:8083; there are none"),
        (["placement", "explain", "GROUP", "nothing"], "there is no connector nothing; there are copy"),
        (["placement", "explain", "GROUP", "copy:9"], "connector copy has no task 9; its tasks are 0-2"),
        (["placement", "show", "nobody"], "nobody: there is no such group"),
        (["placement", "explain", "GROUP", "copy:x"], "copy:x: write a task as CONNECTOR:NUMBER"),
        (["placement", "apply", "GROUP", "no-such-file"], "no-such-file: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(
    cli: Cli, unchanged: str, arguments: list[str], says: str
) -> None:
    done = cli(*[each.replace("GROUP", unchanged) for each in arguments])
    assert done.code in (1, 2)
    assert says in done.err


def test_a_file_that_is_no_document(cli: Cli, tmp_path: Path) -> None:
    for text, says in (("[[cordn]]\nworker = 'a'", "cordn: there is no such key"), ("x", "it is not valid TOML")):
        file = tmp_path / "rules.toml"
        file.write_text(text)
        done = cli("placement", "apply", "any", file)
        assert done.code == 2
        assert f"{file}: {says}" in done.err


# -- what holds nowhere ------------------------------------------------------------------------------------------------

ONLY_TWO = '[[affinity]]\nconnectors = "copy"\nworkers = ["http://two:8083"]\n'


def test_the_last_place_is_not_drained(cli: Cli, tmp_path: Path) -> None:
    """The message says of what it is the last place, and nothing has changed."""
    start(cli, "last", "one", "two")
    file = tmp_path / "rules.toml"
    file.write_text(ONLY_TWO)
    assert cli("placement", "apply", "last", file).code == 0
    done = cli("workers", "drain", "last", "http://two:8083")
    assert done.code == 1
    assert "last: not drained: no other worker may run copy: connector" in done.err
    assert "Change the rules that forbid it: kcoord placement show last" in done.err
    assert tomllib.loads(cli("placement", "show", "last").out) == tomllib.loads(ONLY_TWO)


def test_what_a_drain_would_move(cli: Cli, unchanged: str) -> None:
    before = owned(cli, unchanged)
    told = cli("workers", "drain", unchanged, "http://two:8083", "--dry-run")
    assert told.code == 0
    assert " -> " in told.out
    assert cli("placement", "show", unchanged).out == ""
    assert owned(cli, unchanged) == before


def test_two_cordons_of_one_worker(cli: Cli) -> None:
    """Who is given back by one of them is not in use yet."""
    start(cli, "twice", "one", "two")
    for name in ("http://one:8083", "http://o*"):
        assert cli("workers", "cordon", "twice", name).out == f"twice: {name} is cordoned\n"
    assert cli("workers", "uncordon", "twice", "http://o*:8083").err.endswith(
        "there is no cordon of http://o*:8083; it is cordoned by http://one:8083, http://o*\n"
    )
    assert cli("workers", "uncordon", "twice", "http://o*").out.endswith("is still cordoned by http://one:8083\n")
    assert cli("workers", "uncordon", "twice", "http://one:8083").out.endswith("is used again\n")


def test_a_drain_outlives_its_coordinator(
    tmp_path: Path, start_command: Callable[..., Worker], request: pytest.FixtureRequest
) -> None:
    """kcoord is killed while a worker stops its tasks: the new one goes on, and the command waits for it."""
    held = tmp_path / "held"
    server = Kcoord(tmp_path, settings=SETTINGS).start()
    request.addfinalizer(server.remove)
    own = Cli(server, tmp_path, start_command)
    toml = f'{TOML}held_by = "{held}"\n'
    for number in ("one", "two"):
        own.worker("held", "--url", f"http://{number}:8083", "--server-assignor", "cooperative", toml=toml)
    eventually_stable(own, "held", members=2)
    held.touch()
    at = ["--bootstrap-server", server.bootstrap]
    drain = start_command("workers", "drain", "held", "http://two:8083", "--wait", *at)
    drain.wait_for("http://two:8083 still runs ")
    server.kill()
    drain.wait_for("asking again for 60 s")
    server.start()
    held.unlink()
    drain.process.popen.wait(60)
    assert drain.said.endswith("held: http://two:8083 runs nothing any more\n")
    assert owned(own, "held") == {
        "http://one:8083": ["copy", "copy-0", "copy-1", "copy-2"],
        "http://two:8083": [],
    }


def test_moves_are_computed_with_another_assignor_if_the_groups_is_not_known(
    tmp_path: Path,
    start_command: Callable[..., Worker],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A package has brought it to the coordinator. The command cannot run it, and says so."""
    program = "from kcoord.assign import UniformAssignor\nclass Mine(UniformAssignor):\n    name = 'mine'\n"
    install(tmp_path, monkeypatch, program, ENTRY_POINTS, "mine", "Mine")
    server = Kcoord(tmp_path, settings={**SETTINGS, "group.connect.assignors": "mine,uniform"})
    server.start()
    request.addfinalizer(server.remove)
    own = Cli(server, tmp_path, start_command)
    for group, assignor in (("theirs", "mine"), ("known", "uniform")):
        for number in ("one", "two"):
            own.worker(group, "--url", f"http://{number}:8083", "--server-assignor", assignor)
        eventually_stable(own, group, members=2)
    file = tmp_path / "rules.toml"
    file.write_text(DRAIN)
    says = (
        "computed with the assignor cooperative, because this command does not have the group's assignor mine: "
        "the coordinator may decide otherwise"
    )
    for dry_run in (
        ["placement", "apply", "GROUP", file, "--dry-run"],
        ["placement", "diff", "GROUP", file],
        ["workers", "drain", "GROUP", "http://two:8083", "--dry-run"],
    ):
        for group in ("theirs", "known"):
            done = own(*[group if each == "GROUP" else each for each in dry_run])
            assert " -> " in done.out
            assert (done.out.splitlines()[-1] == says) is (group == "theirs")
    for group, expected in (("theirs", ["cooperative", "mine"]), ("known", ["uniform", None])):
        plan = json.loads(own("placement", "diff", group, file, "--json").out)
        assert [plan["assignor"], plan["unknown_assignor"]] == expected
    assert own("placement", "apply", "theirs", file).out.splitlines()[-1] == says


def commands(group: str, file: Path) -> list[list[object]]:
    return [
        ["workers", "drain", group, "http://one:8083"],
        ["workers", "drain", group, "http://one:8083", "--dry-run"],
        ["workers", "cordon", group, "http://one:8083"],
        ["placement", "apply", group, file],
        ["placement", "diff", group, file],
    ]


def test_where_workers_compute_rules_are_refused(cli: Cli, tmp_path: Path) -> None:
    """The error says what to set instead."""
    for number in ("one", "two"):
        cli.worker("computed", "--url", f"http://{number}:8083", "--assignor", "design-2").wait_for("assigned ")
    eventually_stable(cli, "computed", members=2)
    file = tmp_path / "rules.toml"
    file.write_text(ONLY_TWO)
    for command in commands("computed", file):
        done = cli(*command)
        assert done.code == 1
        assert "do not work while its workers compute the assignment (design-2). Let the workers ask for an" in done.err
        assert "kcoord worker --server-assignor cooperative" in done.err
    assert cli("placement", "show", "computed").out == ""


def test_where_workers_join_all_together_rules_are_refused(cli: Cli, tmp_path: Path) -> None:
    cli.worker("together", "--url", "http://one:8083", "--protocol", "generic").wait_for("assigned ")
    file = tmp_path / "rules.toml"
    file.write_text(ONLY_TWO)
    asked: list[list[object]] = [*commands("together", file), ["placement", "show", "together"]]
    for command in asked:
        done = cli(*command)
        assert done.code == 1
        assert "only connect groups have placement rules (connect.classic.mode is barrier)" in done.err
        assert "kcoord config set together connect.classic.mode=individual" in done.err


def classic_worker(cli: Cli, group: str, name: str, connect_protocol: Literal["sessioned", "default"]) -> PythonWorker:
    """A worker of the classic protocol. With `default` it is one that has connect.protocol=eager."""
    return PythonWorker(
        cli.kcoord.bootstrap,
        group,
        listener=House().listener(name),
        url=f"http://{name}:8083",
        group_protocol="classic",
        connect_protocol=connect_protocol,
        configured=Configured(1, resources("copy copy-0 copy-1")),
        client_id=name,
        handle_signals=False,
    )


async def test_with_an_eager_worker_rules_are_refused(cli: Cli, tmp_path: Path) -> None:
    """It is alone, and then beside one that could be managed by itself. The error says which worker it is, and what to
    set.
    """
    group = "old-ways"
    file = tmp_path / "rules.toml"
    file.write_text(ONLY_TWO)
    individual = await asyncio.to_thread(cli, "config", "set", group, "connect.classic.mode=individual")
    assert individual.code == 0

    async def refused(worker: str) -> None:
        for command in commands(group, file):
            done = await asyncio.to_thread(cli, *command)
            assert (done.code, done.out) == (1, "")
            assert f"({worker}" in done.err
            assert " speaks only the embedded protocol default (connect.protocol=eager)). " in done.err
            assert done.err.endswith(
                ". Set connect.protocol=sessioned in the configuration of such workers, and restart them\n"
            )

    async with classic_worker(cli, group, "eager", "default") as alone:
        await alone.joined()
        await refused("eager-")
    async with classic_worker(cli, group, "newer", "sessioned") as newer:
        await newer.joined()
        await asyncio.to_thread(eventually_stable, cli, group, 1)
        async with classic_worker(cli, group, "eager", "default") as second:
            await second.joined()
            await refused("eager-")
        await asyncio.to_thread(eventually_stable, cli, group, 1)
        assert (await asyncio.to_thread(cli, "placement", "show", group)).out == ""
        assert (await asyncio.to_thread(cli, "placement", "apply", group, file)).code == 0


@pytest.mark.parametrize(
    ("mode", "why", "says"),
    [
        ("barrier", "connect.classic.mode is barrier", "kcoord config set g connect.classic.mode=individual"),
        ("individual", "a speaks only the embedded protocol default (connect.protocol=eager)", "connect.protocol=sess"),
        ("individual", "the workers have no embedded protocol but default in common", "Set connect.protocol=sessioned"),
        ("individual", "the metadata of embedded protocol sessioned cannot be read: cut short", ""),
        ("individual", None, ""),
        (None, None, ""),
    ],
)
def test_what_to_set_depends_on_why_workers_join_all_together(mode: str | None, why: str | None, says: str) -> None:
    """Nothing helps where a worker sends what nobody can read, or the coordinator gives no reason."""
    told = how_to_be_individual("g", ClassicPart(mode, barrier=why))
    assert says in told
    assert bool(says) == bool(told)
