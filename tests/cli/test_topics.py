"""Do `kcoord topics …` show and change the topics of a kcoord without a cluster, and of Kafka?"""

import json
from collections.abc import Iterator

import pytest

from tests.cli.run_cli import Outcome, kcoord
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    process = Kcoord(tmp_path_factory.mktemp("alone"), settings={"group.max.offsets": 100}).start()
    yield process
    process.remove()


def at(bootstrap: str, *arguments: object) -> Outcome:
    return kcoord("topics", *arguments, "--bootstrap-server", bootstrap)


def test_topics_come_grow_and_go(alone: Kcoord) -> None:
    assert at(alone.bootstrap, "list").out == "There are no topics.\n"
    for name, count, told in (("orders", 12, "12 partitions"), ("one", 1, "1 partition")):
        done = at(alone.bootstrap, "add", name, count)
        assert (done.code, done.out, done.err) == (0, f"{name}: created, with {told}\n", "")
    grown = at(alone.bootstrap, "grow", "orders", 16)
    assert (grown.code, grown.out) == (0, "orders: has 16 partitions now\n")
    one, orders = json.loads(at(alone.bootstrap, "list", "--json").out)
    assert (one["topic"], one["partitions"]) == ("one", 1)
    assert orders == {"topic": "orders", "partitions": 16, "id": orders["id"]}
    lines = [line.split() for line in at(alone.bootstrap, "list").out.splitlines()]
    assert lines[0] == ["TOPIC", "PARTITIONS", "ID"]
    assert lines[2:] == [["one", "1", one["id"]], ["orders", "16", orders["id"]]]
    alone.kill_and_restart()
    assert json.loads(at(alone.bootstrap, "list", "--json").out) == [one, orders]
    for name in ("orders", "one"):
        assert at(alone.bootstrap, "remove", name).out == f"{name}: deleted\n"
    assert json.loads(at(alone.bootstrap, "list", "--json").out) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "there", 3], "there: not created: topic there exists already"),
        (["add", "a/b", 3], "a/b: not created: a topic's name has 1 to 249 letters, "),
        (["add", "large", 1000], "large: not created: all topics together may have 100 partitions (group.max.offsets)"),
        (["grow", "there", 2], "there: not changed: topic there has 2 partitions already: it can only have more"),
        (["grow", "nowhere", 2], "nowhere: not changed: there is no such topic"),
        (["remove", "nowhere"], "nowhere: not deleted: there is no such topic"),
    ],
)
def test_what_is_refused_says_why(alone: Kcoord, arguments: list[object], says: str) -> None:
    at(alone.bootstrap, "add", "there", 2)
    outcome = at(alone.bootstrap, *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"kcoord: {says}")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Usage: kcoord topics"),
        (["add", "orders"], "PARTITIONS"),
        (["add", "orders", "many"], "PARTITIONS"),
        (["add", "orders", "0"], "PARTITIONS"),
        (["grow", "orders", "-1"], "No such option: -1"),
        (["remove"], "NAME"),
        (["list", "--bootstrap-server", "nowhere"], "--bootstrap-server: 'nowhere' is no HOST:PORT"),
    ],
)
def test_a_mistake_of_usage(arguments: list[str], says: str) -> None:
    outcome = kcoord("topics", *arguments)
    assert outcome.code == 2
    assert says in outcome.out + outcome.err


def test_nobody_there_is_said_in_a_line() -> None:
    port = free_port()
    outcome = at(f"127.0.0.1:{port}", "add", "orders", 3)
    assert (outcome.code, outcome.err) == (1, f"kcoord: 127.0.0.1:{port} cannot be reached: Connection refused\n")


@pytest.fixture(scope="module")
def front(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    process = kcoord_of(kafka, tmp_path_factory.mktemp("front"))
    yield process
    process.remove()


@pytest.mark.parametrize("through", ["kafka", "front"])
def test_topics_of_a_cluster(request: pytest.FixtureRequest, through: str) -> None:
    """With the cluster's own words where it refuses."""
    bootstrap = request.getfixturevalue(through).bootstrap
    assert at(bootstrap, "add", "cli-topic", 2).out == "cli-topic: created, with 2 partitions\n"
    refused = at(bootstrap, "add", "cli-topic", 2)
    assert (refused.code, refused.err) == (1, "kcoord: cli-topic: not created: Topic 'cli-topic' already exists.\n")
    assert at(bootstrap, "grow", "cli-topic", 3).out == "cli-topic: has 3 partitions now\n"
    listed = {each["topic"]: each for each in json.loads(at(bootstrap, "list", "--json").out)}
    assert listed["cli-topic"]["partitions"] == 3
    assert at(bootstrap, "remove", "cli-topic").out == "cli-topic: deleted\n"
    refused = at(bootstrap, "remove", "cli-topic")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("kcoord: cli-topic: not deleted: ")
