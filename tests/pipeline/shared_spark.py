"""The one Spark of a process of tests. There can be only one: who needs another stops it, and it starts again later."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kcoord.pipeline.spark.session import session
from tests.pipeline.spark import MASTER, QUICK, bring_connectors


class SharedSpark:
    """A session that starts when something of it is asked for, with the source for Kafka and with Delta."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self._session: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._session is None:
            bring_connectors()
            log = self._folder / "spark.log"
            self._session = self._open.enter_context(session(MASTER, log, kafka=True, delta=True, settings=QUICK))
        return getattr(self._session, name)

    def give_way(self) -> None:
        """Stop it, until somebody asks for it again."""
        self._open.close()
        self._session = None
