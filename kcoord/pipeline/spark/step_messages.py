"""The messages to people while Spark works: which step begins, and in one line why it failed."""

from __future__ import annotations

from collections.abc import Callable

from kcoord.pipeline.failure import PipelineError, reason_of

Say = Callable[[str], None]
"""Called with the name of each step that begins, in words for people."""


def silent(what: str) -> None:
    """Say nothing."""


class ErrorLine:
    """Turns an error from Spark into one line: what could not be done, and why."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, PipelineError):
            raise PipelineError(f"{self._what}: {reason_of(error)}") from error
