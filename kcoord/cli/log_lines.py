"""How do log lines get out without a system call for each?

When groups rebalance by the thousand, as after a restart of a fleet, there is a line for each. So the lines of one turn
of the event loop are written together at its end. What is a warning or worse is written at once, with all that came
before it, and so is every line from where no event loop runs.
"""

import asyncio
import contextlib
import logging
import sys
from typing import TextIO

LINE = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class TurnHandler(logging.StreamHandler[TextIO]):
    """Writes lines to `stream`, those of one turn of the event loop together."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        try:
            self._lines.append(self.format(record) + self.terminator)
        except Exception:  # a line that cannot be made is logging's own to report
            self.handleError(record)
            return
        if loop is None or record.levelno >= logging.WARNING:
            self.flush()
        elif len(self._lines) == 1:
            loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write what waits."""
        with self.lock or contextlib.nullcontext():
            lines, self._lines = self._lines, []
            if lines and self.stream is not None:
                with contextlib.suppress(OSError, ValueError):  # nobody reads the log any more
                    self.stream.write("".join(lines))
            with contextlib.suppress(OSError, ValueError):
                super().flush()


class Seldom(logging.Filter):
    """Lets lines of one kind through once in a while only."""

    def __init__(self, every_s: float = 10.0) -> None:
        super().__init__()
        self._every_s = every_s
        self._last: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """See logging.Filter. Lines with the same text before its arguments are of one kind."""
        if record.created - self._last.get(record.msg, -self._every_s) < self._every_s:
            return False
        self._last[record.msg] = record.created
        return True


def log_to(stream: TextIO, level: str) -> None:
    """Send all log lines of at least `level` to `stream`. What no line shows (place in the code, thread, process, task)
    is not looked up. aiokafka's lines are left out but for errors: what it calls a warning happens in each round of the
    instances, and what matters of it kcoord says itself. Errors of one kind come out once in ten seconds: while a
    broker is away each partition has its own.
    """
    logging._srcfile = None  # as logging's own documentation says under "Optimization"
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    if sys.version_info >= (3, 12):
        logging.logAsyncioTasks = False
    handler = TurnHandler(stream)
    handler.setFormatter(logging.Formatter(LINE))
    logging.basicConfig(level=level, handlers=[handler])
    if level != "DEBUG":
        logging.getLogger("aiokafka").setLevel(logging.ERROR)
        logging.getLogger("aiokafka").addFilter(Seldom())
