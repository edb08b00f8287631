"""Does `kcoord pipeline` do what it says, and does it say in a line what is wrong and what to do?"""

from __future__ import annotations

from pathlib import Path

import pytest

from kcoord.log.history import Entry
from kcoord.pipeline.failure import INSTALL
from kcoord.pipeline.schemas import EPOCHS
from kcoord.protocol.records import encode_record
from tests.cli.run_cli import kcoord
from tests.group.connect.world import GROUP
from tests.kafka.cluster import KafkaCluster
from tests.kafka.ports import free_port
from tests.pipeline.files import copy_to_file
from tests.pipeline.spark import MASTER, QUICK, read
from tests.pipeline.story import PARTITIONS, entries, fleet_of_two, home
from tests.repository import ROOT

DEADLINE_S = 600


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An embedded log of a small fleet."""
    directory = tmp_path / "log"
    found = entries(fleet_of_two().written, home(GROUP))
    copy_to_file(
        (Entry(e.partition, e.offset, e.at_ms, *encode_record(e.record)) for e in found), directory, PARTITIONS
    )
    return directory


@pytest.mark.long("starts Spark by itself")
def test_a_log_in_a_file(log: Path, tmp_path: Path) -> None:
    """Also where Hadoop's own files name another file system: a directory is one of this machine."""
    elsewhere = {"spark.hadoop.fs.defaultFS": f"hdfs://127.0.0.1:{free_port()}"}
    quick = [part for name, value in (QUICK | elsewhere).items() for part in ("--conf", f"{name}={value}")]
    out = tmp_path / "tables"
    done = kcoord(
        "pipeline", "history", "--data-dir", log, "--out", out, "--master", MASTER, *quick, deadline_s=DEADLINE_S
    )
    assert done.code == 0, done.err
    written = sum(len(step) for _, step in fleet_of_two().written)
    assert done.out == f"{written} records; audit: nothing found. The tables are in {out}\n"
    assert done.err.splitlines()[:2] == ["starting Spark", "reading and decoding the log"]
    assert [row["epoch"] for row in read(out, EPOCHS)] == [1, 2, 3]


def failed(*arguments: object, code: int = 1, env: dict[str, str] | None = None) -> str:
    outcome = kcoord("pipeline", "history", *arguments, env=env, deadline_s=DEADLINE_S)
    assert (outcome.code, outcome.out) == (code, ""), outcome
    said = [line for line in outcome.err.splitlines() if line != "starting Spark"]
    assert len(said) == 1
    return said[0]


def test_what_is_wrong_is_said(log: Path, tmp_path: Path, kafka: KafkaCluster) -> None:
    out = ["--out", tmp_path / "tables"]
    file = ["--data-dir", log, *out]
    assert "there is no log in " in failed("--data-dir", tmp_path / "none", *out)
    topic = ["--log-bootstrap", kafka.bootstrap, "--topic", "not-there", *out]
    assert "there is no topic not-there at " in failed(*topic)
    nobody = f"127.0.0.1:{free_port()}"
    assert f"(log.bootstrap={nobody}) cannot be used: {nobody}: " in failed("--log-bootstrap", nobody, *out)
    (tmp_path / "file").touch()
    said = failed("--data-dir", log, "--out", tmp_path / "file" / "tables")
    assert said.startswith(f"kcoord: cannot write to {tmp_path}/file/tables: ")
    assert failed(*file, "--stream", code=2).endswith(
        "--stream is for a log in a topic; a log in a file is always read as a whole"
    )
    assert failed(*file, "--every", 5, code=2).endswith("--every needs --stream")
    assert "is not of the form NAME=VALUE" in failed(*file, "--conf", "nothing", code=2)
    no_java = failed(*file, env={"JAVA_HOME": str(tmp_path)})
    assert "Spark needs Java, and there is none in " in no_java
    assert "install Java 17 or later" in no_java


def test_without_pyspark(log: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "pyspark"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('No module named pyspark')\n")
    said = failed("--data-dir", log, "--out", tmp_path / "t", env={"PYTHONPATH": f"{hidden.parent}:{ROOT}"})
    assert "PySpark is not installed here" in said
    assert said.endswith(INSTALL)


def test_a_master_that_is_none(log: Path, tmp_path: Path) -> None:
    said = failed("--data-dir", log, "--out", tmp_path / "t", "--master", "lcal[2]")
    assert said == "kcoord: Spark has no master 'lcal[2]': give local[2], spark://host:7077, yarn or k8s://…"


@pytest.mark.long("starts Spark by itself")
def test_a_master_that_does_not_answer(log: Path, tmp_path: Path) -> None:
    master = f"spark://127.0.0.1:{free_port()}"
    said = failed("--data-dir", log, "--out", tmp_path / "t", "--master", master)
    assert said.startswith(f"kcoord: no Spark master answers at {master} (127.0.0.1:")
    assert said.endswith("): see that it runs and can be reached")
    nonsense = failed("--data-dir", log, "--out", tmp_path / "t", "--master", "spark://there")
    assert nonsense.startswith("kcoord: Spark has no master 'spark://there': give local[2]")
