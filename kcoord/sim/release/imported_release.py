"""Another release in this process: its package `kcoord` is imported under another name, beside this one.

Its modules name each other as `kcoord.…`. These names are changed while a module is compiled; nothing else is.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

PACKAGE = "kcoord"


class Release:
    """The package of another release."""

    def __init__(self, name: str) -> None:
        self.name = name

    def module(self, name: str) -> Any:
        """One of its modules: `group.shard`. Raises ModuleNotFoundError."""
        return importlib.import_module(f"{self.name}.{name}")


def load_release(site: Path) -> Release:
    """The release whose package is in the directory `site`. It is loaded once per process.

    Raises:
        FileNotFoundError: there is no such package.
    """
    folder = (site / PACKAGE).resolve()
    if not (folder / "__init__.py").is_file():
        raise FileNotFoundError(f"{site} has no package {PACKAGE}")
    name = f"{PACKAGE}_at_{re.sub(r'[^a-zA-Z0-9]', '_', site.resolve().name)}"
    if not any(isinstance(finder, _Finder) and finder.package == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(name, folder))
    return Release(name)


class _Finder(MetaPathFinder):
    """Finds the modules of one package in one folder."""

    def __init__(self, package: str, folder: Path) -> None:
        self.package = package
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, *names = fullname.split(".")
        if package != self.package:
            return None
        place = self._folder.joinpath(*names)
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if not file.is_file():
            return None
        folders = [str(place)] if place.is_dir() else None
        return spec_from_file_location(
            fullname, file, loader=_Loader(package, file), submodule_search_locations=folders
        )


class _Loader(SourceLoader):
    """Compiles a module whose imports of `kcoord` are imports of another package."""

    def __init__(self, package: str, file: Path) -> None:
        self._package = package
        self._file = file

    def get_filename(self, fullname: str) -> str:
        return str(self._file)

    def get_data(self, path: str | bytes) -> bytes:
        return self._file.read_bytes()

    def source_to_code(self, data: Any, path: Any = "<string>", *_: Any, **__: Any) -> CodeType:  # type: ignore[override]
        tree = ast.parse(data, path)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
                node.module = self._renamed(node.module)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    each.name = self._renamed(each.name)
        return compile(tree, path, "exec", dont_inherit=True)

    def _renamed(self, module: str) -> str:
        package, dot, rest = module.partition(".")
        return f"{self._package}{dot}{rest}" if package == PACKAGE else module
