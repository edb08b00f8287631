"""How does a test wait for what takes its time?

By asking again and again until the answer is there. The deadline is for a test that would hang; it proves nothing.
"""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

DEADLINE_S = 180.0


class NotYet(Exception):
    """Raised by a probe whose answer is not there yet; the message says what it saw instead."""


def eventually(
    probe: Callable[[], T],
    what: str,
    *,
    deadline_s: float = DEADLINE_S,
    every_s: float = 0.1,
    retry: type[Exception] = NotYet,
) -> T:
    """The first answer of `probe` that is true; a probe may also raise `retry` (and NotYet) to be asked again.

    Raises AssertionError after `deadline_s`: `what` did not come, and what was seen last.
    """
    end = time.monotonic() + deadline_s
    while True:
        try:
            answer = probe()
            if answer:
                return answer
            seen: object = answer
        except (NotYet, retry) as not_yet:
            seen = not_yet
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not so after {deadline_s:.0f} s; last seen: {seen!r}")
        time.sleep(every_s)


def let_pass(seconds: float) -> None:
    """Let time pass in which something must not happen."""
    time.sleep(seconds)
