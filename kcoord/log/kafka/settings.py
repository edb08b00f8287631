"""The settings of the log in a Kafka topic."""

from __future__ import annotations

import attrs

from kcoord.log.kafka.security import KafkaSecurity

DEFAULT_TOPIC = "__worker_offsets"


@attrs.frozen(kw_only=True)
class KafkaLogSettings:
    """Where the log is, how its topic is made if it does not exist, and timeouts. Times are in ms."""

    bootstrap: str
    """host:port of brokers, separated by commas."""
    topic: str = attrs.field(default=DEFAULT_TOPIC, validator=attrs.validators.min_len(1))
    partitions: int = attrs.field(default=50, validator=attrs.validators.ge(1))
    replication_factor: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )
    """For a new topic. None: three, or the number of brokers if there are fewer."""
    history_retention_ms: int = attrs.field(default=86_400_000, validator=attrs.validators.ge(0))
    """For a new topic: how long replaced records are kept at least (`min.compaction.lag.ms`)."""
    lease_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(1))
    """How long answers may be given after the beginning of a successful commit."""
    security: KafkaSecurity = attrs.Factory(KafkaSecurity)
    client_id: str = "kcoord-log"
    request_timeout_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(100))
    """How long a broker may take to answer before its connection counts as dead."""
    append_timeout_ms: int = attrs.field(default=10_000, validator=attrs.validators.ge(100))
    """How long a commit is tried, across broken connections and changes of leaders, before it fails."""
    load_timeout_ms: int = attrs.field(default=30_000, validator=attrs.validators.ge(100))
    """How long a load goes without progress before it fails."""
