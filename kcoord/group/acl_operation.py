"""The operations on a group that a client can be allowed: the rights that the APIs need."""

from __future__ import annotations

from enum import IntEnum


class AclOperation(IntEnum):
    """The operations on a group that can be allowed, with the numbers of Kafka's AclOperation."""

    READ = 3
    DELETE = 6
    DESCRIBE = 8
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
