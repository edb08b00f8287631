"""What does `kcoord serve` say at its start when what is behind it is not the cluster that was meant?

It goes on trying, and serves as soon as that is put right; only itself it does not stand in front of.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.run_cli import kcoord
from tests.faults.proxy import KafkaProxy
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port
from tests.kafka.security import Security

GOES_ON = "No client is served meanwhile; kcoord goes on trying"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Kcoord]]:
    """Starts kcoord before whatever is at an address."""
    started: list[Kcoord] = []

    def start(upstream: str, **settings: object) -> Kcoord:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        started.append(Kcoord(tmp_path / f"front-{len(started)}", upstream, (".*",), named))
        return started[-1].start(wait=False)

    yield start
    for each in started:
        each.remove()


@pytest.fixture
def no_kafka() -> Iterator[int]:
    """A server of another protocol."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def lines_of(kcoord: Kcoord) -> list[str]:
    """What is said of the cluster."""
    return [line for line in kcoord.log.read_text().splitlines() if " kcoord.gateway: upstream 127" in line]


def test_something_that_is_no_kafka(start: Callable[..., Kcoord], no_kafka: int) -> None:
    front = start(f"127.0.0.1:{no_kafka}")
    front.wait_for_line(
        f"ERROR   kcoord.gateway: upstream 127.0.0.1:{no_kafka} does not answer as a Kafka broker: what it sends is "
        f"not Kafka's protocol. Name brokers of a Kafka cluster. {GOES_ON}\n"
    )
    assert len(lines_of(front)) == 1
    assert "Traceback" not in front.log.read_text()


def test_tls_and_plaintext(
    start: Callable[..., Kcoord], start_kafka: Callable[..., KafkaCluster], kafka: KafkaCluster
) -> None:
    by_tls = start_kafka(security=Security.SSL)
    start(by_tls.bootstrap).wait_for_line(
        f"upstream {by_tls.bootstrap} speaks TLS, and upstream.security.protocol is PLAINTEXT: set it to SSL, or to "
        f"SASL_SSL if clients log in there. {GOES_ON}\n"
    )
    start(kafka.bootstrap, upstream_security_protocol="SSL").wait_for_line(
        f"upstream {kafka.bootstrap} speaks no TLS, and upstream.security.protocol is SSL: set it to PLAINTEXT, or to "
        f"SASL_PLAINTEXT if clients log in there. {GOES_ON}\n"
    )


def test_another_kcoord(start: Callable[..., Kcoord], kafka: KafkaCluster) -> None:
    first = start(kafka.bootstrap)
    first.wait_until_it_answers()
    first.wait_for_line("INFO    kcoord.gateway: upstream answers, and speaks as Apache Kafka 4.3 does\n")
    assert lines_of(first) == []
    start(first.bootstrap).wait_for_line(
        f"upstream {first.bootstrap} is a kcoord: name the brokers of the cluster behind it. {GOES_ON}\n"
    )


async def test_a_cluster_that_comes_later(start: Callable[..., Kcoord], kafka: KafkaCluster) -> None:
    """Nothing is to be restarted then."""
    async with KafkaProxy.opened(kafka.ports) as proxy:
        proxy.cut()
        front = start(proxy.bootstrap)
        await asyncio.to_thread(front.wait_for_line, f"Name brokers of a Kafka cluster. {GOES_ON}\n")
        proxy.mend()
        await asyncio.to_thread(front.wait_for_line, "upstream answers, and speaks as Apache Kafka 4.3 does\n")
        await asyncio.to_thread(front.wait_until_it_answers)


def test_nobody_is_there(start: Callable[..., Kcoord]) -> None:
    start("127.0.0.1:1").wait_for_line(
        f"WARNING kcoord.gateway: upstream 127.0.0.1:1 cannot be reached: Connection refused. {GOES_ON}\n"
    )


def test_one_of_several_is_wrong(start: Callable[..., Kcoord], kafka: KafkaCluster, no_kafka: int) -> None:
    """Clients are served by the others."""
    front = start(f"127.0.0.1:{no_kafka},{kafka.bootstrap}")
    front.wait_for_line("upstream answers, and speaks as Apache Kafka 4.3 does\n")
    [line] = lines_of(front)
    assert line.endswith(
        "does not answer as a Kafka broker: what it sends is not Kafka's protocol. Name brokers of a Kafka cluster"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_itself(tmp_path: Path, host: str) -> None:
    port = free_port()
    options = ("--listen", f"127.0.0.1:{port}", "--data-dir", tmp_path, "--groups", ".*")
    outcome = kcoord("serve", *options, "--upstream", f"{host}:{port}")
    assert (outcome.code, outcome.err) == (
        1,
        f"kcoord: upstream {host}:{port} is where kcoord itself listens: name the cluster's brokers in --upstream, or "
        "let kcoord listen at another port (--listen)\n",
    )
