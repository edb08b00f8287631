"""Is a batch of records read as each of them alone? Keys that come again are read once, and only values that are told
of become objects; what stands in the columns must not show it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kcoord.pipeline.history.derive import derive
from kcoord.pipeline.history.entry import NAMES, Entry, epoch_of, group_of, member_of
from kcoord.pipeline.schemas import DERIVED, QUARANTINE, Kind
from kcoord.pipeline.schemas import RECORDS as RECORDS_TABLE
from kcoord.pipeline.spark.arrow import decoded, deriver, readable, unreadable
from kcoord.protocol.generated.connect_worker_group_connectors_tasks_metadata_value import (
    ConnectorsTasks,
    ConnectorTaskId,
)
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.records import (
    ConnectWorkerGroupConnectorsTasksMetadataKey,
    ConnectWorkerGroupConnectorsTasksMetadataValue,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    Record,
    decode_record,
    encode_record,
    is_of_newer_kcoord,
)
from tests.light import fewer
from tests.protocol.fuzz import mutated
from tests.protocol.test_records import RECORDS

Raw = tuple[bytes | None, bytes | None]
AT = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = {column.name for table in DERIVED for column in table.columns if column.kind is Kind.TIME}
TOLD = ("type", "name", "group_id", "member_id", "epoch", "reason", "newer")


@st.composite
def _raws(draw: st.DrawFn) -> list[Raw]:
    """Records of all types, some of them more than once, with keys of others, and spoilt."""
    rng = draw(st.randoms(use_true_random=False))
    rows: list[Raw] = [encode_record(each) for each in draw(st.lists(RECORDS, min_size=1, max_size=6))]
    rows += [(rng.choice(rows)[0], rng.choice(rows)[1]) for _ in range(draw(st.integers(0, 6)))]
    rows += [_spoilt(rng, *rng.choice(rows)) for _ in range(draw(st.integers(0, 6)))]
    rng.shuffle(rows)
    return rows


def _spoilt(rng: random.Random, key: bytes | None, value: bytes | None) -> Raw:
    what = rng.randrange(4)
    if what == 0:
        return None, value
    if what == 1 or value is None:
        return mutated(rng, key or b""), value
    return key, mutated(rng, value)


def _batch(rows: Sequence[Raw], first: int = 0) -> Any:
    arrays = [
        pa.array([3] * len(rows), pa.int32()),
        pa.array(range(first, first + len(rows)), pa.int64()),
        pa.array([AT + timedelta(milliseconds=first + n) for n in range(len(rows))], pa.timestamp("us", tz="UTC")),
        pa.array([key for key, _ in rows], pa.binary()),
        pa.array([value for _, value in rows], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=["partition", "offset", "at", "key", "value"])


def _alone(key: bytes | None, value: bytes | None) -> tuple[object, ...]:
    try:
        record = decode_record(key or b"", value)
    except DecodeError as error:
        return None, None, None, None, None, str(error), is_of_newer_kcoord(key or b"", value)
    number = record.key.API_KEY
    return number, NAMES[number], group_of(record), member_of(record), epoch_of(record), None, None


@settings(max_examples=fewer(60, 15))
@given(_raws())
def test_a_batch_is_read_as_each_record_alone(rows: list[Raw]) -> None:
    (out,) = decoded([_batch(rows)])
    found = [tuple(row[name] for name in TOLD) for row in out.to_pylist()]
    assert found == [_alone(*row) for row in rows]
    assert out.column("tombstone").to_pylist() == [value is None for _, value in rows]
    for name in ("partition", "offset", "at", "key", "value"):
        assert out.column(name) == _batch(rows).column(name)


class _Count:
    value = 0

    def add(self, term: int) -> None:
        self.value += term


@settings(max_examples=fewer(60, 15))
@given(_raws())
def test_each_row_is_in_records_or_in_quarantine(rows: list[Raw]) -> None:
    batch, refused = _batch(rows), _Count()
    (whole,), (good,), (bad,) = decoded([batch]), readable(refused)([batch]), unreadable([batch])
    assert good.schema.names == [each.name for each in RECORDS_TABLE.columns]
    assert bad.schema.names == [each.name for each in QUARANTINE.columns]
    expected = whole.to_pylist()
    assert good.to_pylist() == [_only(good, row) for row in expected if row["reason"] is None]
    assert bad.to_pylist() == [_only(bad, row) for row in expected if row["reason"] is not None]
    assert refused.value == len(bad)


def _only(batch: Any, row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in batch.schema.names}


HIGHEST_TASK = encode_record(
    Record(
        ConnectWorkerGroupConnectorsTasksMetadataKey(group_id=""),
        ConnectWorkerGroupConnectorsTasksMetadataValue(
            connectors_tasks=[ConnectorsTasks(tasks=[ConnectorTaskId(connector_id="", task_id=2**31 - 1)])]
        ),
    )
)
"""A task whose number is the highest that there is: one more is no int of a table."""


@settings(max_examples=fewer(60, 15))
@example([HIGHEST_TASK], 1)
@given(_raws(), st.integers(1, 20))
def test_derived_tables_are_those_of_whole_records(rows: list[Raw], at_once: int) -> None:
    """What is not decoded a second time is nothing that a table is made of, in whatever pieces the rows come."""
    good = [(key, value) for key, value in rows if key is not None and _alone(key, value)[-1] is None]
    records = [decode_record(key, value) for key, value in good]
    start = int(AT.timestamp() * 1000)
    told = derive(3, [Entry(3, n, start + n, each) for n, each in enumerate(records)], 50)
    expected: dict[str, list[dict[str, Any]]] = {each.name: [] for each in DERIVED}
    for name, row in told:
        none = {column: None for column in TIMES & row.keys() if _is_none(row[column])}
        expected[name].append(row | none)
    pieces = [_batch(good[n : n + at_once], n) for n in range(0, len(good), at_once)]
    found: dict[str, list[dict[str, Any]]] = {each.name: [] for each in DERIVED}
    for batch in deriver(50)(pieces):
        for row in batch.to_pylist():
            found[row["table"]].append({name: _plain(value) for name, value in row[row["table"]].items()})
    assert found == expected


def _is_none(at_ms: int | None) -> bool:
    """Whether it is no time: a record may claim what no calendar has."""
    return at_ms is None or at_ms > 253_402_300_799_999


def _plain(value: Any) -> Any:
    """A time as the functions without Arrow have it."""
    return round(value.timestamp() * 1000) if isinstance(value, datetime) else value


def test_a_time_that_no_calendar_has_is_none() -> None:
    value = ConnectWorkerGroupMetadataValue(1, "worker joined", reason_timestamp=2**63 - 1)
    row = encode_record(Record(ConnectWorkerGroupMetadataKey("g"), value))
    (epochs, *_) = (
        batch.to_pylist() for batch in deriver(50)([_batch([row])]) if batch["table"][0].as_py() == "epochs"
    )
    assert [each["epochs"]["began"] for each in epochs] == [None]


@pytest.mark.parametrize("rows", [[], [(b"\0\3\0\1g", None)]])
def test_a_batch_of_nothing_or_of_one(rows: list[Raw]) -> None:
    (out,) = decoded([_batch(rows)])
    assert len(out) == len(rows)
