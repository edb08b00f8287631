"""Which line of an error from Spark is shown?"""

from __future__ import annotations

import pytest

from kcoord.pipeline.failure import reason_of

OF_JAVA = """An error occurred while calling o201.parquet.
: org.apache.hadoop.security.AccessControlException: Permission denied: user=stranger
\tat org.apache.hadoop.hdfs.server.namenode.FSPermissionChecker.check(FSPermissionChecker.java:506)
Caused by: java.net.ConnectException: Connection refused
"""
OF_PYTHON = """An error occurred while calling o80.showString.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times
Traceback (most recent call last):
  File "worker.py", line 1, in main
kcoord.log.interface.LogError: the file is damaged
\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:581)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (OF_JAVA, "AccessControlException: Permission denied: user=stranger"),
        (OF_PYTHON, "LogError: the file is damaged"),
        ("java.net.UnknownHostException: there", "UnknownHostException: there"),
        ("[PATH_NOT_FOUND] Path does not exist\nmore", "[PATH_NOT_FOUND] Path does not exist"),
        ("", "ValueError"),
    ],
)
def test_the_line_that_matters(text: str, line: str) -> None:
    assert reason_of(ValueError(text)) == line
