"""Files of any file system that Hadoop knows, under one place, by Spark's own classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from kcoord.pipeline.failure import PipelineError


@attrs.frozen(eq=False)
class HadoopFiles:
    """What is under `place`, a directory or a URI. Names are relative to it. Errors of the file system are Py4J's."""

    spark: Any
    place: str

    @property
    def is_far(self) -> bool:
        """Whether only Hadoop reaches the place: it is no directory of this machine."""
        return "://" in self.place

    def at(self, name: str) -> str:
        """Where this is, for Hadoop, for which a path without a scheme may be in another file system."""
        where = f"{self.place}/{name}" if name else self.place
        return where if self.is_far else f"file:{Path(where).absolute()}"

    def here(self, name: str) -> Path:
        """Where this is on this machine."""
        return Path(self.place, name)

    def names(self, folder: str) -> set[str]:
        """What is in the folder. Nothing, if it does not exist."""
        files, path = self._system(), self._path(folder)
        return {each.getPath().getName() for each in files.listStatus(path)} if files.exists(path) else set()

    def is_there(self, name: str) -> bool:
        """Whether this exists."""
        return bool(self._system().exists(self._path(name)))

    def delete(self, name: str) -> None:
        """Delete this and what is in it, if it exists."""
        self._system().delete(self._path(name), True)

    def make(self, folder: str) -> None:
        """Make the folder, and those that it is in."""
        self._system().mkdirs(self._path(folder))

    def touch(self, name: str) -> None:
        """Make an empty file."""
        self._system().create(self._path(name), True).close()

    def copy(self, name: str, to: str) -> None:
        """Copy a file."""
        files, copier = self._system(), self.spark._jvm.org.apache.hadoop.fs.FileUtil
        copier.copy(files, self._path(name), files, self._path(to), False, self.spark._jsc.hadoopConfiguration())

    def move(self, name: str, to: str) -> None:
        """Move this to where nothing is. Raises PipelineError."""
        if not self._system().rename(self._path(name), self._path(to)):
            raise PipelineError(f"{self.place}/{name} could not be moved to {to}: see that it can be written")

    def _path(self, name: str) -> Any:
        return self.spark._jvm.org.apache.hadoop.fs.Path(self.at(name))

    def _system(self) -> Any:
        return self._path("").getFileSystem(self.spark._jsc.hadoopConfiguration())
