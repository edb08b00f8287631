"""Which Spark do these tests share?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.pipeline.shared_spark import SharedSpark
from tests.pipeline.simulated_logs import Logs, simulated


@pytest.fixture(scope="package", name="spark")
def shared_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with the source for Kafka, and with Delta."""
    shared = SharedSpark(tmp_path_factory.mktemp("spark"))
    yield shared
    shared.give_way()


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Logs:
    """Gives the logs of simulated fleets."""
    return simulated(monkeypatch)
