"""Config sources: whether a config offset counts changes of a file or records of Connect's configuration topic.

The two cannot be compared. The offset of a file is the time of its last change in ns, far above the offsets of any
topic. Beside workers of Kafka Connect it would always win, and Java's workers, when told of it, would wait in their
topic for an offset that never comes. If a worker does not say the source (release 0.1.0), the number shows which it is.
"""

from enum import IntEnum

FILE_OFFSETS_FROM = 10**15
"""Offsets from here on are times in ns: 1970-01-12. At a million records a second a topic gets there in 31 years."""


class ConfigSource(IntEnum):
    """What ConfigOffset counts, as in ConnectGroupHeartbeat and in the group's records."""

    UNSAID = 0
    FILE = 1
    """Changes of a file or a directory of files."""
    TOPIC = 2
    """Records of Connect's configuration topic."""


def is_of_file(source: int, offset: int) -> bool:
    """Whether the offset counts changes of a file."""
    return source == ConfigSource.FILE or (source == ConfigSource.UNSAID and offset >= FILE_OFFSETS_FROM)
