"""Does `kcoord check` say what is wrong before any client is pointed at kcoord, and nothing where all is well?"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer

from tests.cli.run_cli import Outcome, kcoord
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.kcoord_process import HIGHEST_NODE_ID
from tests.kafka.ports import free_port, port_block
from tests.kafka.security import ADMIN, Mechanism, Security, password_of
from tests.kafka.wait import NotYet, eventually


def check(tmp_path: Path, upstream: str, *more: object, port: int | None = None) -> Outcome:
    """With a folder of its own, and ports that are free: kcoord's, and those after it for the cluster's brokers."""
    port = port or port_block(2 + HIGHEST_NODE_ID)
    own = ("--listen", f"127.0.0.1:{port}", "--data-dir", tmp_path / "data")
    return kcoord("check", *own, "--upstream", upstream, *more)


def problems(found: Outcome) -> list[tuple[str, str]]:
    """What is wrong: about what, and the text."""
    told = json.loads(found.out)["findings"]
    return [(each["about"], each["text"]) for each in told if each["level"] == "problem"]


@contextlib.asynccontextmanager
async def consumer_of(kafka: KafkaCluster, group: str, topic: str) -> AsyncIterator[AIOKafkaConsumer]:
    """A member at the cluster."""
    kafka.create_topic(topic)
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=kafka.bootstrap, group_id=group)
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()


def wait_until_assigned(consumer: Consumer) -> None:
    """Until it has its partition."""

    def assigned() -> bool:
        consumer.poll(0.1)
        if not consumer.assignment():
            raise NotYet("nothing is assigned")
        return True

    eventually(assigned, "the consumer has its partition")


# -- all is well -------------------------------------------------------------------------------------------------------


async def test_what_there_is_and_what_becomes_of_it(kafka: KafkaCluster, tmp_path: Path) -> None:
    async with consumer_of(kafka, "check-live", "check-1"):
        found = await asyncio.to_thread(check, tmp_path, kafka.bootstrap, "--groups", "check-.*", "--json")
        assert (found.code, found.err) == (0, "")
        told = json.loads(found.out)
        assert {each["about"] for each in told["findings"]} >= {"listen", "upstream", "brokers", "ports", "groups"}
        [group] = [each for each in told["groups"] if each["group"] == "check-live"]
        assert (group["protocol_type"], group["state"], group["members"]) == ("consumer", "Stable", 1)
        assert group["becomes"] == "once all members come through kcoord, kcoord takes it over, and no member notices"
        by_hand = ("--groups", "check-.*", "--json", "-o", "gateway.adopt=manual")
        told = json.loads((await asyncio.to_thread(check, tmp_path, kafka.bootstrap, *by_hand)).out)
        [group] = [each for each in told["groups"] if each["group"] == "check-live"]
        assert "kcoord groups adopt takes it over (gateway.adopt=manual)" in group["becomes"]
        shown = await asyncio.to_thread(check, tmp_path, kafka.bootstrap, "--groups", "check-.*")
        assert "check-live" in shown.out
        assert not (tmp_path / "data").exists(), "nothing is made"
    empty = check(tmp_path, kafka.bootstrap, "--groups", "check-live", "--json")
    assert json.loads(empty.out)["groups"][0]["becomes"] == "becomes kcoord's when a member comes through kcoord"


def test_a_group_of_the_new_consumer_protocol_stays_with_the_cluster(kafka: KafkaCluster, tmp_path: Path) -> None:
    kafka.create_topic("check-2")
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "check-new", "group.protocol": "consumer"})
    consumer.subscribe(["check-2"])
    wait_until_assigned(consumer)
    found = check(tmp_path, kafka.bootstrap, "--groups", "check-new", "--json")
    consumer.close()
    [group] = json.loads(found.out)["groups"]
    assert group["becomes"].lower() == "stays with the cluster: kcoord takes no groups of type consumer"
    assert group["members"] is None, "kcoord does not read its protocol"


def test_a_group_that_a_kcoord_has_is_told(kafka: KafkaCluster, tmp_path: Path) -> None:
    front = kcoord_of(kafka, tmp_path / "other", ["check-taken"])
    kafka.create_topic("check-3")
    consumer = Consumer({"bootstrap.servers": front.bootstrap, "group.id": "check-taken"})
    consumer.subscribe(["check-3"])
    wait_until_assigned(consumer)
    found = check(tmp_path, kafka.bootstrap, "--groups", "check-taken", "--json")
    behind = check(tmp_path, front.bootstrap, "--groups", "check-taken", "--json")
    consumer.close()
    front.remove()
    assert json.loads(found.out)["groups"][0]["becomes"] == "a kcoord has it already"
    assert problems(behind) == [
        ("upstream", f"{front.bootstrap} is a kcoord: name the brokers of the cluster behind it")
    ]


async def test_sink_connectors_come_along(kafka: KafkaCluster, tmp_path: Path) -> None:
    """GW-25: a pattern for Connect clusters matches the groups of their sinks too; one that names all is meant so."""

    def about_sinks(*patterns: str) -> list[str]:
        options = [word for each in patterns for word in ("--groups", each)]
        told = json.loads(check(tmp_path, kafka.bootstrap, *options, "--json").out)["findings"]
        return [each["text"] for each in told if "sink connectors" in each["text"]]

    [text] = await asyncio.to_thread(about_sinks, "connect-.*")
    assert text.startswith("connect-.* also matches the consumer groups of sink connectors (connect-NAME")
    async with consumer_of(kafka, "connect-copy", "check-4"):
        [text] = await asyncio.to_thread(about_sinks, "connect-.*", "check-.*")
        assert text.startswith(
            "connect-.* also matches the consumer groups of sink connectors (connect-NAME, here connect-"
        )
        assert await asyncio.to_thread(about_sinks, "check-.*|connect-copy") == []
        assert await asyncio.to_thread(about_sinks, "connect-cluster") == []


# -- something is not --------------------------------------------------------------------------------------------------


def test_ports_that_are_taken(kafka: KafkaCluster, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        there = check(tmp_path, kafka.bootstrap, "--groups", ".*", "--json", port=port)
        offset = 1
        beside = check(
            tmp_path, kafka.bootstrap, "--groups", ".*", "--json", "-o", f"gateway.port.offset={offset}",
            port=port - 1 - offset,
        )  # fmt: skip
    listening = "is taken: another program listens there; set"
    kept = "unless systemd keeps it open for kcoord"
    assert problems(there) == [("listen", f"127.0.0.1:{port} {listening} listen, {kept}")]
    assert problems(beside) == [("ports", f"127.0.0.1:{port} for broker 1 {listening} gateway.port.offset, {kept}")]
    assert there.code == 1


@pytest.mark.parametrize(
    ("upstream", "says"),
    [
        ("127.0.0.1:1", "127.0.0.1:1 cannot be reached: Connection refused"),
        ("127.0.0.1:{own}", "127.0.0.1:{own} is where kcoord listens: give the addresses of the cluster's brokers"),
        ("localhost:{own}", "localhost:{own} is where kcoord listens: give the addresses of the cluster's brokers"),
        ("nowhere.invalid:9092", "nowhere.invalid:9092 cannot be reached: "),
    ],
)
def test_no_cluster_there(tmp_path: Path, upstream: str, says: str) -> None:
    own = free_port()
    found = check(tmp_path, upstream.format(own=own), "--groups", ".*", "--json", port=own)
    [(about, text)] = problems(found)
    assert about == "upstream"
    assert text.startswith(says.format(own=own))
    assert found.code == 1


def test_two_clusters(start_kafka: Callable[..., KafkaCluster], kafka: KafkaCluster, tmp_path: Path) -> None:
    both = f"{kafka.bootstrap},{start_kafka().bootstrap}"
    [(about, text)] = problems(check(tmp_path, both, "--groups", ".*", "--json"))
    assert about == "upstream"
    assert text.endswith(": name brokers of one cluster")


def test_files_that_are_loaded_at_the_start() -> None:
    own = ("--listen", f"127.0.0.1:{free_port()}", "--json")
    assert problems(kcoord("check", *own, "-o", "ssl.certificate.location=nowhere.pem")) == [
        ("tls", "nowhere.pem: there is no such file; give a PEM file that this process may read")
    ]
    [(about, text)] = problems(kcoord("check", *own, "-o", "group.connect.assignors=unifrm"))
    assert (about, "unifrm" in text) == ("assignors", True)


def test_names_and_folders_that_cannot_be_used(kafka: KafkaCluster, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    found = check(tmp_path, kafka.bootstrap, "--groups", "none", "--json", "--advertise", "nowhere.invalid:9092")
    (records, second), (advertised, first) = problems(found)
    assert (advertised, records) == ("advertise", "records")
    assert first.startswith("clients are sent to nowhere.invalid:9092, and nowhere.invalid has no address: ")
    assert second.endswith("set data.dir")


def test_tls_where_plaintext_was_expected_and_the_other_way(
    start_kafka: Callable[..., KafkaCluster], kafka: KafkaCluster, tmp_path: Path
) -> None:
    secured = start_kafka(security=Security.SSL)
    assert secured.certificates is not None
    told = problems(check(tmp_path, secured.bootstrap, "--groups", ".*", "--json"))
    assert told == [
        (
            "upstream",
            f"{secured.bootstrap} speaks TLS, and upstream.security.protocol is PLAINTEXT: set it to SSL, or to "
            "SASL_SSL if clients log in there",
        )
    ]
    by_tls = (
        "-o",
        "upstream.security.protocol=SSL",
        "-o",
        f"upstream.ssl.ca.location={secured.certificates.authority}",
    )
    told = problems(check(tmp_path, kafka.bootstrap, "--groups", ".*", "--json", *by_tls))
    assert told == [
        (
            "upstream",
            f"{kafka.bootstrap} speaks no TLS, and upstream.security.protocol is SSL: set it to PLAINTEXT, or to "
            "SASL_PLAINTEXT if clients log in there",
        )
    ]
    assert check(tmp_path, secured.bootstrap, "--groups", ".*", *by_tls).code == 0


def test_a_login(start_kafka: Callable[..., KafkaCluster], kafka: KafkaCluster, tmp_path: Path) -> None:
    secured = start_kafka(security=Security.SASL_PLAINTEXT)
    [(_, text)] = problems(check(tmp_path, secured.bootstrap, "--groups", ".*", "--json"))
    assert " wants a login (" in text
    assert text.endswith("and upstream.security.protocol is PLAINTEXT: set it to SASL_PLAINTEXT")
    properties = tmp_path / "client.properties"
    properties.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={Mechanism.PLAIN.value}\n"
        f"sasl.username={ADMIN}\nsasl.password={password_of(ADMIN)}\n"
    )
    known = ("-o", "upstream.security.protocol=SASL_PLAINTEXT", "--command-config", properties)
    without = check(tmp_path, secured.bootstrap, "--groups", ".*", *known[:2])
    assert without.code == 0
    assert (
        "clients log in with their own credentials: give the properties of one client in --command-config"
        in without.out
    )
    assert check(tmp_path, secured.bootstrap, "--groups", ".*", *known).code == 0
    properties.write_text(properties.read_text().replace(password_of(ADMIN), "wrong"))
    [(_, text)] = problems(check(tmp_path, secured.bootstrap, "--groups", ".*", "--json", *known))
    assert text.startswith(f"{secured.bootstrap}: authentication of {ADMIN} by PLAIN failed: ")
    [(_, text)] = problems(check(tmp_path, kafka.bootstrap, "--groups", ".*", "--json", *known[2:]))
    assert text == f"--command-config has a login, but {kafka.bootstrap} accepts none: leave out --command-config"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--upstream", "here"), "'here' is no HOST:PORT"),
        (("-o", "gateway.port=1"), "gateway.port"),
        (("--command-config", "nowhere"), "--command-config nowhere: cannot be read"),
    ],
)
def test_what_cannot_be_meant(arguments: tuple[str, ...], says: str) -> None:
    found = kcoord("check", *arguments)
    assert (found.code, found.out) == (2, "")
    assert says in found.err
    assert found.err.count("\n") == 1
