"""Is the log a source of Spark's own? What it gives is compared with the log, and the tables that a program gets
without files with those that are written.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kcoord import pipeline
from kcoord.log.history import Entry
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.schemas import TABLES, WHOLE
from kcoord.pipeline.spark.history import run_batch
from kcoord.pipeline.spark.sources import FileSource
from kcoord.pipeline.spark.store import Store
from kcoord.protocol.records import decode_key
from tests.kafka.cluster import KafkaCluster
from tests.kafka.ports import free_port
from tests.pipeline.files import copy_to_file
from tests.pipeline.log_of_all_kinds import all_kinds, raw_of, without_holes
from tests.pipeline.on_topic import put_raw
from tests.pipeline.story import PARTITIONS, tables
from tests.repository import ROOT

GARBAGE = b"\x00\x63no such type"


@pytest.fixture(scope="module")
def reading(spark: Any) -> Any:
    """The session, which knows the source."""
    pipeline.register(spark)
    return spark


def damaged(entries: Sequence[Entry]) -> list[Entry]:
    """The same, with a record at the end of partition 0 that nobody can read."""
    last = max((each.position for each in entries if each.partition == 0), default=-1)
    return [*entries, Entry(0, last + 1, entries[-1].at_ms, GARBAGE, b"?")]


def as_written(entries: Sequence[Entry]) -> set[tuple[Any, ...]]:
    """What the source must give of them."""
    return {(e.partition, e.position, e.at_ms, e.key, e.value, type_of(e.key), e.value is None) for e in entries}


def type_of(key: bytes) -> int | None:
    return None if key == GARBAGE else decode_key(key).API_KEY


def as_read(rows: Any) -> set[tuple[Any, ...]]:
    """The same of a DataFrame, each row once."""
    found = rows.selectExpr("partition", "offset", "unix_millis(at)", "key", "value", "type", "tombstone").collect()
    values = [tuple(bytes(each) if isinstance(each, bytearray) else each for each in row) for row in found]
    assert len(values) == len(set(values))
    return set(values)


def test_a_log_in_a_file(reading: Any, tmp_path: Path) -> None:
    log = damaged(raw_of(all_kinds()))
    copy_to_file(log, tmp_path / "log", PARTITIONS)
    found = reading.read.format("kcoord").load(str(tmp_path / "log"))
    assert found.columns == WHOLE.names
    assert as_read(found) == as_written(log)
    [wrong] = found.where("reason IS NOT NULL").collect()
    assert (wrong.partition, wrong.group_id, wrong.newer) == (0, None, True)
    assert {row.kind for row in found.selectExpr("coalesce(name, reason) AS kind").distinct().collect()} > {
        "GroupMetadata",
        "ConnectWorkerGroupMetadata",
        "ConsumerGroupMetadata",
    }


def test_a_log_in_a_topic_and_what_comes_into_it(reading: Any, kafka: KafkaCluster, tmp_path: Path) -> None:
    log, topic = damaged(raw_of(without_holes(all_kinds()))), f"log-{uuid.uuid4()}"
    kafka.create_topic(topic, PARTITIONS, {"retention.ms": "-1"})
    where = {"bootstrap.servers": kafka.bootstrap, "topic": topic}
    first = [each for each in log if each.position < 10]
    put_raw(kafka.bootstrap, topic, first)
    assert as_read(reading.read.format("kcoord").options(**where).load()) == as_written(first)

    stream(reading, where, tmp_path)
    put_raw(kafka.bootstrap, topic, [each for each in log if each.position >= 10])
    stream(reading, where, tmp_path)
    assert as_read(reading.read.parquet(str(tmp_path / "rows"))) == as_written(log)


def stream(spark: Any, where: Mapping[str, str], folder: Path) -> None:
    """Add what is new to `folder`/rows."""
    rows = spark.readStream.format("kcoord").options(**where).load().writeStream.format("parquet")
    query = rows.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    query.start(str(folder / "rows")).awaitTermination()


def test_a_program_gets_the_tables_without_files(spark: Any, tmp_path: Path) -> None:
    log = damaged(raw_of(all_kinds()))
    copy_to_file(log, tmp_path / "log", PARTITIONS)
    written = Store(spark, str(tmp_path / "tables"))
    run_batch(written, FileSource.look(tmp_path / "log"))
    found = pipeline.tables(spark, {"path": str(tmp_path / "log")})
    assert set(found) == {each.name for each in TABLES}
    for table in TABLES:
        assert found[table.name].columns == table.names
        there = sorted(map(repr, written.read(table).collect()))
        assert sorted(map(repr, found[table.name].collect())) == there, table.name


def test_what_is_wrong_is_said(reading: Any, kafka: KafkaCluster, tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    wrong = [
        ({"path": str(tmp_path / "none")}, "there is no log in "),
        ({"bootstrap.servers": kafka.bootstrap, "topic": "not-there"}, "there is no topic not-there at "),
        ({"bootstrap.servers": nobody}, rf"\(log.bootstrap={nobody}\) cannot be used"),
        ({"bootstrap.servers": kafka.bootstrap, "log.sasl.usernam": "x"}, r"log\.sasl\.usernam"),
    ]
    for options, said in wrong:
        with pytest.raises(PipelineError, match=said):
            pipeline.tables(reading, options)
    with pytest.raises(Exception, match="there is no log in "):
        reading.read.format("kcoord").load(str(tmp_path / "none")).count()
    with pytest.raises(Exception, match="a stream reads a log in a topic"):
        stream(reading, {"path": str(tmp_path / "none")}, tmp_path)


def test_the_notebook_says_who_costs_most(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its cells run one after the other, as they do for whoever opens it."""
    log = all_kinds()
    copy_to_file(raw_of(log), tmp_path / "log", PARTITIONS)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.delenv("KAFKA", raising=False)
    notebook = json.loads((ROOT / "examples" / "costly_workers.ipynb").read_text())
    seen: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), seen)
    gaps = [row for partition, each in log.items() for row in tables(each, PARTITIONS, partition).get("gaps", [])]
    idle_ms = sum(row["duration_ms"] or 0 for row in gaps if row["from_member"])
    assert idle_ms > 0
    assert sum(row.seconds_nowhere for row in seen["costs"].collect()) == pytest.approx(idle_ms / 1000)
    assert "seconds_nowhere" in capsys.readouterr().out
