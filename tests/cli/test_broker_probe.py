"""Is what answers at an address taken for what it is? Real brokers, and servers that are none."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from kcoord.client import Connection, Security
from kcoord.client.broker_probe import Expectation, Probed, probe
from kcoord.client.kafka_release import METADATA_VERSION
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import decode_request_header
from kcoord.protocol.generated.api_versions_response import ApiVersion, FinalizedFeatureKey, SupportedFeatureKey
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    JoinGroupRequest,
    MetadataRequest,
)
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Security as Listener

SETTING = "upstream.security.protocol"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def serving(serve: Serve) -> AsyncIterator[int]:
    """A server on a port of its own."""

    served: set[asyncio.Task[None]] = set()

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        with contextlib.suppress(OSError):
            writer.close()
            await writer.wait_closed()

    async with await asyncio.start_server(once, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
    await asyncio.gather(*served)


async def look(port: int, protocol: str = "PLAINTEXT", tls: ssl.SSLContext | None = None) -> Probed:
    return await probe(("127.0.0.1", port), tls, Expectation(SETTING, protocol))


# -- brokers -----------------------------------------------------------------------------------------------------------


async def test_a_broker(kafka: KafkaCluster) -> None:
    assert await look(kafka.ports[1]) == Probed(release="4.3", has_consumer_groups=True)


async def test_what_a_listener_speaks(start_kafka: Callable[..., KafkaCluster], kafka: KafkaCluster) -> None:
    """TLS, a login, or neither, against what is set."""
    by_tls, by_login = start_kafka(security=Listener.SSL), start_kafka(security=Listener.SASL_PLAINTEXT)
    assert by_tls.certificates is not None
    trusts = ssl.create_default_context(cafile=by_tls.certificates.authority)
    found = {
        (name, protocol): (await look(cluster.ports[1], protocol, trusts if "SSL" in protocol else None)).problem
        for name, cluster in (("plain", kafka), ("tls", by_tls), ("login", by_login))
        for protocol in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    }
    told = {at: text.partition(" ")[2] for at, text in found.items()}
    is_set, unless = f"and {SETTING} is", "if clients log in there"
    logins = "wants a login (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)"
    assert told == {
        ("plain", "PLAINTEXT"): "",
        ("plain", "SSL"): f"speaks no TLS, {is_set} SSL: set it to PLAINTEXT, or to SASL_PLAINTEXT {unless}",
        ("plain", "SASL_PLAINTEXT"): f"takes no logins, {is_set} SASL_PLAINTEXT: set it to PLAINTEXT",
        ("plain", "SASL_SSL"): f"speaks no TLS, {is_set} SASL_SSL: set it to SASL_PLAINTEXT",
        ("tls", "PLAINTEXT"): f"speaks TLS, {is_set} PLAINTEXT: set it to SSL, or to SASL_SSL {unless}",
        ("tls", "SSL"): "",
        ("tls", "SASL_PLAINTEXT"): f"speaks TLS, {is_set} SASL_PLAINTEXT: set it to SASL_SSL",
        ("tls", "SASL_SSL"): f"takes no logins, {is_set} SASL_SSL: set it to SSL",
        ("login", "PLAINTEXT"): f"{logins}, {is_set} PLAINTEXT: set it to SASL_PLAINTEXT",
        ("login", "SSL"): f"speaks no TLS, {is_set} SSL: set it to PLAINTEXT, or to SASL_PLAINTEXT {unless}",
        ("login", "SASL_PLAINTEXT"): "",
        ("login", "SASL_SSL"): f"speaks no TLS, {is_set} SASL_SSL: set it to SASL_PLAINTEXT",
    }  # fmt: skip


async def test_a_certificate_that_nobody_here_trusts(start_kafka: Callable[..., KafkaCluster]) -> None:
    by_tls = start_kafka(security=Listener.SSL)
    found = await look(by_tls.ports[1], "SSL", ssl.create_default_context())
    assert "certificate verify failed" in found.problem
    assert found.problem.endswith(
        "Name it as its certificate does, and its authority's PEM file in upstream.ssl.ca.location"
    )


# -- what cannot be run here: brokers before 3.9 do not know the version of ApiVersions that is tried first ------------


def old_broker(knows: int, *apis: ApiVersion) -> Serve:
    """A broker whose newest ApiVersions is version `knows`, which answers newer ones as KIP-511 has it."""
    told = [ApiVersion(ApiVersionsRequest.API_KEY, 0, knows), *apis]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            frame = await reader.readexactly(struct.unpack(">i", await reader.readexactly(4))[0])
            header, _ = decode_request_header(frame)
            if header.api_version > knows:
                answer, version = ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, told[:1] if knows else []), 0
            else:
                features = [SupportedFeatureKey(METADATA_VERSION, 1, 19)] if knows >= 3 else []
                levels = [FinalizedFeatureKey(METADATA_VERSION, 19, 19)] if knows >= 3 else []
                answer = ApiVersionsResponse(
                    api_keys=told, supported_features=features, finalized_features_epoch=1, finalized_features=levels
                )
                version = header.api_version
            body = struct.pack(">i", header.correlation_id) + answer.encode(version)
            writer.write(struct.pack(">i", len(body)) + body)

    return serve


@pytest.mark.parametrize(
    ("knows", "features"),
    [(3, {METADATA_VERSION: (19, 19)}), (2, {}), (0, {})],
    ids=["3.7", "2.3", "a broker that tells nothing of itself when it refuses"],
)
async def test_an_old_broker_is_asked_again(knows: int, features: dict[str, tuple[int, int]]) -> None:
    async with serving(old_broker(knows, ApiVersion(JoinGroupRequest.API_KEY, 0, 5))) as port:
        connection = await Connection.open("127.0.0.1", port, Security())
        assert connection.highest(JoinGroupRequest.API_KEY) == 5
        assert connection.features == features
        await connection.close()


async def test_a_broker_that_is_too_old() -> None:
    apis = (ApiVersion(0, 0, 7), ApiVersion(MetadataRequest.API_KEY, 0, 7), ApiVersion(JoinGroupRequest.API_KEY, 0, 4))
    async with serving(old_broker(2, *apis)) as port:
        assert "is too old for kcoord to take groups there: Apache Kafka 2.3 is the first" in (await look(port)).problem


async def test_a_listener_for_controllers() -> None:
    async with serving(old_broker(4, ApiVersion(FetchRequest.API_KEY, 0, 17))) as port:
        assert "is no broker: is that a listener for controllers?" in (await look(port)).problem


OWN_GROUPS = ("group.connect.enable", "group.consumer.enable")
"""The settings of groups that have APIs of kcoord's own."""


def test_a_kcoord_without_a_cluster(tmp_path: Path) -> None:
    """It has topics, but no data. If it has APIs of kcoord's own, it is taken for what it is anyway."""
    says = {
        "false": "keeps no data, as a kcoord that runs alone",
        "true": "is a kcoord: name the brokers of the cluster",
    }
    for enabled, told in says.items():
        folder = tmp_path / enabled
        folder.mkdir()
        process = Kcoord(folder, settings=dict.fromkeys(OWN_GROUPS, enabled)).start()
        try:
            assert told in asyncio.run(look(process.port)).problem
        finally:
            process.remove()


# -- no brokers --------------------------------------------------------------------------------------------------------


async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)


@pytest.mark.parametrize(
    ("serve", "says"),
    [(http, "what it sends is not Kafka's protocol"), (hang_up, "it closed the connection")],
)
async def test_something_else(serve: Serve, says: str) -> None:
    async with serving(serve) as port:
        problem = f"127.0.0.1:{port} does not answer as a Kafka broker: {says}. Name brokers of a Kafka cluster"
        assert await look(port) == Probed(problem)
        by_tls = await look(port, "SSL", ssl.create_default_context())
        assert by_tls.problem.startswith(f"127.0.0.1:{port} cannot be reached by TLS: ")
        assert by_tls.problem.endswith("Name brokers of a Kafka cluster, and a port of theirs that speaks TLS")


async def test_nobody() -> None:
    assert await look(1) == Probed("127.0.0.1:1 cannot be reached: Connection refused", is_reached=False)
