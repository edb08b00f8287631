"""Does the shell tell its shard how long an assignment of a consumer group took? (KG-7)"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest
from kcoord.server.shards import shard_host
from tests.gateway.scripted import ask, close_all, connect
from tests.server.harness import over

TAKES_MS = 30


async def test_what_a_step_took_is_told_if_it_has_made_an_assignment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_host, "cpu_ms", itertools.count(0, TAKES_MS).__next__)
    async with over(EmbeddedLog(tmp_path, partitions=1), topics={"work": 4}) as running:
        client = await connect(running.port)
        join = ConsumerGroupHeartbeatRequest(
            "g", "a", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["work"], topic_partitions=[]
        )
        assert (await ask(client, join)).error_code == 0
        assert running.coordinator._host("g").shard.state.consumer["g"].took_ms == TAKES_MS
        await close_all()
