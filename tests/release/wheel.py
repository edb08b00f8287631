"""The wheel of an earlier release, built from the repository's history.

CHANGELOG.md names the commit of each release. Its sources are taken from git, built as a wheel and unpacked to
`.cache/release-VERSION-COMMIT`, once; a process of the release runs with that folder as its PYTHONPATH, on the
dependencies that are installed here. Where the build backend cannot be fetched the sources themselves are taken. Where
there is no history (a shallow clone, an archive) there is no such process: what the release has left behind
(`tests/release/stored.py`) stands in.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
FIRST = "0.1.0"
_RELEASE = re.compile(r"^## (\d+\.\d+\.\d+)$\s+^Commit `([0-9a-f]{40})`", re.MULTILINE)


def commits() -> dict[str, str]:
    """The commit of each release, by its version."""
    return dict(_RELEASE.findall((ROOT / "CHANGELOG.md").read_text()))


def release_site(version: str = FIRST) -> Path | None:
    """The folder that has the release's package `kcoord`, made if it is not there yet; None: there is no history."""
    commit = commits()[version]
    site = CACHE / f"release-{version}-{commit[:12]}"
    CACHE.mkdir(exist_ok=True)
    with FileLock(CACHE / "release.lock"):
        if site.is_dir():
            return site
        archive = _sources(commit)
        if archive is None:
            return None
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            sources, unpacked = Path(scratch, "sources"), Path(scratch, "site")
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(sources, filter="data")
            wheel = _build(sources, Path(scratch, "wheel"))
            if wheel is None:
                unpacked.mkdir()
                (sources / "kcoord").rename(unpacked / "kcoord")
            else:
                with zipfile.ZipFile(wheel) as files:
                    files.extractall(unpacked)
            unpacked.rename(site)
    return site


def bring_release() -> str | None:
    """Make the first release ready; a line where there is none to run."""
    if release_site() is not None:
        return None
    return f"the history of {FIRST} is not here: tests read what it has left behind, and do not run it"


def _sources(commit: str) -> bytes | None:
    done = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def _build(sources: Path, folder: Path) -> Path | None:
    """The wheel of these sources; None: the build backend is not here and cannot be fetched."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(sources)]
    done = subprocess.run(command, capture_output=True)
    return next(folder.glob("*.whl")) if done.returncode == 0 else None
