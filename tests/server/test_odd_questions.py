"""Decodable requests that nobody sends in earnest: each is answered in its own version, or closes its connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    JoinGroupRequest,
    MetadataRequest,
    MetadataResponse,
)
from tests.server.harness import Client, standalone


@pytest.mark.parametrize("version", [4, 5, 6])
async def test_who_asks_for_no_coordinator_is_told_none(tmp_path: Path, version: int) -> None:
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        response = await client.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[]), version)
        assert isinstance(response, FindCoordinatorResponse)
        assert response.coordinators == []


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (10, ErrorCode.INVALID_REQUEST),
        (11, ErrorCode.INVALID_REQUEST),
        (12, ErrorCode.UNKNOWN_TOPIC_ID),
        (13, ErrorCode.UNKNOWN_TOPIC_ID),
    ],
)
async def test_a_topic_without_a_name_is_not_known(tmp_path: Path, version: int, error: ErrorCode) -> None:
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        response = await client.ask(MetadataRequest([MetadataRequestTopic(b"\1" * 16, None)]), version)
        assert isinstance(response, MetadataResponse)
        assert [topic.error_code for topic in response.topics] == [error]


@pytest.mark.parametrize("version", [5, 9])
async def test_a_text_that_could_not_be_sent_back_closes_its_connection(tmp_path: Path, version: int) -> None:
    """What is not UTF-8 is read with U+FFFD, of three bytes for each wrong one: the member id would be too long."""
    protocols = [JoinGroupRequestProtocol("range", b"m")]
    request = JoinGroupRequest("g", 10_000, 30_000, "m" * 20_000, None, "consumer", protocols)
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        _, frame = client.frame(request, version)
        client.writer.write(frame.replace(b"m" * 20_000, b"\xff" * 20_000))
        assert await client.read_frame() == b""
        async with await Client.connect(running.port) as other:
            await other.ask(request, version)
