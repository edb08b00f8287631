"""The clock check: whether each task of the clocks ran exactly once, by what they have written since the demo began.

Each line is a second and the process that wrote it. If a second is in a file twice, two tasks of the same number wrote
it: that must never happen. A second that is missing fell into a hand-over.
"""

from __future__ import annotations

import os
from pathlib import Path

import attrs


@attrs.define
class _File:
    position: int
    last: int | None = None


@attrs.define
class Ticks:
    """Counts the lines of the clocks' files in a folder."""

    folder: Path
    written: int = 0
    twice: int = 0
    missed: int = 0
    _files: dict[Path, _File] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Skip what the files contained before."""
        for path in self._paths():
            self._files[path] = _File(path.stat().st_size)

    def look(self) -> None:
        """Read what is new."""
        for path in self._paths():
            file = self._files.setdefault(path, _File(0))
            with path.open("rb") as source:
                if file.position > os.fstat(source.fileno()).st_size:
                    file.position = 0
                source.seek(file.position)
                whole = source.read().rpartition(b"\n")[0]
            for line in whole.split(b"\n") if whole else ():
                file.position += len(line) + 1
                self._count(file, int(line.split(b" ")[0]))

    def _count(self, file: _File, second: int) -> None:
        self.written += 1
        if file.last is not None:
            self.twice += second <= file.last
            self.missed += max(second - file.last - 1, 0)
        file.last = max(second, file.last or 0)

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("*clock-*.txt"))

    def __str__(self) -> str:
        missed = f"{self.missed} missed while nobody ran them" if self.missed else "none missed"
        return f"clock ticks: {self.written} written, {self.twice or 'none'} twice, {missed}"
