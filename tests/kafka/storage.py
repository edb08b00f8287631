"""The storage of a new broker: what `kafka-storage.sh format` makes, which takes a JVM of its own each time.

The tool runs once. Its `bootstrap.checkpoint`, the features that a cluster begins with, is the same for every cluster
of one Kafka and is kept beside the jars; `meta.properties`, who the broker is, is written here.
"""

from __future__ import annotations

import base64
import os
import uuid
from pathlib import Path

from tests.kafka.java import Java

CHECKPOINT = "bootstrap.checkpoint"


def format_storage(java: Java, config: Path, data: Path, cluster_id: str, node_id: int) -> None:
    """Make `data`, the directory that `config` names, that of a new broker."""
    kept = java.libs.parent / CHECKPOINT
    if not kept.exists():
        java.tool("kafka.tools.StorageTool", "format", "-c", str(config), f"--cluster-id={cluster_id}")
        beside = kept.with_name(f"{CHECKPOINT}-{os.getpid()}")
        beside.write_bytes((data / CHECKPOINT).read_bytes())
        beside.replace(kept)
        return
    data.mkdir()
    (data / CHECKPOINT).write_bytes(kept.read_bytes())
    told = {"version": 1, "cluster.id": cluster_id, "node.id": node_id, "directory.id": _unique_id()}
    (data / "meta.properties").write_text("".join(f"{name}={value}\n" for name, value in told.items()))


def _unique_id() -> str:
    """As Kafka writes an id; it gives out none that begins with a dash."""
    made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return _unique_id() if made.startswith("-") else made
