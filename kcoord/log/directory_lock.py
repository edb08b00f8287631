"""The lock on a data directory: one process at a time, even if the lock file is deleted.

A lock on a file holds for that file, not for its name: if somebody deletes `kcoord.lock`, a second process can lock a
new one. So the directory itself is locked too. It cannot be deleted while it holds files, and it is the same directory
by every path and mount. Earlier releases look at `kcoord.lock` only.

Some network file systems cannot lock a directory. There the lock file is the only lock, and `covers_directory` is
False: the log then checks before each commit that the lock file is still the one that it locked.
"""

import os
from pathlib import Path

import attrs
from filelock import FileLock, Timeout

from kcoord.log.interface import LogInUse, LogUnusable
from kcoord.log.sqlite_file import PID_NAME

LOCK_NAME = "kcoord.lock"


@attrs.define(eq=False)
class DirectoryLock:
    """A lock that this process holds; made by `take`. The system releases it when the process ends."""

    directory: Path
    _file_lock: FileLock
    _directory_fd: int | None

    @classmethod
    def take(cls, directory: Path) -> "DirectoryLock":
        """Make `directory` if it is missing, private to this user, and lock it. Raises LogInUse, LogUnusable."""
        file_lock = FileLock(directory / LOCK_NAME, timeout=0, thread_local=False, mode=0o600)
        try:
            _make_durably(directory, mode=0o700)
            file_lock.acquire()
            return cls(directory, file_lock, _locked_directory(directory))
        except (Timeout, BlockingIOError):
            file_lock.release()
            raise LogInUse(
                f"the data directory {directory} is in use by {_owner(directory / PID_NAME)}; stop that kcoord first, "
                "or name another data directory"
            ) from None
        except OSError as error:
            file_lock.release()
            raise LogUnusable(
                f"the data directory {directory} cannot be used: {error}; "
                "see that it can be read and written by this user and that there is room"
            ) from error

    @property
    def covers_directory(self) -> bool:
        """Whether the directory itself is locked, so that the lock file does not matter."""
        return self._directory_fd is not None

    @property
    def lock_file(self) -> Path:
        return self.directory / LOCK_NAME

    def release(self) -> None:
        """Release the lock, so that another process can have the directory."""
        if self._directory_fd is not None:
            os.close(self._directory_fd)
            self._directory_fd = None
        self._file_lock.release()


def _locked_directory(directory: Path) -> int | None:
    """A descriptor that holds the lock on `directory`; None if directories cannot be locked here.

    Raises BlockingIOError if another process holds the lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows, where an open file cannot be deleted
        return None
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _owner(pid_file: Path) -> str:
    try:
        return f"process {int(pid_file.read_text())}"
    except (OSError, ValueError):
        return "another process"


def _make_durably(directory: Path, mode: int = 0o777) -> None:
    """Make `directory` and its missing parents, and sync each new entry, so that the log cannot vanish with its
    directory.
    """
    if directory.is_dir():
        return
    _make_durably(directory.parent)
    directory.mkdir(mode, exist_ok=True)
    sync_directory(directory.parent)


def sync_directory(directory: Path) -> None:
    """Make created and removed entries of `directory` survive a power loss."""
    if os.name == "posix":
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
