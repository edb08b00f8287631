"""Exceptions that code under test raised and nothing caught: kept until a method of the test raises one."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from kcoord.testing.errors import TestingError, WorkerFailed
from kcoord.testing.process import current_process

_ADVICE = (
    "The worker goes on as if the call had returned. Is it meant to raise? Then expect that: "
    "with pytest.raises(WorkerFailed) around the kcoord method in whose time it happens"
)


class Failures(logging.Handler):
    """Collects exceptions that the worker library logs, and failures of tasks that the event loop reports."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._waiting: deque[TestingError] = deque()

    @contextlib.contextmanager
    def collected(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Collect failures from `loop` and from kcoord's loggers until the context ends."""
        logger, before = logging.getLogger("kcoord"), loop.get_exception_handler()
        logger.addHandler(self)
        loop.set_exception_handler(self._unhandled)
        try:
            yield
        finally:
            loop.set_exception_handler(before)
            logger.removeHandler(self)

    def add(self, what: str, error: BaseException) -> None:
        """Keep `error` as a WorkerFailed."""
        failed = WorkerFailed(f"{what}: {type(error).__name__}: {error}".rstrip(": "))
        failed.__cause__ = error
        self._waiting.append(failed)

    def raise_first(self) -> None:
        """Raise the first failure that no test has seen, and forget the others."""
        if self._waiting:
            first = self._waiting[0]
            self._waiting.clear()
            raise first

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        error = record.exc_info[1] if record.exc_info else None
        process = current_process()
        is_of_remains = process is not None and process.life > 0
        if error is not None and not is_of_remains:
            who = _who(record.name) if process is None else f"worker {process.name}"
            what = f"{who}: {record.getMessage()}"
            self.add(what, error)
            self._waiting[-1].add_note(_ADVICE)

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is None:
            loop.default_exception_handler(context)
            return
        of = context.get("future") or context.get("task")
        self.add(f"{context['message']}{f' ({of!r})' if of else ''}", error)


def _who(logger: str) -> str:
    """Who logs to `logger`, outside the processes of a test."""
    of_worker = logger.startswith(("kcoord.worker", "kcoord.run."))
    return "a worker that the test itself has started" if of_worker else "the coordinator"


def source_of(condition: Callable[[], object]) -> str:
    """The source of a condition, or its repr if the source cannot be found."""
    try:
        return inspect.getsource(condition).strip()
    except (OSError, TypeError):
        return repr(condition)
