"""TLS on the listener: clients that trust the certificate are served, others are turned away, a bad file is named."""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path

import pytest

from kcoord.protocol.messages import MetadataRequest, MetadataResponse
from kcoord.server.startup.tls import TlsError, listener_context
from tests.kafka.security import Certificates
from tests.server.harness import Client, standalone


async def test_a_client_that_trusts_the_certificate_is_served(tmp_path: Path) -> None:
    certificates = Certificates.make(tmp_path / "tls")
    context = listener_context(certificates.server, None, None)
    async with standalone(tmp_path / "data", tls=context) as kcoord:
        trust = ssl.create_default_context(cafile=certificates.authority)
        async with Client(*await asyncio.open_connection("127.0.0.1", kcoord.port, ssl=trust)) as client:
            answer = await client.ask(MetadataRequest(topics=[]), 9)
            assert isinstance(answer, MetadataResponse)
            assert answer.brokers[0].port == kcoord.port


async def test_plaintext_on_a_tls_port_ends_that_connection_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificates = Certificates.make(tmp_path / "tls")
    context = listener_context(certificates.server, None, None)
    async with standalone(tmp_path / "data", tls=context) as kcoord:
        async with await Client.connect(kcoord.port) as plain:
            plain.writer.write(plain.frame(MetadataRequest(topics=[]), 9)[1])
            await plain.reader.read()  # a TLS alert, and the end
        trust = ssl.create_default_context(cafile=certificates.authority)
        async with Client(*await asyncio.open_connection("127.0.0.1", kcoord.port, ssl=trust)) as client:
            await client.ask(MetadataRequest(topics=[]), 9)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_client_without_a_certificate_is_turned_away_where_one_is_required(tmp_path: Path) -> None:
    certificates = Certificates.make(tmp_path / "tls")
    context = listener_context(certificates.server, None, None, certificates.authority)
    async with standalone(tmp_path / "data", tls=context) as kcoord:
        trust = ssl.create_default_context(cafile=certificates.authority)
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            reader, _ = await asyncio.open_connection("127.0.0.1", kcoord.port, ssl=trust)
            await reader.readexactly(1)  # TLS 1.3 tells of the refusal with the first bytes
        trust.load_cert_chain(certificates.server)
        async with Client(*await asyncio.open_connection("127.0.0.1", kcoord.port, ssl=trust)) as client:
            await client.ask(MetadataRequest(topics=[]), 9)


@pytest.mark.parametrize(
    ("text", "complaint"), [(None, "there is no such file"), ("no certificate", "no usable certificate and key")]
)
def test_a_file_that_cannot_be_used_is_named(text: str | None, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "server.pem"
    if text is not None:
        file.write_text(text)
    with pytest.raises(TlsError, match=complaint) as refused:
        listener_context(file, None, None)
    assert str(refused.value).startswith(str(file))
