"""The log's open files: a check that their names still refer to them.

A file can be removed or replaced while it is open. What is written to it then is lost when the process ends, and what
is read by its name is not what was written. So the log checks before it writes or reads.
"""

from collections.abc import Iterable
from pathlib import Path

import attrs

from kcoord.log.interface import LogUnusable


class LogReplaced(LogUnusable):
    """A file of the log was removed, or replaced by another one."""


@attrs.frozen
class OpenFiles:
    """Files by path, each with its device and inode number."""

    _files: tuple[tuple[Path, tuple[int, int]], ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "OpenFiles":
        """The files to which `paths` refer now. Raises OSError."""
        return cls(tuple((path, _identity(path)) for path in paths))

    def check(self) -> None:
        """Raise LogReplaced if a path refers to another file or to none; OSError if that cannot be checked."""
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
