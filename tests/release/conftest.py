"""What the tests of releases share: the package of 0.1.0, to be run beside this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.release.wheel import release_site


@pytest.fixture(scope="session")
def release() -> Path:
    """The folder that has 0.1.0's package `kcoord`, to be given to a process as its `site`."""
    site = release_site()
    if site is None:
        pytest.skip("the repository's history is not here: what 0.1.0 has left behind is read instead (test_stored.py)")
    return site
