"""Do imports run down only? `make lint` checks the floors (pyproject.toml); here: no circle of files, on any floor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from grimp import build_graph

Imports = Mapping[str, set[str]]


def imports_of(package: str) -> Imports:
    """What each file of a package imports of it, also inside functions and under TYPE_CHECKING."""
    graph = build_graph(package, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def circles(imports: Imports) -> Imports:
    """The files in circles, and those between two circles, each with which of the others it imports."""
    left = {module: set(imported) for module, imported in imports.items()}
    while loose := left.keys() - {each for imported in left.values() for each in imported} | {
        module for module, imported in left.items() if not imported
    }:
        left = {module: imported - loose for module, imported in left.items() if module not in loose}
    return left


def test_no_files_import_each_other_in_a_circle() -> None:
    found = circles(imports_of("kcoord"))
    assert not found, "\n".join(f"{module} imports {', '.join(sorted(found[module]))}" for module in sorted(found))


def test_a_circle_is_found_under_type_checking_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "circular"
    package.mkdir()
    for name, text in {
        "__init__": "",
        "top": "from circular import left",
        "left": "from circular.right import b",
        "right": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from circular.left import a\n",
        "bottom": "",
    }.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert circles(imports_of("circular")) == {"circular.left": {"circular.right"}, "circular.right": {"circular.left"}}
