"""What does Apache Kafka's own Java code make of our bytes, and which facts does it hold?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from kcoord.protocol.message_base import Message, Request, Response
from tests.kafka.java import Java

SOURCE = Path(__file__).with_name("KafkaSide.java")
DEADLINE_S = 300


def facts(java: Java) -> list[list[str]]:
    """Lines of ``error <code> <name> <retriable>``, ``api <key> <name>``, ``headers <key> <version> <request>
    <response>``.
    """
    return [line.split() for line in _run(java, "facts").splitlines()]


def reencoded(java: Java, frames: Iterable[tuple[type[Message], int, bytes]]) -> list[str]:
    """What Kafka's classes write for the values that they read from these bytes, as hex."""
    lines = "".join(f"{kafka_class(cls)} {version} {data.hex()}\n" for cls, version, data in frames)
    return _run(java, "reencode", lines).splitlines()


def kafka_class(cls: type[Message]) -> str:
    """The name of Kafka's generated class."""
    if issubclass(cls, (Request, Response)):
        return f"org.apache.kafka.common.message.{cls.NAME}Data"
    return f"org.apache.kafka.coordinator.group.generated.{cls.NAME}"


def _run(java: Java, mode: str, stdin: str = "") -> str:
    line = [java.command, "-cp", java.classpath, str(SOURCE), mode]
    done = subprocess.run(line, input=stdin, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
