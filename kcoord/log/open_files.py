"""The log's open files: are they still the ones that their names stand for?

A file can be removed, or another put in its place, while it is open. What is written then is gone with the process, and
what is read by name is not what was written. So the log looks before it writes or reads.
"""

from collections.abc import Iterable
from pathlib import Path

import attrs

from kcoord.log.interface import LogUnusable


class LogReplaced(LogUnusable):
    """A file of the log is not there any more, or is another one."""


@attrs.frozen
class OpenFiles:
    """Files by path, each with its device and its number there."""

    _files: tuple[tuple[Path, tuple[int, int]], ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "OpenFiles":
        """The files that `paths` name now. Raises OSError."""
        return cls(tuple((path, _identity(path)) for path in paths))

    def check(self) -> None:
        """Raise LogReplaced if a path names another file now, or none; OSError if that cannot be found out."""
        for path, identity in self._files:
            try:
                found = _identity(path)
            except (FileNotFoundError, NotADirectoryError):
                raise LogReplaced(_complaint(path, "removed")) from None
            if found != identity:
                raise LogReplaced(_complaint(path, "replaced by another file"))


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _complaint(path: Path, what: str) -> str:
    return (
        f"{path} was {what} while this kcoord has it open: no change is taken any more. Stop this kcoord in order "
        "(SIGTERM), which saves what it has written if kcoord.db itself is still there, and see what has become of "
        f"{path.parent} before you start it again"
    )
