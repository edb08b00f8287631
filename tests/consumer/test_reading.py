"""Positions: what is known, what is in hand, what was processed, and what is left to commit."""

from __future__ import annotations

from typing import Any

from aiokafka import TopicPartition

from kcoord.consumer.reading import Reading

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


class Record:
    """What a position needs of a record."""

    def __init__(self, partition: TopicPartition, offset: int) -> None:
        self.topic, self.partition, self.offset = partition.topic, partition.partition, offset


def reading(**starts: int | None) -> Reading:
    """`a0=5, a1=None`: the partitions that the application has, and where they begin."""
    made = Reading({}, {})
    made.take({TopicPartition(name[0], int(name[1:])): offset for name, offset in starts.items()})
    return made


def fetched(into: Reading, *records: Any) -> None:
    into._records.extend(records)


def test_a_record_is_processed_when_the_application_comes_back() -> None:
    reads = reading(a0=5)
    fetched(reads, Record(A0, 5), Record(A0, 6))
    reads.next()
    assert (reads.to_commit(in_hand=False), reads.to_commit(in_hand=True)) == ({}, {A0: 6})
    reads.note_processed()
    assert reads.to_commit(in_hand=False) == {A0: 6}
    reads.next()
    reads.note_processed()
    assert reads.to_commit(in_hand=False) == {A0: 7}


def test_what_was_committed_is_not_committed_again() -> None:
    reads = reading(a0=5, a1=8)
    fetched(reads, Record(A0, 5))
    reads.next()
    reads.note_processed()
    reads.note_committed({A0: 6})
    assert reads.to_commit(in_hand=False) == {}


def test_where_nothing_was_committed_the_position_is_committed_as_soon_as_it_is_known() -> None:
    reads = reading(a0=None)
    assert reads.to_commit(in_hand=True) == {}
    reads._learn(A0, 7)
    assert reads.to_commit(in_hand=False) == {A0: 7}
    reads._learn(A0, 9)
    assert reads.to_commit(in_hand=False) == {A0: 7}, "it is known already"


def test_offsets_of_the_applications_own_choice_stand_until_more_is_processed() -> None:
    """Also if the position was not known yet when they were committed."""
    for reads in (reading(a0=5), reading(a0=None)):
        reads.note_own([A0])
        reads._learn(A0, 5)
        assert reads.to_commit(in_hand=False) == {}
        fetched(reads, Record(A0, 5))
        reads.next()
        reads.note_processed()
        assert reads.to_commit(in_hand=False) == {A0: 6}


def test_what_is_lost_is_forgotten_also_what_is_in_hand() -> None:
    reads = reading(a0=5, a1=8)
    fetched(reads, Record(A0, 5), Record(A1, 8))
    reads.next()
    reads.next()
    reads.drop([A0])
    reads.note_processed()
    assert reads.to_commit(in_hand=True) == {A1: 9}


def test_a_seek_is_committed_and_what_was_in_hand_is_not() -> None:
    reads = reading(a0=5)
    fetched(reads, Record(A0, 5), Record(A0, 6))
    reads.next()
    reads.seek(A0, 2)
    assert not reads.has_records
    reads.note_processed()
    assert reads.to_commit(in_hand=False) == {A0: 2}
