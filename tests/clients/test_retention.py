"""Are offsets kept while kcoord has members of the group, and then as long as Kafka keeps them? GW-12 to GW-14."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.aging import Aging
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.wait import eventually

LONGER_THAN_RETENTION_S = 300.0


@pytest.fixture
def aging(tmp_path: Path) -> Iterator[Aging]:
    """Offsets that grow old, on a cluster of their own: that takes a minute, in which other processes go on."""
    aging = Aging.begin(tmp_path)
    yield aging
    aging.end()


@pytest.mark.long("starts a Kafka by itself, which forgets after a minute")
def test_offsets_last_as_long_as_there_are_members(aging: Aging) -> None:
    kafka = aging.kafka

    def others_expired() -> bool:
        return not kafka.committed(Aging.ALONE) and not kafka.committed(
            Aging.LEFT
        )  # the second had members until later

    eventually(others_expired, "offsets of groups without members expired", deadline_s=LONGER_THAN_RETENTION_S)
    check_kcoord_owns(kafka, Aging.HELD)
    assert kafka.committed(Aging.HELD) == aging.offsets
    assert kafka.committed(Aging.HELD, bootstrap=aging.front.bootstrap) == aging.offsets
    assert aging.present.assignments == 1
