"""What all clients together make kcoord hold is bounded, and so is what one does not read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.messages import ApiVersionsRequest, DescribeConfigsRequest
from tests.gateway.scripted import connect
from tests.hostile.conftest import PLACES, Place
from tests.hostile.frames import head
from tests.kafka.kcoord_process import Kcoord

JOIN_GROUP = 11
MIB = 1 << 20
GROUP = 32


@pytest.mark.parametrize("place", PLACES)
async def test_unfinished_requests_are_bounded_in_sum(place: Place, start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord(place, queued_max_request_bytes=8 * MIB)
    hostile = [await connect(kcoord.bootstrap) for _ in range(6)]
    announced = head(JOIN_GROUP, 5)
    for each in hostile:
        each.writer.write((90 * MIB).to_bytes(4, "big") + announced + bytes(2 * MIB))
    assert await hostile[0].read_frame() == b"", "the oldest is closed"
    await asyncio.to_thread(kcoord.wait_for_line, "(queued.max.request.bytes)")
    await (await connect(kcoord.bootstrap)).ask(ApiVersionsRequest(), 0)


async def test_a_client_that_does_not_read_is_cut_off(start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord("alone", connections_max_idle_ms=1000)
    hostile = await connect(kcoord.bootstrap)
    hostile.writer.transport.pause_reading()  # type: ignore[attr-defined]
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=GROUP, resource_name=f"g{at}", configuration_keys=None)
            for at in range(2000)
        ],
        include_synonyms=True,
        include_documentation=True,
    )
    hostile.writer.write(hostile.frame(request, 4)[1] * 4)
    await asyncio.to_thread(kcoord.wait_for_line, "bytes of answers")
    await (await connect(kcoord.bootstrap)).ask(ApiVersionsRequest(), 0)
