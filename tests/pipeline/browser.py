"""What does a browser without a network make of a page? Chromium, headless; where there is none, the test is skipped,
or fails where `TESTS_BROWSER=1` says that there must be one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "TESTS_BROWSER"
MISSING = "there is no Chromium on the PATH (Debian: apt-get install chromium), so no page is opened in a browser"
DEADLINE_S = 300


def drawn(page: Path, folder: Path) -> str:
    """The document as it is when all has been drawn. Fails where anything is wrong on the page, or is fetched."""
    command = [
        _browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
        "--disable-background-networking", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'browser'}", "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom",
        page.absolute().as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line], done.stderr
    return done.stdout


def _browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None and os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{MISSING}, and {REQUIRED}=1 says that it must be")
    if found is None:
        pytest.skip(MISSING)
    return found
