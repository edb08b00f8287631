"""What is there less of in `make check`, which is run all day (`pytest --light`)?

Tests that need a JVM or a container are left out (`HEAVY` in conftest.py), and those marked `long(reason)`: they keep a
core busy for seconds, or start a JVM by themselves. Of examples and seeds there are fewer. `make test` has all of it.
"""

from __future__ import annotations

import os

LIGHT = "TESTS_LIGHT"
"""Set by `--light`, before tests are read."""


def fewer(whole: int, light: int) -> int:
    """So many, or so many in `make check`."""
    return light if LIGHT in os.environ else whole
