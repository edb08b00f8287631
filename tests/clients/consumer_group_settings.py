"""With which settings does a kcoord in front of a cluster serve consumer groups in these tests? Quickly."""

from __future__ import annotations

from typing import Any

SETTINGS: dict[str, Any] = {
    "group_consumer_enable": "true",
    "group_consumer_session_timeout_ms": 10_000,
    "group_consumer_min_session_timeout_ms": 10_000,
    "group_consumer_heartbeat_interval_ms": 1_500,
    "group_consumer_min_heartbeat_interval_ms": 1_500,
    "gateway_topics_interval_ms": 500,
}
