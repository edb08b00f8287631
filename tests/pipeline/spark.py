"""How do tests run Spark? One session for all of them, small and quick to start; what it wrote is read without it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

from kcoord.pipeline.schemas import TABLES, Table
from kcoord.pipeline.spark.delta_tables import DELTA_CONNECTOR
from kcoord.pipeline.spark.session import KAFKA_CONNECTOR

MASTER = "local[1]"
QUICK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Less compiling for less work."""


def bring_connectors() -> None:
    """Let Maven fetch what Spark needs for Kafka and Delta, unless it is there: Spark takes it from Maven's cache."""
    for connector in (KAFKA_CONNECTOR, DELTA_CONNECTOR):
        group, artifact, version = connector.split(":")
        kept = Path.home() / ".m2/repository" / group.replace(".", "/") / artifact / version
        maven = shutil.which("mvn")
        if maven is not None and not list(kept.glob("*.jar")):
            command = [maven, "-B", "-q", "dependency:get", f"-Dartifact={connector}", "-Dtransitive=true"]
            subprocess.run(command, check=False)  # Spark tries for itself, and says why it cannot


def read(place: Path, table: Table) -> list[dict[str, Any]]:
    """All rows, sorted; a time is a datetime."""
    rows: list[dict[str, Any]] = parquet.read_table(place / table.name).to_pylist()
    return sorted(rows, key=repr)


def read_all(place: Path) -> dict[str, list[dict[str, Any]]]:
    """All tables."""
    return {table.name: read(place, table) for table in TABLES}
