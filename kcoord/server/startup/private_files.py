"""The permissions of kcoord's files: only kcoord's own user may read them.

New files are made that way. kcoord does not change the permissions of existing files, because somebody may rely on
them; a log line says which files other users can read.
"""

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger("kcoord.server")

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_READ_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


def keep_new_files_private() -> None:
    """Make all new files of this process private to its user: directories 0700, files 0600."""
    os.umask(_OTHERS)


def warn_of_readable_files(directory: Path) -> None:
    """Log one line if other users can read files in `directory`, kcoord's data directory."""
    if os.name == "posix" and (readable := _readable_by_others(directory)):
        log.warning(
            "other users of this machine can read %s in the data directory %s, and so see who runs what and which "
            "offsets are committed; if nobody needs that: chmod -R go= %s",
            ", ".join(readable),
            directory,
            directory,
        )


def _readable_by_others(directory: Path) -> list[str]:
    """The names of the files that other users can read; none if the permissions of the directory keep them out."""
    try:
        if not directory.stat().st_mode & _OTHERS:
            return []
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in entries if entry.is_file() and entry.stat().st_mode & _READ_BY_OTHERS)
    except OSError:  # missing or not readable: opening it reports that
        return []
