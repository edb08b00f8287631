"""The release of Apache Kafka that a broker's API versions and features belong to.

No broker tells its release. From 3.3 on, the levels of the feature `metadata.version` show it. Before that, and if a
broker does not tell its features, its APIs show it: each release except 3.4 brought a new version of one. A broker that
is not Apache Kafka gets the release that it behaves like. A release newer than the ones in these tables is
"later than 4.3", or by its APIs alone "4.3 or later".
"""

from collections.abc import Mapping

from kcoord.protocol.messages import (
    FetchRequest,
    FindCoordinatorRequest,
    JoinGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    ProduceRequest,
)

METADATA_VERSION = "metadata.version"
DESCRIBE_LOG_DIRS, ADD_PARTITIONS_TO_TXN = 35, 24

BY_API = (
    ("2.3", JoinGroupRequest.API_KEY, 5),
    ("2.4", JoinGroupRequest.API_KEY, 6),
    ("2.5", JoinGroupRequest.API_KEY, 7),
    ("2.6", ListGroupsRequest.API_KEY, 4),
    ("2.7", FetchRequest.API_KEY, 12),
    ("2.8", ProduceRequest.API_KEY, 9),
    ("3.0", FindCoordinatorRequest.API_KEY, 4),
    ("3.1", FetchRequest.API_KEY, 13),
    ("3.2", JoinGroupRequest.API_KEY, 9),
    ("3.3 or 3.4", DESCRIBE_LOG_DIRS, 4),
    ("3.5", FetchRequest.API_KEY, 15),
    ("3.6", ADD_PARTITIONS_TO_TXN, 4),
    ("3.7", ProduceRequest.API_KEY, 10),
    ("3.8", ListGroupsRequest.API_KEY, 5),
    ("3.9", FetchRequest.API_KEY, 17),
    ("4.0", ProduceRequest.API_KEY, 12),
    ("4.1", ProduceRequest.API_KEY, 13),
    ("4.2", OffsetCommitRequest.API_KEY, 10),
    ("4.3 or later", DESCRIBE_LOG_DIRS, 5),
)
"""A release, an API, and the version of this API that came with the release."""
OLDEST = BY_API[0][0]

BY_LEVEL = (
    ("3.0", 1),
    ("3.1", 2),
    ("3.2", 3),
    ("3.3", 7),
    ("3.4", 8),
    ("3.5", 11),
    ("3.6", 14),
    ("3.7", 19),
    ("3.8", 20),
    ("3.9", 21),
    ("4.0", 25),
    ("4.1", 27),
    ("4.2", 29),
    ("4.3", 30),
)
"""A release, and its highest level of `metadata.version`."""
NEWEST = BY_LEVEL[-1][0]


def release_of(versions: Mapping[int, tuple[int, int]], features: Mapping[str, tuple[int, int]]) -> str:
    """The release, for example "3.9", from the versions of a broker's APIs and the levels of its features."""
    could_run, is_on = features.get(METADATA_VERSION, (0, 0))
    release = _by_level(could_run) if could_run else _by_api(versions)
    if is_on and _by_level(is_on) != release:
        return f"{release} with {METADATA_VERSION} {_by_level(is_on)}"
    return release


def _by_level(level: int) -> str:
    return next((release for release, highest in BY_LEVEL if level <= highest), f"later than {NEWEST}")


def _by_api(versions: Mapping[int, tuple[int, int]]) -> str:
    there = [release for release, api_key, version in BY_API if versions.get(api_key, (0, -1))[1] >= version]
    return there[-1] if there else f"older than {OLDEST}"
