"""When is a wheel made with compiled codecs? With ``KCOORD_MYPYC=1`` in the environment; else it is pure Python.

``KCOORD_MYPYC=DIRECTORY`` takes what ``python -m schemas.compiled DIRECTORY`` has left there.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _wanted() -> str:
    wanted = os.environ.get("KCOORD_MYPYC", "")
    return "" if wanted == "0" else wanted


class CompiledCodecs(BuildHookInterface[Any]):
    """Adds the codecs of ``schemas.compiled.LIVED_ON`` as shared libraries beside their Python files."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling; attrs is there for its types."""
        return ["mypy>=1.14", "setuptools>=70", "attrs>=24.2"] if _wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and make the wheel one of this platform. An editable install stays as it is."""
        if not _wanted() or version == "editable":
            return
        sys.path.insert(0, self.root)
        from schemas.compiled import compile_into, libraries_in

        if _wanted() == "1":
            self._folder = tempfile.TemporaryDirectory()
            folder = Path(self._folder.name)
            compile_into(folder)
        else:
            folder = Path(_wanted()).resolve()
        libraries = libraries_in(folder)
        if not libraries:
            raise RuntimeError(f"KCOORD_MYPYC={_wanted()}: there are no compiled codecs; write 1 to compile them now")
        for library in libraries:
            build_data["force_include"][str(folder / library)] = str(library)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel is written: the libraries beside it are not needed any more."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
