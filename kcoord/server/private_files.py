"""The rights of kcoord's files: nobody but its own user may read what it keeps.

New files are made that way. The rights of existing ones are left alone, since somebody may rely on them, and a line
says what others can read.
"""

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger("kcoord.server")

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_READ_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


def keep_new_files_private() -> None:
    """All files that this process makes from now on are for its own user: directories 0700, files 0600."""
    os.umask(_OTHERS)


def warn_of_readable_files(directory: Path) -> None:
    """Log one line if other users can read files in `directory`, kcoord's data directory."""
    if os.name == "posix" and (readable := _readable_by_others(directory)):
        log.warning(
            "other users of this machine can read %s in the data directory %s, where it stands who runs what and which "
            "offsets are committed; if nobody needs to: chmod -R go= %s",
            ", ".join(readable),
            directory,
            directory,
        )


def _readable_by_others(directory: Path) -> list[str]:
    """Names of the files that others can get at; none if the directory itself keeps them out."""
    try:
        if not directory.stat().st_mode & _OTHERS:
            return []
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in entries if entry.is_file() and entry.stat().st_mode & _READ_BY_OTHERS)
    except OSError:  # not there yet, or not to be read: opening it says so
        return []
