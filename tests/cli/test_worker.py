"""Does `kcoord worker` run what a file says, and say in a line what is wrong with it?"""

from pathlib import Path

import pytest

from tests.cli.conftest import TOML, Cli
from tests.cli.run_cli import kcoord
from tests.kafka.cluster import KafkaCluster
from tests.worker.test_config_topic import Writer


def test_it_follows_its_file(cli: Cli) -> None:
    worker = cli.worker("follows", "--assignor", "cooperative", "--assignor", "eager")
    worker.wait_for("assigned copy: connector, 0-2")
    (cli.folder / "follows.toml").write_text(TOML.replace("tasks = 3", "tasks = 1") + TOML.replace("copy", "other"))
    worker.wait_for("revoked copy: 1-2: stopping")
    worker.wait_for("let go of copy: 1-2")
    worker.wait_for("assigned other: connector, 0-2")
    assert worker.process.stop() == 0
    assert "SIGTERM: stopping, then leaving" in worker.said


def test_a_directory_has_a_file_for_each_connector(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('class = "tests.cli.idle:Idle"\n')
    worker = cli.start("worker", str(tmp_path), "-g", "folder", "--bootstrap-server", cli.kcoord.bootstrap)
    worker.wait_for("assigned one: connector, 0")
    (tmp_path / "two.toml").write_text('class = "tests.cli.idle:Idle"\n')
    worker.wait_for("assigned two: connector, 0")


def test_an_assignor_may_stand_beside_the_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from kcoord.assign import CooperativeAssignor\nclass Mine(CooperativeAssignor):\n    name = 'mine'\n"
    )
    (tmp_path / "c.toml").write_text(TOML)
    at = ["--bootstrap-server", cli.kcoord.bootstrap]
    worker = cli.start("worker", str(tmp_path / "c.toml"), "-g", "own-assignor", "--assignor", "mine:Mine", *at)
    worker.wait_for("assigned copy: connector, 0-2")
    assert "assignor mine" in cli("groups", "describe", "own-assignor").out


@pytest.mark.parametrize(
    ("toml", "options", "code", "says"),
    [
        (None, [], 1, "c.toml: cannot be read: No such file or directory"),
        ("[copy]\n", [], 1, '[copy]: class = None does not name a class: write class = "module:Class"'),
        ('[copy]\nclass = "tests.cli.idle:None"\n', [], 1, "module tests.cli.idle has no such Connector"),
        (
            TOML,
            ["--assignor", "best"],
            2,
            "--assignor best: there are cooperative, ",
        ),
        (TOML, ["--assignor", "tests.cli.idle:Idle"], 2, "--assignor tests.cli.idle:Idle: "),
        (TOML, ["--assignor", "eager", "--server-assignor", "uniform"], 2, "cannot be used together"),
        (TOML, ["--server-assignor", "best"], 1, "kcoord: group wrong: UNSUPPORTED_ASSIGNOR: "),
        (TOML, ["--bootstrap-server", "x"], 2, "--bootstrap-server: 'x' is no HOST:PORT"),
        (TOML, ["--command-config", "none.properties"], 1, "--command-config none.properties: cannot be read: "),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    cli: Cli, tmp_path: Path, toml: str | None, options: list[str], code: int, says: str
) -> None:
    file = tmp_path / "c.toml"
    if toml is not None:
        file.write_text(toml)
    at = [] if "--bootstrap-server" in options else ["--bootstrap-server", cli.kcoord.bootstrap]
    outcome = kcoord("worker", file, "-g", "wrong", *at, *options)
    assert says in outcome.err
    assert (outcome.code, outcome.out) == (code, "")
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "give either CONNECTORS (a file or a directory) or --config-topic"),
        (["c.toml", "--config-topic", "t"], "give either CONNECTORS (a file or a directory) or --config-topic"),
        (["c.toml", "--run", "a:B"], "--run is for the configuration topic: give --config-topic too"),
        (["c.toml", "--config-bootstrap", "h:1"], "--config-bootstrap is for the configuration topic: give --config-"),
        (["--config-topic", "t", "--config-bootstrap", "x"], "--config-bootstrap: 'x' is no HOST:PORT"),
    ],
)
def test_where_connectors_stand_is_said_once(options: list[str], says: str) -> None:
    outcome = kcoord("worker", "-g", "wrong", *options)
    assert says in outcome.err
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--run", "tests.cli.idle:None"], "class tests.cli.idle:None: module tests.cli.idle has no such Connector"),
        (["--run", "com.acme.Java=nowhere:A"], "class nowhere:A: No module named 'nowhere'"),
        ([], "there is none, or this user may not see it: it is the Connect workers' config.storage.topic"),
    ],
)
def test_what_is_wrong_with_the_topic_is_said_in_a_line(kafka: KafkaCluster, options: list[str], says: str) -> None:
    outcome = kcoord("worker", "-g", "wrong", "--bootstrap-server", kafka.bootstrap, "--config-topic", "none", *options)
    assert says in outcome.err
    assert (outcome.code, outcome.out) == (1, "")
    assert "Traceback" not in outcome.err


def test_it_runs_what_stands_in_the_configuration_topic(cli: Cli, kafka: KafkaCluster) -> None:
    """By its own class, by its connector.class, or not at all: that is said, and the others run."""
    topic = kafka.create_topic("cli-configs", config={"cleanup.policy": "compact"})
    writer = Writer(kafka, topic).connector("mapped", 1)
    writer.put("connector-own", {"properties": {"connector.class": "Y", "python.class": "tests.cli.idle:Idle"}})
    writer.put("connector-java", {"properties": {"connector.class": "Z"}})
    group = ["-g", "of-the-topic", "--bootstrap-server", cli.kcoord.bootstrap]
    where = ["--config-topic", topic, "--config-bootstrap", kafka.bootstrap, "--run", "X=tests.cli.idle:Idle"]
    worker = cli.start("worker", *group, *where)
    worker.wait_for("assigned java: connector; mapped: connector, 0; own: connector")
    worker.wait_for(
        "java: connector.class=Z is not Python: give its configuration a python.class=module:Class, or start"
    )
    writer.put("connector-java")
    worker.wait_for("let go of java: connector")
    assert worker.process.stop() == 0
