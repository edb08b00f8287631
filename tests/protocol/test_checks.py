"""Do the check functions of record values say what the decoders say? The same errors for the same bytes, and the epoch
that the value has. Values that can be read are accepted without a decoder.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from kcoord.protocol.generated.connect_worker_group_configuration_value import (
    Configuration,
    ConnectWorkerGroupConfigurationValue,
)
from kcoord.protocol.generated.group_metadata_value import GroupMetadataValue
from kcoord.protocol.message_base import Message, RecordValue
from kcoord.protocol.primitives import MAX_STRING, DecodeError
from kcoord.protocol.records import EPOCH_FIELDS, empty_lists, list_splitter, value_check, value_decoder
from tests.light import fewer
from tests.protocol.catalogue import RECORDS, named, random_message, versions_of
from tests.protocol.fuzz import mutated

VALUES: list[type[Message]] = [each for each in RECORDS if issubclass(each, RecordValue)]
CASES = named(versions_of(*VALUES))


def _written(cls: type[Message], version: int, count: int) -> Iterator[bytes]:
    """Valid values with the version that they begin with."""
    rng = random.Random(f"{cls.NAME}/{version}")
    for _ in range(count):
        yield version.to_bytes(2, "big") + random_message(rng, cls, version).encode(version)


def _epoch_or_error(read: Callable[[bytes], int | None], data: bytes) -> int | str | None:
    try:
        return read(data)
    except DecodeError as error:
        return f"{type(error).__name__}: {error}"


def _of_decoder(number: int) -> Callable[[bytes], int | None]:
    decode, name = value_decoder(number), EPOCH_FIELDS.get(number)

    def read(data: bytes) -> int | None:
        value = decode(data)
        return None if name is None else getattr(value, name)

    return read


def _assert_the_same(cls: type[Message], data: bytes) -> None:
    checked, read = value_check(cls.API_KEY), _of_decoder(cls.API_KEY)
    assert _epoch_or_error(checked, data) == _epoch_or_error(read, data), data.hex()


@pytest.mark.parametrize(("cls", "version"), CASES)
def test_a_value_is_accepted_by_the_check_alone(cls: type[RecordValue], version: int) -> None:
    read = _of_decoder(cls.API_KEY)
    for data in _written(cls, version, fewer(200, 60)):
        assert cls._CHECKS[version](data, 2) == read(data), data.hex()


@pytest.mark.parametrize(("cls", "version"), CASES)
def test_values_that_are_cut_or_too_long_are_refused_alike(cls: type[Message], version: int) -> None:
    for data in _written(cls, version, fewer(30, 6)):
        for stop in range(min(len(data), 400)):
            _assert_the_same(cls, data[:stop])
        for stop in range(max(400, len(data) - 20), len(data)):
            _assert_the_same(cls, data[:stop])
        for more in (b"\0", b"\1", b"\0\0\0\0", b"\x80", b"more"):
            _assert_the_same(cls, data + more)


@pytest.mark.parametrize(("cls", "version"), CASES)
def test_values_that_somebody_has_tampered_with_are_taken_alike(cls: type[Message], version: int) -> None:
    rng = random.Random(f"tampered/{cls.NAME}/{version}")
    for data in _written(cls, version, fewer(1_000, 100)):
        _assert_the_same(cls, data[:2] + mutated(rng, data[2:]))
        _assert_the_same(cls, mutated(rng, data))


@pytest.mark.parametrize("size", [127, 128, MAX_STRING // 3 - 1, MAX_STRING // 3, MAX_STRING // 3 + 1, MAX_STRING])
@pytest.mark.parametrize("letter", [b"\xff", b"\xc3", b"\xf0\x9f", b"x"])
@pytest.mark.parametrize("version", [0, 4])
def test_texts_that_are_not_utf_8_are_taken_alike(size: int, letter: bytes, version: int) -> None:
    """Those that grow too long with U+FFFD are refused."""
    body = (letter * size)[:size]
    data = GroupMetadataValue("x" * size, 7).encode(version).replace(b"x" * size, body)
    _assert_the_same(GroupMetadataValue, version.to_bytes(2, "big") + data)


@pytest.mark.parametrize("spoilt", [None, 0, 5, 11, 12])
def test_rows_of_one_shape_with_another_among_them(spoilt: int | None) -> None:
    rows = [Configuration(f"name-{at:02}", f"value-{at:02}") for at in range(13)]
    if spoilt is not None:
        rows[spoilt].unknown_tagged_fields = ((3_000, b"unknown"),)
    data = b"\0\0" + ConnectWorkerGroupConfigurationValue(configurations=rows).encode(0)
    assert ConnectWorkerGroupConfigurationValue._CHECKS[0](data, 2) is None
    for at in range(2, len(data)):
        for byte in (0, 1, 0x7F, 0x80, 0xFF, (data[at] + 1) % 256):
            _assert_the_same(ConnectWorkerGroupConfigurationValue, data[:at] + bytes([byte]) + data[at + 1 :])


LISTS = {
    7: ["connectors_tasks"],
    9: ["connectors_tasks"],
    24: ["topic_partitions"],
    25: ["assigned_partitions", "partitions_pending_revocation"],
}
"""The lists that are read apart from the value, by record number."""


@pytest.mark.parametrize(("cls", "version"), [case for case in versions_of(*VALUES) if case[0].API_KEY in LISTS])
def test_the_lists_of_a_value_are_found(cls: type[Message], version: int) -> None:
    split, decode, none = list_splitter(cls.API_KEY), value_decoder(cls.API_KEY), empty_lists(cls.API_KEY)
    places = set()
    for data in _written(cls, version, fewer(200, 60)):
        parts = split(data)
        assert parts is not None
        assert parts.version == data[:2]
        places.add(parts.at)
        stop = parts.at + len(parts.lists)
        assert data[parts.at : stop] == parts.lists
        empty: dict[str, Any] = {name: [] for name in LISTS[cls.API_KEY]}
        assert decode(data[: parts.at] + none + data[stop:]) == attrs.evolve(decode(data), **empty)
    assert len(places) == 1


def test_what_cannot_be_taken_apart_is_left_to_the_decoder() -> None:
    split = list_splitter(7)
    assert split(b"\0\1") is None
    assert split(b"") is None


def test_the_epochs_of_values() -> None:
    assert EPOCH_FIELDS == {
        2: "generation",
        3: "epoch",
        4: "epoch",
        6: "assignment_epoch",
        7: "member_epoch",
        20: "epoch",
        23: "assignment_epoch",
        25: "member_epoch",
    }
