"""Config sources: what a config offset counts, the changes of a file or the records of Connect's configuration topic.

The two cannot be compared. The offset of a file is the time of its last change in ns, far above what any topic reaches:
beside workers of Kafka Connect it would win for ever, and Java's workers, told of it, would read on in their topic for
an offset that never comes. Where nobody says the source (release 0.1.0), the number tells which it is.
"""

from enum import IntEnum

FILE_OFFSETS_FROM = 10**15
"""An offset from here on is a time in ns: 1970-01-12. At a million records a second a topic gets there in 31 years."""


class ConfigSource(IntEnum):
    """What ConfigOffset counts, as ConnectGroupHeartbeat and the group's records say it."""

    UNSAID = 0
    FILE = 1
    """Changes of a file or a directory of files."""
    TOPIC = 2
    """Records of Connect's configuration topic."""


def is_of_file(source: int, offset: int) -> bool:
    """Whether the offset counts changes of a file."""
    return source == ConfigSource.FILE or (source == ConfigSource.UNSAID and offset >= FILE_OFFSETS_FROM)
