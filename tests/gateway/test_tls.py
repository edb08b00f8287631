"""Does kcoord speak TLS with upstream, and only with whom it should? GW-8."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import MetadataRequest
from tests.gateway.records import batch, fetch, produce
from tests.gateway.scripted import ScriptedMember, ask, connect, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Certificates, Security


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker whose listener speaks TLS."""
    return start_kafka(security=Security.SSL)


@pytest.fixture(scope="module")
def authority(kafka: KafkaCluster) -> Path:
    assert kafka.certificates is not None
    return kafka.certificates.authority


async def test_groups_and_large_frames_through_tls(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], authority: Path, name: str
) -> None:
    kcoord = start_kcoord(kafka, upstream_security_protocol="SSL", upstream_ssl_ca_location=authority)
    topic = kafka.create_topic(name, config={"max.message.bytes": str(8 << 20)})
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    assert await member.commit(topic, 5) == ErrorCode.NONE
    assert kafka.committed(name) == {(topic, 0): 5}
    client = await connect(kcoord.port + 2)
    records = batch(*[bytes(100_000)] * 30)
    produced = await ask(client, produce(topic, records), 12)
    assert ErrorCode(produced.responses[0].partition_responses[0].error_code) == ErrorCode.NONE
    fetched = await ask(client, fetch(topic, max_wait_ms=1000), 12)
    assert bytes(fetched.responses[0].partitions[0].records)[61:] == records[61:]
    assert "host ACLs" in kcoord.log.read_text()  # what it costs is said at the start


@pytest.mark.parametrize(
    ("trusted", "host", "says"),
    [
        ("another authority", "127.0.0.1", "no TLS with upstream"),
        ("its authority", "127.1", "no TLS with upstream"),  # the same address, by a name that the certificate lacks
    ],
)
async def test_an_upstream_that_is_not_who_it_should_be_gets_nothing(
    kafka: KafkaCluster,
    start_kcoord: Callable[..., Kcoord],
    authority: Path,
    tmp_path: Path,
    trusted: str,
    host: str,
    says: str,
) -> None:
    """A certificate of an unknown authority, or of another host: clients are not served, and the log says why."""
    location = authority if trusted == "its authority" else Certificates.make(tmp_path).authority
    options = {"upstream_security_protocol": "SSL", "upstream_ssl_ca_location": location}
    kcoord = start_kcoord(kafka, upstream=f"{host}:{kafka.ports[1]}", wait=False, **options)

    async def is_refused() -> bool:
        try:
            client = await connect(kcoord.bootstrap)
        except OSError:
            return False
        client.writer.write(client.frame(MetadataRequest(topics=[]), 12)[1])
        return await client.read_frame() == b""

    await until(is_refused, "a client is refused")
    assert says in kcoord.log.read_text()
