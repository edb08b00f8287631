"""Does whatever stands in the log stop the pipeline, take memory that it only claims, or get lost? Without Spark: what
it calls on its executors.
"""

from __future__ import annotations

import tracemalloc
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from kcoord.pipeline.spark.arrow import decoded, deriver
from kcoord.protocol.records import encode_record
from tests.pipeline.story import Written, entries, fleet_of_two
from tests.pipeline.test_fleets import played
from tests.pipeline.test_history import current, generation, said_by_w9

Raw = tuple[int, int, bytes | None, bytes | None]
"""Offset, unix ms, key, value."""
CLAIMS = (
    b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\x7f\xff", b"\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"\x80\x00\x00\x00\x00\x00\x00\x00", b"\xff" * 8, b"\x00\x00\x00\x02", b"\xff", b"\x00",
)  # fmt: skip
"""Lengths, counts, times that are more than there can be; and some that are only wrong."""
SEEDS = 60
MOST_BYTES = 4 << 20


def raw(written: Written) -> list[Raw]:
    return [(each.offset, each.at_ms, *encode_record(each.record)) for each in entries(written)]


@pytest.fixture(scope="module")
def logs() -> list[list[Raw]]:
    """Small fleets: of the new protocol, and converted up and down."""
    return [raw(fleet_of_two().written), raw(played(0, 0).written), raw(played(5, 2).written)]


def batch(rows: list[Raw]) -> Any:
    """As Spark hands it on."""
    offsets, times, keys, values = zip(*rows, strict=True)
    columns = {
        "partition": pa.array([0] * len(rows), pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
        "at": pa.array([each * 1000 for each in times], pa.timestamp("us", tz="UTC")),
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def tables_of(rows: list[Raw]) -> tuple[int, int]:
    """How many records are quarantined, and how many rows all other tables have. Nothing is raised."""
    whole = batch(rows)
    [found] = decoded([whole])
    reasons = found.column("reason").to_pylist()
    assert found.column("offset").to_pylist() == [each[0] for each in rows], "each is there once"
    assert found.column("value").to_pylist() == [each[3] for each in rows]
    good = whole.take(pa.array([at for at, reason in enumerate(reasons) if reason is None], pa.int64()))
    return len(rows) - good.num_rows, sum(each.num_rows for each in deriver(1)([good]))


def damaged(data: bytes, drawn: Random) -> bytes:
    """Somewhere in it stands something else, or it ends early."""
    at, claim = drawn.randrange(len(data)), drawn.choice(CLAIMS)
    return drawn.choice(
        (data[:at] + claim + data[at + len(claim) :], data[:at] + claim[:1] + data[at + 1 :], data[:at])
    )


def test_damaged_records_stop_nothing_and_none_is_lost(logs: list[list[Raw]]) -> None:
    quarantined = rows_made = 0
    for seed in range(SEEDS):
        drawn = Random(seed)
        rows = list(drawn.choice(logs))
        for _ in range(drawn.randrange(1, 6)):
            place = drawn.randrange(len(rows))
            offset, at_ms, key, value = rows[place]
            if drawn.random() < 0.25 or value is None:
                rows[place] = (offset, at_ms, damaged(key or b"x", drawn), value)
            else:
                rows[place] = (offset, at_ms, key, damaged(value, drawn))
        bad, made = tables_of(rows)
        quarantined, rows_made = quarantined + bad, rows_made + made
    assert quarantined > SEEDS
    assert rows_made > SEEDS


@pytest.mark.parametrize(
    ("key", "value", "reason", "newer"),
    [
        (None, b"x", "record key of 0 bytes", False),
        (b"\x00\x0b\x00", None, "record key of type 11, known are ", True),
        (b"\x00\x63\x00", None, "record key of type 99, known are ", True),
        (b"\xff\x63\x00", None, "record key of type -157, known are ", False),
        (b"\x00\x03\x00\x01g", b"\x00\x63", "99", True),
        (b"\x00\x02\x7f\xffg", None, "", False),
    ],
)
def test_why_a_record_cannot_be_read(key: bytes | None, value: bytes | None, reason: str, newer: bool) -> None:
    [found] = decoded([batch([(7, 1_000, key, value)])])
    [row] = found.to_pylist()
    assert reason in row["reason"]
    assert row["reason"]
    assert (row["offset"], row["key"], row["value"], row["newer"]) == (7, key, value, newer)


def test_lengths_that_are_only_claimed_take_no_memory() -> None:
    records = [
        encode_record(each) for each in (current("W1", "AC0 AT0", 3), said_by_w9(), generation(1, "Stable", "m"))
    ]
    tracemalloc.start()
    try:
        for key, value in records:
            for claim in CLAIMS:
                assert value is not None
                rows: list[Raw] = [(at, 1_000, key, value[:at] + claim + value[at + 1 :]) for at in range(len(value))]
                whole = batch(rows)
                tracemalloc.reset_peak()
                before, _ = tracemalloc.get_traced_memory()
                list(decoded([whole]))
                _, peak = tracemalloc.get_traced_memory()
                assert peak - before < MOST_BYTES
    finally:
        tracemalloc.stop()
