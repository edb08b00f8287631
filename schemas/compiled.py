"""How are the generated codecs compiled with mypyc? Nothing but speed changes: the same modules, the same classes.

    python -m schemas.compiled DIRECTORY [MODULE …]

puts a copy of ``kcoord`` into DIRECTORY with these modules compiled, the ones that a coordinator lives on if none are
named. It takes a C compiler, Python's headers and some minutes. ``PYTHONPATH=DIRECTORY python …`` then runs compiled.
A wheel that has them inside is made by ``KCOORD_MYPYC=1 pip wheel .`` (``hatch_build.py``).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATED = "kcoord/protocol/generated"
_APIS = (
    *("api_versions", "find_coordinator", "metadata"),
    *("join_group", "sync_group", "heartbeat", "leave_group"),
    *("offset_commit", "offset_fetch", "txn_offset_commit"),
    "connect_group_heartbeat",
)
LIVED_ON = (
    *(f"{api}_{side}" for api in _APIS for side in ("request", "response")),
    *("group_metadata_key", "group_metadata_value", "offset_commit_key", "offset_commit_value"),
)
"""What is read and written all the time."""

_SETUP = """
from mypyc.build import mypycify
from setuptools import setup

setup(name="kcoord-compiled", packages=[], ext_modules=mypycify({files!r}, opt_level="1", debug_level="0"))
"""


def compile_into(directory: Path, modules: Sequence[str] = LIVED_ON) -> list[Path]:
    """Copy ``kcoord`` into an empty or new directory and compile these modules there.

    Returns the shared libraries, relative to the directory. Raises RuntimeError with what the compiler said last when
    it fails.
    """
    shutil.copytree(ROOT / "kcoord", directory / "kcoord", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    files = [f"{GENERATED}/{module}.py" for module in modules]
    (directory / "setup.py").write_text(_SETUP.format(files=files))
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"mypyc failed:\n{(done.stdout + done.stderr)[-4000:]}")
    shutil.rmtree(directory / "build")
    (directory / "setup.py").unlink()
    return libraries_in(directory)


def libraries_in(directory: Path) -> list[Path]:
    """The shared libraries that `compile_into` left there, relative to the directory."""
    return sorted(path.relative_to(directory) for path in directory.rglob("*.so"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m schemas.compiled DIRECTORY [MODULE …]")
    for library in compile_into(Path(sys.argv[1]).resolve(), sys.argv[2:] or LIVED_ON):
        print(library)
