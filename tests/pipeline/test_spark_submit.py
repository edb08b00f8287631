"""Does the command work where Spark's own has started it?"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kcoord.pipeline.spark.history import Outcome
from tests.pipeline.files import copy_to_file
from tests.pipeline.log_of_all_kinds import all_kinds, check_tables, raw_of
from tests.pipeline.spark import QUICK
from tests.pipeline.standalone_cluster import bare_python, spark_cluster
from tests.pipeline.story import PARTITIONS, tables
from tests.repository import ROOT

DEADLINE_S = 600


def submitted(folder: Path, *options: str) -> None:
    """`kcoord pipeline history` makes the tables of a log of all kinds."""
    log = all_kinds()
    copy_to_file(raw_of(log), folder / "log", PARTITIONS)
    command = [str(Path(sysconfig.get_path("scripts"), "spark-submit")), *options, str(ROOT / "kcoord" / "__main__.py")]
    arguments = ["pipeline", "history", "--out", str(folder / "tables"), "--data-dir", str(folder / "log")]
    paths = {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(
        [*command, *arguments],
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    findings = sum(len(tables(each, PARTITIONS, partition).get("audit", [])) for partition, each in log.items())
    check_tables(folder / "tables", log, Outcome(sum(map(len, log.values())), 0, findings))


@pytest.mark.proof
def test_on_this_machine(tmp_path: Path) -> None:
    submitted(tmp_path, "--master", "local[1]")


@pytest.mark.proof
def test_on_a_cluster(tmp_path: Path) -> None:
    with spark_cluster(tmp_path / "cluster", bare_python(tmp_path / "python")) as cluster:
        settings = QUICK | cluster.settings | {"spark.pyspark.driver.python": sys.executable}
        conf = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        submitted(tmp_path, "--master", cluster.master, *conf)
