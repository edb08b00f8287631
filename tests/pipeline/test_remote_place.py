"""Does the pipeline see before Spark starts that nothing answers at a place, and say in a line what is wrong there?"""

from __future__ import annotations

import pytest

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.spark.remote_place import HADOOP_AWS, check_answers, usable


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("hdfs://name-service/tables", {}),
        ("s3a://bucket/tables", {}),
        ("s3a://bucket/tables", {"endpoint": "http://127.0.0.1:1", "proxy.host": "proxy"}),
        ("gs://bucket/tables", {"endpoint": "http://127.0.0.1:1"}),
    ],
)
def test_a_place_whose_server_nobody_names_is_not_looked_at(place: str, settings: dict[str, str]) -> None:
    check_answers(place, {f"spark.hadoop.fs.s3a.{name}": value for name, value in settings.items()})


@pytest.mark.parametrize(
    ("place", "settings", "server"),
    [
        ("hdfs://127.0.0.1:1/tables", {}, "127.0.0.1:1"),
        ("s3a://bucket/tables", {"endpoint": "127.0.0.1:1"}, "127.0.0.1:1"),
        ("s3a://b/tables", {"endpoint": "https://127.0.0.1:2", "bucket.b.endpoint": "127.0.0.1:1"}, "127.0.0.1:1"),
    ],
)
def test_nothing_answers(place: str, settings: dict[str, str], server: str) -> None:
    with pytest.raises(PipelineError, match=f"nothing answers at {server}, where {place} should be: "):
        check_answers(place, {f"spark.hadoop.fs.s3a.{name}": value for name, value in settings.items()})


def test_a_port_that_is_none() -> None:
    with pytest.raises(PipelineError, match="there is no such address"):
        check_answers("hdfs://127.0.0.1:99999/tables", {})


def test_an_error_is_one_line_with_what_to_do() -> None:
    with pytest.raises(PipelineError) as raised, usable("s3a://bucket/tables"):
        raise ValueError(
            "An error\n: java.lang.RuntimeException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"
        )
    assert str(raised.value) == (
        "s3a://bucket/tables cannot be used: RuntimeException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found; "
        f"give --conf spark.jars.packages={HADOOP_AWS}"
    )
