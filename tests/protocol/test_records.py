"""Are the records of the log those of ``__consumer_offsets``? (``test_against_kafka`` proves their values with
Kafka's classes.)
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.protocol.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    UnknownRecordError,
    decode_key,
    decode_record,
    encode_record,
    value_decoder,
)
from tests.protocol import catalogue
from tests.protocol.catalogue import values
from tests.protocol.fuzz import mutated

STABLE = GroupMetadataValue(
    "connect",
    3,
    "sessioned",
    "m",
    members=[MemberMetadata("m", None, "c", "/10.0.0.1", 60_000, 10_000, b"s", b"a")],
    state="Stable",
    joined_members=["m"],
    synced_members=["m"],
    reason="worker joined",
    reason_timestamp=1_700_000_000_000,
)

RECORDS = st.one_of(
    st.builds(Record, values(GroupMetadataKey, 0), st.none() | values(GroupMetadataValue, 4)),
    st.builds(
        Record, values(OffsetCommitKey, 0), st.none() | values(OffsetCommitValue, 1) | values(OffsetCommitValue, 4)
    ),
    st.builds(Record, values(LegacyOffsetCommitKey, 0), st.none() | values(LegacyOffsetCommitValue, 0)),
    *(
        st.builds(Record, values(key, 0), st.none() | values(value, 0))
        for key, value in zip(catalogue.RECORDS[6::2], catalogue.RECORDS[7::2], strict=True)
    ),
)


@given(RECORDS)
def test_what_is_written_is_read_again(record: Record) -> None:
    assert decode_record(*encode_record(record)) == record


def _in_parts(key: bytes, value: bytes | None) -> Record:
    read = decode_key(key)
    return Record(read, None if value is None else value_decoder(read.API_KEY)(value))


def _or_error(read: Callable[[bytes, bytes | None], Record], key: bytes, value: bytes | None) -> Record | str:
    try:
        return read(key, value)
    except DecodeError as error:
        return f"{type(error).__name__}: {error}"


@given(RECORDS, st.randoms(use_true_random=False), st.sampled_from(["key", "value", "both", "none"]))
def test_key_and_value_by_themselves_are_read_as_the_record_is(record: Record, rng: random.Random, spoilt: str) -> None:
    key, value = encode_record(record)
    if spoilt in ("key", "both"):
        key = mutated(rng, key)
    if value is not None and spoilt in ("value", "both"):
        value = mutated(rng, value)
    assert _or_error(_in_parts, key, value) == _or_error(decode_record, key, value)


@pytest.mark.parametrize(
    ("record", "key", "value_starts"),
    [
        (Record(GroupMetadataKey("g"), STABLE), "0002 0001 67", "0004"),
        (Record(GroupMetadataKey("g"), None), "0002 0001 67", None),
        (Record(OffsetCommitKey("g", "t", 5), OffsetCommitValue(7)), "0001 0001 67 0001 74 00000005", "0004"),
        (
            Record(OffsetCommitKey("g", "t", 5), OffsetCommitValue(7, expire_timestamp=9)),
            "0001 0001 67 0001 74 00000005",
            "0001",
        ),
        (
            Record(LegacyOffsetCommitKey("g", "t", 5), LegacyOffsetCommitValue(7)),
            "0000 0001 67 0001 74 00000005",
            "0000",
        ),
    ],
)
def test_keys_begin_with_their_type_and_values_with_their_version(
    record: Record, key: str, value_starts: str | None
) -> None:
    written_key, written_value = encode_record(record)
    assert written_key == bytes.fromhex(key)
    assert (written_value and written_value[:2].hex()) == value_starts


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_a_group_that_kafka_ever_wrote_is_read(version: int) -> None:
    value = version.to_bytes(2, "big") + STABLE.encode(version)
    record = decode_record(b"\0\2\0\1g", value)
    assert isinstance(record.value, GroupMetadataValue)
    assert (record.value.generation, record.value.members[0].member_id) == (3, "m")
    assert record.value.state == ("Stable" if version == 4 else "")


def test_a_group_that_kafka_wrote_has_no_fields_of_ours() -> None:
    plain = GroupMetadataValue("consumer", 1, "range", "m")
    assert plain.encode(4)[-2:] == b"\1\0", "no members, no tagged fields"
    assert decode_record(b"\0\2\0\1g", b"\0\4" + plain.encode(4)).value == plain


def test_a_record_of_a_type_that_is_not_known_is_told_from_a_broken_one() -> None:
    with pytest.raises(UnknownRecordError, match=r"^record key of type 11, known are \[0, 1, 2, 3, .*28\]$"):
        decode_record(b"\0\13\0\1g", None)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        (b"", None, "record key of 0 bytes"),
        (b"\0\2\0\1g", b"\0", "record value of 1 bytes"),
        (b"\0\2\0\1g", b"\0\5", "GroupMetadataValue has no version 5"),
        (b"\0\2\0\1", None, "GroupMetadataKey v0: group at byte 4: says 1 bytes, 0 are left"),
        (b"\0\1\0\1g\0\1t\0\0\0\0", b"\0\0" + bytes(9), "OffsetCommitValue v0"),
    ],
)
def test_broken_records(key: bytes, value: bytes | None, says: str) -> None:
    with pytest.raises(DecodeError, match=says) as caught:
        decode_record(key, value)
    assert not isinstance(caught.value, UnknownRecordError)


def test_a_value_must_belong_to_its_key() -> None:
    with pytest.raises(EncodeError, match="GroupMetadataKey goes with GroupMetadataValue, not with OffsetCommitValue"):
        encode_record(Record(GroupMetadataKey("g"), OffsetCommitValue()))
