"""Which Spark do these tests share?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kcoord.pipeline.spark.session import session
from tests.pipeline.spark import MASTER, QUICK, bring_connector


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with the source for Kafka."""
    bring_connector()
    with session(MASTER, tmp_path_factory.mktemp("spark") / "spark.log", kafka=True, settings=QUICK) as running:
        yield running
