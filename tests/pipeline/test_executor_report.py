"""What is said of executors that cannot run kcoord's functions?"""

from __future__ import annotations

import re

import pytest
from pyspark.errors import PySparkRuntimeError

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.spark.executor_report import NEEDED, NEEDED_ELSEWHERE, Found, check, platform, refusal
from tests.repository import ROOT

GOOD: dict[str, str | None] = {"pandas": "2.2.3", "pyarrow": "18.1.0"}
PYTHON = "/opt/python/bin/python3"


def found(versions: dict[str, str | None], unseen: list[str] | None = None, where: str = "") -> Found:
    return Found("worker-1", PYTHON, where or platform(), versions, unseen or [])


@pytest.mark.parametrize("versions", [GOOD, {"pandas": "2.10", "pyarrow": "26.0.1"}])
def test_what_suffices(versions: dict[str, str | None]) -> None:
    check([found(GOOD), found(versions)])


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (
            found({"pandas": None, "pyarrow": None}),
            f"Spark's executor on worker-1 cannot run kcoord's functions: in {PYTHON}, pandas is not installed and "
            "pyarrow is not installed. Install there: pip install 'pandas>=2.2,<3' 'pyarrow>=18', or name a "
            "Python that has this by --conf spark.pyspark.python=PATH",
        ),
        (
            found(GOOD | {"pyarrow": "9.0.0"}),
            f"Spark's executor on worker-1 cannot run kcoord's functions: in {PYTHON}, pyarrow is 9.0.0. Install "
            "there: pip install 'pyarrow>=18', or name a Python that has this by --conf spark.pyspark.python=PATH",
        ),
        (
            found(GOOD | {"pydantic": None}, where="linux-aarch64 cpython-311"),
            f"Spark's executor on worker-1 cannot run kcoord's functions: in {PYTHON}, pydantic is not installed. "
            "Install there: pip install 'pydantic>=2.9', or name a Python that has this by --conf "
            "spark.pyspark.python=PATH",
        ),
        (
            found(GOOD, ["/data/tables/spark.log"]),
            "Spark's executor on worker-1 does not see /data/tables/spark.log: give a URI that all of them can write "
            "to, such as hdfs://… or s3a://…, or a directory that they share",
        ),
    ],
)
def test_what_lacks_is_said_in_a_line(report: Found, said: str) -> None:
    with pytest.raises(PipelineError, match=f"^{re.escape(said)}$"):
        check([found(GOOD), report])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            PySparkRuntimeError(
                errorClass="PYTHON_VERSION_MISMATCH",
                messageParameters={"worker_version": "3.9", "driver_version": "3.11"},
            ),
            "Spark's executors run Python 3.9, and kcoord runs on Python 3.11 here: both must have the same minor "
            "version. Install Python 3.11 there, and name it by --conf spark.pyspark.python=PATH",
        ),
        (
            OSError(f'Task 0.3 has failed: java.io.IOException: Cannot run program "{PYTHON}": error=2, No such file'),
            f"Spark's executors cannot start {PYTHON}: name the Python that they have by "
            "--conf spark.pyspark.python=PATH",
        ),
        (OSError("no space left"), "Spark's executors could not run a function of Python's: no space left"),
    ],
)
def test_a_python_that_is_not_the_one_needed_is_said_in_a_line(error: Exception, said: str) -> None:
    assert str(refusal(error)) == said


def test_the_versions_are_those_of_the_project() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert all(f'"{wanted}"' in project for wanted in (NEEDED | NEEDED_ELSEWHERE).values())
