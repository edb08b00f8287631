"""Record levels: a record is written only as all instances can read it."""

from __future__ import annotations

import pytest

from kcoord.protocol import record_levels, records
from kcoord.protocol.primitives import EncodeError
from kcoord.protocol.record_levels import RECORD_LEVEL, RELEASE_0_1_0, writable_level
from kcoord.protocol.records import (
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    decode_record,
    encode_record,
)

GROUP = Record(GroupMetadataKey("g"), GroupMetadataValue("consumer", 1, "range", "m"))
EPOCH = Record(ConnectWorkerGroupMetadataKey("g"), ConnectWorkerGroupMetadataValue(epoch=1))


@pytest.mark.parametrize(
    ("instances", "level"), [([], RELEASE_0_1_0), ([1], 1), ([2, 1], 1), ([1, 0, 2], 0), ([3, 3], 3)]
)
def test_the_level_that_all_instances_read(instances: list[int], level: int) -> None:
    assert writable_level(instances) == level


def test_what_is_written_today_can_be_read_by_0_1_0() -> None:
    """A record type or a version that 0.1.0 does not know has its level, or this fails."""
    known = {number: value.MAX_VERSION for number, (_, value) in records._KEYS.items()}
    in_0_1_0 = {0: 1, 1: 4, 2: 4} | dict.fromkeys(range(3, 11), 0)
    newer_types = known.keys() - in_0_1_0.keys()
    assert newer_types == {number for number, level in record_levels.TYPE_LEVELS.items() if level > RELEASE_0_1_0}
    newer_versions = {
        (number, version) for number in in_0_1_0 for version in range(in_0_1_0[number] + 1, known[number] + 1)
    }
    assert newer_versions == record_levels.VALUE_LEVELS.keys()
    levels = [*record_levels.TYPE_LEVELS.values(), *record_levels.VALUE_LEVELS.values()]
    assert max(levels, default=RELEASE_0_1_0) <= RECORD_LEVEL


def test_a_type_above_the_level_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(record_levels.TYPE_LEVELS, EPOCH.key.API_KEY, 1)
    assert decode_record(*encode_record(EPOCH, 1)) == EPOCH
    for record in (EPOCH, Record(EPOCH.key, None)):
        with pytest.raises(EncodeError, match="is of record level 1, and there are instances that read level 0"):
            encode_record(record, 0)
    assert decode_record(*encode_record(GROUP, 0)) == GROUP


def test_a_value_is_written_in_the_highest_version_that_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    number = GROUP.key.API_KEY
    monkeypatch.setitem(record_levels.VALUE_LEVELS, (number, 3), 1)
    monkeypatch.setitem(record_levels.VALUE_LEVELS, (number, 4), 2)
    written = [encode_record(GROUP, level)[1] for level in (0, 1, 2, 3)]
    assert [value and value[1] for value in written] == [2, 3, 4, 4]


def test_an_offset_that_expires_has_its_own_version_at_every_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(record_levels.VALUE_LEVELS, (OffsetCommitKey.API_KEY, 4), 1)
    expiring = Record(OffsetCommitKey("g", "t", 0), OffsetCommitValue(7, expire_timestamp=9))
    for level in (0, 1):
        value = encode_record(expiring, level)[1]
        assert value is not None
        assert value[1] == 1
