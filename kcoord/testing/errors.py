"""The errors of a test with kcoord, and their texts."""

from __future__ import annotations


class TestingError(Exception):
    """Something is wrong with the test, or with what it tests. The text says what, and what to do."""

    __test__ = False


class NotReached(TestingError):
    """A test waited for something that did not happen. The text says what was there instead."""


class TimeRanAway(TestingError):
    """Virtual time went on and on while a test waited for something that never happens."""

    def __init__(self, reached_s: float, where: str) -> None:
        super().__init__(
            f"virtual time has reached {reached_s:g} s, and the test still waits{f' at {where}' if where else ''}: "
            "what it waits for never happens. Wait with `await kcoord.until(...)`, which says what was there instead; "
            "to let time pass, say `await kcoord.pass_s(...)`"
        )


class WorkerFailed(TestingError):
    """A worker's code raised an exception that nothing caught. `__cause__` is that exception."""


class WorkerLeftRunning(TestingError):
    """A test has ended, but one of its workers has not."""
