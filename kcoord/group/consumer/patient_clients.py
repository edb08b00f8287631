"""Clients that wait for the answer to a heartbeat for longer than one interval (KG-10).

librdkafka gives a heartbeat up one interval after it has sent it, and closes the connection. The clients that are named
here wait for as long as for any other answer. They say who they are with ApiVersions (KIP-511).
"""

from __future__ import annotations

_SOFTWARE = frozenset({"apache-kafka-java", "kgo", "kcoord"})


def is_patient(software_name: str) -> bool:
    """Whether that client is known to wait for longer than one interval."""
    return software_name in _SOFTWARE
