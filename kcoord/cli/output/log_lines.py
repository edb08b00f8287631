"""Log lines: written together once a turn of the event loop, without control characters, without secrets.

When thousands of groups rebalance, as after a restart of a fleet, there is a line for each. So the lines of one turn of
the event loop are written together at its end. A warning or worse is written at once, with everything before it. So is
every line that is logged where no event loop runs.

A line contains names that clients choose, and what libraries say about the messages they send. So in lines of every
logger, control characters are escaped, tracebacks are indented, and secrets are hidden.
"""

import asyncio
import base64
import contextlib
import copy
import logging
import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

from kcoord.printable import printable

LINE = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
HIDDEN = "[hidden]"
_TOKEN_MESSAGES = "SaslAuthenticate"
"""The beginning of the names of classes whose objects hold passwords and tokens."""
_PLAIN = (str, int, float)
"""The types of nearly all arguments of log lines."""
_SHORTEST_SECRET = 4
"""A shorter secret would be found inside ordinary words. It is still hidden where a message object carries it."""


class LineFormatter(logging.Formatter):
    """Formats lines that are safe to print and contain none of `secrets`."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__(LINE)
        forms = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in _written_forms(secret)}
        self._secrets = sorted(forms, key=len, reverse=True)
        self._second = -1
        self._second_text = ""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        line = super().format(_without_tokens(record))
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN)
        return line

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 - logging's name
        """See logging.Formatter. All lines of one second share the text of that second."""
        second = int(record.created)
        if second != self._second:
            self._second, self._second_text = second, time.strftime(self.default_time_format, self.converter(second))
        return f"{self._second_text},{int(record.msecs):03d}"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """See logging.Formatter. A message is one line."""
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """See logging.Formatter. Its lines are indented, so that none looks like a record."""
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - logging's name
        """See logging.Formatter."""
        return _indented(super().formatStack(stack_info))


def _indented(lines: str) -> str:
    return "\n".join(f"  {printable(line)}" for line in lines.split("\n"))


def _without_tokens(record: logging.LogRecord) -> logging.LogRecord:
    """The record, with messages that carry passwords replaced by the names of their classes."""
    arguments = record.args
    if not isinstance(arguments, tuple):
        return record
    for each in arguments:
        if type(each) not in _PLAIN and _carries_token(each):
            break
    else:
        return record
    without = copy.copy(record)
    without.args = tuple(type(each).__name__ if _carries_token(each) else each for each in arguments)
    return without


def _carries_token(argument: object) -> bool:
    return type(argument).__name__.startswith(_TOKEN_MESSAGES)


def _written_forms(secret: str) -> Iterable[str]:
    """How a secret can look in a line: as it is, inside a string or bytes as Python shows them, in base64."""
    data = secret.encode("utf-8", "replace")
    return (secret, printable(secret), repr(secret)[1:-1], repr(data)[2:-1], base64.b64encode(data).decode())


class TurnHandler(logging.StreamHandler[TextIO]):
    """Writes lines to `stream`, all lines of one turn of the event loop together."""

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
        except Exception:  # logging itself reports a line that cannot be formatted
            self.handleError(record)
            return
        if loop is None or record.levelno >= logging.WARNING:
            self.flush()
        elif len(self._lines) == 1:
            loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write the lines that wait."""
        with self.lock or contextlib.nullcontext():
            lines, self._lines = self._lines, []
            if lines and self.stream is not None:
                with contextlib.suppress(OSError, ValueError):  # nobody reads the log any more
                    self.stream.write("".join(lines))
            with contextlib.suppress(OSError, ValueError):
                super().flush()


class Seldom(logging.Filter):
    """Lets lines of one kind through only once in a while."""

    def __init__(self, every_s: float = 10.0) -> None:
        super().__init__()
        self._every_s = every_s
        self._last: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """See logging.Filter. Lines with the same text before formatting are of one kind."""
        if record.created - self._last.get(record.msg, -self._every_s) < self._every_s:
            return False
        self._last[record.msg] = record.created
        return True


def log_to(stream: TextIO, level: str, secrets: Iterable[str] = ()) -> None:
    """Send all log lines of at least `level` to `stream`, without any of `secrets`.

    Facts that no line shows (place in the code, thread, process, task) are not looked up. Of aiokafka only errors are
    logged: what it calls a warning happens in each round of the instances, and kcoord itself logs what matters of it.
    Errors of one kind are logged once in ten seconds, because while a broker is away each partition has its own.
    """
    logging._srcfile = None  # as logging's own documentation says under "Optimization"
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    if sys.version_info >= (3, 12):
        logging.logAsyncioTasks = False
    handler = TurnHandler(stream)
    handler.setFormatter(LineFormatter(secrets))
    logging.basicConfig(level=level, handlers=[handler])
    if level != "DEBUG":
        logging.getLogger("aiokafka").setLevel(logging.ERROR)
        logging.getLogger("aiokafka").addFilter(Seldom())
