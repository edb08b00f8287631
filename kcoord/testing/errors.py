"""What can go wrong in a test with kcoord, and what is said then."""

from __future__ import annotations


class TestingError(Exception):
    """Something is wrong with the test, or with what it tests; the text says what, and what to do."""

    __test__ = False


class NotReached(TestingError):
    """What a test waited for has not come about; the text says what was there instead."""


class TimeRanAway(TestingError):
    """Virtual time passed and passed while a test waited for something that does not happen."""

    def __init__(self, reached_s: float, where: str) -> None:
        super().__init__(
            f"virtual time has reached {reached_s:g} s, and the test still waits{f' at {where}' if where else ''}: "
            "what it waits for never happens. Wait with `await kcoord.until(...)`, which says what was there instead; "
            "to let time pass, say `await kcoord.pass_s(...)`"
        )


class WorkerFailed(TestingError):
    """Code of a worker raised what nobody caught. `__cause__` is what it raised."""


class WorkerLeftRunning(TestingError):
    """A test has ended, and a worker of it has not."""
