"""The release that runs beside this one in these tests is the one that CHANGELOG.md names."""

from __future__ import annotations

from pathlib import Path

from kcoord import __version__
from tests.cli.run_cli import kcoord
from tests.release.wheel import FIRST, commits


def test_two_versions_that_can_be_told_apart(release: Path) -> None:
    assert kcoord("--version", site=release).out == f"kcoord {FIRST}\n"
    assert kcoord("--version").out == f"kcoord {__version__}\n"
    assert __version__ not in commits(), "what comes after a release has a version of its own"
