"""kcoord: a group coordinator for the wire protocol of Apache Kafka."""

__version__ = "0.2.0.dev0"
"""The version. With `.dev0` at the end it is the next release; CHANGELOG.md names the commit of each release."""
