"""What does kcoord know of upstream's brokers, and what if that is wrong? GW-1."""

import json
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from kcoord.gateway.settings import GatewaySettings, UpstreamTls
from kcoord.gateway.topology.brokers import BrokerMap
from kcoord.protocol.messages import MetadataRequest
from tests.gateway.scripted import ask, connect
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port, port_block
from tests.kafka.wait import eventually


@pytest.fixture
def started(kafka: KafkaCluster, tmp_path: Path) -> Callable[..., Kcoord]:
    """kcoord with a broker map of the test's own; not waited for."""

    def start(known: object = None, *, text: str | None = None, port: int | None = None) -> Kcoord:
        kcoord = Kcoord(tmp_path, kafka.bootstrap, (".*",))
        if port is not None:
            kcoord.port = port
        kcoord.data.mkdir(parents=True, exist_ok=True)
        kept = json.dumps({"format": 1, "brokers": known}) if text is None else text
        (kcoord.data / "brokers.json").write_text(kept)
        return kcoord.start(wait=False)

    return start


async def test_rule_1_a_broker_that_has_moved_is_found_again(
    kafka: KafkaCluster, started: Callable[..., Kcoord]
) -> None:
    """Nothing answers where it was seen last. Whoever asks for metadata lets kcoord learn where it is."""
    kcoord = started({"1": ["127.0.0.1", free_port()], "7": ["127.0.0.1", free_port()]})
    kcoord.wait_until_it_answers()
    at_its_port = await connect(kcoord.port + 2)
    at_its_port.writer.write(at_its_port.frame(MetadataRequest(topics=[]), 12)[1])
    assert await at_its_port.read_frame() == b""
    metadata = await ask(await connect(kcoord.port), MetadataRequest(topics=[]))
    assert [(each.node_id, each.port) for each in metadata.brokers] == [(1, kcoord.port + 2)]
    again = await ask(await connect(kcoord.port + 2), MetadataRequest(topics=[]))
    assert [each.node_id for each in again.brokers] == [1]
    kept = json.loads((kcoord.data / "brokers.json").read_text())["brokers"]
    assert kept["1"] == ["127.0.0.1", kafka.ports[1]]
    assert "7" in kept  # it may come back, and its port must not become another's
    kcoord.remove()


async def test_rule_1_what_is_learnt_is_kept_where_nothing_else_is_kept(tmp_path: Path) -> None:
    """With the log in a topic nobody else makes the data directory."""
    data = tmp_path / "not" / "there"
    settings = GatewaySettings(bootstrap=(("kafka", 9092),), groups=(".*",), listen_port=9092, data_dir=data)
    await BrokerMap(settings).learn({1: ("kafka-1", 9092)})
    assert BrokerMap(settings).address(1) == ("kafka-1", 9092)


def ended(kcoord: Kcoord) -> str:
    """What kcoord said before it refused to start."""
    eventually(lambda: not kcoord.process.running, "kcoord refuses to start")
    return kcoord.log.read_text()


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": 1}', '{"format": 2, "brokers": {}}', '{"format": 1, "brokers": {"x": []}}']
)
def test_rule_1_a_damaged_map_is_reported_with_what_to_do(started: Callable[..., Kcoord], text: str) -> None:
    kcoord = started(text=text)
    said = ended(kcoord)
    assert "brokers.json cannot be read as a broker map" in said
    assert "delete it, and it is learnt anew" in said
    assert "Traceback" not in said


def test_rule_1_a_known_port_that_is_taken_is_reported(started: Callable[..., Kcoord], kafka: KafkaCluster) -> None:
    first = port_block(3)
    port = first + 2
    with socket.create_server(("127.0.0.1", port)):
        kcoord = started({"1": ["127.0.0.1", kafka.ports[1]]}, port=first)
        said = ended(kcoord)
    assert f"cannot listen on 127.0.0.1:{port}, the port of broker 1" in said
    assert "Traceback" not in said


def settings(**changes: object) -> GatewaySettings:
    given: dict[str, object] = {
        "bootstrap": (("upstream", 9092),), "groups": (".*",), "listen_port": 9092, "data_dir": Path("data"), **changes
    }  # fmt: skip
    return GatewaySettings(**given)  # type: ignore[arg-type]


def test_rule_1_where_brokers_are_reached() -> None:
    plain = settings(broker_ports={70_000: 9999})
    assert [plain.port_of(broker) for broker in (0, 1, 1001, 70_000, 60_000)] == [9093, 9094, 10094, 9999, None]
    assert plain.advertised_of(1, "the.host.that.it.came.by") == ("the.host.that.it.came.by", 9094)
    advertised = settings(advertised=("kafka.example", 19092), port_offset=100)
    assert advertised.advertised_of(1, "10.0.0.1") == ("kafka.example", 19193)
    assert advertised.advertised_of(60_000, "10.0.0.1") is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"groups": ("(",)}, "groups: '(' is no regular expression"),
        ({"tls": UpstreamTls(certificate_file=Path("own.pem"))}, "makes every client act as kcoord there"),
        ({"clients_show_certificates": True}, "clients' certificates cannot be passed on"),
    ],
)
def test_rule_8_what_cannot_be_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        settings(**changes)
