"""Which Spark do these tests share?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kcoord.pipeline.spark.session import session
from tests.pipeline.simulated_logs import Logs, simulated
from tests.pipeline.spark import MASTER, QUICK, bring_connectors


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with the source for Kafka, and with Delta."""
    bring_connectors()
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    with session(MASTER, log, kafka=True, delta=True, settings=QUICK) as running:
        yield running


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Logs:
    """Gives the logs of simulated fleets."""
    return simulated(monkeypatch)
