"""kcoord: a group coordinator for the wire protocol of Apache Kafka."""

__version__ = "0.1.0"
