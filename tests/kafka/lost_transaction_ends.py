"""Transaction ends that a broker has lost, as its log says. A test repeats its story then: kcoord is not at fault."""

from __future__ import annotations

from tests.kafka.cluster import KafkaCluster

LOST_END = "Couldn't find leader endpoint for partitions"
"""What a broker says when it skips the end of a transaction in partitions that are there: a commit or an abort that it
has decided is never written, and who reads only what is committed waits for ever. Kafka 4.3 does so now and then while
it comes up after a kill, where a partition has no other replica.
"""
TRIES = 5
"""A test fails if the broker spoils its story this many times in a row."""


def lost_ends(kafka: KafkaCluster) -> int:
    """How often the brokers have said so."""
    return sum(log.read_text(errors="replace").count(LOST_END) for log in kafka.folder.glob("broker-*/server.log"))
