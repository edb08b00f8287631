"""kcoord: a group coordinator for the wire protocol of Apache Kafka."""

__version__ = "0.2.0.dev0"
"""The release to come while `.dev0` is behind it; CHANGELOG.md names the commit of each release."""
