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


def test_an_offset_of_its_own_choice_stands_over_what_is_in_hand() -> None:
    """It was committed behind the first of three records that the application was given at once."""
    reads = reading(a0=5)
    fetched(reads, *[Record(A0, offset) for offset in (5, 6, 7)])
    for _ in range(3):
        reads.next()
    reads.note_own([A0])
    reads.note_committed({A0: 6})
    assert reads.to_commit(in_hand=False) == {}
    reads.note_processed()
    assert reads.to_commit(in_hand=False) == {}
    assert reads.to_commit(in_hand=True) == {A0: 8}, "the application may ask for all that it was given"
    fetched(reads, Record(A0, 8))
    reads.next()
    assert reads.to_commit(in_hand=False) == {}
    reads.note_processed()
    assert reads.to_commit(in_hand=False) == {A0: 9}


def test_a_seek_back_to_where_an_own_offset_was_committed_is_committed() -> None:
    reads = reading(a0=5)
    reads.note_own([A0])
    reads.note_committed({A0: 2})
    fetched(reads, Record(A0, 5))
    reads.next()
    reads.note_processed()
    reads.note_committed({A0: 6})
    reads.seek(A0, 5)
    assert reads.to_commit(in_hand=False) == {A0: 5}


def test_an_own_offset_in_a_partition_that_is_not_there_is_not_noted() -> None:
    reads = reading(a0=5)
    reads.note_own([A1])
    reads.take({A1: None})
    reads._learn(A1, 7)
    assert reads.to_commit(in_hand=False) == {A1: 7}


def test_records_that_were_given_and_not_committed_are_lost_until_the_application_polls() -> None:
    reads = reading(a0=5, a1=8)
    fetched(reads, Record(A0, 5), Record(A1, 8))
    reads.next()
    reads.next()
    reads.note_committed({A1: 9})
    reads.lose([A0, A1])
    assert reads.lost == {A0}
    reads.note_processed()
    assert reads.lost == frozenset()


def test_what_comes_after_a_loss_can_be_committed() -> None:
    """Also if all of that happens in one poll."""
    reads = reading(a0=5)
    fetched(reads, Record(A0, 5))
    reads.next()
    reads.note_processed()
    reads.lose([A0])
    assert reads.lost == {A0}
    reads.take({A0: 5})
    assert reads.lost == frozenset()


def test_nothing_is_lost_where_nothing_was_given_or_all_was_let_go_of_in_order() -> None:
    reads = reading(a0=None, a1=8)
    reads._learn(A0, 7)
    reads.lose([A0])
    fetched(reads, Record(A1, 8))
    reads.next()
    reads.drop([A1])
    assert reads.lost == frozenset()


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
