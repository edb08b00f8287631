"""Is a broker's release named rightly? Compared with what kafka-python knows of each release."""

from __future__ import annotations

import pytest
from kafka.protocol.broker_version_data import BROKER_API_VERSIONS

from kcoord.client.kafka_release import BY_LEVEL, METADATA_VERSION, release_of

FIRST = (2, 3)
"""The first release before which kcoord can stand."""
TOLD_AS = {"3.3": "3.3 or 3.4", "3.4": "3.3 or 3.4", "4.3": "4.3 or later"}
"""Releases that their APIs alone do not tell from the next one."""


def name_of(release: tuple[int, ...]) -> str:
    return f"{release[0]}.{release[1]}"


@pytest.mark.parametrize("release", sorted(each for each in BROKER_API_VERSIONS if each >= FIRST), ids=name_of)
def test_a_release_by_its_apis(release: tuple[int, ...]) -> None:
    name = name_of(release)
    assert release_of(BROKER_API_VERSIONS[release], {}) == TOLD_AS.get(name, name)


@pytest.mark.parametrize("release", sorted(each for each in BROKER_API_VERSIONS if each < FIRST), ids=name_of)
def test_a_release_that_is_too_old(release: tuple[int, ...]) -> None:
    assert release_of(BROKER_API_VERSIONS[release], {}) == "older than 2.3"


def test_every_release_has_levels_of_its_own() -> None:
    names = [name_of(each) for each in sorted(BROKER_API_VERSIONS) if each >= (3, 0)]
    assert [release for release, _ in BY_LEVEL] == names
    assert [level for _, level in BY_LEVEL] == sorted({level for _, level in BY_LEVEL})


@pytest.mark.parametrize(
    ("could_run", "is_on", "release"),
    [
        (21, 21, "3.9"),
        (21, 20, "3.9 with metadata.version 3.8"),
        (22, 0, "4.0"),  # nothing is on: a broker that is not told of the cluster yet
        (30, 30, "4.3"),
        (31, 30, "later than 4.3 with metadata.version 4.3"),
        (99, 99, "later than 4.3"),
    ],
)
def test_the_levels_of_features_tell_more_than_the_apis(could_run: int, is_on: int, release: str) -> None:
    assert release_of(BROKER_API_VERSIONS[4, 3], {METADATA_VERSION: (could_run, is_on)}) == release
