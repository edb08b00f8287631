"""What is there less of in `make check`, which is run all day (`pytest --light`)?

Tests that need a JVM or a container are left out (`HEAVY` in conftest.py), and those marked `long(reason)`: they keep a
core busy for seconds, or start a JVM by themselves. Of examples, seeds and cases there are fewer. `make test` has all
of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")

LIGHT = "TESTS_LIGHT"
"""Set by `--light`, before tests are read."""


def fewer(whole: int, light: int) -> int:
    """So many, or so many in `make check`."""
    return light if LIGHT in os.environ else whole


def some(cases: Sequence[Case], light: int) -> Sequence[Case]:
    """All cases, or so many of them in `make check`, spread evenly over the whole."""
    count = min(len(cases), fewer(len(cases), light))
    return [cases[at * len(cases) // count] for at in range(count)]
