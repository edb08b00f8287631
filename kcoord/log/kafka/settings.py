"""What is the log in Kafka told?"""

from __future__ import annotations

import attrs

from kcoord.log.kafka.security import KafkaSecurity

DEFAULT_TOPIC = "__worker_offsets"


@attrs.frozen(kw_only=True)
class KafkaLogSettings:
    """Where the log is, how it is made if it is not there, and how long things may take. Times are in ms."""

    bootstrap: str
    """host:port of brokers, separated by commas."""
    topic: str = attrs.field(default=DEFAULT_TOPIC, validator=attrs.validators.min_len(1))
    partitions: int = attrs.field(default=50, validator=attrs.validators.ge(1))
    replication_factor: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )
    """None: three, or as many as there are brokers where there are fewer. For a topic that is made."""
    history_retention_ms: int = attrs.field(default=86_400_000, validator=attrs.validators.ge(0))
    """How long replaced records are kept at least, for a topic that is made (`min.compaction.lag.ms`)."""
    lease_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(1))
    """How long after the begin of a commit that succeeded answers may be given without another."""
    security: KafkaSecurity = attrs.Factory(KafkaSecurity)
    client_id: str = "kcoord-log"
    request_timeout_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(100))
    """How long a broker may take for an answer before its connection counts as dead."""
    append_timeout_ms: int = attrs.field(default=10_000, validator=attrs.validators.ge(100))
    """How long a commit is tried, through connections that break and leaders that move, before it has failed."""
    load_timeout_ms: int = attrs.field(default=30_000, validator=attrs.validators.ge(100))
    """How long a load goes without any progress before it has failed."""
