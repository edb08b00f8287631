"""What is known of a client by the name of its software, which it says with ApiVersions (KIP-511).

librdkafka gives a heartbeat up one interval after it has sent it, and closes the connection. Others wait for as long as
for any other answer (KG-10).
"""

from __future__ import annotations

_PATIENT = frozenset({"apache-kafka-java", "kgo", "kcoord"})


def is_patient(software_name: str) -> bool:
    """Whether that client is known to wait for the answer to a heartbeat for longer than one interval."""
    return software_name in _PATIENT
