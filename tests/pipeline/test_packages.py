"""Which packages does Spark fetch if the user names some, and which Pythons does it take?"""

from __future__ import annotations

import os
import sys

import pytest

from kcoord.pipeline.spark import session as session_module
from kcoord.pipeline.spark.session import CARRIED, EXCLUDES, KAFKA_CONNECTOR, PACKAGES, joined

OURS = {PACKAGES: KAFKA_CONNECTOR, EXCLUDES: CARRIED, "spark.ui.enabled": "false"}
AWS = "org.apache.hadoop:hadoop-aws:3.4.1"
NEWER = f"{KAFKA_CONNECTOR.rpartition(':')[0]}:4.0.1"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, OURS),
        ({"spark.ui.enabled": "true"}, OURS | {"spark.ui.enabled": "true"}),
        ({PACKAGES: AWS}, OURS | {PACKAGES: f"{KAFKA_CONNECTOR},{AWS}"}),
        ({PACKAGES: f"{AWS}, {NEWER}"}, OURS | {PACKAGES: f"{NEWER},{AWS}"}),
        ({EXCLUDES: "a:b"}, OURS | {EXCLUDES: f"{CARRIED},a:b"}),
    ],
)
def test_packages_of_the_user_join_those_of_kcoord(given: dict[str, str], found: dict[str, str]) -> None:
    assert joined(OURS, given) == found


def test_without_a_log_in_a_topic_packages_are_the_users() -> None:
    assert joined({}, {PACKAGES: AWS}) == {PACKAGES: AWS}


def test_a_session_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one in the process may be another's."""
    monkeypatch.setenv("PYSPARK_PYTHON", "theirs")
    monkeypatch.delenv("PYSPARK_DRIVER_PYTHON", raising=False)
    with session_module._pythons("/executors/python"):
        assert (os.environ["PYSPARK_PYTHON"], os.environ["PYSPARK_DRIVER_PYTHON"]) == (
            "/executors/python",
            sys.executable,
        )
    assert os.environ["PYSPARK_PYTHON"] == "theirs"
    assert "PYSPARK_DRIVER_PYTHON" not in os.environ
