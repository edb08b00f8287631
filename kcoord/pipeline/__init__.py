"""The pipeline: tables of what a fleet did, made from the log by PySpark (`pip install '.[spark]'`).

In a program or a notebook, with a session of Spark's (docs/pipeline.md):

    from kcoord import pipeline

    found = pipeline.tables(spark, {"bootstrap.servers": "kafka-1:9092"})
    found["rebalances"].orderBy("stopped", ascending=False).show()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def register(spark: Any) -> None:
    """Make the log a source of this session: `spark.read.format("kcoord")` gives its decoded records, and so does
    `spark.readStream` (docs/pipeline.md has the options and the columns).

    Executors of a cluster get kcoord from here. Raises PipelineError: they lack what they must have themselves.
    """
    from kcoord.pipeline.spark.frames import register as give

    give(spark)


def tables(spark: Any, source: Mapping[str, str]) -> dict[str, Any]:
    """All tables of a log as DataFrames, by their names, without files (docs/pipeline.md lists them). `source` has the
    options of the source `kcoord`: `{"bootstrap.servers": …}`, or `{"path": …}` for a log in a file.

    Rows are made when they are asked for. Raises PipelineError: the options are wrong, there is no such log, or the
    executors lack what they must have themselves.
    """
    from kcoord.pipeline.spark.frames import frames

    return frames(spark, source)
