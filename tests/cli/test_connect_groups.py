"""Do the commands show what goes on in a connect group, and why?"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SETTINGS, Cli
from tests.cli.run_cli import kcoord
from tests.gateway.conftest import start_kcoord  # noqa: F401 (a fixture)
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port
from tests.kafka.wait import NotYet, eventually

HELD = '[copy]\nclass = "tests.cli.idle:Idle"\ntasks = 2\nheld_by = "{}"\n'


def described(cli: Cli, group: str) -> dict[str, Any]:
    outcome = cli("groups", "describe", group, "--json")
    (found,) = json.loads(outcome.out)
    assert outcome.code == (0 if found["exists"] else 1)
    return dict(found)


def explained(cli: Cli, group: str, *options: object) -> list[dict[str, Any]]:
    return list(json.loads(cli("groups", "explain", group, *options, "--json").out)["epochs"])


def eventually_stable(cli: Cli, group: str, members: int) -> dict[str, Any]:
    def stable() -> dict[str, Any]:
        found = described(cli, group)
        if found.get("state") != "Stable" or len(found["members"]) != members:
            raise NotYet(str(found))
        return found

    return eventually(stable, f"{group} is stable with {members} members")


def names(found: dict[str, Any]) -> list[str]:
    return [f"{name}" for name in found["connectors"]] + [
        f"{name}-{task}" for name, tasks in found["tasks"].items() for task in tasks
    ]


def short(member: str) -> str:
    """As people are shown it: name and last four characters."""
    return f"{member.rsplit('-', 2)[0]}-{member[-4:]}"


def test_a_group_from_its_first_worker_to_its_end(cli: Cli) -> None:
    first = cli.worker("life", "-i", "w-1", "--url", "http://one:8083")
    first.wait_for("assigned copy: connector, 0-2")
    second = cli.worker("life", "--client-id", "helper")
    second.wait_for("assigned copy: ")
    first.wait_for("INFO kcoord.worker: revoked copy: ")

    group = eventually_stable(cli, "life", members=2)
    assert (group["type"], group["epoch"], group["assignment_epoch"]) == ("connect", 2, 2)
    assert (group["assignor"], group["computing"], group["delay_ms"]) == ("cooperative", None, None)
    owned = [name for member in group["members"] for name in names(member["owns"])]
    assert sorted(owned) == sorted(names(group["configured"])) == ["copy", "copy-0", "copy-1", "copy-2"]
    ids = {each["instance"]: each["member"] for each in group["members"]}
    assert group["members"][1]["url"] == "http://one:8083"

    shown = cli("groups", "describe", "life").out.splitlines()
    assert shown[0].startswith("life: Stable, connect, epoch 2, assignor cooperative, coordinator 127.0.0.1:")
    assert shown[1].startswith("epoch 2 since ")
    assert f"worker joined: {short(ids[None])}; assigned " in shown[1]
    assert shown[2] == "what a worker had waits for its return: 10 min, by the server's setting"
    assert shown[3].split() == ["MEMBER", "INSTANCE", "HOST", "URL", "EPOCH", "STATE", "OWNS"]
    assert shown[5].split()[:6] == [short(ids[None]), "-", "127.0.0.1", "-", "2", "Stable"]
    assert shown[6].split()[:6] == [short(ids["w-1"]), "w-1", "127.0.0.1", "http://one:8083", "2", "Stable"]

    refused = cli("groups", "delete", "life")
    assert (refused.code, refused.out) == (1, "life: not deleted: it has members; stop them first\n")
    assert second.process.stop() == 0
    assert second.said.splitlines()[-1] == "INFO kcoord.worker: has left group life"
    away = eventually_stable(cli, "life", members=1)
    assert [each["member"] for each in away["departed"]] == [ids[None]]
    assert away["delay_ms"] > 0
    assert f"waits for the return of {short(ids[None])} (another " in cli("groups", "describe", "life").out

    assert first.process.stop() == 0
    kept = described(cli, "life")
    assert [each["state"] for each in kept["members"]] == ["Away"]
    assert "waits for the return of w-1: copy: " in cli("groups", "describe", "life").out
    assert "waits for the return of w-1" in cli("groups", "explain", "life").out


def test_a_task_that_fails_is_seen_in_its_group(cli: Cli) -> None:
    cli.worker("failing", toml='[b]\nclass = "tests.worker.connectors:Failing"\ntimes = 1_000_000')
    failed = "tasks: b-0 failed: RuntimeError: out of luck"

    def shown() -> dict[str, Any] | None:
        found = described(cli, "failing")
        return found if [each.get("trouble") for each in found.get("members", ())] == [failed] else None

    found = eventually(shown, "the group is told of the failure")
    assert found is not None
    (member,) = found["members"]
    assert f"{short(member['member'])} says: {failed}" in cli("groups", "describe", "failing").out


def test_a_hand_over_is_seen_while_it_goes_on(cli: Cli, tmp_path: Path) -> None:
    """Who must let go of what, who waits for what and for whom."""
    hold = tmp_path / "hold"
    hold.touch()
    giver = cli.worker("slow", "-i", "giver", toml=HELD.format(hold))
    giver.wait_for("assigned copy: connector, 0-1")
    taker = cli.worker("slow", "-i", "taker")
    giver.wait_for("INFO kcoord.worker: revoked copy: ")

    group = described(cli, "slow")
    ids = {each["instance"]: each for each in group["members"]}
    assert (group["state"], ids["giver"]["state"], ids["taker"]["state"]) == ("Reconciling", "Releasing", "Waiting")
    moves = ids["taker"]["waits_for"]
    what = f"copy: {moves['tasks']['copy'][0]}"
    assert ids["giver"]["must_release"] == moves
    assert len(names(moves)) == 1
    assert names(ids["giver"]["owns"]) == ["copy", "copy-0", "copy-1"]
    assert (ids["giver"]["epoch"], ids["taker"]["epoch"]) == (1, 0)
    shown = cli("groups", "describe", "slow").out.splitlines()
    assert "slow: Reconciling, " in shown[0]
    assert shown[1].endswith(", not in place everywhere yet")
    assert shown[2].startswith("what a worker had waits for its return: ")
    assert re.split(r" {2,}", shown[3]) == [
        *("MEMBER", "INSTANCE", "HOST", "EPOCH", "STATE", "OWNS", "WAITS FOR", "MUST LET GO")
    ]
    assert re.split(r" {2,}", shown[5])[4:] == ["Releasing", "copy: connector, 0-1", "-", what]
    assert re.split(r" {2,}", shown[6])[4:] == ["Waiting", "nothing", what, "-"]
    told = cli("groups", "explain", "slow").out
    assert f"{short(ids['giver']['member'])} must let go of {what}" in told
    assert f"{short(ids['taker']['member'])} waits for {what} of {short(ids['giver']['member'])}" in told

    hold.unlink()
    taker.wait_for(f"assigned {what}")
    group = eventually_stable(cli, "slow", members=2)
    assert [each["epoch"] for each in group["members"]] == [2, 2]
    [first, second] = explained(cli, "slow")
    assert (first["epoch"], second["epoch"]) == (1, 2)
    assert second["reason"] == f"worker joined: {ids['taker']['member']}"
    assert second["moved"] == 1
    assert second["moves"] == [
        {
            "from": ids["giver"]["member"],
            "to": ids["taker"]["member"],
            "resources": moves,
        }
    ]
    assert 0 <= second["installed_after_ms"] <= second["converged_after_ms"]
    told = cli("groups", "explain", "slow").out
    giver_name, taker_name = (short(ids[name]["member"]) for name in ("giver", "taker"))
    assert told.startswith("slow: Stable at epoch 2, 2 workers; all that has happened\n\nepoch 1  ")
    assert f"\n    to {giver_name}  copy: connector, 0-1\n    assigned " in told
    assert f"worker joined: {taker_name}\n    from {giver_name} to {taker_name}  {what}\n    assigned " in told
    told = cli("groups", "explain", "slow", "--last", 1).out
    assert told.startswith("slow: Stable at epoch 2, 2 workers; its last 1 of 2 epochs\n\nepoch 2  ")


def test_connect_groups_are_listed_with_their_type_and_state(cli: Cli) -> None:
    cli.worker("listed").wait_for("assigned")
    [group] = json.loads(cli("groups", "list", "--type", "connect", "--state", "Stable", "--json").out)[-1:]
    assert group["type"] == group["protocol_type"] == "connect"
    rows = [line.split() for line in cli("groups", "list").out.splitlines()]
    assert ["listed", "connect", "connect", "Stable", cli.kcoord.bootstrap, "(0)", "kcoord"] in rows
    assert "listed" not in cli("groups", "list", "--type", "classic").out


def test_an_empty_group_is_deleted(cli: Cli) -> None:
    worker = cli.worker("brief")
    worker.wait_for("assigned")
    assert worker.process.stop() == 0
    assert described(cli, "brief")["state"] == "Empty"
    assert cli("groups", "describe", "brief").out.endswith("\nno members\n")
    assert cli("groups", "delete", "brief").out == "brief: deleted\n"
    assert described(cli, "brief")["exists"] is False


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A broker that does not have the new APIs."""
    process = Kcoord(tmp_path_factory.mktemp("without"), settings={"group.connect.enable": "false"}).start()
    yield process
    process.remove()


@pytest.mark.parametrize("command", ["describe", "explain", "delete"])
def test_a_group_that_is_not_there_is_said_in_a_line(cli: Cli, command: str) -> None:
    outcome = cli("groups", command, "none")
    assert outcome.code == 1
    assert (outcome.out + outcome.err) in (
        "none: Group none not found.\n",
        "kcoord: none: there is no such group\n",
        "none: not deleted: there is no such group\n",
    )


def test_a_broker_without_connect_groups_says_so(without: Kcoord, cli: Cli) -> None:
    at = ["--bootstrap-server", without.bootstrap]
    outcome = kcoord("groups", "explain", "any", *at)
    assert outcome.code == 1
    assert outcome.err == (
        f"kcoord: {without.bootstrap} (0) does not serve connect groups (ConnectGroupDescribe): "
        "only a kcoord with group.connect.enable can explain a group\n"
    )
    assert kcoord("groups", "describe", "any", *at).out == "any: Group any not found.\n"
    (cli.folder / "refused.toml").write_text('[copy]\nclass = "tests.cli.idle:Idle"\n')
    worker = kcoord("worker", cli.folder / "refused.toml", "-g", "any", *at)
    assert worker.code == 1
    assert worker.err.splitlines()[-1] == (
        "kcoord: group any: UNSUPPORTED_VERSION: the broker does not speak this protocol"
    )
    assert "Traceback" not in worker.err


def test_before_a_cluster(kafka: KafkaCluster, cli: Cli, start_kcoord: Callable[..., Kcoord]) -> None:  # noqa: F811
    """kcoord's groups as when it is alone, and the cluster's as they are there."""
    gateway = start_kcoord(kafka, "front-.*", **{name.replace(".", "_"): value for name, value in SETTINGS.items()})
    front = Cli(gateway, cli.folder, cli.start)
    front.worker("front-jobs").wait_for("assigned copy: connector, 0-2")
    group = eventually_stable(front, "front-jobs", members=1)
    [epoch] = explained(front, "front-jobs")
    assert (group["epoch"], epoch["epoch"], epoch["moved"]) == (1, 1, 4)
    delay = "connect.rebalance.delay.ms=1"
    assert front("config", "set", "front-jobs", delay).out == f"front-jobs: set {delay}\n"
    rows = [line.split() for line in front("config", "describe", "front-jobs").out.splitlines()]
    assert ["connect.rebalance.delay.ms", "1", "this", "group", "600000"] in [row[:5] for row in rows]
    assert "consumer.session.timeout.ms" in [row[0] for row in rows]
    assert front("groups", "explain", "theirs").err == "kcoord: theirs: there is no such group\n"
    elsewhere = kcoord("groups", "explain", "front-jobs", "--bootstrap-server", kafka.bootstrap)
    assert (elsewhere.code, elsewhere.out) == (1, "")
    assert "does not serve connect groups (ConnectGroupDescribe): only a kcoord " in elsewhere.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["explain", "g", "--last", "0"], 2, "--last"),
        (["explain"], 2, "GROUP"),
        (["explain", "g", "--bootstrap-server", "nowhere"], 2, "--bootstrap-server: 'nowhere' is no HOST:PORT"),
    ],
)
def test_a_mistake_of_usage(arguments: list[str], code: int, says: str) -> None:
    outcome = kcoord("groups", *arguments)
    assert outcome.code == code
    assert says in outcome.err


def test_nobody_there() -> None:
    outcome = kcoord("groups", "explain", "g", "--bootstrap-server", f"127.0.0.1:{free_port()}")
    assert outcome.code == 1
    assert re.fullmatch(r"kcoord: 127.0.0.1:\d+ cannot be reached: Connection refused\n", outcome.err)


def test_workers_of_the_classic_protocol_on_their_way(cli: Cli) -> None:
    """Why there is a barrier, and who speaks what when there is none."""
    old = [cli.worker("rolled", "--protocol", "generic", "--client-id", f"old-{number}") for number in range(2)]
    for worker in old:
        worker.wait_for("assigned copy: ")

    def told(start: str) -> list[str]:
        lines = cli("groups", "describe", "rolled").out.splitlines()
        if not lines[0].startswith(start):
            raise NotYet(lines[0])
        return lines

    lines = eventually(lambda: told("rolled: Stable, connect, sessioned, coordinator "), "a classic group")
    assert lines[1] == "barrier: connect.classic.mode is barrier"
    assert described(cli, "rolled")["legacy"] == {
        "mode": "barrier",
        "policy": "bidirectional",
        "protocol": None,
        "barrier": "connect.classic.mode is barrier",
    }
    why = cli("groups", "explain", "rolled")
    assert why.code == 1
    assert why.err.endswith(
        "only connect groups and consumer groups of the new protocol have a history (connect.classic.mode is barrier)\n"
    )
    ran = [worker.said.count("revoked ") for worker in old]

    assert cli("config", "set", "rolled", "connect.classic.mode=individual").code == 0
    found = eventually_stable(cli, "rolled", members=2)
    assert {each["protocol"] for each in found["members"]} == {"sessioned"}
    assert [each["leads"] for each in found["members"]].count(True) == 1
    assert max(each["generation"] for each in found["members"]) == found["epoch"], "the leader's, which was asked"
    lines = cli("groups", "describe", "rolled").out.splitlines()
    assert any(line.startswith("all workers speak the classic protocol (sessioned), each is managed") for line in lines)
    assert "PROTOCOL" in next(line for line in lines if line.startswith("MEMBER")).split()
    assert [worker.said.count("revoked ") for worker in old] == ran, "nothing was stopped for it"
    migrated = next(each for each in explained(cli, "rolled") if each["reason"] == "migrated")
    assert migrated["reason"] == "migrated"

    cli.worker("rolled", "--client-id", "new").wait_for("INFO kcoord.worker: ")
    found = eventually_stable(cli, "rolled", members=3)
    assert sorted(each["protocol"] for each in found["members"]) == ["connect", "sessioned", "sessioned"]
    assert "2 of 3 workers speak the classic protocol (sessioned)" in cli("groups", "describe", "rolled").out


def test_what_exists_is_shown_with_where_that_is_known_from_and_forgotten(cli: Cli) -> None:
    """A file counts by the time of its last change. Who has forgotten it listens to what a worker says next."""
    worker = cli.worker("known")
    worker.wait_for("assigned copy: connector, 0-2")
    shown = cli("groups", "configured", "known")
    assert shown.code == 0
    assert re.fullmatch(r"known, as of a file of 20\S+ \S+ \(offset \d+\): copy: connector, 0-2\n", shown.out)
    found = json.loads(cli("groups", "configured", "known", "--json").out)
    assert sorted(names(found["configured"])) == ["copy", "copy-0", "copy-1", "copy-2"]
    assert (found["group"], found["config_source"]) == ("known", "file")
    assert found["config_offset"] > 0

    forgotten = cli("groups", "configured", "known", "--forget")
    assert forgotten.out == "known, as of no offset: what a worker says next counts: copy: connector, 0-2\n"
    found = json.loads(cli("groups", "configured", "known", "--json").out)
    assert (found["config_offset"], found["config_source"]) == (-1, None)

    assert worker.process.stop() == 0
    assert cli("groups", "configured", "known").out == "known: no worker has said which connectors and tasks exist\n"
    cli.worker("known").wait_for("assigned copy: connector, 0-2")
    assert json.loads(cli("groups", "configured", "known", "--json").out)["config_source"] == "file"


def test_a_group_of_which_nobody_has_said_what_exists(cli: Cli) -> None:
    outcome = cli("groups", "configured", "never-heard-of")
    assert (outcome.code, outcome.out) == (1, "")
    assert "never-heard-of" in outcome.err
