"""Are lists that come again read as others are, however many there are?"""

from __future__ import annotations

import random

import pytest

from kcoord.pipeline.history import assignment_lists
from kcoord.pipeline.history.assignment_lists import ListReader, listed
from kcoord.pipeline.history.entry import Entry
from kcoord.protocol import records
from kcoord.protocol.message_base import Message
from kcoord.protocol.records import Record, decode_record
from tests.protocol.catalogue import random_message

KEYS: dict[type[Message], bytes] = {
    records.ConnectWorkerGroupCurrentMemberAssignmentValue: b"\0\7\0\1g\0\1m",
    records.ConnectWorkerGroupTargetAssignmentMemberValue: b"\0\11\0\1g\0\1m",
    records.ConsumerGroupTargetAssignmentMemberValue: b"\0\30\0\1g\0\1m",
    records.ConsumerGroupCurrentMemberAssignmentValue: b"\0\31\0\1g\0\1m",
}


@pytest.mark.parametrize("cls", KEYS, ids=lambda cls: cls.__name__)
def test_lists_are_those_of_the_whole_value(cls: type[Message], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignment_lists, "_KEPT", 40)
    rng, reader = random.Random(1), ListReader.of(cls.API_KEY)
    assert reader is not None
    values = [b"\0\0" + random_message(rng, cls, 0).encode(0) for _ in range(60)]
    for value in [*values, *rng.choices(values, k=200)]:
        record = decode_record(KEYS[cls], value)
        known, lists = reader.read(rng.choice((b"one", b"other")), value)
        assert lists is not None
        assert listed(Entry(0, 0, 0, Record(record.key, known), lists)) == listed(Entry(0, 0, 0, record))


def test_the_same_list_is_the_same_set() -> None:
    cls = records.ConnectWorkerGroupCurrentMemberAssignmentValue
    value = random_message(random.Random(2), cls, 0)
    reader = ListReader.of(cls.API_KEY)
    assert reader is not None
    first, again = (reader.read(key, b"\0\0" + key + value.encode(0)[4:])[1] for key in (b"\0\0\0\1", b"\0\0\0\2"))
    assert first is again


def test_other_values_have_no_lists() -> None:
    assert ListReader.of(3) is None
