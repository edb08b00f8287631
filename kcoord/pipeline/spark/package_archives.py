"""What kcoord takes along to a Spark cluster: its own package, and the packages that it needs there.

Each package is an archive, which Spark unpacks beside its other files, in a directory that each executor's Python looks
for modules in. So compiled modules work too, where they fit: an executor on another platform, or with another kind of
Python, gets only what is pure Python. Archives are named by their content and kept: only what has changed is packed
again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

PACKAGES = ("kcoord", "attr", "attrs", "typing_extensions")
"""What the functions that run on executors import. It works without compiled modules."""
COMPILED = (
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_inspection",
    "aiokafka",
    "async_timeout",
    "packaging",
    "psutil",
)
"""The same for what does not."""
COMPILED_SUFFIXES = (".so", ".pyd", ".dylib")
LEFT_OUT = ("__pycache__",)
OLDEST = (1980, 1, 1, 0, 0, 0)
"""The time that all files in an archive have, so that the same content gives the same archive."""


def ship(spark: Any, *, fits: bool = True) -> None:
    """Give the executors of `spark` kcoord and what it needs. `fits`: their platform is this one's, so compiled modules
    are shipped too. What was shipped in this session already is not shipped again.
    """
    for name in (*PACKAGES, *COMPILED) if fits else PACKAGES:
        source = _source(name)
        if source.is_dir():
            spark.addArtifacts(f"{_archive(name, source, fits)}#{name}", archive=True)
        else:
            spark.addArtifacts(str(source), pyfile=True)


@lru_cache
def version_of_code() -> str:
    """A short name for the content of kcoord's own modules: another one, and something in them is different."""
    return _digest(_files(_source("kcoord"), False))


def _source(package: str) -> Path:
    """The directory of a package, or the file of a module."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(package, name=package)
    origin = Path(found.origin)
    return origin.parent if found.submodule_search_locations else origin


def _archive(name: str, source: Path, with_compiled: bool) -> Path:
    files = list(_files(source, with_compiled))
    archive = _kept() / f"{name}-{_digest(files)}.zip"
    if not archive.exists():
        _pack(files, archive)
    return archive


def _digest(files: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for place, content in files:
        digest.update(f"{place}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _files(source: Path, with_compiled: bool) -> Iterator[tuple[str, bytes]]:
    """The places and contents of a package's files."""
    for path in sorted(source.rglob("*")):
        is_wanted = with_compiled or path.suffix not in COMPILED_SUFFIXES
        if is_wanted and path.is_file() and not set(LEFT_OUT) & set(path.parts):
            yield path.relative_to(source).as_posix(), path.read_bytes()


def _pack(files: list[tuple[str, bytes]], archive: Path) -> None:
    """Make the archive; one that somebody else makes at the same time has the same content."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix="unfinished-") as folder:
        unfinished = Path(folder, archive.name)
        with zipfile.ZipFile(unfinished, "w") as packed:
            for place, content in files:
                packed.writestr(zipfile.ZipInfo(place, OLDEST), content, zipfile.ZIP_DEFLATED, compresslevel=1)
        unfinished.replace(archive)


def _kept() -> Path:
    """Where archives are kept: the user's cache; where none can be written, a new temporary directory."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kcoord"
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cache
    except OSError:
        return Path(tempfile.mkdtemp(prefix="kcoord-"))
