"""Are a stream's tables those of the whole log after each batch, in both formats, and is only what is new followed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.history.entry import Entry
from kcoord.pipeline.schemas import DERIVED, FOLLOWED, OUTAGES, QUARANTINE, RECORDS, TABLES, Table
from kcoord.pipeline.spark import history
from kcoord.pipeline.spark.delta_tables import DeltaTables
from kcoord.pipeline.spark.frames import followed
from kcoord.pipeline.spark.hadoop_files import HadoopFiles
from kcoord.pipeline.spark.history import follow_new
from kcoord.pipeline.spark.spark_tables import SparkTables
from kcoord.pipeline.spark.store import FORMATS, Store
from kcoord.pipeline.spark.table_rows import Rows
from kcoord.protocol.records import encode_record
from tests.pipeline.log_of_all_kinds import all_kinds, as_told
from tests.pipeline.story import PARTITIONS, tables

PIECES = 3
Log = dict[int, list[Entry]]


@attrs.frozen
class Somewhere:
    """A source of which only the number of partitions is asked."""

    partitions: int = PARTITIONS

    def batch(self, spark: Any, scratch: str) -> Any:
        raise AssertionError("nobody reads it")

    def reader(self, spark: Any) -> None:
        return None

    def outages(self) -> list[Any]:
        return []


def pieces(log: Log) -> Iterator[Log]:
    """The log up to its first cut, up to its second, and so on; the cuts are in the middle of steps, too."""
    for number in range(1, PIECES + 1):
        yield {partition: each[: len(each) * number // PIECES] for partition, each in log.items()}


def rows_of(spark: Any, log: Log, before: Log) -> Any:
    """The records of a log that it had not before, as rows of `records` as far as anything asks for them."""
    made = []
    for partition, entries in log.items():
        for entry in entries[len(before.get(partition, [])) :]:
            key, value = encode_record(entry.record)
            made.append((partition, entry.offset, entry.at_ms / 1000, key, value))
    raw = spark.createDataFrame(made, "partition int, offset bigint, at double, key binary, value binary")
    known = {"partition", "offset", "at", "key", "value"}
    columns = [
        ("CAST(at AS timestamp) AS at" if each.name == "at" else each.name)
        if each.name in known
        else f"CAST(NULL AS {each.kind.value}) AS {each.name}"
        for each in RECORDS.columns
    ]
    return raw.selectExpr(*columns)


def check(store: Store, log: Log) -> None:
    """The derived tables are what the functions say of this log, by which neither Spark nor a stream has come."""
    expected = [tables(each, PARTITIONS, partition) for partition, each in log.items()]
    for table in DERIVED:
        rows = [as_told(table, row) for each in expected for row in each.get(table.name, [])]
        there = [as_told(table, _plain(row.asDict())) for row in store.read(table).collect()]
        assert sorted(there, key=repr) == sorted(rows, key=repr), table.name


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(each.timestamp() * 1000) if hasattr(each, "timestamp") else each for name, each in row.items()}


@pytest.fixture(params=["parquet", pytest.param("delta", marks=pytest.mark.proof)])
def store(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Store:
    return Store(spark, str(tmp_path / "tables"), format=request.param)


@pytest.mark.parametrize(
    ("form", "few"),
    [
        pytest.param("parquet", 100_000, id="parquet"),
        pytest.param("parquet", 0, id="many rows", marks=pytest.mark.proof),
        pytest.param("delta", 100_000, id="delta", marks=pytest.mark.proof),
    ],
)
def test_after_each_batch_the_tables_are_those_of_the_whole_log(
    form: str, few: int, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few new records are written by Python, many by Spark."""
    monkeypatch.setattr(history, "FEW_RECORDS", few)
    store = Store(spark, str(tmp_path / "tables"), format=form)
    before: Log = {}
    for number, log in enumerate(pieces(all_kinds())):
        store.add_raw(number, rows_of(store.spark, log, before), lambda: None)
        follow_new(store, Somewhere())
        check(store, log)
        before = log
    assert store.read(RECORDS).count() == sum(map(len, before.values()))
    assert store.read(QUARANTINE).count() == 0


def test_only_what_is_new_is_followed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(records: Any, *rest: Any, **more: Any) -> Any:
        read.append(records.count())
        return followed(records, *rest, **more)

    monkeypatch.setattr(history, "followed", counted)
    first, second, last = pieces(all_kinds())
    sizes = [sum(map(len, each.values())) for each in (first, second, last)]
    store.add_raw(0, rows_of(store.spark, first, {}), lambda: None)
    follow_new(store, Somewhere())
    follow_new(store, Somewhere())
    store.add_raw(1, rows_of(store.spark, second, first), lambda: None)
    store.add_raw(2, rows_of(store.spark, last, second), lambda: None)
    follow_new(store, Somewhere())
    assert read == [sizes[0], sizes[2] - sizes[0]]
    follow_new(store, Somewhere(PARTITIONS * 2))
    assert read[2:] == [sizes[2]], "the log has more partitions: whether a group belongs to its own is asked once more"


@pytest.mark.proof
def test_a_batch_that_comes_twice_is_there_once(store: Store) -> None:
    first, second, _ = pieces(all_kinds())
    for number, log, before in ((0, first, {}), (1, second, first), (1, second, first)):
        store.add_raw(number, rows_of(store.spark, log, before), lambda: None)
        follow_new(store, Somewhere())
    check(store, second)
    assert store.read(RECORDS).count() == sum(map(len, second.values()))


@attrs.frozen
class DiesAt:
    """A table format that ends when it would write a table."""

    form: Any
    table: Table

    def renew(self, table: Table, *rest: Any) -> None:
        if table is self.table:
            raise KeyboardInterrupt
        self.form.renew(table, *rest)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.form, name)


@pytest.mark.parametrize(
    "table", [DERIVED[2], pytest.param(FOLLOWED, marks=pytest.mark.proof)], ids=lambda each: each.name
)
def test_killed_between_two_tables(store: Store, table: Table) -> None:
    """Some tables have the new rows and some have not, and then comes more."""
    first, second, last = pieces(all_kinds())
    store.add_raw(0, rows_of(store.spark, first, {}), lambda: None)
    follow_new(store, Somewhere())
    store.add_raw(1, rows_of(store.spark, second, first), lambda: None)
    dying = Store(store.spark, store.place, format=store.format)
    object.__setattr__(dying, "form", DiesAt(store.form, table))
    with pytest.raises(KeyboardInterrupt):
        follow_new(dying, Somewhere())
    store.tidy()
    store.add_raw(2, rows_of(store.spark, last, second), lambda: None)
    follow_new(store, Somewhere())
    check(store, last)


def test_killed_between_two_renames(spark: Any, tmp_path: Path) -> None:
    store = Store(spark, str(tmp_path / "tables"))
    log = all_kinds()
    store.add_raw(0, rows_of(spark, log, {}), lambda: None)
    follow_new(store, Somewhere())
    (tmp_path / "tables" / "_old").mkdir(exist_ok=True)
    (tmp_path / "tables" / "gaps").rename(tmp_path / "tables" / "_old" / "gaps")
    store.tidy()
    check(store, log)


@pytest.mark.proof
def test_another_version_makes_the_tables_from_the_beginning(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, _ = pieces(all_kinds())
    store.add_raw(0, rows_of(store.spark, first, {}), lambda: None)
    monkeypatch.setattr(history, "version_of_code", lambda: "another")
    follow_new(store, Somewhere())
    monkeypatch.undo()
    store.replace(FOLLOWED, store.spark.createDataFrame([(0, b"of another version")], FOLLOWED.ddl))
    store.add_raw(1, rows_of(store.spark, second, first), lambda: None)
    follow_new(store, Somewhere())
    check(store, second)


@pytest.mark.proof
@pytest.mark.parametrize("few", [100_000, 0])
def test_many_small_files_become_few(few: int, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "FEW_RECORDS", few)
    monkeypatch.setattr("kcoord.pipeline.spark.parquet_tables.MOST_FILES", 1)
    store, before = Store(spark, str(tmp_path / "tables")), Log()
    for number, log in enumerate(pieces(all_kinds())):
        store.add_raw(number, rows_of(spark, log, before), lambda: None)
        follow_new(store, Somewhere())
        before = log
    check(store, before)
    assert len([*(tmp_path / "tables" / "epochs").glob("part-*.parquet")]) <= 2


QUICK_TABLE = Table("offsets", "", QUARANTINE.columns[:2])


def test_a_table_of_delta_changes_in_one_commit(spark: Any, tmp_path: Path) -> None:
    """Open rows of the partitions that are named go, settled ones and those of others stay."""
    files = HadoopFiles(spark, str(tmp_path))
    tables = DeltaTables(files)

    def rows(*made: tuple[int, int]) -> Any:
        return spark.createDataFrame(list(made), QUICK_TABLE.ddl)

    tables.replace_followed(QUICK_TABLE, Rows(rows((1, 1), (2, 1)), rows((1, 5), (2, 5))), "0-v")
    tables.renew(QUICK_TABLE, Rows(rows((1, 5), (1, 6)), rows((1, 9))), [1], "1-v")
    assert tables.mark(QUICK_TABLE) == "1-v"
    there = spark.read.format("delta").load(files.at(QUICK_TABLE.name))
    assert there.columns == ["partition", "offset", "open"]
    assert sorted(tuple(row) for row in there.collect()) == [
        (1, 1, False), (1, 5, False), (1, 6, False), (1, 9, True), (2, 1, False), (2, 5, True)
    ]  # fmt: skip
    commits = [each.name for each in (tmp_path / QUICK_TABLE.name / "_delta_log").glob("*.json")]
    assert len(commits) == 2


@pytest.mark.proof
def test_the_other_format_is_said(spark: Any, tmp_path: Path) -> None:
    made = {name: Store(spark, str(tmp_path / name), format=name) for name in FORMATS}
    for store in made.values():
        store.add_raw(0, None, lambda: None)
        follow_new(store, Somewhere())
    for name, other in (("parquet", "delta"), ("delta", "parquet")):
        with pytest.raises(PipelineError, match=f"are in the format {name}: say --format {name}, or name another"):
            Store(spark, str(tmp_path / name), format=other).check(stream=False)


@pytest.mark.proof
def test_what_spark_reads_is_what_a_directory_gives(spark: Any, tmp_path: Path) -> None:
    from kcoord.pipeline.readable_tables import TableFolders

    store = Store(spark, str(tmp_path))
    store.add_raw(0, rows_of(spark, all_kinds(), {}), lambda: None)
    follow_new(store, Somewhere())
    far, near = SparkTables(store), TableFolders(tmp_path)
    only: Mapping[str, list[Any]] = {"sessions": [("partition", "in", [0, 1]), ("speaks", "=", "connect")]}
    for table in (each for each in TABLES if far.has(each)):
        where = only.get(table.name, [])
        rows = [_told(each.read(table, table.names, where)) for each in (far, near)]
        assert rows[0] == rows[1], table.name
    assert {far.has(OUTAGES), near.has(OUTAGES)} == {False}
    with pytest.raises(PipelineError, match=r"there is no table .*/outages: make the tables with"):
        far.read(OUTAGES, ["partition"])


def _told(table: Any) -> list[str]:
    return sorted(repr(sorted(_plain(row).items())) for row in table.to_pylist())
