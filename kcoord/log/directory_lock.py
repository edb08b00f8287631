"""The lock on a data directory: one process at a time, whatever becomes of the lock file.

A lock on a file holds for that file, not for its name: whoever deletes `kcoord.lock` lets a second process lock a new
one. So the directory itself is locked too. It cannot be deleted while anything is in it, and it is the same one by
whatever path or mount it is reached. `kcoord.lock` is what releases before this one look at.

Some network file systems cannot lock a directory. There the lock file is all there is, and `covers_directory` says so:
the log then looks before each commit whether the lock file is still the one that is locked.
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
    """A lock that is held; made by `take`. The system lets go of it when the process ends."""

    directory: Path
    _file_lock: FileLock
    _directory_fd: int | None

    @classmethod
    def take(cls, directory: Path) -> "DirectoryLock":
        """Make `directory` where it is missing, for nobody but this user, and lock it. Raises LogInUse, LogUnusable."""
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
        """Let another process have the directory."""
        if self._directory_fd is not None:
            os.close(self._directory_fd)
            self._directory_fd = None
        self._file_lock.release()


def _locked_directory(directory: Path) -> int | None:
    """A descriptor that holds the lock on `directory`; None where directories cannot be locked.

    Raises BlockingIOError when another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # Windows, which deletes no file that is open
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
    """Make `directory` and its missing parents, each entry synced: a log must not vanish with its directory."""
    if directory.is_dir():
        return
    _make_durably(directory.parent)
    directory.mkdir(mode, exist_ok=True)
    sync_directory(directory.parent)


def sync_directory(directory: Path) -> None:
    """Make what was made and removed in `directory` survive a loss of power."""
    if os.name == "posix":
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
